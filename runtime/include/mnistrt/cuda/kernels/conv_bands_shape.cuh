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

/// Numbers of 4 bytes for the tensor cores.
MN_SHAPE_FN int termsOfWord(Mma mma) { return mma == Mma::bf16 ? 2 : 1; }

/// Eight warps, of 16 output channels and 8 input channels each, or several of
/// the same that share the pixels; all of them have `taps` taps. Or else two
/// warpgroups, whose warps in a few rounds have 16 input channels at a tap.
struct Bands {
  static constexpr int warps = 8, threads = 32 * warps;
  static constexpr int mostSums = 128; ///< of a thread of a warpgroup, twice

  int warpgroups = 0; ///< 0 or 2
  int height = 16;    ///< output channels of a tile
  int width = 8;      ///< input channels of a tile
  int splits = 1;     ///< blocks that share the bands
  int rows = 0;       ///< of windows in a band; 0: none fits
  int images = 1;     ///< of a band; more than one if they are whole
  int taps = 1, tapGroups = 1;
  int64_t alongO = 1, alongC = 1;
  int64_t count = 1; ///< tiles

  /// Whose sums a block has.
  MN_SHAPE_FN int mostTaps() const { return warpgroups != 0 ? 25 : 9; }
  /// Windows of a band; after those of warpgroups sums are added to others.
  MN_SHAPE_FN int mostPixels() const {
    return warpgroups != 0 ? keptTerms(Mma::tf32x3) : 256;
  }
  /// Rows of warpgroups, 16 each, and how many a warp has of them.
  MN_SHAPE_FN int units() const { return width / 16 * taps; }
  MN_SHAPE_FN int rounds() const { return ceilDiv(units(), warps); }
  MN_SHAPE_FN int64_t results() const { return count * height * width * taps; }
  MN_SHAPE_FN int pixels(const Conv &s) const {
    return images * rows * s.out[1];
  }
  MN_SHAPE_FN int steps(const Conv &s) const {
    return ceilDiv(pixels(s), 8 * termsOfWord(s.schedule.mma));
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
    return pitchOf(steps(s) * 8 * termsOfWord(s.schedule.mma));
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

/// Words of shared memory of the operands, or of the sums of all warps.
MN_SHAPE_FN int64_t sharedWords(const Conv &s, const Bands &t) {
  const int64_t input = int64_t(t.width) * t.inputPitch(s);
  if (t.warpgroups == 0)
    return max<int64_t>(int64_t(t.height) * t.gradPitch(s) + input,
                        t.warps * 16 * 8 * t.taps);
  const int steps = t.steps(s);
  const int grads = partsOf(s.schedule.mma) * 2 * steps * (t.height + 1) * 4;
  const int spots = steps * 8 * termsOfWord(s.schedule.mma);
  return max<int64_t>(2 * (grads + input) + spots + 2 * t.threads,
                      t.height * t.width * t.taps);
}
MN_SHAPE_FN unsigned sharedBytes(const Conv &s, const Bands &t) {
  return static_cast<unsigned>(min<int64_t>(4 * sharedWords(s, t), 1 << 30));
}

/// Numbers that a thread of a warpgroup loads of a band, while it has sums.
MN_SHAPE_FN int bandLoads(const Conv &s, const Bands &t) {
  const int chunk = 4 * termsOfWord(s.schedule.mma);
  return ceilDiv(t.height * 2 * t.steps(s), t.threads) * chunk +
         ceilDiv(t.inputPixels(s), 32) * (t.width / 8);
}
/// Without registers in memory.
MN_SHAPE_FN bool isBand(const Conv &s, const Bands &t) {
  constexpr int mostNumbers = 160;
  return t.pixels(s) <= t.mostPixels() && sharedBytes(s, t) <= smallestShared &&
         (t.warpgroups == 0 ||
          t.rounds() * t.height + bandLoads(s, t) <= mostNumbers);
}

/// As many rows as fit, if all blocks have a band: all bands of an image alike,
/// or some whole images.
MN_SHAPE_FN Bands withRows(Bands t, const Conv &s) {
  const int64_t ofImage = int64_t(s.out[0]) * s.out[1];
  t.rows = s.out[0];
  t.images = int(min<int64_t>(s.batch / t.splits,
                              t.mostPixels() / max<int64_t>(ofImage, 1)));
  for (; t.images > 1; --t.images)
    if (isBand(s, t))
      return t;
  t.images = 1;
  for (int count = ceilDiv(t.splits, s.batch); count <= s.out[0]; ++count) {
    t.rows = ceilDiv(s.out[0], count);
    if (isBand(s, t))
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
  t.warpgroups = s.schedule.warpgroups;
  const int taps = s.kernel[0] * s.kernel[1];
  t.tapGroups = ceilDiv(taps, t.mostTaps());
  t.taps = ceilDiv(taps, t.tapGroups);
  t.alongO = ceilDiv(s.outChannels / s.groups, t.height);
  t.alongC = ceilDiv(s.inChannels / s.groups, t.width);
  t.count = t.alongO * t.alongC * t.tapGroups * s.groups;
  return withRows(t, s);
}

/// As mmaCycles(), of warpgroups: set by hand to eight of the times of ten
/// gradients on one H100, of which it errs by up to 17 %.
MN_SHAPE_FN int64_t bandGroupsCycles(const Conv &s, const Bands &t) {
  const int groups = t.steps(s) * t.rounds(), loads = bandLoads(s, t);
  const int products = s.schedule.mma == Mma::tf32x3 ? 3 : 1;
  const double tensor = double(groups) * t.warpgroups * products * t.height *
                        (s.schedule.mma == Mma::bf16 ? 1 : 1.5);
  const double band = 950 + 60 * loads + 52 * groups + 0.5 * tensor;
  const double fixed = 2000 + t.height * t.width * t.taps / 2;
  const bool two = t.rounds() * t.height + loads <= 44; // on a multiprocessor
  const int64_t blocks = t.count * t.splits, sms = referenceSms;
  const int64_t waves = ceilDiv<int64_t>(blocks, two ? 2 * sms : sms);
  const double each = (two && blocks > sms ? 1.6 : 1) * band * t.bandsEach(s);
  return int64_t(double(waves) * (each + fixed)) +
         laterCycles(t.splits, t.results());
}

/// As mmaCycles(); fitted to 241 times of nine gradients on one H100.
MN_SHAPE_FN int64_t bandsCycles(const Conv &s, const Bands &t) {
  if (t.warpgroups != 0)
    return bandGroupsCycles(s, t);
  const bool x3 = s.schedule.mma == Mma::tf32x3;
  const int each = termsOfWord(s.schedule.mma);
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

/// Whether tiles are of a size that there is, and few of their channels are
/// beyond a group's.
MN_SHAPE_FN bool isBandSize(int height, int width, int warpgroups, int taps) {
  const auto isPower = [](int n) { return (n & (n - 1)) == 0; };
  if (warpgroups == 0)
    return height >= 16 && height <= 64 && width >= 8 && width <= 32 &&
           isPower(height) && isPower(width) &&
           height / 16 * (width / 8) <= Bands::warps;
  Bands t;
  t.warpgroups = warpgroups;
  t.width = width;
  t.taps = ceilDiv(taps, ceilDiv(taps, t.mostTaps()));
  return warpgroups == 2 && isWgmmaSize(height) && width >= 16 && width <= 64 &&
         width % 16 == 0 && t.rounds() * height <= Bands::mostSums;
}

/// use(bands) for all that are worth a thought of tiles of one size.
template <typename Use> MN_SHAPE_FN void eachSplit(Conv s, Use &&use) {
  const int64_t tiles = bandsOf(s).count;
  // Half a block a multiprocessor, one, two, three.
  for (int halves = 1; halves <= 6; halves += halves == 1 ? 1 : 2) {
    s.schedule.split = int(max<int64_t>(
        1, min<int64_t>(256, halves * (referenceSms / 2) / tiles)));
    if (const Bands t = bandsOf(s); t.rows != 0)
      use(t);
  }
}
template <typename Use> MN_SHAPE_FN void eachBands(const Conv &s, Use &&use) {
  if (!hasBands(s))
    return;
  const int outs = s.outChannels / s.groups, ins = s.inChannels / s.groups;
  Conv each = s;
  for (int groups = 0; groups <= 2; groups += 2)
    for (int height = 16; height <= 128; height *= 2)
      for (int width = 8; width <= 64; width += 8) {
        // Half of a tile would do.
        const int narrower = groups == 0 ? width / 2 : width - 16;
        if (!isBandSize(height, width, groups, s.kernel[0] * s.kernel[1]) ||
            (height > 16 && height / 2 >= outs) ||
            (narrower >= 8 && narrower >= ins))
          continue;
        each.schedule.height = height;
        each.schedule.width = width;
        each.schedule.warpgroups = groups;
        eachSplit(each, use);
      }
}

MN_SHAPE_FN LaunchShape launchOf(const Conv &s, const Bands &t) {
  return {static_cast<unsigned>(t.count * t.splits),
          static_cast<unsigned>(t.threads),
          clusterOfParts(t.splits),
          sharedBytes(s, t),
          true,
          true};
}

} // namespace shape

} // namespace mn

#endif // MNISTRT_CUDA_KERNELS_CONV_BANDS_SHAPE_CUH
