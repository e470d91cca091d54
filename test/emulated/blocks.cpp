//===- blocks.cpp - runs the blocks of a launch ---------------------------===//
//
// Each thread of a block is a fiber. It runs until it waits for others, and
// then the next one does; a cluster's blocks take turns in the same way. Where
// all wait, the kernel has a barrier that not all of them reach. Shared memory
// is full of NaNs before a launch, and what the launch gives before each block.
//
//===----------------------------------------------------------------------===//

#include "blocks.h"
#include <algorithm>
#include <boost/context/fiber.hpp>
#include <boost/context/fixedsize_stack.hpp>
#include <cstring>
#include <map>
#include <memory>

using namespace emulated;

namespace {

constexpr unsigned lanes = 32, alignment = 1024;
constexpr char notANumber = char(0xff); ///< where it is each byte

enum class Waits { no, forWarp, forBlock, forCluster, ended };

/// A thread of a block.
struct Fiber {
  Thread thread;
  Waits waits = Waits::ended;
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

struct Block {
  std::vector<std::unique_ptr<Fiber>> fibers;
  std::vector<Warp> warps;
  /// What kernels declared, while other blocks of the cluster run.
  std::vector<char> declared;
  std::vector<char> dynamic;
  std::map<size_t, Words> words; ///< of each barrier
  /// As aligned as shared memory is.
  char *begin() {
    const auto at = reinterpret_cast<uintptr_t>(dynamic.data());
    return dynamic.data() + (alignment - at % alignment) % alignment;
  }
  unsigned ended = 0, waiting = 0;   ///< threads; at the block's barrier
  bool said = false, answer = false; ///< at this barrier, and at the last one
};

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
  void arriveAtCluster() override;
  void waitForCluster() override;
  void *inBlock(void *mine, int rank) override;
  void expectWords(uint64_t *barrier, unsigned words) override;
  void sendWord(uint32_t *mine, uint64_t *barrier, int rank,
                uint32_t word) override;
  void waitForWords(uint64_t *barrier) override;
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
};

bool hasWork(const Later &later) {
  const auto isThere = [](const Later::Work &work) { return !work.empty(); };
  return isThere(later.copies) || isThere(later.open) ||
         std::any_of(later.copyGroups.begin(), later.copyGroups.end(),
                     isThere) ||
         std::any_of(later.groups.begin(), later.groups.end(), isThere);
}

/// Those who waited for what has come.
void release(Block &b, Waits what, size_t begin, size_t end) {
  for (size_t i = begin; i < end; ++i)
    if (b.fibers[i]->waits == what)
      b.fibers[i]->waits = Waits::no;
}

void Cluster::makeFiber(Fiber &fiber) {
  constexpr size_t stackBytes = 128 << 10;
  fiber.own = boost::context::fiber(
      std::allocator_arg, boost::context::fixedsize_stack(stackBytes),
      [this, &fiber](boost::context::fiber &&scheduler) {
        fiber.scheduler = std::move(scheduler);
        while (true) { // a fiber serves all blocks of the launch
          launch.kernel->run(launch.arguments);
          endThread();
        }
        return boost::context::fiber();
      });
}

void Cluster::begin(Block &b, unsigned number) {
  b.warps.assign((launch.threads + lanes - 1) / lanes, {});
  if (blocks.size() > 1)
    b.declared.assign(declaredBytes, notANumber);
  b.dynamic.assign(launch.shared + alignment, notANumber);
  b.words.clear();
  b.ended = b.waiting = 0;
  b.said = false;
  b.fibers.resize(launch.threads);
  for (unsigned i = 0; i < launch.threads; ++i) {
    auto &each = b.fibers[i];
    if (!each) {
      each = std::make_unique<Fiber>();
      makeFiber(*each);
    }
    each->thread.thread.x = i;
    each->thread.block.x = number;
    each->thread.threads = {launch.threads, 1, 1};
    each->thread.blocks = {launch.blocks, 1, 1};
    each->thread.later = {};
    each->waits = Waits::no;
    each->exchanges = each->phase = 0;
  }
}

std::string Cluster::run(unsigned first) {
  arrivedAtCluster = phases = 0;
  for (size_t i = 0; i < blocks.size(); ++i)
    begin(blocks[i], first + unsigned(i));
  while (true) {
    bool advanced = false, over = true;
    for (Block &each : blocks) {
      if (each.ended == launch.threads)
        continue;
      over = false;
      std::copy(each.declared.begin(), each.declared.end(), declared);
      advanced |= runBlock(each);
      std::copy_n(declared, each.declared.size(), each.declared.begin());
    }
    if (sendsTooMuch)
      return " is sent words that it does not expect";
    if (leavesWork)
      return " ends before what it copies or multiplies is done";
    if (over)
      return "";
    if (!advanced)
      return " waits for ever";
  }
}

/// Until none of its threads can go on: whether one did.
bool Cluster::runBlock(Block &b) {
  block = &b;
  dynamic = b.begin();
  bool advanced = false;
  for (bool again = true; again;) {
    again = false;
    for (unsigned i = 0; i < launch.threads; ++i) {
      const unsigned n = order == Order::forward ? i : launch.threads - 1 - i;
      if (b.fibers[n]->waits != Waits::no)
        continue;
      resume(*b.fibers[n]);
      again = advanced = true;
    }
  }
  return advanced;
}

void Cluster::resume(Fiber &f) {
  fiber = &f;
  thread = &f.thread;
  f.own = std::move(f.own).resume();
}

void Cluster::wait(Waits what) {
  Fiber &mine = *fiber;
  mine.waits = what;
  mine.scheduler = std::move(mine.scheduler).resume();
}

void Cluster::openBlockBarrier() {
  if (block->waiting == 0 || block->waiting + block->ended < launch.threads)
    return;
  block->answer = block->said;
  block->said = false;
  block->waiting = 0;
  release(*block, Waits::forBlock, 0, launch.threads);
}

void Cluster::openClusterBarrier() {
  unsigned ended = 0;
  for (const Block &each : blocks)
    ended += each.ended;
  if (arrivedAtCluster == 0 ||
      arrivedAtCluster + ended < launch.threads * blocks.size())
    return;
  arrivedAtCluster = 0;
  ++phases;
  for (Block &each : blocks)
    release(each, Waits::forCluster, 0, launch.threads);
}

/// No barrier waits for a thread that has ended.
void Cluster::endThread() {
  leavesWork |= hasWork(fiber->thread.later);
  ++block->ended;
  openBlockBarrier();
  openClusterBarrier();
  wait(Waits::ended);
}

bool Cluster::syncBlock(bool value) {
  Block &mine = *block;
  mine.said |= value;
  ++mine.waiting;
  fiber->waits = Waits::forBlock;
  openBlockBarrier();
  if (fiber->waits == Waits::forBlock)
    wait(Waits::forBlock);
  return mine.answer;
}

void Cluster::arriveAtCluster() {
  fiber->phase = phases + 1;
  ++arrivedAtCluster;
  openClusterBarrier();
}

void Cluster::waitForCluster() {
  Fiber &mine = *fiber;
  while (phases < mine.phase)
    wait(Waits::forCluster);
}

void *Cluster::inBlock(void *mine, int rank) {
  Block &theirs = blocks[size_t(rank)];
  if (&theirs == block)
    return mine;
  const auto *byte = static_cast<const char *>(mine);
  return byte >= declared && byte < declared + declaredBytes
             ? theirs.declared.data() + (byte - declared)
             : theirs.begin() + (byte - dynamic);
}

void Cluster::expectWords(uint64_t *barrier, unsigned words) {
  block->words[offsetOf(barrier)].missing = words;
}

void Cluster::sendWord(uint32_t *mine, uint64_t *barrier, int rank,
                       uint32_t word) {
  Block &theirs = blocks[size_t(rank)];
  const auto at = theirs.words.find(offsetOf(barrier));
  if (at == theirs.words.end() || at->second.missing == 0) {
    sendsTooMuch = true;
    return;
  }
  if (isLate)
    at->second.sent.push_back({offsetOf(mine), word});
  else
    std::memcpy(inBlock(mine, rank), &word, sizeof word);
  if (--at->second.missing == 0)
    release(theirs, Waits::forCluster, 0, launch.threads);
}

void Cluster::waitForWords(uint64_t *barrier) {
  const auto at = block->words.find(offsetOf(barrier));
  while (at == block->words.end() || at->second.missing > 0)
    wait(Waits::forCluster);
  Words &words = at->second;
  for (const auto &[to, value] : words.sent)
    std::memcpy(declared + to, &value, sizeof value);
  words.sent.clear();
}

Gpu::OfLanes Cluster::exchange(const void *mine, size_t bytes) {
  Fiber &f = *fiber;
  const unsigned number = f.thread.thread.x / lanes;
  Warp &warp = block->warps[number];
  const unsigned begin = number * lanes;
  const unsigned end = std::min(begin + lanes, launch.threads);
  auto &values = warp.values[f.exchanges++ % 2];
  std::memcpy(values[f.thread.thread.x % lanes], mine, bytes);
  if (++warp.arrived == end - begin) {
    warp.arrived = 0;
    ++warp.exchanges;
    release(*block, Waits::forWarp, begin, end);
  }
  while (warp.exchanges < f.exchanges)
    wait(Waits::forWarp);
  return values;
}

} // namespace

std::string emulated::run(const Launch &launch, Order order, bool isLate) {
  Cluster cluster(launch, order, isLate);
  for (unsigned first = 0; first < launch.blocks;
       first += launch.kernel->cluster)
    if (const std::string wrong = cluster.run(first); !wrong.empty())
      return std::string(launch.kernel->name) + ": block " +
             std::to_string(first) + wrong;
  return "";
}
