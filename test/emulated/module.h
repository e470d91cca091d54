//===- module.h - kernels that run on the CPU -------------------*- C++ -*-===//

#ifndef MNISTC_TEST_EMULATED_MODULE_H
#define MNISTC_TEST_EMULATED_MODULE_H

#include "gpu.h"
#include <functional>
#include <memory>
#include <string>

namespace emulated {

/// Whether the last of what may be next runs first: of the threads of a block,
/// and of the kernels of a graph.
bool runsBackward();

/// What the emulated NVRTC made, loaded.
class Module {
public:
  /// None where the image is another GPU's code.
  static std::unique_ptr<Module> load(const void *image);
  ~Module();
  Module(const Module &) = delete;

  /// None where it has no such kernel.
  const Kernel *find(const std::string &name) const;

  /// Runs a kernel with arguments as they are now, whenever it is called:
  /// empty, or what is wrong. The environment says how:
  ///   FAKE_CUDA_ORDER=backward  runsBackward()
  ///   FAKE_CUDA_ASYNC=early     copies and products when they begin
  std::function<std::string()> launch(const Kernel &kernel, unsigned blocks,
                                      unsigned threads, unsigned shared,
                                      void **arguments) const;

private:
  Module() = default;
  void *library = nullptr;
  int file = -1;
  Kernels kernels = {};
};

} // namespace emulated

#endif // MNISTC_TEST_EMULATED_MODULE_H
