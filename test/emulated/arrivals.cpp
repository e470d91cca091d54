//===- arrivals.cpp - what blocks send each other, and copy ---------------===//
//
// Words that come from other blocks of a cluster, and copies that one thread
// begins, each with a barrier that opens when all is there.
//
//===----------------------------------------------------------------------===//

#include "cluster.h"
#include <cstring>

using namespace emulated;

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

void Cluster::makeArrivals(const uint64_t *barrier) {
  block->arrivals[barrier] = {};
}

void Cluster::copyBulk(void *to, const void *from, size_t bytes,
                       const uint64_t *barrier) {
  const auto at = block->arrivals.find(barrier);
  // A barrier counts one copy at a time.
  if (at == block->arrivals.end() || at->second.opened < at->second.begun) {
    waitsWrongly = true;
    return;
  }
  const auto copy = [=] { std::memcpy(to, from, bytes); };
  ++at->second.begun;
  release(*block, Waits::forCopies, 0, launch.threads);
  if (isLate)
    at->second.copies.push_back(copy);
  else
    copy();
}

void Cluster::waitForArrivals(const uint64_t *barrier, bool isOdd) {
  const auto at = block->arrivals.find(barrier);
  if (at == block->arrivals.end()) {
    waitsWrongly = true;
    return;
  }
  Arrivals &arrivals = at->second;
  while (arrivals.opened % 2 != unsigned(isOdd) &&
         arrivals.begun == arrivals.opened)
    wait(Waits::forCopies);
  if (arrivals.opened % 2 == unsigned(isOdd))
    return;
  Later::run(arrivals.copies);
  arrivals.opened = arrivals.begun;
}
