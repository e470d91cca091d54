//===- conv_bands_rows.cuh - what warps load of bands -----------*- C++ -*-===//
//
// Rows of the gradient and of the input, from memory to shared memory, for
// conv_bands.cuh: elements next to each other at once, as many as divide an
// image's row, up to four.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_CONV_BANDS_ROWS_CUH
#define MNISTRT_CUDA_KERNELS_CONV_BANDS_ROWS_CUH

#include "mnistrt/cuda/kernels/conv_bands_tiles.cuh"

#ifdef __CUDACC__

namespace mn::device {

/// `count` elements of each channel, `wide` of them at once: lanes are along
/// them, and a warp has every eighth channel.
template <int channels, int count, int wide> struct BandRows {
  static_assert(count % wide == 0);
  static constexpr int turns = (count / wide + 31) / 32, mine = channels / 8;
  /// Numbers of a thread, and how many may be on their way at once.
  static constexpr int all = turns * mine * wide, most = 64;

  /// Those of some turns.
  template <int some> struct Turns {
    float v[some][mine][wide];

    static MN_DEVICE int elementOf(int turn) {
      return (turn * 32 + int(threadIdx.x) % 32) * wide;
    }
    template <typename Load> MN_DEVICE void load(int first, const Load &load) {
#pragma unroll
      for (int i = 0; i < some; ++i)
        load(elementOf(first + i), int(threadIdx.x) / 32, v[i]);
    }
    template <typename At>
    MN_DEVICE void store(int first, float *to, int pitch, const At &at) const {
#pragma unroll
      for (int i = 0; i < some; ++i) {
        const int e = elementOf(first + i);
        // Also of turns that there are not, where these are some at a time.
        if ((count % (32 * wide) != 0 || turns % some != 0) && e >= count)
          continue;
#pragma unroll
        for (int c = 0; c < mine; ++c) {
          float *place = to + (int(threadIdx.x) / 32 + 8 * c) * pitch + at(e);
          place = static_cast<float *>(
              __builtin_assume_aligned(place, wide * sizeof(float)));
#pragma unroll
          for (int j = 0; j < wide; ++j)
            place[j] = v[i][c][j];
        }
      }
    }
  };
  using All = Turns<turns>;

  template <typename Load, typename At>
  static MN_DEVICE void fill(float *to, int pitch, const Load &load,
                             const At &at) {
    constexpr int some = shape::max(1, shape::min(turns, 32 / (mine * wide)));
#pragma unroll 1
    for (int turn = 0; turn < turns; turn += some) {
      Turns<some> of;
      of.load(turn, load);
      of.store(turn, to, pitch, at);
    }
  }
};

template <Conv S> struct BandRowLoads : BandTiles<S> {
  using Base = BandTiles<S>;
  using G = typename Base::G;
  using Base::across, Base::height, Base::pixels, Base::rows, Base::t,
      Base::width;
  using typename Base::Band, typename Base::Corner, typename Base::Grad,
      typename Base::Window;
  static constexpr int gradWide = Grad::isPooled ? 1 : t.wideOf(S.out[1]);
  static constexpr int inputWide = t.wideOf(S.in[1]);
  static constexpr int inputElements = t.images * rows * S.in[1];
  static constexpr int gradElements = t.steps() * t.ofStep;

  /// Of every eighth output channel from `first` on, the gradient at pixels
  /// next to each other; what is outside is 0, also beyond the last window.
  template <typename F>
  static MN_DEVICE void loadGrads(const F &f, const Band &band,
                                  const Corner &corner, int pixel, int first,
                                  float (&v)[height / 8][gradWide]) {
    const Window w = Base::windowOf(pixel);
    const bool inside = pixel < pixels && Base::isWindow(band, w);
    const Place at = inside ? Base::placeIn(band, w) : Place{0, 0, 0};
    const int n = inside ? band.image + w.image : 0;
#pragma unroll
    for (int i = 0; i < height / 8; ++i) {
      const int o = first + 8 * i;
      const bool has = inside && Base::isOutput(corner, o);
      const int channel =
          corner.group * G::outChannels + (has ? corner.o + o : 0);
      if constexpr (gradWide == 1) {
        const float x = Base::Grad::value(f, n, channel, at);
        v[i][0] = has ? x : 0.0f;
      } else {
        const Index from = Grad::at(n, channel, at) & Index(-gradWide);
#pragma unroll
        for (int j = 0; j < gradWide; ++j) {
          const float x = f.loadOutputGrad(from + j);
          v[i][j] = has ? x : 0.0f;
        }
      }
    }
  }

  /// Of a band's rows of the input, an element: where it goes.
  static MN_DEVICE int inInputs(int e) {
    return e / S.in[1] * across + t.left(S) + e % S.in[1];
  }
  template <typename F>
  static MN_DEVICE void loadInputs(const F &f, const Band &band,
                                   const Corner &corner, int e, int first,
                                   float (&v)[width / 8][inputWide]) {
    const int row = e / S.in[1], x = e % S.in[1];
    const int n = band.image + row / rows;
    const int y = band.row * S.strides[0] - S.pads[0] + row % rows +
                  corner.tap / S.kernel[1] * S.dilations[0];
    const bool inside =
        e < inputElements && n < S.batch && unsigned(y) < unsigned(S.in[0]);
    const Index at =
        inside ? G::input(n, corner.group * G::inChannels + corner.c + first,
                          Place{y, x, 0})
               : Index(0);
#pragma unroll
    for (int i = 0; i < width / 8; ++i) {
      const bool has = inside && Base::isInput(corner, first + 8 * i);
      const Index from =
          (has ? at + i * 8 * G::pixelsIn : Index(0)) & Index(-inputWide);
#pragma unroll
      for (int j = 0; j < inputWide; ++j) {
        const float value = f.loadInput(from + j);
        v[i][j] = has ? value : 0.0f;
      }
    }
  }
};

} // namespace mn::device

#endif // __CUDACC__
#endif // MNISTRT_CUDA_KERNELS_CONV_BANDS_ROWS_CUH
