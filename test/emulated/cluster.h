//===- cluster.h - a GPU that runs the blocks of one cluster ----*- C++ -*-===//

#ifndef MNISTC_TEST_EMULATED_CLUSTER_H
#define MNISTC_TEST_EMULATED_CLUSTER_H

#include "blocks.h"
#include "guarded.h"
#include <algorithm>
#include <boost/context/fiber.hpp>
#include <map>
#include <memory>

namespace emulated {

constexpr unsigned lanes = 32, alignment = 1024;
constexpr char notANumber = char(0xff); ///< where it is each byte

enum class Waits {
  no,
  forWarp,
  forPart,
  forBlock,
  forCopies,
  forCluster,
  ended
};

/// A thread of a block.
struct Fiber {
  Thread thread;
  Waits waits = Waits::ended;
  int barrier = 0;        ///< of the part of the block that it waits for
  unsigned exchanges = 0; ///< of its warp
  unsigned phase = 0;     ///< of the cluster's barrier that it arrived at
  boost::context::fiber own, scheduler;
};

struct Warp {
  unsigned arrived = 0, exchanges = 0;
  char values[2][lanes][Gpu::most]; ///< of this exchange and the one before
};

/// Words of other blocks on their way to declared memory, and a barrier that
/// waits for them. All as far from its beginning.
struct Words {
  struct Word {
    size_t to;
    uint32_t value;
  };
  unsigned missing = 0;
  std::vector<Word> sent;
};

/// Copies that are not done yet, and how often a barrier has opened for some.
struct Arrivals {
  Later::Work copies;
  unsigned begun = 0, opened = 0;
};

struct Block {
  std::vector<std::unique_ptr<Fiber>> fibers;
  std::vector<Warp> warps;
  /// What kernels declared, while other blocks of the cluster run.
  std::vector<char> declared;
  GuardedMemory dynamic;
  std::map<size_t, Words> words;                 ///< of each barrier
  std::map<const uint64_t *, Arrivals> arrivals; ///< of each barrier
  std::map<int, unsigned> inPart;  ///< threads that wait at a barrier of a part
  unsigned ended = 0, waiting = 0; ///< threads; at the block's barrier
  bool said = false, answer = false; ///< at this barrier, and at the last one
};

/// Those who waited for what has come.
inline void release(Block &b, Waits what, size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i)
    if (b.fibers[i]->waits == what)
      b.fibers[i]->waits = Waits::no;
}

class Cluster final : public Gpu {
public:
  Cluster(const Launch &launch, Order order, bool late)
      : launch(launch), order(order), blocks(launch.kernel->cluster) {
    isLate = late;
    declared = launch.module->declared;
    declaredBytes = launch.module->declaredBytes;
    std::fill_n(declared, declaredBytes, notANumber);
    *launch.module->gpu = this;
  }
  ~Cluster() { *launch.module->gpu = nullptr; }

  /// The blocks from number `first`: empty, or what they did wrong.
  std::string run(unsigned first);

  bool syncBlock(bool value) override;
  void syncPart(int barrier, unsigned threads) override;
  void arriveAtCluster() override;
  void waitForCluster() override;
  void *inBlock(void *mine, int rank) override;
  void expectWords(uint64_t *barrier, unsigned words) override;
  void sendWord(uint32_t *mine, uint64_t *barrier, int rank,
                uint32_t word) override;
  void waitForWords(uint64_t *barrier) override;
  void makeArrivals(const uint64_t *barrier) override;
  void copyBulk(void *to, const void *from, size_t bytes,
                const uint64_t *barrier) override;
  void waitForArrivals(const uint64_t *barrier, bool isOdd) override;
  OfLanes exchange(const void *mine, size_t bytes) override;

private:
  void begin(Block &b, unsigned number);
  void makeFiber(Fiber &f);
  bool runBlock(Block &b);
  void resume(Fiber &f);
  void wait(Waits what);
  void endThread();
  void openBlockBarrier();
  void openClusterBarrier();
  /// Of declared shared memory.
  size_t offsetOf(const void *mine) const {
    return size_t(static_cast<const char *>(mine) - declared);
  }

  const Launch &launch;
  const Order order;
  std::vector<Block> blocks;
  Block *block = nullptr; ///< that runs, as does this thread of it
  Fiber *fiber = nullptr;
  unsigned arrivedAtCluster = 0, phases = 0; ///< of the cluster's barrier
  bool sendsTooMuch = false; ///< or to a barrier that there is not?
  bool leavesWork = false;   ///< did a thread not wait for what it began?
  bool waitsWrongly = false; ///< for copies of which there is no barrier
};

} // namespace emulated

#endif // MNISTC_TEST_EMULATED_CLUSTER_H
