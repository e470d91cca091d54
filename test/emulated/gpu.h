//===- gpu.h - a GPU as the kernels see it ----------------------*- C++ -*-===//
//
// The interface between kernels that are compiled for this machine's CPU and
// the fake driver that runs them (blocks.cpp, arrivals.cpp). Kernels do not
// include it: kernel.h stands before their text.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_TEST_EMULATED_GPU_H
#define MNISTC_TEST_EMULATED_GPU_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace emulated {

struct Index {
  unsigned x = 0, y = 0, z = 0;
};

/// What a thread has begun and what is done later: copies to shared memory and
/// products of tensor cores. A GPU does it at any time until the thread
/// has waited for it; here it is done at one end of that time.
struct Later {
  using Work = std::vector<std::function<void()>>;
  Work copies, open;
  std::vector<Work> copyGroups, groups; ///< committed, the oldest first

  static void run(Work &work) {
    for (const auto &each : work)
      each();
    work.clear();
  }
  static void commit(Work &work, std::vector<Work> &to) {
    to.push_back(std::move(work));
    work.clear();
  }
  /// Until only so many, the youngest, are left.
  static void wait(std::vector<Work> &committed, int running) {
    const int done = int(committed.size()) - running;
    if (done <= 0)
      return;
    for (int i = 0; i < done; ++i)
      run(committed[size_t(i)]);
    committed.erase(committed.begin(), committed.begin() + done);
  }
};

/// The thread that runs, and its place in the launch.
struct Thread {
  Index thread, block, threads, blocks;
  Later later;
};

struct Gpu {
  Thread *thread = nullptr;
  /// Of this block: what kernels declare, and what the launch gave it.
  char *declared = nullptr, *dynamic = nullptr;
  size_t declaredBytes = 0;
  bool isLate = true; ///< work is done when it is waited for, or at once

  /// Waits for all threads of the block: whether one of them said `value`.
  virtual bool syncBlock(bool value) = 0;
  /// Waits for `threads` that do so at this barrier.
  virtual void syncPart(int barrier, unsigned threads) = 0;
  virtual void arriveAtCluster() = 0;
  virtual void waitForCluster() = 0;
  /// Where block number `rank` of the cluster has what is `mine` in this one.
  virtual void *inBlock(void *mine, int rank) = 0;
  /// Words that blocks of a cluster send each other: see instructions.cuh.
  virtual void expectWords(uint64_t *barrier, unsigned words) = 0;
  virtual void sendWord(uint32_t *mine, uint64_t *barrier, int rank,
                        uint32_t word) = 0;
  virtual void waitForWords(uint64_t *barrier) = 0;
  /// Copies that one thread begins and all of the block wait for.
  virtual void makeArrivals(const uint64_t *barrier) = 0;
  virtual void copyBulk(void *to, const void *from, size_t bytes,
                        const uint64_t *barrier) = 0;
  virtual void waitForArrivals(const uint64_t *barrier, bool isOdd) = 0;
  /// Waits for all lanes of the warp: `bytes` of each of them.
  static constexpr size_t most = 32;
  using OfLanes = const char (*)[most];
  virtual OfLanes exchange(const void *mine, size_t bytes) = 0;

protected:
  ~Gpu() = default;
};

struct Kernel {
  const char *name;
  void (*run)(void **arguments);
  const size_t *sizes; ///< of the arguments, ends with 0
  unsigned threads, cluster;
};

/// What a file of kernels exports as `emulated_kernels`.
struct Kernels {
  const Kernel *first;
  size_t count;
  char *declared; ///< shared memory of all kernels
  size_t declaredBytes;
  Gpu **gpu; ///< to be set before a kernel runs
};

} // namespace emulated

#endif // MNISTC_TEST_EMULATED_GPU_H
