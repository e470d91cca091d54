//===- blocks.cpp - runs the blocks of a launch ---------------------------===//
//
// Each thread of a block is a fiber. It runs until it waits for others, and
// then the next one does; a cluster's blocks take turns in the same way. Where
// all wait, the kernel has a barrier that not all of them reach. Shared memory
// is full of NaNs before a launch, and what the launch gives before each block.
//
//===----------------------------------------------------------------------===//

#include "cluster.h"
#include <boost/context/fixedsize_stack.hpp>
#include <cstring>
#include <malloc.h>

using namespace emulated;

/// The stacks of one launch are those of the next: not given back to the system
/// between them.
[[maybe_unused]] static const bool keepsMemory =
    mallopt(M_MMAP_THRESHOLD, 1 << 30) && mallopt(M_TRIM_THRESHOLD, 1 << 30);

static bool hasWork(const Later &later) {
  const auto isThere = [](const Later::Work &work) { return !work.empty(); };
  return isThere(later.copies) || isThere(later.open) ||
         std::any_of(later.copyGroups.begin(), later.copyGroups.end(),
                     isThere) ||
         std::any_of(later.groups.begin(), later.groups.end(), isThere);
}

/// Whether words may still arrive, or nobody has waited for those that have.
static bool expectsWords(const Block &b) {
  return std::any_of(b.words.begin(), b.words.end(), [](const auto &each) {
    return each.second.missing > 0 || !each.second.sent.empty();
  });
}

/// Whether nobody has waited for a copy.
static bool leavesCopies(const Block &b) {
  return std::any_of(
      b.arrivals.begin(), b.arrivals.end(),
      [](const auto &each) { return each.second.opened < each.second.begun; });
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
  b.dynamic.assign(launch.shared, alignment, notANumber);
  b.words.clear();
  b.inPart.clear();
  b.arrivals.clear();
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
    if (waitsWrongly)
      return " copies before those before have arrived, or to no barrier";
    if (over && std::any_of(blocks.begin(), blocks.end(), leavesCopies))
      return " ends before what it copies has arrived";
    if (over && std::any_of(blocks.begin(), blocks.end(), expectsWords))
      return " ends before the words that it expects are there";
    if (over)
      return "";
    if (!advanced)
      return " waits for ever";
  }
}

/// Until none of its threads can go on: whether one did.
bool Cluster::runBlock(Block &b) {
  block = &b;
  dynamic = b.dynamic.data();
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

void Cluster::syncPart(int barrier, unsigned threads) {
  if (++block->inPart[barrier] < threads) {
    fiber->barrier = barrier;
    wait(Waits::forPart);
    return;
  }
  block->inPart[barrier] = 0;
  for (const std::unique_ptr<Fiber> &each : block->fibers)
    if (each->waits == Waits::forPart && each->barrier == barrier)
      each->waits = Waits::no;
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
             : theirs.dynamic.data() + (byte - dynamic);
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

std::string emulated::run(const Launch &launch, Order order, bool isLate) {
  Cluster cluster(launch, order, isLate);
  const unsigned each = launch.kernel->cluster, all = launch.blocks / each;
  for (unsigned i = 0; i < all; ++i) {
    const unsigned first = (order == Order::forward ? i : all - 1 - i) * each;
    if (const std::string wrong = cluster.run(first); !wrong.empty())
      return std::string(launch.kernel->name) + ": block " +
             std::to_string(first) + wrong;
  }
  return "";
}
