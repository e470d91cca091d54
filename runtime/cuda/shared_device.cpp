//===- shared_device.cpp - what the executors of a GPU share --------------===//

#include "cuda/shared_device.h"
#include <algorithm>
#include <cstdlib>

namespace mn::cuda {

Status SharedDevice::open(const Model &model, const ExecutorOptions &options) {
  if (model.version != modelVersion)
    return Status::error(
        Code::usage, "expected a model of version " +
                         std::to_string(modelVersion) + ", got version " +
                         std::to_string(model.version) + "; compile it again");
  // The driver reads it when it starts.
  if (options.shared)
    ::setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", /*overwrite=*/0);
  MN_TRY(loadDriver(driver));
  MN_TRY(findDevice(driver, options.device, device));
  MN_TRY(chooseCode(device, model, code));
  if (options.shared)
    MN_TRY(check(driver,
                 driver.cuDevicePrimaryCtxSetFlags(device.number,
                                                   CU_CTX_SCHED_BLOCKING_SYNC),
                 "opening the GPU"));
  MN_TRY(check(driver, driver.cuDevicePrimaryCtxRetain(&context, device.number),
               "opening the GPU"));
  MN_TRY(makeCurrent());
  // Rows of images are short: what misses the L2 cache brings their neighbours.
  // A hint, which a GPU need not know.
  driver.cuCtxSetLimit(CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 128);
  if (model.constantBytes == 0)
    return Status::success();
  MN_TRY(allocate(aligned(model.constantBytes), deviceBytes(model), constants));
  return check(
      driver,
      driver.cuMemcpyHtoD(constants, model.constants, model.constantBytes),
      "uploading the constants");
}

Status SharedDevice::loadModules(CUmodule (&modules)[2]) const {
  for (size_t part = 0; part < std::size(modules); ++part)
    if (part == 0 || code->parts[part].code)
      MN_TRY(loadModule(code->parts[part], modules[part]));
  return Status::success();
}

Status SharedDevice::loadModule(const Cubin &part, CUmodule &module) const {
  const CUresult result = driver.cuModuleLoadData(&module, part.code);
  if (result == CUDA_ERROR_NO_BINARY_FOR_GPU ||
      result == CUDA_ERROR_INVALID_IMAGE)
    return Status::error(Code::wrongArch, "expected kernels for GPU " +
                                              std::to_string(device.number) +
                                              ", " + device.name +
                                              ", got them for " + code->arch +
                                              ": " + describe(driver, result));
  return check(driver, result, "loading the program's kernels");
}

SharedDevice::~SharedDevice() {
  if (!context)
    return;
  driver.cuCtxSetCurrent(context);
  if (constants)
    driver.cuMemFree(constants);
  driver.cuDevicePrimaryCtxRelease(device.number);
}

Status SharedDevice::makeCurrent() const {
  return check(driver, driver.cuCtxSetCurrent(context), "using the GPU");
}

/// `wanted`: what the caller needs, of which `bytes` are allocated now.
Status SharedDevice::allocate(size_t bytes, size_t wanted,
                              CUdeviceptr &address) const {
  size_t available = 0, total = 0;
  MN_TRY(check(driver, driver.cuMemGetInfo(&available, &total),
               "asking for free memory"));
  const CUresult result = wanted > available
                              ? CUDA_ERROR_OUT_OF_MEMORY
                              : driver.cuMemAlloc(&address, bytes);
  if (result == CUDA_ERROR_OUT_OF_MEMORY)
    return Status::error(
        Code::outOfMemory,
        "expected " + std::to_string(wanted) + " bytes of free memory on GPU " +
            std::to_string(device.number) + ", got " +
            std::to_string(available) + " of " + std::to_string(total) +
            "; compile with a smaller --batch or --workspace");
  return check(driver, result, "allocating GPU memory");
}

Status DeviceSet::upload(const Samples &from, CUstream stream) {
  const Driver &cu = shared->driver;
  const size_t inputs =
      size_t(from.count * from.inputElements) * bytesOf(from.inputType);
  const size_t targets =
      size_t(from.count * from.targetElements) * bytesOf(from.targetType);
  bytes = std::max<size_t>(aligned(inputs) + aligned(targets), 256);
  MN_TRY(check(cu, cu.cuMemAlloc(&memory, bytes),
               ("allocating " + std::to_string(bytes) +
                " bytes of GPU memory for a data set")
                   .c_str()));
  samples = from;
  samples.inputs = reinterpret_cast<const void *>(memory);
  const CUdeviceptr at = memory + aligned(inputs);
  samples.targets = reinterpret_cast<const void *>(at);
  if (inputs != 0)
    MN_TRY(check(cu, cu.cuMemcpyHtoDAsync(memory, from.inputs, inputs, stream),
                 "uploading a data set"));
  if (targets != 0)
    MN_TRY(check(cu, cu.cuMemcpyHtoDAsync(at, from.targets, targets, stream),
                 "uploading a data set"));
  return check(cu, cu.cuStreamSynchronize(stream), "uploading a data set");
}

DeviceSet::~DeviceSet() {
  if (!memory)
    return;
  shared->driver.cuCtxSetCurrent(shared->context);
  shared->driver.cuMemFree(memory);
}

} // namespace mn::cuda
