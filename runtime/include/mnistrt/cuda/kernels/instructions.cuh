//===- instructions.cuh - what C++ has no name for --------------*- C++ -*-===//
//
// Instructions of the GPU that kernels use, but for those of the tensor cores
// (mma_instructions.cuh). Only these two headers have assembly. Device only.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_INSTRUCTIONS_CUH
#define MNISTRT_CUDA_KERNELS_INSTRUCTIONS_CUH

#include "mnistrt/cuda/launch.h"

#ifdef __CUDACC__

namespace mn::device {

/// On GPUs whose kernels may overlap: waits for the kernel before this one.
MN_DEVICE void waitForEarlierKernel() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
/// And lets the next one be started, once all blocks have said so or ended.
MN_DEVICE void startNextKernel() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// Waits for `threads` of the block, whole warps: those that use barrier number
/// `barrier`, from 1 on. (Barrier 0 is __syncthreads()'s.)
MN_DEVICE void syncPart(int barrier, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

/// Waits for all threads of the cluster; what they wrote before can be read.
MN_DEVICE void clusterSync() {
  asm volatile("barrier.cluster.arrive.release.aligned;\n"
               "barrier.cluster.wait.acquire.aligned;" ::
                   : "memory");
}

/// Says that this block no longer reads others' shared memory, and waits for
/// the others to say so. Only a release keeps its earlier reads before it: else
/// ptxas moves them to where their values are used, when the others may be
/// gone.
MN_DEVICE void clusterArrive() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}
MN_DEVICE void clusterWait() {
  asm volatile("barrier.cluster.wait.aligned;" ::: "memory");
}

/// Says that this block runs, so that others may use its shared memory once
/// they have waited. Nothing that it wrote need be seen.
MN_DEVICE void clusterStart() {
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
}

/// Where block number `rank` of the cluster has what is `mine` in this block's
/// shared memory.
template <typename T> MN_DEVICE T *inBlock(T *mine, int rank) {
  T *its;
  asm("mapa.u64 %0, %1, %2;" : "=l"(its) : "l"(mine), "r"(rank));
  return its;
}

/// An address in shared memory, as instructions take it.
template <typename T> MN_DEVICE unsigned sharedAddress(const T *pointer) {
  return unsigned(__cvta_generic_to_shared(pointer));
}

/// Words that blocks of a cluster send each other: a barrier in shared memory
/// opens once, when `words` of them have come. By one thread, before
/// clusterStart(). Unlike a barrier of the cluster it waits for no other
/// writes.
MN_DEVICE void expectWords(uint64_t *barrier, unsigned words) {
  asm volatile(
      "mbarrier.init.shared::cta.b64 [%0], 1;\n"
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;\n"
      "fence.mbarrier_init.release.cluster;" ::"r"(sharedAddress(barrier)),
      "r"(4 * words)
      : "memory");
}
/// To where block number `rank` has what is `mine` in this block's.
MN_DEVICE void sendWord(uint32_t *mine, uint64_t *barrier, int rank,
                        uint32_t word) {
  asm volatile("{\n"
               ".reg .b32 to, at;\n"
               "mapa.shared::cluster.u32 to, %0, %2;\n"
               "mapa.shared::cluster.u32 at, %1, %2;\n"
               "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32"
               " [to], %3, [at];\n"
               "}" ::"r"(sharedAddress(mine)),
               "r"(sharedAddress(barrier)), "r"(rank), "r"(word)
               : "memory");
}
MN_DEVICE void waitForWords(uint64_t *barrier) {
  unsigned isOpen;
  do
    asm volatile("{\n"
                 ".reg .pred open;\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 open, [%1], 0;\n"
                 "selp.u32 %0, 1, 0, open;\n"
                 "}"
                 : "=r"(isOpen)
                 : "r"(sharedAddress(barrier))
                 : "memory");
  while (isOpen == 0);
}

/// The same number, of which the compiler knows nothing: it peels no turns off
/// a loop that ends there. Else a convolution's code may be twice as long and
/// take ptxas 13 times as long.
MN_DEVICE int opaque(int n) {
  asm("" : "+r"(n));
  return n;
}
MN_DEVICE int64_t opaque(int64_t n) {
  asm("" : "+l"(n));
  return n;
}

/// The same number, which is computed here: the compiler would compute it where
/// it is used, after what is waited for in between.
MN_DEVICE int computedHere(int n) {
  asm volatile("" : "+r"(n));
  return n;
}
MN_DEVICE int64_t computedHere(int64_t n) {
  asm volatile("" : "+l"(n));
  return n;
}

/// 0, of which the compiler knows nothing.
MN_DEVICE unsigned unknownZero() {
  unsigned mine, before;
  asm("mov.u32 %0, %lanemask_eq;" : "=r"(mine));
  asm("mov.u32 %0, %lanemask_lt;" : "=r"(before));
  return mine & before;
}

/// Nanoseconds of a clock that all multiprocessors read, of which it counts
/// some at a time: 32 on an H100.
MN_DEVICE uint64_t globalTime() {
  uint64_t time;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(time)::"memory");
  return time;
}

/// The number of the multiprocessor that the block is on.
MN_DEVICE uint32_t multiprocessor() {
  uint32_t number;
  asm volatile("mov.u32 %0, %smid;" : "=r"(number));
  return number;
}

/// What is at `from`; the L2 cache gets the 256 bytes around it.
MN_DEVICE float loadAround(const float &from) {
  float v;
  asm volatile("ld.global.L2::256B.f32 %0, [%1];" : "=f"(v) : "l"(&from));
  return v;
}

/// As many bytes as the launch's shape says.
extern __shared__ uint4 dynamicShared[];

/// Begins to copy 16 bytes to shared memory, both so many bytes further.
template <int offset> MN_DEVICE void copyAsync(unsigned to, const uint4 *from) {
  asm volatile("cp.async.cg.shared.global [%0 + %2], [%1 + %2], 16;" ::"r"(to),
               "l"(from), "n"(offset)
               : "memory");
}
/// What it has begun since the last time is a group; and until all but the last
/// `running` groups are there.
MN_DEVICE void commitCopies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
template <int running> MN_DEVICE void waitForCopyGroups() {
  asm volatile("cp.async.wait_group %0;" ::"n"(running) : "memory");
}
/// Copies of any size, by one thread: a barrier in shared memory, which another
/// barrier makes known to the block, opens once when what was begun is there,
/// and then again for the next copy.
MN_DEVICE void makeArrivals(uint64_t *barrier) {
  asm volatile(
      "mbarrier.init.shared::cta.b64 [%0], 1;\n"
      "fence.mbarrier_init.release.cluster;" ::"r"(sharedAddress(barrier))
      : "memory");
}
/// Both at multiples of 16 bytes, as is their number.
MN_DEVICE void copyBulk(uint4 *to, const uint4 *from, unsigned bytes,
                        uint64_t *barrier) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%3], %2;\n"
      "cp.async.bulk.shared::cluster.global.mbarrier"
      "::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(sharedAddress(to)),
      "l"(from), "r"(bytes), "r"(sharedAddress(barrier))
      : "memory");
}
/// Until it has opened an odd number of times, or an even one.
MN_DEVICE void waitForArrivals(uint64_t *barrier, bool isOdd) {
  unsigned isOpen;
  do
    asm volatile("{\n"
                 ".reg .pred open;\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 open, [%1], %2;\n"
                 "selp.u32 %0, 1, 0, open;\n"
                 "}"
                 : "=r"(isOpen)
                 : "r"(sharedAddress(barrier)), "r"(isOdd ? 0 : 1)
                 : "memory");
  while (isOpen == 0);
}

/// Until all that the thread has begun to copy is there.
MN_DEVICE void waitForCopies() {
  asm volatile("cp.async.wait_all;" ::: "memory");
}

} // namespace mn::device

#endif // __CUDACC__
#endif // MNISTRT_CUDA_KERNELS_INSTRUCTIONS_CUH
