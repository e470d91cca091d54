//===- simd.h - what fills registers ----------------------------*- C++ -*-===//

#ifndef MNISTRT_CPU_SIMD_H
#define MNISTRT_CPU_SIMD_H

#include "mnistrt/model.h"

namespace mn::detail {

template <typename T> struct Simd {
#ifdef __AVX__
  static constexpr int bytes = 32;
#else
  static constexpr int bytes = 16;
#endif
  static constexpr int lanes = bytes / sizeof(T);
  typedef T Vector __attribute__((vector_size(bytes)));
  /// One in memory, wherever its elements begin.
  typedef T Unaligned
      __attribute__((vector_size(bytes), aligned(sizeof(T)), may_alias));
};

/// Distances and numbers that the compiler should know, for SIMD.
template <int N> struct Fixed {
  constexpr operator int() const { return N; }
  friend constexpr Index operator*(int lane, Fixed) { return Index(lane) * N; }
};

} // namespace mn::detail

#endif // MNISTRT_CPU_SIMD_H
