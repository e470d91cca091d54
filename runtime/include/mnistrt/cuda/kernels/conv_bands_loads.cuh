//===- conv_bands_loads.cuh - what warpgroups load of bands -----*- C++ -*-===//
//
// From memory to registers, and from there to operands in shared memory, for
// conv_bands_groups.cuh.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_CONV_BANDS_LOADS_CUH
#define MNISTRT_CUDA_KERNELS_CONV_BANDS_LOADS_CUH

#include "mnistrt/cuda/kernels/conv_bands_tiles.cuh"

#ifdef __CUDACC__

namespace mn::device {

/// What a thread loads of a band: the same pixels of `images` images as 16
/// bytes. What is outside of an image becomes 0 when it is stored; if registers
/// said what that is, ptxas would ask them, and wait for what was loaded,
/// before anything is multiplied.
template <Conv S> struct BandLoads : BandTiles<S> {
  using Base = BandTiles<S>;
  using G = typename Base::G;
  using Base::across, Base::each, Base::height, Base::mma, Base::t,
      Base::threads, Base::width;
  using typename Base::Band, typename Base::Corner, typename Base::Grad;
  using Words = typename Base::template Fragment<4>;
  static constexpr int parts = shape::partsOf(mma), images = 4 * each;
  static constexpr int reached = t.inputRows(S), fresh = t.freshRows(S);
  static constexpr int kept = t.keptRows(S), pitch = shape::gradPitch(S, t);
  static constexpr int inputs = shape::inputWords(S, t);
  static constexpr int windows = 2 * t.pairs(); ///< one may be none's
  // Of a gradient that a pool gives, windows are loaded; else elements.
  static constexpr int wide = Grad::p.kernel[1];
  static constexpr bool begins = t.columns % wide == 0; ///< with whole windows
  static constexpr int along =
      begins ? t.columns / wide : (t.columns + wide - 2) / wide + 1;
  static constexpr int inputLoads = t.inputLoads(S);
  static constexpr int gradLoads =
      Grad::isPooled ? (along * height + threads - 1) / threads : t.gradLoads();

  /// Big parts, then small ones: of the input each with all rows that there is
  /// a place for, of the gradient next to each other.
  struct Operands {
    uint4 input[parts][inputs];
    uint4 grad[2][windows][pitch];
    /// A bit for each of a thread's loads.
    unsigned inside[threads];
  };
  static_assert(inputLoads + gradLoads <= 31);

  /// Where a thread's loads are, the same in each band: elements from the first
  /// one of a row, or channel of the gradient, what columns these are of, and
  /// where in shared memory they go. What there is more than needed is the same
  /// as something else.
  struct Spots {
    int input[inputLoads], x[inputLoads], to[inputLoads];
    int row[fresh == 1 ? 1 : inputLoads];
    int channel[gradLoads], window[gradLoads], gradTo[gradLoads];

    /// A column of no image.
    static constexpr int nowhere = 1 << 30;

    MN_DEVICE void find(const Corner &corner) {
#pragma unroll
      for (int j = 0; j < inputLoads; ++j)
        findInput(corner, j, int(threadIdx.x) + j * threads);
#pragma unroll
      for (int j = 0; j < gradLoads; ++j) {
        const int number =
            shape::min(int(threadIdx.x) + j * threads, along * height - 1);
        const int o = number / along, x = number % along;
        channel[j] = int(Grad::at(0, o, Place{0, 0, 0}));
        window[j] = Base::isOutput(corner, o) ? x : nowhere;
        gradTo[j] = x * wide * pitch + o;
      }
    }
    /// A warp has some channels of some pixels next to each other.
    MN_DEVICE void findInput(const Corner &corner, int j, int number) {
      constexpr int channels = t.loadedChannels(mma);
      constexpr int pixels = t.loadedPixels(mma);
      constexpr int along = (across + pixels - 1) / pixels;
      const int square = number / (channels * pixels);
      const int place = square / (width / channels);
      const int channel =
          square % (width / channels) * channels + number % channels;
      const int pixel = shape::min(
          place % along * pixels + number / channels % pixels, across - 1);
      input[j] = channel * G::pixelsIn + pixel - S.pads[1];
      x[j] = Base::isInput(corner, channel) ? pixel - S.pads[1] : nowhere;
      to[j] = pixel * width + channel;
      if constexpr (fresh > 1)
        row[j] = shape::min(place / along, fresh - 1);
    }
    /// Of `fresh` rows of a band, from number `first` on, the one of a load.
    MN_DEVICE int rowOf(int first, int j) const {
      if constexpr (fresh == 1)
        return first;
      else
        return shape::min(first + row[j], reached - 1);
    }
  };

  float input[inputLoads][images];
  typename Grad::Loaded grad[gradLoads][images];

  /// The place of the input's row number `row` of a band.
  static MN_DEVICE int placeOfRow(const Band &band, int row) {
    return (band.row * fresh + row) % kept;
  }

  /// Begins to load the last `fresh` rows of the input, and the gradient; their
  /// bits. `isBand`: there is such a band, else nothing is inside.
  template <typename F>
  MN_DEVICE unsigned load(const F &f, const Corner &corner, const Spots &spots,
                          const Band &band, bool isBand) {
    const unsigned inputBits =
        loadInput(f, corner, spots, band, reached - fresh, isBand);
    return inputBits | loadGrad(f, corner, spots, band, isBand) << inputLoads;
  }
  /// `first`: the number of the first row.
  template <typename F>
  MN_DEVICE unsigned loadInput(const F &f, const Corner &corner,
                               const Spots &spots, const Band &band, int first,
                               bool isBand) {
    const int firstY = band.row * S.strides[0] - S.pads[0] +
                       corner.tap / S.kernel[1] * S.dilations[0];
    const int firstX = band.column * S.strides[1];
    const Index begin = G::input(
        band.image, corner.group * G::inChannels + corner.c, Place{0, 0, 0});
    constexpr Index apart = Index(S.inChannels) * G::pixelsIn;
    unsigned bits = 0;
#pragma unroll
    for (int j = 0; j < inputLoads; ++j) {
      const int y = firstY + spots.rowOf(first, j);
      const bool inside = isBand && unsigned(y) < unsigned(S.in[0]) &&
                          unsigned(spots.x[j] + firstX) < unsigned(S.in[1]);
      const Index at =
          inside ? begin + spots.input[j] + y * S.in[1] + firstX : Index(0);
#pragma unroll
      for (int i = 0; i < images; ++i)
        input[j][i] =
            around(f.loadInput(isImage(band, i) ? at + i * apart : 0));
      bits |= unsigned(inside) << j;
    }
    return bits;
  }
  template <typename F>
  MN_DEVICE unsigned loadGrad(const F &f, const Corner &corner,
                              const Spots &spots, const Band &band,
                              bool isBand) {
    const int first = band.column / wide;
    const bool isRow = isBand && Grad::isInWindow({band.row, 0, 0});
    const Index begin =
        Grad::at(band.image, corner.group * G::outChannels + corner.o,
                 Place{band.row, first * wide, 0});
    const Index apart = Grad::at(1, 0, Place{0, 0, 0});
    constexpr int end = Grad::isPooled ? Grad::p.out[1] : S.out[1];
    unsigned bits = 0;
#pragma unroll
    for (int j = 0; j < gradLoads; ++j) {
      const bool inside = isRow && spots.window[j] < end - first;
      const Index at =
          inside ? begin + spots.channel[j] + spots.window[j] : Index(0);
#pragma unroll
      for (int i = 0; i < images; ++i)
        grad[j][i] = loadWindow(f, isImage(band, i) ? at + i * apart : 0);
      bits |= unsigned(inside) << j;
    }
    return bits;
  }
  template <typename F>
  static MN_DEVICE typename Grad::Loaded loadWindow(const F &f, Index at) {
    if constexpr (Grad::isPooled)
      return {around(f.loadOutputGrad(at)), int(f.loadIndex(at))};
    else
      return around(f.loadOutputGrad(at));
  }
  /// A row is short, and the next band reads the one below it: from the cache,
  /// if it does not have everything anyway.
  template <typename Loaded> static MN_DEVICE float around(Loaded &&v) {
    if constexpr (isMemory<Loaded> && shape::exceedsCache(S))
      return loadAround(v);
    else
      return v;
  }
  static MN_DEVICE bool isImage(const Band &band, int i) {
    return S.batch % images == 0 || band.image + i < S.batch;
  }

  /// Without branches: where products are under way, a compiler may copy their
  /// sums before these are there.
  MN_DEVICE void store(const Spots &spots, const Band &band, int which,
                       unsigned bits, Operands &to) const {
    storeInput(spots, band, reached - fresh, bits, to);
    storeGrad(spots, band, which, bits, to);
  }
  MN_DEVICE void storeInput(const Spots &spots, const Band &band, int first,
                            unsigned bits, Operands &to) const {
#pragma unroll
    for (int j = 0; j < inputLoads; ++j) {
      const int row = placeOfRow(band, spots.rowOf(first, j));
      const int at = row * across * width + spots.to[j];
      const Words words =
          wordsOf(band, bits >> j & 1, [&](int i) { return input[j][i]; });
      to.input[0][at] = asUint4(words.big);
      if constexpr (parts == 2)
        to.input[1][at] = asUint4(words.small);
    }
  }
  MN_DEVICE void storeGrad(const Spots &spots, const Band &band, int which,
                           unsigned bits, Operands &to) const {
    // 0, but the compiler does not know it: which element of a window has the
    // value is not to be asked before something is multiplied, either.
    const int zero = int(bits >> 31);
    // Of the band's first window, what is in the band before.
    const int before = begins ? 0 : band.column % wide;
#pragma unroll
    for (int j = 0; j < gradLoads; ++j) {
      const unsigned inside = bits >> (inputLoads + j) & 1;
      const Words all =
          wordsOf(band, inside, [&](int i) { return valueIn(grad[j][i]); });
#pragma unroll
      for (int k = 0; k < wide; ++k) {
        const int x = spots.gradTo[j] / pitch + k - before;
        const bool isThere = begins || unsigned(x) < unsigned(t.columns);
        // A window may hang over the image, where no element is.
        const bool isElement =
            Grad::p.out[1] * wide <= S.out[1] || band.column + x < S.out[1];
        const int number =
            isElement ? Grad::numberInWindow({band.row, k, 0}) + zero : -1;
        const Words words = chosen(band, inside, grad[j], all, number);
        // Others are stored where nothing is read.
        uint4 *at =
            &to.grad[which][0][0] +
            (isThere ? spots.gradTo[j] + (k - before) * pitch : pitch - 1);
        at[0] = asUint4(words.big);
        if constexpr (parts == 2)
          at[isThere ? height : 0] = asUint4(words.small);
      }
    }
  }
  static MN_DEVICE float valueIn(float loaded) { return loaded; }
  static MN_DEVICE float valueIn(const LoadedWindow &loaded) {
    return loaded.value;
  }
  /// Of what windows gave those whose index is `number`, the others as 0.
  static MN_DEVICE Words chosen(const Band &, unsigned, const float (&)[images],
                                const Words &all, int) {
    return all;
  }
  static MN_DEVICE Words chosen(const Band &band, unsigned inside,
                                const LoadedWindow (&loaded)[images],
                                const Words &all, int number) {
    if constexpr (each == 2)
      return wordsOf(band, inside, [&](int i) {
        return loaded[i].index == number ? loaded[i].value : 0.0f;
      });
    Words words;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const bool isChosen = loaded[i].index == number;
      words.big[i] = isChosen ? all.big[i] : 0;
      words.small[i] = isChosen && parts == 2 ? all.small[i] : 0;
    }
    return words;
  }
  template <typename ValueOf>
  static MN_DEVICE Words wordsOf(const Band &band, unsigned inside,
                                 const ValueOf &valueOf) {
    float v[images];
#pragma unroll
    for (int i = 0; i < images; ++i)
      v[i] = inside != 0 && isImage(band, i) ? valueOf(i) : 0.0f;
    Words words;
    words.set(v);
    return words;
  }
  static MN_DEVICE uint4 asUint4(const uint32_t (&word)[4]) {
    return {word[0], word[1], word[2], word[3]};
  }

  /// All of a band that has nothing of the one above it. Some rows are loaded
  /// together.
  template <typename F>
  static MN_DEVICE void fill(const F &f, const Corner &corner,
                             const Spots &spots, const Band &band, int which,
                             Operands &to) {
    constexpr int most = 12;
    constexpr int turns = (reached + fresh - 1) / fresh;
    constexpr int atOnce =
        shape::max(1, shape::min(turns, (most - gradLoads) / inputLoads));
    BandLoads loads[atOnce];
    const unsigned gradBits = loads[0].loadGrad(f, corner, spots, band, true)
                              << inputLoads;
#pragma unroll 1
    for (int turn = 0; turn < turns; turn += atOnce) {
      unsigned bits[atOnce];
#pragma unroll
      for (int i = 0; i < atOnce; ++i)
        bits[i] = loads[i].loadInput(f, corner, spots, band, (turn + i) * fresh,
                                     turn + i < turns);
#pragma unroll
      for (int i = 0; i < atOnce; ++i)
        if (turn + i < turns)
          loads[i].storeInput(spots, band, (turn + i) * fresh, bits[i], to);
    }
    loads[0].storeGrad(spots, band, which, gradBits, to);
  }
};

} // namespace mn::device

#endif // __CUDACC__
#endif // MNISTRT_CUDA_KERNELS_CONV_BANDS_LOADS_CUH
