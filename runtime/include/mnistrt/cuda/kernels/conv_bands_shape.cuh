//===- conv_bands_shape.cuh - images cut into bands of rows -----*- C++ -*-===//
//
// Sizes of conv_bands.cuh's blocks, and how long they take.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_CONV_BANDS_SHAPE_CUH
#define MNISTRT_CUDA_KERNELS_CONV_BANDS_SHAPE_CUH

#include "mnistrt/cuda/kernels/product_tiles.cuh"
#include "mnistrt/cuda/kernels/tile_parts.cuh"

namespace mn {

namespace shape {

/// Eight warps, of 16 output channels and 8 input channels each, or several of
/// the same that share the pixels; all of them have `taps` taps.
struct Bands {
  static constexpr int warps = 8, threads = 32 * warps;
  static constexpr int mostTaps = 9;     ///< whose sums a warp has
  static constexpr int mostPixels = 256; ///< windows of a band

  int height = 16; ///< output channels of a tile
  int width = 8;   ///< input channels of a tile
  int splits = 1;  ///< blocks that share the bands
  int rows = 0;    ///< of windows in a band; 0: none fits
  int images = 1;  ///< of a band; more than one if they are whole
  int taps = 1, tapGroups = 1;
  int64_t alongO = 1, alongC = 1;
  int64_t count = 1; ///< tiles

  MN_SHAPE_FN int64_t results() const { return count * height * width * taps; }
  MN_SHAPE_FN int pixels(const Conv &s) const {
    return images * rows * s.out[1];
  }
  MN_SHAPE_FN int steps(const Conv &s) const {
    return ceilDiv(pixels(s), s.schedule.mma == Mma::bf16 ? 16 : 8);
  }
  /// The input's pixels that windows of a row, or of the band, reach.
  MN_SHAPE_FN int across(const Conv &s) const {
    return (s.out[1] - 1) * s.strides[1] + (s.kernel[1] - 1) * s.dilations[1] +
           1;
  }
  MN_SHAPE_FN int inputRows(const Conv &s) const {
    return (rows - 1) * s.strides[0] + (s.kernel[0] - 1) * s.dilations[0] + 1;
  }
  MN_SHAPE_FN int inputPixels(const Conv &s) const {
    return images * inputRows(s) * across(s);
  }
  /// Four times an odd number: eight channels then are in different banks.
  static MN_SHAPE_FN int pitchOf(int pixels) {
    return (ceilDiv(pixels, 4) | 1) * 4;
  }
  MN_SHAPE_FN int gradPitch(const Conv &s) const {
    return pitchOf(steps(s) * (s.schedule.mma == Mma::bf16 ? 16 : 8));
  }
  MN_SHAPE_FN int inputPitch(const Conv &s) const {
    return pitchOf(inputPixels(s));
  }
  MN_SHAPE_FN int bandsOfImage(const Conv &s) const {
    return ceilDiv(s.out[0], rows);
  }
  MN_SHAPE_FN int bands(const Conv &s) const {
    return ceilDiv(s.batch, images) * bandsOfImage(s);
  }
  MN_SHAPE_FN int bandsEach(const Conv &s) const {
    return ceilDiv(bands(s), splits);
  }
};

/// Of the operands, or of the sums of all warps.
MN_SHAPE_FN unsigned sharedBytes(const Conv &s, const Bands &t) {
  const int64_t operands =
      int64_t(t.height) * t.gradPitch(s) + int64_t(t.width) * t.inputPitch(s);
  const int64_t sums = t.warps * 16 * 8 * t.taps;
  return static_cast<unsigned>(min<int64_t>(4 * max(operands, sums), 1 << 30));
}

/// As many rows as fit, if all blocks have a band: all bands of an image alike,
/// or some whole images.
MN_SHAPE_FN Bands withRows(Bands t, const Conv &s) {
  const int64_t ofImage = int64_t(s.out[0]) * s.out[1];
  t.rows = s.out[0];
  t.images = int(min<int64_t>(s.batch / t.splits,
                              t.mostPixels / max<int64_t>(ofImage, 1)));
  for (; t.images > 1; --t.images)
    if (sharedBytes(s, t) <= smallestShared)
      return t;
  t.images = 1;
  for (int count = ceilDiv(t.splits, s.batch); count <= s.out[0]; ++count) {
    t.rows = ceilDiv(s.out[0], count);
    if (int64_t(t.rows) * s.out[1] <= t.mostPixels &&
        sharedBytes(s, t) <= smallestShared)
      return t;
  }
  t.rows = 0;
  return t;
}

MN_SHAPE_FN bool hasBands(const Conv &s) {
  return s.layout == Layout::nchw && s.spatial <= 2 &&
         s.schedule.mma != Mma::ffma;
}

/// What a schedule says.
MN_SHAPE_FN Bands bandsOf(const Conv &s) {
  Bands t;
  t.height = s.schedule.height;
  t.width = s.schedule.width;
  t.splits = s.schedule.split;
  const int taps = s.kernel[0] * s.kernel[1];
  t.tapGroups = ceilDiv(taps, t.mostTaps);
  t.taps = ceilDiv(taps, t.tapGroups);
  t.alongO = ceilDiv(s.outChannels / s.groups, t.height);
  t.alongC = ceilDiv(s.inChannels / s.groups, t.width);
  t.count = t.alongO * t.alongC * t.tapGroups * s.groups;
  return withRows(t, s);
}

/// As mmaCycles(); fitted to 241 times of nine gradients on one H100.
MN_SHAPE_FN int64_t bandsCycles(const Conv &s, const Bands &t) {
  const bool x3 = s.schedule.mma == Mma::tf32x3;
  const int each = s.schedule.mma == Mma::bf16 ? 2 : 1; // terms of a word
  const int teams = t.warps / (t.height / 16 * (t.width / 8));
  const int loads = ceilDiv(t.pixels(s), 32) * (t.height / 8) +
                    ceilDiv(t.inputPixels(s), 32) * (t.width / 8);
  const int steps = ceilDiv(t.steps(s), teams);
  const int ofTap = (x3 ? 9 : 3) + 2 * each;
  // Of two warps a scheduler.
  const double issue = 2.0 * (100 + 24 * loads + steps * (50 + t.taps * ofTap));
  const double tensor = 2.0 * steps * t.taps * (x3 ? 3 : 1) * 10;
  const auto turn = [&](double together) {
    return max(6000.0, together * max(issue, tensor)) +
           0.73 * together * min(issue, tensor);
  };
  // After another kernel a block for each multiprocessor takes about as long as
  // if two met on one.
  const double blocks = double(t.count * t.splits), sms = referenceSms;
  const double waves = max(1.0, blocks / (2 * sms));
  const double all = waves * turn(blocks > sms / 2 ? 2 : 1) * t.bandsEach(s);
  return int64_t(all + 3000 * waves) + laterCycles(t.splits, t.results());
}

/// use(bands) for all that are worth a thought.
template <typename Use> MN_SHAPE_FN void eachBands(const Conv &s, Use &&use) {
  if (!hasBands(s))
    return;
  const int outs = s.outChannels / s.groups, ins = s.inChannels / s.groups;
  for (int height = 16; height <= 64; height *= 2)
    for (int width = 8; width <= 32; width *= 2) {
      if (height / 16 * (width / 8) > Bands::warps ||
          (height > 16 && height / 2 >= outs) ||
          (width > 8 && width / 2 >= ins))
        continue;
      Conv each = s;
      each.schedule.height = height;
      each.schedule.width = width;
      const int64_t tiles = bandsOf(each).count;
      // Half a block a multiprocessor, one, two, three.
      for (int halves = 1; halves <= 6; halves += halves == 1 ? 1 : 2) {
        each.schedule.split = int(max<int64_t>(
            1, min<int64_t>(256, halves * (referenceSms / 2) / tiles)));
        if (const Bands t = bandsOf(each); t.rows != 0)
          use(t);
      }
    }
}

MN_SHAPE_FN LaunchShape launchOf(const Conv &s, const Bands &t) {
  return {static_cast<unsigned>(t.count * t.splits),
          static_cast<unsigned>(t.threads), clusterOfParts(t.splits),
          sharedBytes(s, t), true};
}

} // namespace shape

} // namespace mn

#endif // MNISTRT_CUDA_KERNELS_CONV_BANDS_SHAPE_CUH
