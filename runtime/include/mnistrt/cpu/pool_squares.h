//===- pool_squares.h - gradients of pools of 2 x 2 -------------*- C++ -*-===//
//
// The usual pool, in nchw: squares of 2 x 2 elements next to each other that
// cover the image. Each thread computes the squares of a plane, one row of them
// after the other.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CPU_POOL_SQUARES_H
#define MNISTRT_CPU_POOL_SQUARES_H

#include "mnistrt/cpu/parallel.h"
#include "mnistrt/cpu/pool_plan.h"

namespace mn::detail {

inline bool hasSquares(const Pool &s, const PoolPlan &p) {
  if (s.layout != Layout::nchw && s.channels != 1)
    return false;
  for (int d = 0; d < 3; ++d) {
    const int side = d == 0 ? 1 : 2;
    if (p.w.kernel[d] != side || p.w.strides[d] != side || p.w.pads[d] != 0 ||
        p.w.dilations[d] != 1 || p.w.in[d] != side * p.w.out[d])
      return false;
  }
  return true;
}

/// Stores what squares hand on: to element number winner(first, below, result)
/// of each, counted by rows, the value of its result, to the others 0; `first`
/// and `below` are where its rows begin. All numbers are of one type, for SIMD.
template <typename T, typename F, typename Winner, typename Value>
void squaresGrad(const Pool &s, const PoolPlan &p, const F &functor,
                 const Winner &winner, const Value &value) {
  const Index width = p.w.in[2], half = p.w.out[2];
  const Index rows = Index(p.w.out[0]) * p.w.out[1];
  parallelFor(Index(s.batch) * s.channels, 2 * p.w.inSize(),
              [&](int64_t plane) {
                // Copies, whose pointers no store can change.
                const F f = functor;
                const Winner wins = winner;
                const Value valueOf = value;
                for (Index row = 0; row < rows; ++row) {
                  const Index in = (plane * rows + row) * 2 * width;
                  const Index out = (plane * rows + row) * half;
                  MN_INDEPENDENT
                  for (Index x = 0; x < half; ++x) {
                    const Index first = in + 2 * x, below = first + width;
                    const int best = wins(first, below, out + x);
                    const T v = valueOf(out + x);
                    f.store(first, best == T(0) ? v : T(0));
                    f.store(first + 1, best == T(1) ? v : T(0));
                    f.store(below, best == T(2) ? v : T(0));
                    f.store(below + 1, best == T(3) ? v : T(0));
                  }
                }
              });
}

/// The first largest of four; NaN is the largest.
template <typename T> MN_INLINED T largestOf(T a, T b, T c, T d) {
  const auto wins = [](T x, T best) {
    return (x > best) | ((x != x) & (best == best));
  };
  const bool right = wins(b, a);
  const T above = right ? b : a;
  const bool low = wins(c, above);
  const T three = low ? c : above;
  return wins(d, three) ? T(3) : low ? T(2) : right ? T(1) : T(0);
}

} // namespace mn::detail

#endif // MNISTRT_CPU_POOL_SQUARES_H
