//===- fake-driver.h - a CUDA driver without a GPU --------------*- C++ -*-===//
//
// libcuda.so.1 for machines without a GPU. Device memory is host memory, copies
// are made, and kernels are run where the emulated NVRTC compiled them
// (test/emulated); everything that is enqueued is written down in its order. A
// test links the library and asks it; a program finds it with LD_LIBRARY_PATH,
// and the environment says what GPU there is:
//
//   FAKE_CUDA_GPUS=1  FAKE_CUDA_CAPABILITY=90  FAKE_CUDA_FREE=BYTES
//   FAKE_CUDA_FAILS=FUNCTION:RESULT
//
// and how it runs kernels (test/emulated/module.h).
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_TEST_CUDA_FAKE_DRIVER_H
#define MNISTC_TEST_CUDA_FAKE_DRIVER_H

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace fake {

enum class What { launch, record, wait, copy, set, graph, synchronize };

/// What an entry of a graph waits for: another one, by its number from 1.
struct Edge {
  size_t from;
  bool whole; ///< until it has ended, or may end later
};

struct Entry {
  What what;
  int stream = -1; ///< numbered as they are made, from 0
  int event = -1;  ///< recorded, waited for, or synchronized with
  std::string kernel = {};
  const void *module = nullptr; ///< of the kernel
  bool overlaps = false;        ///< may start before the one before it ended
  std::vector<Edge> edges = {};
  unsigned blocks = 0, threads = 0, shared = 0;
  int graph = -1;                            ///< what is launched, of `graphs`
  size_t bytes = 0;                          ///< of a copy
  const void *to = nullptr, *from = nullptr; ///< likewise
  /// Does it: empty, or what is wrong. None where there is nothing to do.
  std::function<std::string()> work = nullptr;
};

struct Driver {
  int gpus = 1, capability = 90, multiprocessors = 132;
  size_t free = size_t(1) << 34;
  std::map<std::string, int> fails = {};     ///< function: its CUresult
  std::set<std::string> missingKernels = {}; ///< in no module
  /// Kernels that are in the module of one image only.
  std::map<std::string, const void *> imageOf = {};
  std::map<std::string, unsigned> shared = {};   ///< that a kernel may have
  std::map<std::string, unsigned> declared = {}; ///< that it has anyway

  std::vector<Entry> log = {};                 ///< outside of graphs
  std::vector<std::vector<Entry>> graphs = {}; ///< all that were captured
  std::set<std::string> called = {};           ///< functions
  /// Sees the arguments of each kernel: one that runs now, or one of a graph.
  std::function<void(const std::string &kernel, void **arguments, bool runs)>
      onLaunch = nullptr;
  /// Sees each graph that runs, of `graphs`.
  std::function<void(int graph)> onGraph = nullptr;

  const void *image = nullptr;                ///< the code that was loaded
  std::map<const char *, size_t> memory = {}; ///< device memory: its bytes
  int memoryOn = 0; ///< the GPU that it is said to be on
  int destroyedGraphs = 0;
  unsigned contextFlags = 0;
  long allocations =
      0; ///< not freed: contexts, modules, memory, streams, events
};

/// Of this process. `driver() = {}` resets it.
__attribute__((visibility("default"))) Driver &driver();

} // namespace fake

#endif // MNISTC_TEST_CUDA_FAKE_DRIVER_H
