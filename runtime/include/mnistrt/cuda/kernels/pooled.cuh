//===- pooled.cuh - a window of a pool, element by element ------*- C++ -*-===//

#ifndef MNISTRT_CUDA_KERNELS_POOLED_CUH
#define MNISTRT_CUDA_KERNELS_POOLED_CUH

#include "mnistrt/cuda/kernels/common.cuh"
#include "mnistrt/reductions.h"

#ifdef __CUDACC__

namespace mn::device {

/// Whether a functor stores where the maxima are. (NVRTC 13.0 crashes on a
/// requires expression in a lambda.)
template <typename F>
concept StoresIndices =
    requires(const F &f) { f.storeIndex(Index(0), int64_t(0)); };

/// The largest element, of equal ones the first, and its number; in any order.
template <typename T, bool mean> struct Pooled {
  static constexpr int none = 1 << 30;
  T value = Limits<T>::lowest();
  int number = none;

  MN_DEVICE void see(T v, int n) {
    if (ArgMaxFirst::wins(v, value) ||
        (n < number && !ArgMaxFirst::wins(value, v))) {
      value = v;
      number = n;
    }
  }
  /// One that comes after all others.
  MN_DEVICE void seeNext(T v, int n) {
    // As ArgMaxFirst::wins(), with a comparison less.
    if (number == none || (!(v <= value) && value == value)) {
      value = v;
      number = n;
    }
  }
  /// With the window's part that the lane `other` away has.
  MN_DEVICE void join(int other) {
    const T v = __shfl_xor_sync(~0u, value, other);
    const int n = __shfl_xor_sync(~0u, number, other);
    if (n != none)
      see(v, n);
  }
};

/// The sum, and how many there were.
template <typename T> struct Pooled<T, true> {
  T sum = 0;
  int count = 0;

  MN_DEVICE void see(T v, int) {
    sum += v;
    ++count;
  }
  MN_DEVICE void seeNext(T v, int n) { see(v, n); }
  MN_DEVICE void join(int other) {
    sum += __shfl_xor_sync(~0u, sum, other);
    count += __shfl_xor_sync(~0u, count, other);
  }
};

} // namespace mn::device

#endif // __CUDACC__
#endif // MNISTRT_CUDA_KERNELS_POOLED_CUH
