//===- pool_plan.h - what all pools ask of their shape ----------*- C++ -*-===//

#ifndef MNISTRT_CPU_POOL_PLAN_H
#define MNISTRT_CPU_POOL_PLAN_H

#include "mnistrt/cpu/image.h"

namespace mn::detail {

struct PoolPlan {
  Windows w;
  int channels;
  bool countPads, columnMajor, inWindow;
  Strides in, out;

  explicit PoolPlan(const Pool &s)
      : w(s), channels(s.channels), countPads(s.countPads),
        columnMajor(s.columnMajor), inWindow(s.inWindow),
        in(s.layout, s.channels, w.in), out(s.layout, s.channels, w.out) {}

  /// How many elements the mean over window `o` is over, along `d`.
  int counted(int d, int o) const {
    int begin, end;
    if (countPads)
      w.kernelInside(d, o, -w.pads[d], w.in[d] + w.padsAfter[d], begin, end);
    else
      w.kernelInside(d, o, 0, w.in[d], begin, end);
    return end - begin;
  }
  /// The index into a window, of windows next to each other.
  int inItsWindow(const int (&at)[3]) const {
    return (at[0] % w.kernel[0] * w.kernel[1] + at[1] % w.kernel[1]) *
               w.kernel[2] +
           at[2] % w.kernel[2];
  }
  /// The index that argMaxPool gives for a position of the input.
  int64_t index(Index image, int channel, const int (&at)[3]) const {
    if (inWindow)
      return inItsWindow(at);
    const int64_t plane = image * channels + channel;
    const int64_t inside =
        columnMajor
            ? at[0] + int64_t(w.in[0]) * (at[1] + int64_t(w.in[1]) * at[2])
            : at[2] + int64_t(w.in[2]) * (at[1] + int64_t(w.in[1]) * at[0]);
    return plane * w.inSize() + inside;
  }
};

} // namespace mn::detail

#endif // MNISTRT_CPU_POOL_PLAN_H
