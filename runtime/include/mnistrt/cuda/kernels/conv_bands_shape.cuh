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
/// the same that share the pixels; all of them have `taps` taps. Or else some
/// warpgroups, for rows of windows of a few images: a warpgroup multiplies
/// `height` output channels by units of 64 rows, which are input channels at
/// taps next to each other, in a few rounds.
struct Bands {
  static constexpr int warps = 8, fewestGroups = 2, mostGroups = 4;

  int warpgroups = 0; ///< or 2 to 4
  int height = 16;    ///< output channels of a tile
  int width = 8;      ///< input channels of a tile
  int splits = 1;     ///< blocks that share the bands
  int rows = 0;       ///< of windows in a band; 0: none fits
  int columns = 1;    ///< of windows in a band
  int images = 1;     ///< of a band; without warpgroups one, or whole ones
  int taps = 1, tapGroups = 1;
  int64_t alongO = 1, alongC = 1;
  int64_t count = 1; ///< tiles

  MN_SHAPE_FN int threads() const {
    return warpgroups != 0 ? 128 * warpgroups : 32 * warps;
  }
  /// Without warpgroups: windows of a band, with what fills up its rows, and of
  /// a row those next to each other that a lane has; and taps of a block.
  static constexpr int mostPixels = 256, quad = 4, mostTaps = 10;
  MN_SHAPE_FN int64_t results() const { return count * height * width * taps; }
  MN_SHAPE_FN int rowPixels() const {
    return warpgroups != 0 ? columns : ceilDiv(columns, quad) * quad;
  }
  MN_SHAPE_FN int pixels() const { return images * rows * rowPixels(); }
  /// Without warpgroups: of a warp, four lanes with a quad each.
  static constexpr int ofStep = 4 * quad;
  MN_SHAPE_FN int steps() const { return ceilDiv(pixels(), ofStep); }
  /// Without warpgroups, elements of a row that a thread loads at once.
  static MN_SHAPE_FN int wideOf(int row) {
    return row % 4 == 0 ? 4 : row % 2 == 0 ? 2 : 1;
  }
  /// Pixels of a row of the input: those that windows reach; without warpgroups
  /// all of an image's row, which begins after `left` zeros.
  MN_SHAPE_FN int left(const Conv &s) const {
    const int wide = wideOf(s.in[1]);
    return ceilDiv(s.pads[1], wide) * wide;
  }
  MN_SHAPE_FN int across(const Conv &s) const {
    const int reached = (rowPixels() - 1) * s.strides[1] +
                        (s.kernel[1] - 1) * s.dilations[1] + 1;
    if (warpgroups != 0)
      return reached;
    const int most = left(s) + max(s.in[1], reached - s.pads[1]);
    return ceilDiv(most, quad) * quad;
  }
  MN_SHAPE_FN int inputRows(const Conv &s) const {
    return (rows - 1) * s.strides[0] + (tapRows(s) - 1) * s.dilations[0] + 1;
  }
  MN_SHAPE_FN int inputPixels(const Conv &s) const {
    return images * inputRows(s) * across(s);
  }
  /// Half of the banks after a multiple of all of them: four quads of each of
  /// two channels then are in different banks.
  static MN_SHAPE_FN int pitchOf(int pixels) {
    return ceilDiv(max(pixels - 16, 0), 32) * 32 + 16;
  }
  MN_SHAPE_FN int gradPitch() const { return pitchOf(steps() * ofStep); }
  MN_SHAPE_FN int inputPitch(const Conv &s) const {
    return pitchOf(inputPixels(s));
  }
  /// Of an output channel's sums, four times an odd number: threads that have
  /// those of eight channels store them in different banks.
  MN_SHAPE_FN int sumsPitch() const {
    return (ceilDiv(width * taps, 4) | 1) * 4;
  }
  /// Warps that have the same sums, of other pixels.
  MN_SHAPE_FN int teams() const { return warps / (height / 16 * (width / 8)); }
  /// Bands below each other; and of an image, or of some.
  MN_SHAPE_FN int bandsDown(const Conv &s) const {
    return ceilDiv(s.out[0], rows);
  }
  MN_SHAPE_FN int bandsOfImage(const Conv &s) const {
    return bandsDown(s) * ceilDiv(s.out[1], columns);
  }
  MN_SHAPE_FN int bands(const Conv &s) const {
    return ceilDiv(s.batch, images) * bandsOfImage(s);
  }
  MN_SHAPE_FN int bandsEach(const Conv &s) const {
    return ceilDiv(bands(s), splits);
  }

  /// Rows of a filter that a block has: all, or those of a group of taps; or
  /// a part of a row.
  MN_SHAPE_FN int tapRows(const Conv &s) const {
    return max(1, taps / s.kernel[1]);
  }

  /// Blocks that a multiprocessor should have registers for: without
  /// warpgroups two, where there are more than multiprocessors.
  MN_SHAPE_FN unsigned resident() const {
    return warpgroups == 0 && count * splits > referenceSms ? 2 : 0;
  }

  // Of warpgroups.

  /// Taps whose input channels follow each other as rows of an operand, and
  /// units of these.
  MN_SHAPE_FN int tapsOfRun(const Conv &s) const {
    return s.dilations[1] == 1 ? s.kernel[1] : 1;
  }
  MN_SHAPE_FN int unitsOfRun(const Conv &s) const {
    return ceilDiv(tapsOfRun(s) * width, 64);
  }
  MN_SHAPE_FN int units(const Conv &s) const {
    return taps / tapsOfRun(s) * unitsOfRun(s);
  }
  MN_SHAPE_FN int rounds(const Conv &s) const {
    return ceilDiv(units(s), warpgroups);
  }
  /// Pairs of windows, whose terms one operation multiplies.
  MN_SHAPE_FN int pairs() const { return ceilDiv(columns, 2); }
  MN_SHAPE_FN int termsOfBand(const Conv &s) const {
    return pairs() * 8 * termsOfWord(s.schedule.mma);
  }
  /// Whether sums are added to others after each band: those of tf32x3, and of
  /// others where a block has many terms.
  MN_SHAPE_FN bool moves(const Conv &s) const {
    const int64_t each = bandsEach(s);
    return each > 1 && (s.schedule.mma == Mma::tf32x3 ||
                        each * termsOfBand(s) > keptTerms(s.schedule.mma));
  }
  /// Rows of the input that a band reads and the one above it does not; and
  /// that are in shared memory, where each row has one of so many places.
  MN_SHAPE_FN int freshRows(const Conv &s) const {
    return min(s.strides[0], inputRows(s));
  }
  MN_SHAPE_FN int keptRows(const Conv &s) const {
    return inputRows(s) + freshRows(s);
  }
  /// A warp loads some channels of neighbours: of few channels more bytes of a
  /// row are together in memory, of many more words in shared memory, each once
  /// for tf32x3's two parts. Measured: of Net's step at 1024 1 % in fp32, 2 %
  /// in bf16, against 4 channels.
  static MN_SHAPE_FN int loadedChannels(Mma mma) {
    return mma == Mma::tf32x3 ? 8 : mma == Mma::tf32 ? 4 : 2;
  }
  static MN_SHAPE_FN int loadedPixels(Mma mma) {
    return 32 / loadedChannels(mma);
  }
  /// Times that a thread loads 16 bytes of the input, and of the gradient.
  MN_SHAPE_FN int inputLoads(const Conv &s) const {
    const int pixels = loadedPixels(s.schedule.mma);
    const int along = ceilDiv(across(s), pixels) * pixels;
    return ceilDiv(freshRows(s) * along * width, threads());
  }
  MN_SHAPE_FN int gradLoads() const {
    return ceilDiv(columns * height, threads());
  }
};

/// 16 bytes of a row's operands; after the input's those that the rest of a
/// run's last unit reads.
MN_SHAPE_FN int inputWords(const Conv &s, const Bands &t) {
  return t.keptRows(s) * t.across(s) * t.width + t.unitsOfRun(s) * 64 -
         t.tapsOfRun(s) * t.width;
}
MN_SHAPE_FN int gradPitch(const Conv &s, const Bands &t) {
  return partsOf(s.schedule.mma) * t.height + 1;
}

/// Bytes of shared memory of the operands, or of the sums of all warps.
MN_SHAPE_FN int64_t neededBytes(const Conv &s, const Bands &t) {
  const int64_t sums = int64_t(t.height) * t.sumsPitch();
  if (t.warpgroups != 0) {
    const int64_t input = partsOf(s.schedule.mma) * int64_t(inputWords(s, t));
    const int64_t grad = int64_t(2 * t.pairs()) * gradPitch(s, t);
    return max<int64_t>(16 * (input + 2 * grad) + 8 * t.threads(), 4 * sums);
  }
  const int64_t operands =
      int64_t(t.height) * t.gradPitch() + int64_t(t.width) * t.inputPitch(s);
  return 4 * max<int64_t>(operands, t.teams() * sums);
}
MN_SHAPE_FN unsigned sharedBytes(const Conv &s, const Bands &t) {
  return static_cast<unsigned>(min<int64_t>(neededBytes(s, t), 1 << 30));
}

/// Of a thread of warpgroups, about: sums, twice where these move, and what it
/// loads of a band, and from where.
MN_SHAPE_FN int bandRegisters(const Conv &s, const Bands &t) {
  return t.rounds(s) * t.height / (t.moves(s) ? 1 : 2) + 44 +
         (4 * termsOfWord(s.schedule.mma) + 3) *
             (t.inputLoads(s) + t.gradLoads());
}
MN_SHAPE_FN int mostBandRegisters(const Bands &t) {
  return min(240, 65536 / t.threads() - 4);
}

/// Whether it fits into shared memory, and of warpgroups into registers; and a
/// band has no more terms than are added up before sums move, nor many.
MN_SHAPE_FN bool isBand(const Conv &s, const Bands &t) {
  if (sharedBytes(s, t) > smallestShared)
    return false;
  if (t.warpgroups == 0)
    return t.pixels() <= t.mostPixels;
  return t.termsOfBand(s) <= min(256, keptTerms(s.schedule.mma)) &&
         bandRegisters(s, t) <= mostBandRegisters(t);
}

/// As many columns as fit, in strips alike.
MN_SHAPE_FN Bands withColumns(Bands t, const Conv &s) {
  t.images = 4 * termsOfWord(s.schedule.mma);
  t.rows = 1;
  for (int strips = 1; strips <= s.out[1]; ++strips) {
    t.columns = ceilDiv(s.out[1], strips);
    if (isBand(s, t))
      return t;
  }
  t.rows = 0;
  return t;
}

/// As many rows as fit, if all blocks have a band: all bands of an image alike,
/// or some whole images.
MN_SHAPE_FN Bands withRows(Bands t, const Conv &s) {
  t.columns = s.out[1];
  const int64_t ofImage = int64_t(s.out[0]) * t.rowPixels();
  t.rows = s.out[0];
  t.images = int(min<int64_t>(s.batch / t.splits, t.mostPixels / ofImage));
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

/// Groups of a filter's taps: whole rows, or equal parts of one.
MN_SHAPE_FN Bands withTaps(Bands t, const Conv &s) {
  if (t.warpgroups == 0) {
    const int most = max(1, t.mostTaps / s.kernel[1]);
    const int rows = ceilDiv(s.kernel[0], ceilDiv(s.kernel[0], most));
    t.taps = rows * s.kernel[1];
    for (int parts = 2; t.taps > t.mostTaps; ++parts)
      if (s.kernel[1] % parts == 0)
        t.taps = s.kernel[1] / parts;
    t.tapGroups = ceilDiv(s.kernel[0] * s.kernel[1], t.taps);
    return t;
  }
  for (t.tapGroups = 1; t.tapGroups < s.kernel[0]; ++t.tapGroups) {
    t.taps = ceilDiv(s.kernel[0], t.tapGroups) * s.kernel[1];
    if (withColumns(t, s).rows != 0)
      return t;
  }
  t.taps = s.kernel[1];
  return t;
}

/// What a schedule says.
MN_SHAPE_FN Bands bandsOf(const Conv &s) {
  Bands t;
  t.height = s.schedule.height;
  t.width = s.schedule.width;
  t.splits = s.schedule.split;
  t.warpgroups = s.schedule.warpgroups;
  t = withTaps(t, s);
  t.alongO = ceilDiv(s.outChannels / s.groups, t.height);
  t.alongC = ceilDiv(s.inChannels / s.groups, t.width);
  t.count = t.alongO * t.alongC * t.tapGroups * s.groups;
  return t.warpgroups != 0 ? withColumns(t, s) : withRows(t, s);
}

/// How often blocks, or clusters of them, run one after the other.
MN_SHAPE_FN int64_t bandWaves(const Bands &t, int resident) {
  const int cluster = int(clusterOfParts(t.splits));
  return ceilDiv<int64_t>(t.count * t.splits / cluster,
                          int64_t(resident) * clustersAtOnce(cluster));
}

/// In bf16 large images have two bytes an element in memory, too
/// (plan-round-results).
MN_SHAPE_FN double bytesOfElement(const Conv &s) {
  return 4.0 / termsOfWord(s.schedule.mma);
}
MN_SHAPE_FN double bytesOfImages(const Conv &s) {
  const double images = double(s.inChannels) * s.in[0] * s.in[1] +
                        double(s.outChannels) * s.out[0] * s.out[1];
  return bytesOfElement(s) * images * s.batch;
}
MN_SHAPE_FN bool exceedsCache(const Conv &s) {
  return bytesOfImages(s) > (40 << 20);
}

/// What blocks that share a sum take to put it together: as parts for another
/// kernel, or in a cluster, by the 406 times below.
MN_SHAPE_FN int64_t bandSumCycles(const Bands &t) {
  return clusterOfParts(t.splits) != 1 ? 11500
                                       : laterCycles(t.splits, t.results());
}

/// What warpgroups wait for memory where images are larger than the L2 cache:
/// rows of bands are short and far from each other, and read 28 bytes more.
/// 1150 bytes a cycle are less than what the fastest of 40 schedules of 4
/// gradients took on one H200.
MN_SHAPE_FN double bandMemoryCycles(const Conv &s, const Bands &t) {
  const double row = bytesOfElement(s) * t.columns;
  return exceedsCache(s) ? bytesOfImages(s) * (row + 28) / row / 1150 : 0;
}

/// As mmaCycles(), of warpgroups, from what shared memory and tensor cores do
/// in a cycle; other constants set by hand to 76 times of one H100. Of 52
/// schedules on one H200 it errs by 7 % (the root of the mean square).
MN_SHAPE_FN int64_t bandGroupsCycles(const Conv &s, const Bands &t) {
  const int parts = partsOf(s.schedule.mma), images = t.images;
  const int products = parts == 2 ? 3 : 1;
  // 64 rows are 2048 bytes, of 128 a cycle.
  const int reads = products * (16 + t.height / 4);
  const double tensor = products * t.height * 0.48;
  const double multiply = double(t.pairs()) * t.rounds(s) * t.warpgroups *
                          max<double>(reads, tensor);
  const double warps = t.threads() / 32.0;
  const double loads = warps * (t.inputLoads(s) * (4 * images + 8 * parts) +
                                t.gradLoads() * (2 * images + 4 * parts));
  const double band = 800 + multiply + 0.85 * loads;
  const double first = loads * t.inputRows(s) / t.freshRows(s) +
                       double(t.height) * t.width * t.taps / 8;
  const bool two = 2 * bandRegisters(s, t) * t.threads() <= 65536 &&
                   2 * (sharedBytes(s, t) + 1024) <= (227u << 10);
  const double waves = double(bandWaves(t, two ? 2 : 1));
  const double together = two && t.count * t.splits > referenceSms ? 1.6 : 1;
  // Of what is alike otherwise: three warpgroups were mostly faster than two.
  const double few = parts == 1 && t.warpgroups == 2 ? 1.01 : 1;
  const double all = few * waves * together * (band * t.bandsEach(s) + first);
  const double memory = bandMemoryCycles(s, t);
  return int64_t(max(all, memory + first) + 0.1 * min(all, memory)) +
         bandSumCycles(t);
}

/// As mmaCycles(); fitted to 406 times of 15 gradients on one H200, of which it
/// errs by 11 % (the root of the mean square). What these models choose for 25
/// of these, some in three precisions, takes on average 1.4 % more than the
/// fastest that was timed, and at most 8.5 %. To round an element to tf32 takes
/// two instructions, and copies.
MN_SHAPE_FN int64_t bandsCycles(const Conv &s, const Bands &t) {
  if (t.warpgroups != 0)
    return bandGroupsCycles(s, t);
  const bool x3 = s.schedule.mma == Mma::tf32x3;
  const int each = termsOfWord(s.schedule.mma);
  const int loads = ceilDiv(t.pixels(), 32) * (t.height / 8) +
                    ceilDiv(t.inputPixels(s), 32) * (t.width / 8);
  const int products = t.taps * (x3 ? 6 : 2 / each);
  // A lane's elements of a row of taps, and of two quads of the gradient.
  const int elements =
      8 + t.tapRows(s) * (s.kernel[1] + Bands::quad - 1) * each;
  const double ofElement = x3 ? 0.75 : each == 1 ? 4.3 : 0.39;
  const double ofWarp = 10 + 7.35 * products + ofElement * elements;
  const double blocks = double(t.count * t.splits), sms = referenceSms;
  const bool two = blocks > sms; // on a multiprocessor
  const double load = max(1310.0, (two ? 2 : 1) * 42.0 * loads);
  const double step = max(485.0, (two ? 4 : 2.5) * ofWarp);
  const double band = load + ceilDiv(t.steps(), t.teams()) * step;
  const double waves = max(1.0, blocks / (2 * sms));
  return int64_t(waves * (t.bandsEach(s) * band + 1270)) + bandSumCycles(t);
}

/// Whether tiles are of a size that there is.
MN_SHAPE_FN bool isBandSize(int height, int width, int warpgroups) {
  const auto isPower = [](int n) { return (n & (n - 1)) == 0; };
  if (warpgroups == 0)
    return height >= 16 && height <= 64 && width >= 8 && width <= 32 &&
           isPower(height) && isPower(width) &&
           height / 16 * (width / 8) <= Bands::warps;
  return warpgroups >= Bands::fewestGroups && warpgroups <= Bands::mostGroups &&
         isWgmmaSize(height) && width >= 8 && width <= 64 && width % 8 == 0;
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
  for (int groups = 0; groups <= Bands::mostGroups; ++groups)
    for (int height = 16; height <= 128; height *= 2)
      for (int width = 8; width <= 64; width += 8) {
        // Half of a tile would do.
        const int narrower = groups == 0 ? width / 2 : width - 8;
        if (!isBandSize(height, width, groups) ||
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
          static_cast<unsigned>(t.threads()),
          clusterOfParts(t.splits),
          sharedBytes(s, t),
          true,
          true,
          t.resident()};
}

} // namespace shape

} // namespace mn

#endif // MNISTRT_CUDA_KERNELS_CONV_BANDS_SHAPE_CUH
