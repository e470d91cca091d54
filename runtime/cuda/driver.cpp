//===- driver.cpp - the functions of the CUDA driver ----------------------===//

#include "cuda/driver.h"
#include "cuda/library_search.h"
#include <dlfcn.h>

namespace mn::cuda {

namespace {
Status findFunctions(void *library, Driver &driver) {
#define MN_FIND(NAME) MN_FIND_FUNCTION(library, "libcuda.so.1", driver, NAME)
  MN_DRIVER_FUNCTIONS(MN_FIND)
#undef MN_FIND
  return Status::success();
}
} // namespace

Status loadDriver(Driver &driver) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL);
  if (!library)
    return Status::error(Code::noDevice,
                         "expected an NVIDIA driver, got no 'libcuda.so.1'; "
                         "compile with --target=cpu to run without a GPU");
  if (Status status = findFunctions(library, driver); !status.ok())
    return Status::error(
        Code::noDevice, "expected an NVIDIA driver for CUDA 13.0 or later, got "
                        "an older one: " +
                            status.message);
  const CUresult result = driver.cuInit(0);
  if (result != CUDA_SUCCESS)
    return Status::error(Code::noDevice, "the NVIDIA driver does not start: " +
                                             describe(driver, result));
  return Status::success();
}

std::string describe(const Driver &driver, CUresult result) {
  const char *name = nullptr, *text = nullptr;
  driver.cuGetErrorName(result, &name);
  driver.cuGetErrorString(result, &text);
  return std::string(text ? text : "unknown error") + " (" +
         (name ? name : std::to_string(int(result))) + ")";
}

Status check(const Driver &driver, CUresult result, const char *what) {
  if (result == CUDA_SUCCESS)
    return Status::success();
  const Code code =
      result == CUDA_ERROR_OUT_OF_MEMORY ? Code::outOfMemory : Code::noDevice;
  return Status::error(code,
                       std::string(what) + ": " + describe(driver, result));
}

} // namespace mn::cuda
