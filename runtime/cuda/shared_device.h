//===- shared_device.h - what the executors of a GPU share ------*- C++ -*-===//

#ifndef MNISTRT_CUDA_SHARED_DEVICE_H
#define MNISTRT_CUDA_SHARED_DEVICE_H

#include "core/executor.h"
#include "cuda/device.h"
#include <memory>

namespace mn::cuda {

/// The context of a GPU, with the constants of a program. It lives as long as
/// the last executor that uses it.
class SharedDevice {
public:
  SharedDevice() = default;
  SharedDevice(const SharedDevice &) = delete;
  SharedDevice &operator=(const SharedDevice &) = delete;
  ~SharedDevice();

  Status open(const Model &model, const ExecutorOptions &options);

  /// Of the calling thread.
  Status makeCurrent() const;
  /// Error 13 says how much memory there is.
  Status allocate(size_t bytes, size_t wanted, CUdeviceptr &address) const;
  /// The program's kernels, for one executor: they have scratch memory of
  /// their own, which belongs to the modules. Of one part the other is null.
  Status loadModules(CUmodule (&modules)[2]) const;

  Driver driver;
  Device device;
  CUcontext context = nullptr;
  CUdeviceptr constants = 0; ///< 0: none

private:
  Status loadModule(const Cubin &part, CUmodule &module) const;

  const DeviceCode *code = nullptr;
};

/// A data set in the GPU's memory; `samples` has its addresses there.
class DeviceSet {
public:
  explicit DeviceSet(std::shared_ptr<SharedDevice> shared)
      : shared(std::move(shared)) {}
  DeviceSet(const DeviceSet &) = delete;
  DeviceSet &operator=(const DeviceSet &) = delete;
  ~DeviceSet();

  /// Copies `from`, and waits for it.
  Status upload(const Samples &from, CUstream stream);

  size_t bytes = 0;
  Samples samples;

private:
  std::shared_ptr<SharedDevice> shared;
  CUdeviceptr memory = 0;
};

} // namespace mn::cuda

#endif // MNISTRT_CUDA_SHARED_DEVICE_H
