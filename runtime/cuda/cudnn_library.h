//===- cudnn_library.h - the functions of cuDNN -----------------*- C++ -*-===//

#ifndef MNISTRT_CUDA_CUDNN_LIBRARY_H
#define MNISTRT_CUDA_CUDNN_LIBRARY_H

#include "core/status.h"
#include "mnistrt/model.h"
#include <cuda.h>
#include <cudnn_graph.h>
#include <string>

namespace mn::cuda {

#define MN_CUDNN_FUNCTIONS(X)                                                  \
  X(cudnnGetVersion)                                                           \
  X(cudnnGetErrorString)                                                       \
  X(cudnnCreate)                                                               \
  X(cudnnDestroy)                                                              \
  X(cudnnSetStream)                                                            \
  X(cudnnBackendCreateDescriptor)                                              \
  X(cudnnBackendDestroyDescriptor)                                             \
  X(cudnnBackendSetAttribute)                                                  \
  X(cudnnBackendGetAttribute)                                                  \
  X(cudnnBackendFinalize)                                                      \
  X(cudnnBackendExecute)

struct CudnnLibrary {
#define MN_MEMBER(NAME) decltype(&::NAME) NAME = nullptr;
  MN_CUDNN_FUNCTIONS(MN_MEMBER)
#undef MN_MEMBER
  cudnnHandle_t handle = nullptr;
};

/// Opens libcudnn.so.9 and makes a handle in the current context.
Status loadCudnn(CUstream stream, CudnnLibrary &library);

} // namespace mn::cuda

#endif // MNISTRT_CUDA_CUDNN_LIBRARY_H
