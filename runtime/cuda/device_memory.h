//===- device_memory.h - memory that is freed -------------------*- C++ -*-===//

#ifndef MNISTRT_CUDA_DEVICE_MEMORY_H
#define MNISTRT_CUDA_DEVICE_MEMORY_H

#include "cuda/driver.h"

namespace mn::cuda {

/// Memory on the device, for as long as this lives.
struct DeviceMemory {
  explicit DeviceMemory(const Driver &cu) : cu(cu) {}
  DeviceMemory(const DeviceMemory &) = delete;
  DeviceMemory &operator=(const DeviceMemory &) = delete;
  ~DeviceMemory() {
    if (address)
      cu.cuMemFree(address);
  }
  const Driver &cu;
  CUdeviceptr address = 0; ///< 0: none
};

} // namespace mn::cuda

#endif // MNISTRT_CUDA_DEVICE_MEMORY_H
