//===- driver.h - the functions of the CUDA driver --------------*- C++ -*-===//

#ifndef MNISTRT_CUDA_DRIVER_H
#define MNISTRT_CUDA_DRIVER_H

#include "core/status.h"
#include <cuda.h>

namespace mn::cuda {

#define MN_DRIVER_FUNCTIONS(X)                                                 \
  X(cuInit)                                                                    \
  X(cuDriverGetVersion)                                                        \
  X(cuGetErrorName)                                                            \
  X(cuGetErrorString)                                                          \
  X(cuDeviceGet)                                                               \
  X(cuDeviceGetCount)                                                          \
  X(cuDeviceGetName)                                                           \
  X(cuDeviceGetAttribute)                                                      \
  X(cuDevicePrimaryCtxSetFlags)                                                \
  X(cuDevicePrimaryCtxRetain)                                                  \
  X(cuDevicePrimaryCtxRelease)                                                 \
  X(cuCtxSetCurrent)                                                           \
  X(cuCtxSetLimit)                                                             \
  X(cuMemGetInfo)                                                              \
  X(cuMemAlloc)                                                                \
  X(cuMemFree)                                                                 \
  X(cuMemHostAlloc)                                                            \
  X(cuMemFreeHost)                                                             \
  X(cuMemcpyHtoD)                                                              \
  X(cuMemcpyHtoDAsync)                                                         \
  X(cuMemcpyDtoHAsync)                                                         \
  X(cuMemcpyDtoDAsync)                                                         \
  X(cuPointerGetAttribute)                                                     \
  X(cuMemsetD8Async)                                                           \
  X(cuModuleLoadData)                                                          \
  X(cuModuleUnload)                                                            \
  X(cuModuleGetFunction)                                                       \
  X(cuFuncGetAttribute)                                                        \
  X(cuFuncSetAttribute)                                                        \
  X(cuLaunchKernelEx)                                                          \
  X(cuStreamCreate)                                                            \
  X(cuStreamDestroy)                                                           \
  X(cuStreamSynchronize)                                                       \
  X(cuStreamQuery)                                                             \
  X(cuStreamIsCapturing)                                                       \
  X(cuStreamGetCaptureInfo)                                                    \
  X(cuStreamUpdateCaptureDependencies)                                         \
  X(cuStreamWaitEvent)                                                         \
  X(cuStreamBeginCapture)                                                      \
  X(cuStreamEndCapture)                                                        \
  X(cuEventCreate)                                                             \
  X(cuEventDestroy)                                                            \
  X(cuEventQuery)                                                              \
  X(cuEventRecord)                                                             \
  X(cuEventRecordWithFlags)                                                    \
  X(cuEventSynchronize)                                                        \
  X(cuEventElapsedTime)                                                        \
  X(cuGraphNodeGetDependencies)                                                \
  X(cuGraphAddDependencies)                                                    \
  X(cuGraphRemoveDependencies)                                                 \
  X(cuGraphInstantiateWithFlags)                                               \
  X(cuGraphUpload)                                                             \
  X(cuGraphLaunch)                                                             \
  X(cuGraphDestroy)                                                            \
  X(cuGraphExecDestroy)

/// The driver's functions, under the names of cuda.h.
struct Driver {
#define MN_MEMBER(NAME) decltype(&::NAME) NAME = nullptr;
  MN_DRIVER_FUNCTIONS(MN_MEMBER)
#undef MN_MEMBER
};

/// Opens libcuda.so.1 and starts it: code 10 where there is no usable driver.
Status loadDriver(Driver &driver);

/// "out of memory (CUDA_ERROR_OUT_OF_MEMORY)"
std::string describe(const Driver &driver, CUresult result);

/// What is not success is an error: "allocating GPU memory: out of memory ...".
Status check(const Driver &driver, CUresult result, const char *what);

} // namespace mn::cuda

#endif // MNISTRT_CUDA_DRIVER_H
