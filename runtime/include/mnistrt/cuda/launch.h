//===- launch.h - how a kernel is started -----------------------*- C++ -*-===//
//
// The shape of a launch is computed from a step's sizes by constexpr functions
// that host and device share: the host launches with it, the kernel is compiled
// for it.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_LAUNCH_H
#define MNISTRT_CUDA_LAUNCH_H

#include "mnistrt/shapes.h"

#ifdef __CUDACC__
#define MN_SHAPE_FN __host__ __device__ constexpr
#define MN_DEVICE __device__ __forceinline__
#define MN_GLOBAL(threads) extern "C" __global__ void __launch_bounds__(threads)
/// The same, of a mn::LaunchShape whose blocks may form clusters.
#define MN_GLOBAL_BLOCKS(...)                                                  \
  extern "C" __global__ void __launch_bounds__((__VA_ARGS__).threads,          \
                                               (__VA_ARGS__).resident)
#if __CUDA_ARCH__ >= 900
#define MN_GLOBAL_CLUSTERS(...)                                                \
  MN_GLOBAL_BLOCKS(__VA_ARGS__)                                                \
  __cluster_dims__((__VA_ARGS__).cluster, 1, 1)
#else
#define MN_GLOBAL_CLUSTERS(...) MN_GLOBAL_BLOCKS(__VA_ARGS__)
#endif
#else
#define MN_SHAPE_FN constexpr
#include "mnistrt/model.h"
#endif

namespace mn {

struct LaunchShape {
  unsigned blocks = 1;
  unsigned threads = 32;
  unsigned cluster = 1; ///< blocks that can read each other's shared memory
  unsigned shared = 0;  ///< bytes of it, beyond what the kernel declares
  /// A block has so much to do that it should share no multiprocessor where
  /// there is one for each; and that all should have equally many of them.
  bool alone = false, spread = false;
  /// Blocks for which a multiprocessor should have registers; 0: as it comes.
  unsigned resident = 0;
};

/// Whether steps of other streams run beside that of a functor.
template <typename F>
concept RunsBeside = requires { requires F::runsBeside; };

namespace shape {

/// A launch with fewer blocks leaves a large GPU partly idle; one that sums
/// over much then has several blocks share a result.
inline constexpr int referenceSms = 132;

/// Whether fours of results side by side, 16 bytes a load, leave no thread
/// without work: four elements for each of 1024 threads a multiprocessor.
MN_SHAPE_FN bool hasFoursOfResults(const Reduce &s) {
  return s.outputs % 32 == 0 &&
         s.outputs * s.size >= int64_t(4) * 1024 * referenceSms;
}

/// So many threads, at most `most`, have a row of elements that are next to
/// each other: each has eight of them, in a warp more, up to 64, but half a
/// large GPU's threads have some. With 256 threads for 784 elements of two
/// bytes the means of 32,768 rows took 87 us on one H200, with 32 they take 23.
MN_SHAPE_FN int threadsOfRow(const Reduce &s, int most) {
  int threads = 8;
  while (threads < most && 2 * threads < s.size &&
         (s.size > (threads < 32 ? 8 : 64) * int64_t(threads) ||
          s.outputs * threads < int64_t(512) * referenceSms))
    threads *= 2;
  return threads;
}

/// What every GPU that knows clusters can run.
inline constexpr int largestCluster = 8;

/// Clusters of so many blocks that run at once on a large GPU where each block
/// has a multiprocessor: an H100, whose clusters are each within a part of it.
MN_SHAPE_FN int clustersAtOnce(int blocks) {
  constexpr int most[largestCluster] = {referenceSms, 66, 39, 30,
                                        22,           17, 15, 15};
  return most[blocks - 1];
}

template <typename N> MN_SHAPE_FN N ceilDiv(N a, N b) {
  return (a + b - 1) / b;
}
/// The smallest power of two that is `n` or more.
MN_SHAPE_FN int powerFrom(int n) {
  int power = 1;
  while (power < n)
    power *= 2;
  return power;
}
template <typename N> MN_SHAPE_FN N min(N a, N b) { return a < b ? a : b; }
template <typename N> MN_SHAPE_FN N max(N a, N b) { return a < b ? b : a; }

/// Blocks of a cluster where `splits` blocks share a result: all of them, or
/// as many as there may be.
MN_SHAPE_FN int clusterOf(int splits) {
  return splits <= largestCluster       ? splits
         : splits % largestCluster == 0 ? largestCluster
                                        : 1;
}

/// Threads that each make one of `count` results.
MN_SHAPE_FN LaunchShape each(int64_t count) {
  const int64_t threads = 256;
  const int64_t blocks = ceilDiv(max<int64_t>(count, 1), threads);
  return {static_cast<unsigned>(min<int64_t>(blocks, 1 << 20)),
          static_cast<unsigned>(threads)};
}

} // namespace shape

#ifndef __CUDACC__
/// Of the kernel that packs filters for another (conv_patch_filters.cuh).
inline constexpr char filtersSuffix[] = "_filters";

/// Enqueues a kernel of the model's code, or another one of the same step,
/// whose name ends in `suffix`. What goes wrong is kept in the context and
/// reported, with the step's name, by who runs the steps.
void launch(Context &ctx, const char *kernel, LaunchShape shape,
            void **arguments, size_t count, const char *suffix);

/// Memory of the device that the step keeps: the same whenever it runs, of
/// which the first time says how much.
void *stepMemory(Context &ctx, size_t bytes);

template <size_t count>
void launch(Context &ctx, const char *kernel, LaunchShape shape,
            void *(&arguments)[count], const char *suffix = "") {
  launch(ctx, kernel, shape, arguments, count, suffix);
}

template <typename F>
void launch(Context &ctx, const char *kernel, LaunchShape shape,
            const F &functor, const char *suffix = "") {
  void *arguments[] = {const_cast<F *>(&functor)};
  launch(ctx, kernel, shape, arguments, suffix);
}
#endif

} // namespace mn

#endif // MNISTRT_CUDA_LAUNCH_H
