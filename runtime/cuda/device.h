//===- device.h - can this model run here? ----------------------*- C++ -*-===//

#ifndef MNISTRT_CUDA_DEVICE_H
#define MNISTRT_CUDA_DEVICE_H

#include "core/status.h"
#include "core/tensor.h"
#include "cuda/driver.h"
#include "mnistrt/model.h"
#include <string>

namespace mn::cuda {

struct Device {
  CUdevice number = 0;
  std::string name; ///< "NVIDIA H200"
  int multiprocessors = 0;
  int shared = 0;         ///< bytes of shared memory of a multiprocessor
  int reservedShared = 0; ///< of them, of each block that it has
  int capability = 0;     ///< 90: sm_90
  double peakFlops = 0;   ///< of its fp32 units, without tensor cores
};

/// Finds device `number`: code 10 where there is none of that number.
Status findDevice(const Driver &driver, int number, Device &device);

/// The code that suits the device best: code 11 where all is for other GPUs.
Status chooseCode(const Device &device, const Model &model,
                  const DeviceCode *&code);

/// "580.159.04", or the CUDA version where the system does not tell.
std::string driverVersion(const Driver &driver);

/// Where the memory of an executor is on the device, in bytes from the start of
/// one allocation. The constants are in another, which executors share.
struct MemoryMap {
  size_t arena = 0;
  size_t inputs = 0; ///< the other copy, of plans that prefetch
  size_t number = 0; ///< of the first batch of a graph, where one prefetches
  size_t workspace = 0;
  size_t staging[2] = {}; ///< inputs and then outputs of a slot
  size_t bytes = 0;
};
MemoryMap mapMemory(const Model &model);
/// The other copy of a plan's inputs; of no bytes where there is none.
Moved otherInputs(const Plan &plan, const MemoryMap &map);

/// Inputs and outputs of more bytes than this are no part of a plan's graph:
/// they are copied while the other slot computes, through staging memory on the
/// device.
inline constexpr size_t directBytes = 256 * 1024;
/// Room for a word of each block that copies an output of directBytes.
inline constexpr size_t wordBytes = directBytes / 4096 * 4;
bool isStaged(const Plan &plan);

/// Of tensors in a row, each on 256 bytes.
size_t packedBytes(const Tensor *tensors, int count);
/// How many streams before `stream` call libraries: each of these has its
/// workspace, one after the other.
int workspacesBefore(const Plan &plan, int stream);
inline size_t aligned(size_t bytes) { return (bytes + 255) / 256 * 256; }

} // namespace mn::cuda

#endif // MNISTRT_CUDA_DEVICE_H
