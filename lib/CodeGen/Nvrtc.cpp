//===- Nvrtc.cpp - device text to a cubin ---------------------------------===//
//
// NVRTC is not linked: the compiler must run, and compile for the CPU, where
// there is no CUDA. Its C interface has been the same since CUDA 11.1.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/CudaFolders.h"
#include "lib/CodeGen/Toolchain.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <dlfcn.h>

using namespace mlir;
using namespace mlir::mnistc;

namespace {
/// The functions that we call; int is nvrtcResult, void * an nvrtcProgram.
struct Nvrtc {
  int (*createProgram)(void **, const char *, const char *, int,
                       const char *const *, const char *const *);
  int (*compileProgram)(void *, int, const char *const *);
  int (*getCubinSize)(void *, size_t *);
  int (*getCubin)(void *, char *);
  int (*getLogSize)(void *, size_t *);
  int (*getLog)(void *, char *);
  int (*destroyProgram)(void **);
  const char *(*getErrorString)(int);
  int (*getVersion)(int *major, int *minor);

  bool load(void *handle) {
    auto find = [&](auto &function, const char *name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(
          dlsym(handle, name));
      return function != nullptr;
    };
    return find(createProgram, "nvrtcCreateProgram") &&
           find(compileProgram, "nvrtcCompileProgram") &&
           find(getCubinSize, "nvrtcGetCUBINSize") &&
           find(getCubin, "nvrtcGetCUBIN") &&
           find(getLogSize, "nvrtcGetProgramLogSize") &&
           find(getLog, "nvrtcGetProgramLog") &&
           find(destroyProgram, "nvrtcDestroyProgram") &&
           find(getErrorString, "nvrtcGetErrorString") &&
           find(getVersion, "nvrtcVersion");
  }
};
} // namespace

/// NVRTC opens a library of the same version by its file name, which the
/// loader does not find next to it. One that is open already it does.
static void openBuiltins(const std::string &folder) {
  std::error_code code;
  for (llvm::sys::fs::directory_iterator it(folder, code), end;
       !code && it != end; it.increment(code))
    if (llvm::sys::path::filename(it->path())
            .starts_with("libnvrtc-builtins.so."))
      dlopen(it->path().c_str(), RTLD_NOW | RTLD_GLOBAL);
}

static llvm::Expected<Nvrtc> openNvrtc() {
  Nvrtc nvrtc;
  for (const std::string &folder : cudaLibraryFolders())
    for (const char *name : {"libnvrtc.so.13", "libnvrtc.so.12"}) {
      std::string path = folder.empty() ? name : folder + "/" + name;
      void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (!handle || !nvrtc.load(handle))
        continue;
      if (!folder.empty())
        openBuiltins(folder);
      return nvrtc;
    }
  return toolchainError(
      "expected NVRTC (libnvrtc.so.13 or libnvrtc.so.12) or nvcc of a CUDA "
      "toolkit to compile kernels, got neither; set MNISTC_CUDA_PATH to its "
      "folder");
}

bool mlir::mnistc::hasNvrtc() {
  llvm::Expected<Nvrtc> nvrtc = openNvrtc();
  bool opened = static_cast<bool>(nvrtc);
  if (!opened)
    llvm::consumeError(nvrtc.takeError());
  return opened;
}

/// Kernels are optimized side by side where NVRTC can. A fixed number of
/// threads: the code depends on it, and may not depend on the machine.
static const char *threadsFlag(const Nvrtc &nvrtc) {
  int major = 0, minor = 0;
  nvrtc.getVersion(&major, &minor);
  return major >= 13 ? "--split-compile=4" : nullptr;
}

/// What a cubin depends on; none where a header cannot be read.
static std::optional<CacheKey> keyFor(const Nvrtc &nvrtc, StringRef source,
                                      ArrayRef<const char *> flags,
                                      StringRef include) {
  int major = 0, minor = 0;
  nvrtc.getVersion(&major, &minor);
  CacheKey key("nvrtc");
  key.add(std::to_string(major)).add(std::to_string(minor));
  // Updates of a version differ.
  Dl_info info;
  if (!dladdr(reinterpret_cast<void *>(nvrtc.createProgram), &info))
    return std::nullopt;
  key.addIdentity(info.dli_fname);
  for (const char *flag : flags)
    key.add(flag);
  key.add(source);
  if (!key.addFolder((include + "/mnistrt").str()))
    return std::nullopt;
  return key;
}

static llvm::Expected<std::string> compile(const Nvrtc &nvrtc, StringRef source,
                                           ArrayRef<const char *> flags,
                                           StringRef arch, std::string &log) {
  void *program = nullptr;
  auto describe = [&](int code) { return nvrtc.getErrorString(code); };
  if (int code = nvrtc.createProgram(&program, source.str().c_str(),
                                     "model.cpp", 0, nullptr, nullptr))
    return toolchainError(Twine("NVRTC failed: ") + describe(code));
  int code = nvrtc.compileProgram(program, flags.size(), flags.data());
  size_t size = 0;
  if (nvrtc.getLogSize(program, &size) == 0 && size > 1) {
    log.resize(size);
    nvrtc.getLog(program, log.data());
    log.resize(size - 1); // it counts the zero
  }
  std::string cubin;
  if (code == 0)
    code = nvrtc.getCubinSize(program, &size);
  if (code == 0) {
    cubin.resize(size);
    code = nvrtc.getCubin(program, cubin.data());
  }
  nvrtc.destroyProgram(&program);
  if (code != 0)
    return toolchainError("NVRTC cannot compile the kernels for " + arch +
                          ": " + describe(code));
  return cubin;
}

llvm::Expected<std::string>
mlir::mnistc::compileDeviceText(StringRef source, StringRef arch,
                                StringRef include, ArrayRef<std::string> macros,
                                const CompileCache &cache, std::string &log) {
  llvm::Expected<Nvrtc> nvrtc = openNvrtc();
  if (!nvrtc)
    return nvrtc.takeError();
  std::string archFlag = "--gpu-architecture=" + machineArch(arch);
  std::string includeFlag = ("--include-path=" + include).str();
  SmallVector<const char *> flags = {archFlag.c_str(), "-std=c++20",
                                     "-default-device"};
  if (const char *flag = threadsFlag(*nvrtc))
    flags.push_back(flag);
  for (const std::string &macro : macros)
    flags.push_back(macro.c_str());
  std::optional<CacheKey> key;
  if (cache.isOn())
    key = keyFor(*nvrtc, source, flags, include);
  if (key)
    if (std::optional<std::string> known = cache.find(*key))
      return *known;
  flags.push_back(includeFlag.c_str());
  llvm::Expected<std::string> cubin = compile(*nvrtc, source, flags, arch, log);
  if (cubin && key)
    cache.add(*key, *cubin);
  return cubin;
}
