//===- conv_filter_grad_few.cuh - gradients of few weights ------*- C++ -*-===//
//
// The gradient of a filter with few weights an output channel, as the first
// one of a network has: a tile of a matrix product would stay mostly empty.
// A thread has short columns of the output's gradient, with neighbours beside
// it, loads the pixels that their windows cover once, and keeps the sums of all
// weights of some output channels. These are added over lanes, warps, then
// blocks, in a fixed order. Where channels are last, a thread loads those that
// it has at once. Of a gradient that a pool gives to one element of each
// window, the windows are read instead: a value, and where it is. The gradient
// of a bias is one more sum, as if of a weight whose pixels are all 1:
// F::storeBias(channel, that).
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_CONV_FILTER_GRAD_FEW_CUH
#define MNISTRT_CUDA_KERNELS_CONV_FILTER_GRAD_FEW_CUH

#include "mnistrt/cuda/kernels/conv_columns.cuh"
#include "mnistrt/cuda/kernels/product_operand.cuh"

namespace mn {

namespace shape {

/// `splits` blocks share the pixels of `channels` output channels of a group.
struct FewWeights {
  int terms = 1;    ///< of an output channel: its weights, and a bias
  int channels = 1; ///< output channels of a thread
  int along = 1;    ///< so many of these in a group
  int splits = 1;
  int64_t tiles = 1;
  Columns columns = {};  ///< of pixels, that a thread has one by one
  PoolWindows pool = {}; ///< whose gradient is read; along the same dimensions

  static constexpr int threads = 256;
  static constexpr int mostWeights = 64;
  static constexpr int registers = 72; ///< of a thread, for sums
  static constexpr int mostRows = 4;   ///< of a column
  /// Blocks of a multiprocessor at least: fewer wait for their loads.
  static constexpr unsigned resident = 2;
};

/// Weights of an output channel.
MN_SHAPE_FN int64_t weightsOf(const Conv &s) {
  return int64_t(s.inChannels / s.groups) * taps(s);
}

/// What a thread has of images at a time, with the pool whose gradient it
/// reads. In one dimension neighbours are along it, and nothing is below.
MN_SHAPE_FN Windows windowsOfFew(const Conv &s) {
  Windows w = windowsOf(s);
  if (w.spatial > 1)
    return w;
  w.spatial = 2;
  const auto swap = [](int(&sizes)[3]) {
    const int first = sizes[0];
    sizes[0] = sizes[1], sizes[1] = first;
  };
  swap(w.in), swap(w.out), swap(w.kernel), swap(w.pads);
  swap(w.strides), swap(w.dilations);
  swap(w.pool.kernel), swap(w.pool.out);
  return w;
}
/// Rows of a window of the pool, if there is one.
MN_SHAPE_FN int poolRows(const Windows &w) {
  return w.isPooled() ? w.pool.kernel[columnAlong(w)] : 1;
}
/// As many windows as leave few of a column's empty; whole ones of a pool.
MN_SHAPE_FN int heightOfFew(const Windows &w) {
  const int out = w.out[columnAlong(w)], rows = poolRows(w);
  int best = rows;
  for (int height = 2 * rows; height <= FewWeights::mostRows; height += rows)
    if (ceilDiv(out, height) * height * 8 <= out * 9)
      best = height;
  return best;
}

/// Whether columns have whole windows of the pool.
MN_SHAPE_FN bool hasWindowsOfPool(const Conv &s) {
  return poolRows(windowsOfFew(s)) <= FewWeights::mostRows;
}

/// Whether threads know which pixels of a column are inside.
MN_SHAPE_FN bool hasColumnsOfFew(const Conv &s) {
  Windows w = windowsOfFew(s);
  const Columns t = {heightOfFew(w)};
  return hasBits(w, t);
}

/// What a schedule says.
MN_SHAPE_FN FewWeights fewWeights(const Conv &s) {
  FewWeights few = {int(weightsOf(s)) + s.bias, s.schedule.channels};
  few.along = ceilDiv(s.outChannels / s.groups, few.channels);
  few.splits = s.schedule.split;
  few.tiles = int64_t(s.groups) * few.along;
  Windows w = windowsOfFew(s);
  const int height = heightOfFew(w);
  few.pool = w.pool;
  w.pool = {};
  few.columns = counted(Columns{height}, w);
  return few;
}

} // namespace shape

#ifdef __CUDACC__

namespace device {

template <typename T, Conv S> struct FewWeightsKernel {
  using G = ConvGeometry<S>;
  static constexpr shape::FewWeights t = shape::fewWeights(S);
  static constexpr int weights = int(shape::weightsOf(S));
  static constexpr int terms = t.terms, channels = t.channels;
  static constexpr int count = channels * terms;
  static constexpr int warps = t.threads / 32;
  static constexpr int teams = t.threads / count;
  using Parts = Scratch<T, t.splits == 1 ? 1 : t.tiles * t.splits * count,
                        t.splits == 1 ? 1 : int(t.tiles)>;

  static constexpr bool isPooled = t.pool.out[0] != 0;
  static MN_SHAPE_FN shape::Windows windows() {
    shape::Windows w = shape::windowsOfFew(S);
    w.pool = {};
    return w;
  }
  static constexpr shape::Windows W = windows();
  using Column = ColumnKernel<T, W, t.columns>;

  /// In one dimension rows and columns are exchanged.
  static MN_DEVICE Place turned(Place at) {
    return S.spatial == 1 ? Place{at.x1, at.x0, 0} : at;
  }
  template <typename F> struct Pixels {
    const F &f;
    int group;
    static MN_DEVICE Place pads() { return {W.pads[0], W.pads[1], W.pads[2]}; }
    MN_DEVICE Index pixelAt(int image, Place at) const {
      return G::input(image, group * G::inChannels, turned(at));
    }
    MN_DEVICE T loadPixel(Index pixel, int channel) const {
      return f.loadInput(pixel + G::input(0, channel, Place{0, 0, 0}));
    }
  };

  /// Whether row `i` of a column is in the image.
  static MN_DEVICE bool isRow(Place at, int i) {
    constexpr int y = Column::y;
    return W.out[y] % Column::height == 0 ||
           Column::along(at, y) + i < W.out[y];
  }

  /// A column of the output's gradient, of channel `c`.
  template <typename F>
  static MN_DEVICE void loadColumn(const F &f, T (&grad)[Column::height],
                                   int image, int c, Place at) {
    const Index first = G::output(image, c, turned(at));
#pragma unroll
    for (int i = 0; i < Column::height; ++i) {
      const Place apart = turned(Column::below(Place{0, 0, 0}, i));
      grad[i] = isRow(at, i)
                    ? T(f.loadOutputGrad(first + G::output(0, 0, apart)))
                    : T(0);
    }
  }

  /// Whether a thread's output channels are adjacent in memory: it loads them
  /// at once, also of rows that are not there, as the column's first.
  static constexpr bool areAdjacent =
      !G::nchw && !isPooled && G::outChannels % channels == 0;
  /// Where a functor gives what is in memory, it is copied as it is there.
  template <typename F>
  static MN_DEVICE void loadChannels(const F &f, T (&grad)[channels],
                                     Index first) {
    using Loaded = decltype(f.loadOutputGrad(first));
    if constexpr (isMemory<Loaded> || isRounded<Loaded>) {
      const auto stored = copiedFrom<channels>(f.loadOutputGrad(first));
#pragma unroll
      for (int j = 0; j < channels; ++j)
        grad[j] = T(stored.v[j]);
    } else {
#pragma unroll
      for (int j = 0; j < channels; ++j)
        grad[j] = T(f.loadOutputGrad(first + j));
    }
  }
  template <typename F>
  static MN_DEVICE void loadAdjacent(const F &f,
                                     T (&grad)[channels][Column::height],
                                     int image, int c, Place at) {
#pragma unroll
    for (int i = 0; i < Column::height; ++i) {
      const bool isThere = isRow(at, i);
      T ofRow[channels];
      loadChannels(
          f, ofRow,
          G::output(image, c, turned(isThere ? Column::below(at, i) : at)));
#pragma unroll
      for (int j = 0; j < channels; ++j)
        grad[j][i] = isThere ? ofRow[j] : T(0);
    }
  }

  /// The windows of a pool that a column is in, from top to bottom.
  struct PoolColumn {
    static constexpr PoolWindows p = t.pool;
    static constexpr int high = p.kernel[Column::y];
    static constexpr int count = Column::height / high;
    Index first;
    bool isThere[count];
    int number; ///< in a window, of the column's first element

    static MN_DEVICE Index at(int image, int c, Place window) {
      constexpr PoolWindows q = S.pool;
      return imageIndex<S.layout, S.outChannels, q.out[0], q.out[1], q.out[2]>(
          image, c, turned(window));
    }
    /// Whether all that columns have along a dimension is in windows.
    static MN_SHAPE_FN bool covers(int d) {
      const int height = d == Column::y ? Column::height : 1;
      return shape::ceilDiv(W.out[d], height) * height <=
             p.out[d] * p.kernel[d];
    }
    template <int d> static MN_DEVICE bool isInside(Place window) {
      return covers(d) || Column::along(window, d) < p.out[d];
    }

    MN_DEVICE PoolColumn(int image, Place x) {
      const Place window = {x.x0 / p.kernel[0], x.x1 / p.kernel[1],
                            x.x2 / p.kernel[2]};
      first = at(image, 0, window);
      number = (x.x0 % p.kernel[0] * p.kernel[1] + x.x1 % p.kernel[1]) *
                   p.kernel[2] +
               x.x2 % p.kernel[2];
#pragma unroll
      for (int i = 0; i < count; ++i) {
        const Place w = Column::below(window, i);
        isThere[i] = isInside<0>(w) && isInside<1>(w) && isInside<2>(w);
      }
    }

    template <typename F>
    MN_DEVICE void load(const F &f, T (&grad)[Column::height], int c,
                        Place x) const {
      constexpr int below =
          Column::y == 0 ? p.kernel[1] * p.kernel[2] : p.kernel[2];
#pragma unroll
      for (int w = 0; w < count; ++w) {
        const Index o = first + at(0, c, Column::below(Place{0, 0, 0}, w));
        const T value = isThere[w] ? T(f.loadOutputGrad(o)) : T(0);
        const int place = isThere[w] ? int(f.loadIndex(o)) : -1;
#pragma unroll
        for (int row = 0; row < high; ++row) {
          const int i = w * high + row;
          grad[i] = place == number + row * below && isRow(x, i) ? value : T(0);
        }
      }
    }
  };

  /// Those of a thread's channels, from `channel` of the group on that begins
  /// with `firstOfGroup`.
  template <typename F>
  static MN_DEVICE void
  loadColumns(const F &f, T (&grad)[channels][Column::height], int firstOfGroup,
              int channel, const typename Column::Column &column) {
    const auto channelOf = [&](int j) {
      return firstOfGroup + shape::min(channel + j, G::outChannels - 1);
    };
    if constexpr (isPooled) {
      const PoolColumn windows(column.image, column.at);
#pragma unroll
      for (int j = 0; j < channels; ++j)
        windows.load(f, grad[j], channelOf(j), column.at);
    } else if constexpr (areAdjacent) {
      loadAdjacent(f, grad, column.image, firstOfGroup + channel, column.at);
    } else {
#pragma unroll
      for (int j = 0; j < channels; ++j)
        loadColumn(f, grad[j], column.image, channelOf(j), column.at);
    }
  }

  /// Adds the products of one column.
  template <typename F>
  static MN_DEVICE void addColumn(const F &f, T (&sum)[count], int group,
                                  int channel, int number) {
    constexpr int height = Column::height, y = Column::y;
    const auto column = Column::columnOf(number);
    T grad[channels][height];
    loadColumns(f, grad, group * G::outChannels, channel, column);
    if constexpr (S.bias)
#pragma unroll
      for (int j = 0; j < channels; ++j)
#pragma unroll
        for (int i = 0; i < height; ++i)
          sum[j * terms + weights] += grad[j][i];
    const Pixels<F> pixels = {f, group};
    const typename Column::Reach reach(pixels, column);
#pragma unroll
    for (int c = 0; c < G::inChannels; ++c)
#pragma unroll
      for (int before = 0; before < Column::outside; ++before)
#pragma unroll
        for (int across = 0; across < Column::across; ++across) {
          T pixel[Column::pixels];
#pragma unroll
          for (int i = 0; i < Column::pixels; ++i)
            pixel[i] = reach.load(pixels, c, before, across, i);
#pragma unroll
          for (int row = 0; row < Column::rows; ++row)
#pragma unroll
            for (int j = 0; j < channels; ++j)
#pragma unroll
              for (int i = 0; i < height; ++i)
                sum[j * terms + c * G::taps +
                    Column::tapNumber(before, row, across)] +=
                    grad[j][i] * pixel[i * W.strides[y] + row * W.dilations[y]];
        }
  }

  /// The block's sums, in its first `count` threads.
  static MN_DEVICE T sumBlock(T (&sum)[count]) {
    __shared__ T ofWarps[warps][count];
    int first = 0, have = count;
    sumOverLanes<16>(sum, first, have);
#pragma unroll
    for (int i = 0; i < (count + 31) / 32; ++i)
      if (i < have)
        ofWarps[threadIdx.x / 32][first + i] = sum[i];
    __syncthreads();
    T v = T(0);
    if (threadIdx.x < count)
#pragma unroll
      for (int warp = 0; warp < warps; ++warp)
        v += ofWarps[warp][threadIdx.x];
    return v;
  }

  /// The sums of all blocks of a tile, likewise.
  static MN_DEVICE T sumParts(const T *part) {
    __shared__ T ofTeams[teams][count];
    const int team = int(threadIdx.x) / count, i = int(threadIdx.x) % count;
    constexpr int each = shape::ceilDiv(t.splits, teams);
    constexpr int atOnce = shape::min(each, 16);
    T v = T(0);
    if (team < teams) {
#pragma unroll 1
      for (int first = team; first < t.splits; first += atOnce * teams) {
        T some[atOnce];
#pragma unroll
        for (int j = 0; j < atOnce; ++j)
          some[j] =
              part[shape::min(first + j * teams, t.splits - 1) * count + i];
#pragma unroll
        for (int j = 0; j < atOnce; ++j)
          v = first + j * teams < t.splits ? v + some[j] : v;
      }
      ofTeams[team][i] = v;
    }
    __syncthreads();
    v = T(0);
    if (team == 0)
#pragma unroll
      for (int other = 0; other < teams; ++other)
        v += ofTeams[other][i];
    return v;
  }

  template <typename F> static MN_DEVICE void run(const F &f, Parts &parts) {
    gridDependencySyncOf<F>();
    const int split = int(blockIdx.x % t.splits);
    const int tile = int(blockIdx.x / t.splits);
    const int group = tile / t.along, channel = tile % t.along * channels;
    constexpr int columns = int(t.columns.columns);
    T sum[count];
#pragma unroll
    for (int i = 0; i < count; ++i)
      sum[i] = T(0);
#pragma unroll 1
    for (int column = split * t.threads + int(threadIdx.x); column < columns;
         column += t.splits * t.threads) {
      if (column + t.splits * t.threads >= columns)
        afterLastLoads<F>();
      addColumn(f, sum, group, channel, column);
    }

    T v = sumBlock(sum);
    if constexpr (t.splits > 1) {
      T *part = parts.part + int64_t(tile) * t.splits * count;
      if (threadIdx.x < count)
        part[split * count + int(threadIdx.x)] = v;
      if (!lastToArrive(&parts.ticket[tile], t.splits))
        return;
      v = sumParts(part);
    }
    const int c = channel + int(threadIdx.x) / terms;
    if (threadIdx.x < count && c < G::outChannels)
      store(f, group * G::outChannels + c, int(threadIdx.x) % terms, v);
  }
  template <typename F>
  static MN_DEVICE void store(const F &f, int channel, int term, T v) {
    if constexpr (S.bias)
      if (term == weights)
        return f.storeBias(Index(channel), v);
    storeResult(f, Index(channel) * weights + term, v);
  }
};

} // namespace device

#endif // __CUDACC__

} // namespace mn

#endif // MNISTRT_CUDA_KERNELS_CONV_FILTER_GRAD_FEW_CUH
