//===- pixels.h - what bytes become as floats -------------------*- C++ -*-===//
//
// For the kernel of cuda/kernels/transfer.cuh and for the host: both come to
// the same bits.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_PIXELS_H
#define MNISTRT_PIXELS_H

#include "mnistrt/math.h"

namespace mn {

/// A byte p becomes scale * p + shift, in double precision and then rounded.
struct Pixels {
  double scale = 1, shift = 0;

  bool operator==(const Pixels &) const = default;

  MN_FN float operator()(int p) const {
#ifdef __CUDA_ARCH__
    // Nothing fused.
    return float(__dadd_rn(__dmul_rn(double(p), scale), shift));
#else
    return float(p * scale + shift);
#endif
  }
};

} // namespace mn

#endif // MNISTRT_PIXELS_H
