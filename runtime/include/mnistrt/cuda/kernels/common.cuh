//===- common.cuh - what all kernels use ------------------------*- C++ -*-===//
//
// Warp shuffles of any type, and how blocks share one result: a few read their
// parts in each other's shared memory or send them there (clusters), many write
// them to scratch memory, where the last to arrive sums them. The order is
// fixed, whichever is the last. Device only.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_COMMON_CUH
#define MNISTRT_CUDA_KERNELS_COMMON_CUH

#include "mnistrt/cuda/kernels/timestamps.cuh"
#include "mnistrt/math.h"

#ifdef __CUDACC__

namespace mn::device {

#if __CUDA_ARCH__ >= 900
inline constexpr bool hasClusters = true;
#else
inline constexpr bool hasClusters = false;
#endif

/// A functor, which is pointers to tensors, of which the compiler knows where
/// tensors begin: at multiples of 16 bytes. What is adjacent it may then load
/// and store at once.
template <typename F> MN_DEVICE F withAlignedTensors(const F &f) {
  constexpr int count = int(sizeof(F) / sizeof(char *));
  static_assert(count * sizeof(char *) == sizeof(F));
  char *pointers[count];
  memcpy(pointers, &f, sizeof(F));
#pragma unroll
  for (int i = 0; i < count; ++i)
    pointers[i] =
        static_cast<char *>(__builtin_assume_aligned(pointers[i], 16));
  F aligned;
  memcpy(&aligned, pointers, sizeof(F));
  return aligned;
}

template <typename T, int n> struct Copied {
  T v[n];
};
/// `n` elements from `first` on, which is at a multiple of their bytes, or of
/// 16: they are loaded at once.
template <int n, typename T> MN_DEVICE Copied<T, n> copiedFrom(const T &first) {
  Copied<T, n> copied;
  memcpy(&copied,
         __builtin_assume_aligned(&first,
                                  sizeof(copied) < 16 ? sizeof(copied) : 16),
         sizeof(copied));
  return copied;
}

template <typename T> MN_DEVICE T shuffleXor(T v, int lanes) {
  if constexpr (sizeof(T) < 4)
    return T(__shfl_xor_sync(0xffffffffu, int(v), lanes));
  else
    return __shfl_xor_sync(0xffffffffu, v, lanes);
}

/// Of the state of a reduction.
template <typename State> MN_DEVICE State shuffleState(State s, int lanes) {
  s.value = shuffleXor(s.value, lanes);
  if constexpr (requires { s.index; })
    s.index = shuffleXor(s.index, lanes);
  return s;
}

/// Of anything that may be copied byte by byte.
template <typename T> MN_DEVICE T shuffleBytes(const T &v, int lanes) {
  constexpr int count = int(sizeof(T) + 3) / 4;
  unsigned words[count] = {};
  memcpy(words, &v, sizeof(T));
#pragma unroll
  for (int i = 0; i < count; ++i)
    words[i] = shuffleXor(words[i], lanes);
  T other;
  memcpy(&other, words, sizeof(T));
  return other;
}

/// Which lanes of a warp are members of one team of `size` threads, of as many
/// as a block has columns: neighbours if it goes `along` elements, else as far
/// apart as there are columns.
template <bool along, int size, int columns> struct TeamLanes {
  static constexpr int columnsOfWarp =
      along ? 32 / shape::min(size, 32) : shape::min(columns, 32);
  static constexpr int members = 32 / columnsOfWarp; ///< in one warp
  static constexpr int warps = size / members;
  // How far apart they are, at most and at least.
  static constexpr int widest = along ? members / 2 : 16;
  static constexpr int narrowest = along ? 1 : columnsOfWarp;
};

/// States of sums that blocks of a cluster send each other: of each of `blocks`
/// one for each of `rows` rows.
template <typename State, int blocks, int rows> struct SentStates {
  static constexpr int words = int(sizeof(State) + 3) / 4;
  uint32_t word[blocks][rows][words];
  uint64_t barrier;

  /// By one thread, before clusterStart().
  MN_DEVICE void expect() { expectWords(&barrier, blocks * rows * words); }
  /// That of block number `from` to number `to` of the cluster.
  MN_DEVICE void send(const State &s, int from, int row, int to) {
    uint32_t all[words] = {};
    memcpy(all, &s, sizeof(State));
#pragma unroll
    for (int i = 0; i < words; ++i)
      sendWord(&word[from][row][i], &barrier, to, all[i]);
  }
  MN_DEVICE void wait() { waitForWords(&barrier); }
  MN_DEVICE State at(int from, int row) const {
    State s;
    memcpy(&s, word[from][row], sizeof(State));
    return s;
  }
};

/// Whether this block is the last of `blocks` that share a result, all of
/// which have written their parts. One thread's fence stands for all of them:
/// the barriers before and after it order what the others wrote and will read.
MN_DEVICE bool lastToArrive(unsigned *ticket, unsigned blocks) {
  __shared__ bool last;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    last = atomicAdd(ticket, 1u) == blocks - 1;
    if (last)
      *ticket = 0; // for the next launch
    __threadfence();
  }
  __syncthreads();
  return last;
}

/// Adds up `N` numbers of each lane over the lanes of a warp, `lanes` apart
/// and less: at each turn a lane keeps one half of the numbers and hands on the
/// other. It ends with the sums number `first` to `first + count`, in v.
template <int lanes, int N, typename T>
MN_DEVICE void sumOverLanes(T (&v)[N], int &first, int &count) {
  constexpr int half = (N + 1) / 2;
  const bool upper = threadIdx.x & lanes;
  T kept[half];
#pragma unroll
  for (int i = 0; i < half; ++i) {
    const T high = half + i < N ? v[half + i < N ? half + i : 0] : T(0);
    const T mine = upper ? high : v[i], other = upper ? v[i] : high;
    kept[i] = mine + shuffleXor(other, lanes);
  }
  first += upper ? half : 0;
  count =
      upper ? (count > half ? count - half : 0) : (count < half ? count : half);
  if constexpr (lanes > 1)
    sumOverLanes<lanes / 2>(kept, first, count);
#pragma unroll
  for (int i = 0; i < half; ++i)
    v[i] = kept[i];
}

template <bool first, typename A, typename B> struct Choice {
  using Type = A;
};
template <typename A, typename B> struct Choice<false, A, B> {
  using Type = B;
};

/// A number of an element of what is reduced.
template <Reduce S>
using RowNumber = typename Choice<(S.size > 1 << 30), int64_t, int>::Type;

/// Scratch memory of one kernel: `parts` numbers and a ticket for each of
/// `results` groups of blocks. Tickets start as 0 and are left so.
template <typename T, long long parts, int results> struct Scratch {
  alignas(16) T part[parts];
  unsigned ticket[results];
};

/// What a kernel has that needs none.
struct NoScratch {};

} // namespace mn::device

#endif // __CUDACC__
#endif // MNISTRT_CUDA_KERNELS_COMMON_CUH
