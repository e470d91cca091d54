//===- compile-kernels.cpp - a file of kernels to machine code ------------===//
//
//   compile-kernels ARCH OUTPUT.cubin INPUT OPTION...
//
// With NVRTC and the options that mnistc uses, on a machine with or without a
// GPU. Prints the compiler's log and how long it took.
//
//===----------------------------------------------------------------------===//

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <fstream>
#include <iterator>
#include <nvrtc.h>
#include <string>
#include <vector>

namespace {

template <typename F> F function(void *library, const char *name) {
  return reinterpret_cast<F>(dlsym(library, name));
}

int fail(const std::string &message) {
  std::fprintf(stderr, "compile-kernels: %s\n", message.c_str());
  return 1;
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 4)
    return fail("usage: compile-kernels ARCH OUTPUT.cubin INPUT OPTION...");
  void *library = dlopen("libnvrtc.so.13", RTLD_NOW);
  if (!library)
    return fail("'libnvrtc.so.13' not found");
#define MN_FUNCTION(NAME)                                                      \
  const auto NAME = function<decltype(&::NAME)>(library, #NAME)
  MN_FUNCTION(nvrtcCreateProgram);
  MN_FUNCTION(nvrtcCompileProgram);
  MN_FUNCTION(nvrtcGetProgramLogSize);
  MN_FUNCTION(nvrtcGetProgramLog);
  MN_FUNCTION(nvrtcGetCUBINSize);
  MN_FUNCTION(nvrtcGetCUBIN);
  MN_FUNCTION(nvrtcGetPTXSize);
  MN_FUNCTION(nvrtcGetPTX);

  std::ifstream input(argv[3]);
  if (!input)
    return fail(std::string("cannot read '") + argv[3] + "'");
  const std::string text((std::istreambuf_iterator<char>(input)), {});
  const std::string arch = std::string("-arch=") + argv[1];
  // What mnistc compiles its kernels with.
  std::vector<const char *> options = {arch.c_str(), "-std=c++20",
                                       "-default-device"};
  for (int i = 4; i < argc; ++i)
    options.push_back(argv[i]);

  nvrtcProgram program = nullptr;
  nvrtcCreateProgram(&program, text.c_str(), argv[3], 0, nullptr, nullptr);
  const auto start = std::chrono::steady_clock::now();
  const nvrtcResult result =
      nvrtcCompileProgram(program, int(options.size()), options.data());
  const std::chrono::duration<double> took =
      std::chrono::steady_clock::now() - start;
  size_t size = 0;
  nvrtcGetProgramLogSize(program, &size);
  std::string log(size, '\0');
  nvrtcGetProgramLog(program, log.data());
  if (size > 1)
    std::fprintf(stderr, "%s\n", log.c_str());
  if (result != NVRTC_SUCCESS)
    return fail("NVRTC failed");
  nvrtcGetCUBINSize(program, &size);
  std::string code(size, '\0');
  nvrtcGetCUBIN(program, code.data());
  std::ofstream(argv[2], std::ios::binary)
      .write(code.data(), std::streamsize(size));
  std::fprintf(stderr, "%zu bytes in %.2f s\n", size, took.count());
  if (const char *file = std::getenv("MN_PTX")) {
    nvrtcGetPTXSize(program, &size);
    std::string ptx(size, '\0');
    nvrtcGetPTX(program, ptx.data());
    std::ofstream(file) << ptx;
  }
  return 0;
}
