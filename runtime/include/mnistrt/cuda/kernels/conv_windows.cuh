//===- conv_windows.cuh - what the windows of a convolution are -*- C++ -*-===//
//
// A convolution sums channels of an image in windows. So does the gradient of
// its input: windows of the output's gradient, with the filter turned around.
// With strides, the pixels at equal places modulo the strides are a phase: they
// are read by the same taps, and the gradient at them is a convolution with
// strides of 1 and a part of the filter. The phases have sizes alike; what is
// too much is neither read nor stored.
//
// A convolution with strides has strides of 1 in folded images (space to depth,
// in ONNX): those whose pixels are strides x strides pixels, each with channels
// of its own. Its windows reach whole ones; taps that the filter has not got
// are 0.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_CONV_WINDOWS_CUH
#define MNISTRT_CUDA_KERNELS_CONV_WINDOWS_CUH

#include "mnistrt/cuda/launch.h"

namespace mn {

namespace shape {

/// Sums over `channels` of images and the taps of windows, of each group and
/// each phase of the results.
struct Windows {
  int spatial = 2;
  int batch = 1;
  int groups = 1;
  int channels = 1; ///< that are summed, of a group
  int results = 1;  ///< channels of the result, of a group
  int in[3] = {1, 1, 1};
  int out[3] = {1, 1, 1};    ///< of a phase
  int kernel[3] = {1, 1, 1}; ///< of a phase
  int pads[3] = {0, 0, 0};   ///< of the first phase
  int strides[3] = {1, 1, 1};
  int dilations[3] = {1, 1, 1};
  int phases[3] = {1, 1, 1}; ///< along each dimension
  int folds[3] = {1, 1, 1};  ///< pixels along each dimension of a folded one
  Mma mma = Mma::ffma;
  PoolWindows pool = {};  ///< of the results; strides and phases are 1
  PoolWindows given = {}; ///< by a pool: what is read; see conv_output_grad.cuh

  MN_SHAPE_FN int taps() const { return kernel[0] * kernel[1] * kernel[2]; }
  MN_SHAPE_FN int phaseCount() const {
    return phases[0] * phases[1] * phases[2];
  }
  MN_SHAPE_FN int foldCount() const { return folds[0] * folds[1] * folds[2]; }
  /// Whether a filter has a number for each tap.
  MN_SHAPE_FN bool hasAllTaps() const {
    return phaseCount() == 1 && foldCount() == 1;
  }
  MN_SHAPE_FN bool isPooled() const { return pool.out[0] != 0; }
  MN_SHAPE_FN bool readsPool() const { return given.out[0] != 0; }
  /// Whole windows of the pool along a dimension, with what begins after them.
  MN_SHAPE_FN int poolTiles(int d) const {
    return max(pool.out[d], ceilDiv(out[d], pool.kernel[d]));
  }
  /// Results along a dimension, up to the end of a pool's windows.
  MN_SHAPE_FN int extent(int d) const {
    return isPooled() ? poolTiles(d) * pool.kernel[d] : out[d];
  }
  /// What the windows along a dimension cover, with strides of 1. Images begin
  /// with whole windows of a pool.
  MN_SHAPE_FN int covered(int d) const {
    const int all = extent(d) + (kernel[d] - 1) * dilations[d];
    return d == 0 ? ceilDiv(all, pool.kernel[0]) * pool.kernel[0] : all;
  }
  /// Pixels of an image with its padding, as far as windows cover it.
  MN_SHAPE_FN int pixels() const {
    return covered(0) * covered(1) * covered(2);
  }
  /// From a window's first pixel to the pixel of a tap.
  MN_SHAPE_FN int offset(int t0, int t1, int t2) const {
    return (t0 * dilations[0] * covered(1) + t1 * dilations[1]) * covered(2) +
           t2 * dilations[2];
  }
  MN_SHAPE_FN int halo() const {
    return offset(kernel[0] - 1, kernel[1] - 1, kernel[2] - 1);
  }
};

MN_SHAPE_FN Windows windowsOf(const Conv &s) {
  Windows w = {s.spatial, s.batch, s.groups, s.inChannels / s.groups,
               s.outChannels / s.groups};
  for (int d = 0; d < 3; ++d) {
    w.in[d] = s.in[d], w.out[d] = s.out[d], w.kernel[d] = s.kernel[d];
    w.pads[d] = s.pads[d], w.strides[d] = s.strides[d];
    w.dilations[d] = s.dilations[d];
  }
  w.mma = s.schedule.mma;
  w.pool = s.pool;
  return w;
}

/// Whether images can be folded: into whole pixels, and where most taps of a
/// folded window are the filter's.
MN_SHAPE_FN bool canFold(const Conv &s) {
  for (int d = 0; d < 3; ++d)
    if (s.strides[d] != 1 &&
        (s.dilations[d] != 1 || s.in[d] % s.strides[d] != 0 ||
         s.kernel[d] < s.strides[d]))
      return false;
  return true;
}
/// Of patches, which have strides of 1: of folded images where there are others
/// and these can be folded.
MN_SHAPE_FN Windows foldedOf(const Conv &s) {
  Windows w = windowsOf(s);
  if (!canFold(s))
    return w;
  for (int d = 0; d < 3; ++d) {
    const int stride = s.strides[d];
    w.folds[d] = stride, w.strides[d] = 1;
    w.in[d] /= stride, w.pads[d] = ceilDiv(s.pads[d], stride);
    const int earlier = w.pads[d] * stride - s.pads[d];
    w.kernel[d] = ceilDiv(s.kernel[d] + earlier, stride);
  }
  w.channels *= w.foldCount();
  return w;
}

/// Whether the gradient of the input has phases that are convolutions: those of
/// taps with gaps are not.
MN_SHAPE_FN bool hasPhases(const Conv &s) {
  for (int d = 0; d < 3; ++d)
    if (s.strides[d] != 1 && s.dilations[d] != 1)
      return false;
  return true;
}

/// The padding before the windows of phase number `c` along dimension `d`.
MN_SHAPE_FN int padOfPhase(const Conv &s, int d, int c) {
  const int taps = ceilDiv(s.kernel[d], s.strides[d]);
  return (taps - 1) * s.dilations[d] - (c + s.pads[d]) / s.strides[d];
}
/// The first tap that reads this phase; every stride-th after it does.
MN_SHAPE_FN int firstTapOfPhase(const Conv &s, int d, int c) {
  return (c + s.pads[d]) % s.strides[d];
}

/// Of the gradient of the input; see hasPhases().
MN_SHAPE_FN Windows readersOf(const Conv &s) {
  Windows w = {s.spatial, s.batch, s.groups, s.outChannels / s.groups,
               s.inChannels / s.groups};
  for (int d = 0; d < 3; ++d) {
    w.in[d] = s.out[d], w.out[d] = ceilDiv(s.in[d], s.strides[d]);
    w.kernel[d] = ceilDiv(s.kernel[d], s.strides[d]);
    w.pads[d] = padOfPhase(s, d, 0), w.dilations[d] = s.dilations[d];
    w.phases[d] = s.strides[d];
  }
  w.mma = s.schedule.mma;
  w.given = s.pool;
  return w;
}

} // namespace shape

} // namespace mn

#endif // MNISTRT_CUDA_KERNELS_CONV_WINDOWS_CUH
