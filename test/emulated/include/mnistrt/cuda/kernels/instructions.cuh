//===- instructions.cuh - of an emulated GPU --------------------*- C++ -*-===//
//
// Stands for the runtime's header of this name, function by function.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_INSTRUCTIONS_CUH
#define MNISTRT_CUDA_KERNELS_INSTRUCTIONS_CUH

#include "mnistrt/cuda/launch.h"

namespace mn::device {

/// Kernels run one after the other.
inline void waitForEarlierKernel() {}
inline void startNextKernel() {}

inline void syncPart(int barrier, int threads) {
  emulated::gpu->syncPart(barrier, unsigned(threads));
}

inline void clusterArrive() { emulated::gpu->arriveAtCluster(); }
inline void clusterStart() { clusterArrive(); }
inline void clusterWait() { emulated::gpu->waitForCluster(); }
inline void clusterSync() {
  clusterArrive();
  clusterWait();
}
template <typename T> T *inBlock(T *mine, int rank) {
  return static_cast<T *>(
      emulated::gpu->inBlock(const_cast<std::remove_const_t<T> *>(mine), rank));
}

inline unsigned sharedAddress(const void *pointer) {
  return unsigned(__cvta_generic_to_shared(pointer));
}

inline void expectWords(uint64_t *barrier, unsigned words) {
  emulated::gpu->expectWords(barrier, words);
}
inline void sendWord(uint32_t *mine, uint64_t *barrier, int rank,
                     uint32_t word) {
  emulated::gpu->sendWord(mine, barrier, rank, word);
}
inline void waitForWords(uint64_t *barrier) {
  emulated::gpu->waitForWords(barrier);
}

inline int opaque(int n) { return n; }
template <typename T> T computedHere(T n) { return n; }
inline unsigned unknownZero() { return 0; }

inline uint64_t globalTime() {
  return uint64_t(std::chrono::nanoseconds(
                      std::chrono::steady_clock::now().time_since_epoch())
                      .count());
}
/// Of a GPU that has 132, if blocks were given to them in turn.
inline uint32_t multiprocessor() { return blockIdx.x % 132; }

#define dynamicShared (reinterpret_cast<uint4 *>(emulated::gpu->dynamic))

inline float loadAround(const float &from) { return from; }

template <int offset> void copyAsync(unsigned to, const uint4 *from) {
  auto *const at = emulated::sharedAt(to + offset);
  const char *const source = reinterpret_cast<const char *>(from) + offset;
  const auto copy = [=] { std::memcpy(at, source, sizeof(uint4)); };
  if (emulated::gpu->isLate)
    emulated::gpu->thread->later.copies.push_back(copy);
  else
    copy();
}
inline void commitCopies() {
  auto &later = emulated::gpu->thread->later;
  later.commit(later.copies, later.copyGroups);
}
template <int running> void waitForCopyGroups() {
  auto &later = emulated::gpu->thread->later;
  later.wait(later.copyGroups, running);
}
inline void makeArrivals(uint64_t *barrier) {
  emulated::gpu->makeArrivals(barrier);
}
inline void copyBulk(uint4 *to, const uint4 *from, unsigned bytes,
                     uint64_t *barrier) {
  emulated::gpu->copyBulk(to, from, bytes, barrier);
}
inline void waitForArrivals(uint64_t *barrier, bool isOdd) {
  emulated::gpu->waitForArrivals(barrier, isOdd);
}
inline void waitForCopies() {
  waitForCopyGroups<0>();
  emulated::Later::run(emulated::gpu->thread->later.copies);
}

} // namespace mn::device

#endif // MNISTRT_CUDA_KERNELS_INSTRUCTIONS_CUH
