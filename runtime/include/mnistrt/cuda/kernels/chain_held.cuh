//===- chain_held.cuh - a chain's products of odd matrices ------*- C++ -*-===//
//
// Several products on tensor cores, of matrices whose lines do not begin at
// multiples of four elements, as those of 49 tokens: lanes that load and store
// for themselves, as in chain_fragments.cuh, then have one element at a time,
// and a warp touches eight lines for it. Here a block copies the operands of
// some matrices to shared memory, and the results, which take their place
// there, to memory, in the order in which they are there.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_CHAIN_HELD_CUH
#define MNISTRT_CUDA_KERNELS_CHAIN_HELD_CUH

#include "mnistrt/cuda/kernels/chain_fragments.cuh"

#ifdef __CUDACC__

namespace mn::device {

/// Operands in shared memory, as they follow each other in memory.
struct HeldOperands {
  const float *a, *b;
  MN_DEVICE float loadA(Index i) const { return a[i]; }
  MN_DEVICE float loadB(Index i) const { return b[i]; }
};

/// A block has at most `most` of the matrices.
template <typename F, Matmul S, int most> struct HeldFragments {
  static constexpr Mma mma = S.schedule.mma;
  static constexpr int threads = shape::chainThreads, warps = threads / 32;
  static constexpr int wide = S.n <= 8 ? 1 : S.n <= 16 ? 2 : 4;
  static constexpr int tall = shape::ceilDiv(S.m, 16);
  static constexpr int across = shape::ceilDiv(S.n, 8 * wide);
  static constexpr int ofA = S.m * S.k, ofB = S.n * S.k, ofResult = S.m * S.n;
  using Fragments = FragmentSums<S, wide>;
  using Part = OperandsOfPart<HeldOperands, S, Fragments::kFits>;

  /// Matrices at once, of which a warp has at most a part: their operands, and
  /// then their results, have a place.
  static constexpr int atOnce =
      shape::min(shape::min(most, warps / (tall * across)),
                 int(shape::chainMemoryOfMma / sizeof(float)) /
                     shape::max(ofA + ofB, ofResult));

  /// Whether that is better than lanes that load and store for themselves.
  static constexpr bool isBetter = atOnce > 0 &&
                                   (S.k % 4 != 0 || S.n % 4 != 0) &&
                                   most *(ofA + ofB + ofResult) > 4 * threads;

  static MN_DEVICE void bring(const F &f, float *held, Index first, int some) {
    using Lines = HeldLines<float, S.k>;
    constexpr int together = 8; // loads of an operand that are on their way
    const auto a = Lines::template operand<atOnce * ofA, 1, together>(
        some * ofA, [&](int e, int) { return float(f.loadA(first * ofA + e)); },
        [](int e) { return e; });
    const auto b = Lines::template operand<atOnce * ofB, 1, together>(
        some * ofB, [&](int e, int) { return float(f.loadB(first * ofB + e)); },
        [](int e) { return atOnce * ofA + e; });
    Lines::bring(held, a, b);
  }

  /// To where the results of the part's matrix begin; `number`: that of the
  /// matrix.
  static MN_DEVICE void leave(const F &f, float *results, const Part &part,
                              const typename Fragments::Sums &sum,
                              Index number) {
    Fragments::eachSum([&](int i, int row, int column) {
      const int line = part.row + row, other = part.column + column;
      if (line >= S.m || other >= S.n)
        return;
      const float v = sum[i / 4][i % 4];
      const bool isLost = mma == Mma::tf32x3 && v != v;
      results[line * S.n + other] =
          isLost ? exactSum<S>(f, number * ofA, number * ofB, line, other) : v;
    });
  }

  static MN_DEVICE void runSome(const F &f, float *held, Index first,
                                int some) {
    bring(f, held, first, some);
    __syncthreads();
    const int p = int(threadIdx.x) / 32;
    const int matrix = p / (tall * across), tile = p % (tall * across);
    const HeldOperands operands = {held, held + atOnce * ofA};
    const Part part = {operands,
                       matrix * ofA,
                       matrix * ofB,
                       tile / across * 16,
                       tile % across * wide * 8,
                       S.m - 1};
    const bool hasPart = matrix < some;
    typename Fragments::Sums sum = {};
    if (hasPart)
      Fragments::addUp(sum, part);
    __syncthreads(); // before results are where operands were
    if (hasPart)
      leave(f, held + matrix * ofResult, part, sum, first + matrix);
    __syncthreads();
    constexpr int turns = shape::ceilDiv(atOnce * ofResult, threads);
    storeEach<turns>(
        f, int(threadIdx.x), threads, some * ofResult, [](int) { return true; },
        [&](int e) { return first * ofResult + e; },
        [&](int e, bool isThere) { return held[isThere ? e : 0]; });
  }

  static MN_DEVICE void run(const F &f, const ChainRows &here) {
    float *held = reinterpret_cast<float *>(chainMemory());
#pragma unroll 1
    for (int done = 0; done < here.count; done += atOnce) {
      if (done > 0)
        __syncthreads(); // before the next ones are written
      runSome(f, held, Index(here.first + done),
              shape::min(atOnce, here.count - done));
    }
  }
};

} // namespace mn::device

#endif // __CUDACC__

#endif // MNISTRT_CUDA_KERNELS_CHAIN_HELD_CUH
