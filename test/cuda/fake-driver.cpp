//===- fake-driver.cpp - a CUDA driver without a GPU ----------------------===//

#include "fake-state.h"
#include <algorithm>
#include <cstdlib>
#include <cstring>

using namespace fake;

namespace {

Driver fromEnvironment() {
  Driver made;
  if (const char *text = std::getenv("FAKE_CUDA_GPUS"))
    made.gpus = std::atoi(text);
  if (const char *text = std::getenv("FAKE_CUDA_CAPABILITY"))
    made.capability = std::atoi(text);
  if (const char *text = std::getenv("FAKE_CUDA_FREE"))
    made.free = std::strtoull(text, nullptr, 10);
  if (const char *text = std::getenv("FAKE_CUDA_FAILS"))
    if (const char *colon = std::strchr(text, ':'))
      made.fails[std::string(text, colon)] = std::atoi(colon + 1);
  return made;
}

} // namespace

Driver &fake::driver() {
  static Driver made = fromEnvironment();
  return made;
}

extern "C" {

//===----------------------------------------------------------------------===//
// The device
//===----------------------------------------------------------------------===//

CUresult cuInit(unsigned) {
  MN_FAILS;
  return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int *version) {
  *version = 13000;
  return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult result, const char **name) {
  MN_ALONE;
  static std::string text;
  text = result == CUDA_ERROR_OUT_OF_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY"
                                            : "FAKE_" + std::to_string(result);
  *name = text.c_str();
  return CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult, const char **text) {
  *text = "as the fake driver was told";
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count) {
  MN_FAILS;
  *count = driver().gpus;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int number) {
  MN_FAILS;
  *device = number;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int size, CUdevice) {
  MN_FAILS;
  std::strncpy(name, "Fake GPU", size_t(size));
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute,
                              CUdevice) {
  MN_FAILS;
  *value =
      attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR
          ? driver().capability / 10
      : attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR
          ? driver().capability % 10
      : attribute == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
          ? driver().multiprocessors
      : attribute == CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR
          ? 228 << 10
      : attribute == CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK
          ? 1 << 10
          : 132;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice, unsigned flags) {
  MN_FAILS;
  driver().contextFlags = flags;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice) {
  MN_FAILS;
  *context = reinterpret_cast<CUcontext>(&driver());
  ++driver().allocations;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice) {
  MN_ALONE;
  --driver().allocations;
  return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext) {
  MN_FAILS;
  return CUDA_SUCCESS;
}

CUresult cuCtxSetLimit(CUlimit, size_t) { return CUDA_SUCCESS; }

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

CUresult cuModuleLoadData(CUmodule *module, const void *image) {
  MN_FAILS;
  driver().image = image;
  static std::uintptr_t last = 0;
  *module = reinterpret_cast<CUmodule>(++last);
  modules[*module] = emulated::Module::load(image);
  images[*module] = image;
  ++driver().allocations;
  return CUDA_SUCCESS;
}

CUresult cuModuleUnload(CUmodule module) {
  MN_ALONE;
  modules.erase(module);
  images.erase(module);
  --driver().allocations;
  return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module,
                             const char *name) {
  MN_FAILS;
  static std::set<Kernel> kernels;
  const auto only = driver().imageOf.find(name);
  if (driver().missingKernels.count(name) ||
      (only != driver().imageOf.end() && only->second != images[module]) ||
      (modules[module] && !modules[module]->find(name)))
    return CUDA_ERROR_NOT_FOUND;
  *function = reinterpret_cast<CUfunction>(
      const_cast<Kernel *>(&*kernels.insert({name, module}).first));
  return CUDA_SUCCESS;
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute,
                            CUfunction function) {
  MN_FAILS;
  const auto found = driver().declared.find(of(function).name);
  *value = attribute == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES &&
                   found != driver().declared.end()
               ? int(found->second)
               : 0;
  return CUDA_SUCCESS;
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute,
                            int value) {
  MN_FAILS;
  if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
    driver().shared[of(function).name] = unsigned(value);
  return CUDA_SUCCESS;
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function,
                          void **arguments, void **) {
  MN_FAILS;
  const std::string &name = of(function).name;
  Entry entry = {.what = What::launch, .kernel = name};
  entry.module = of(function).module;
  entry.blocks = config->gridDimX;
  entry.threads = config->blockDimX;
  entry.shared = config->sharedMemBytes;
  // More has to be asked for.
  constexpr unsigned always = 48 << 10;
  if (entry.shared > std::max(always, driver().shared[name]))
    return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < config->numAttrs; ++i)
    entry.overlaps |=
        config->attrs[i].id ==
            CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION &&
        config->attrs[i].value.programmaticStreamSerializationAllowed;
  // It would be said of all that the kernel waits for; NCCL does.
  if (entry.overlaps && name != "nccl" && of(config->hStream)->nodes.size() > 1)
    return CUDA_ERROR_INVALID_VALUE;
  if (const auto &module = modules[of(function).module])
    entry.work = module->launch(*module->find(name), entry.blocks,
                                entry.threads, entry.shared, arguments);
  const CUresult result = enqueue(config->hStream, entry);
  if (driver().onLaunch)
    driver().onLaunch(name, arguments, !of(config->hStream)->captured);
  return result;
}

} // extern "C"
