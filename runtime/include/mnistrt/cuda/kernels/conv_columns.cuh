//===- conv_columns.cuh - convolutions of few results a pixel ---*- C++ -*-===//
//
// A tile of a matrix product would stay mostly empty, and each of its pixels be
// loaded for every tap. Here a thread has the windows of a short column of the
// result, and all channels of their results: a column of pixels is loaded once
// for all taps of its windows, by neighbours from neighbours, and multiplied on
// the FMA units by filters in shared memory. Where there are few windows, the
// channels that are summed are split among a block's threads.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_CONV_COLUMNS_CUH
#define MNISTRT_CUDA_KERNELS_CONV_COLUMNS_CUH

#include "mnistrt/cuda/kernels/conv_geometry.cuh"
#include "mnistrt/cuda/kernels/conv_windows.cuh"
#include "mnistrt/cuda/kernels/pooled.cuh"

namespace mn {

namespace shape {

struct Columns {
  static constexpr int threads = 256;
  /// Of filters in shared memory at a time: what should and what can be.
  static constexpr int filterElements = 4096, mostElements = 5632;
  /// Of an image's pixels in a thread's registers.
  static constexpr int mostKept = 64;
  /// Of pixels in a column, and of taps across: a bit says which are inside.
  static constexpr int mostBits = 64;
  int height = 1;     ///< windows of a thread
  int width = 1;      ///< channels of results
  int splits = 1;     ///< threads that share a result
  int chunk = 1;      ///< channels whose filters are in shared memory at a time
  int breadth = 1;    ///< columns of a thread, side by side
  bool keeps = false; ///< all pixels that it needs, while channels go by
  int64_t columns = 1; ///< of a group and phase, or so many side by side
  int64_t blocks = 1;  ///< likewise
  int64_t across = 1;  ///< along channels of results
};

/// The dimension along which columns are, and that along which they are
/// neighbours.
MN_SHAPE_FN int columnAlong(const Windows &w) { return w.spatial - 2; }
MN_SHAPE_FN int neighboursAlong(const Windows &w) { return w.spatial - 1; }

/// Pixels that the windows of a column cover.
MN_SHAPE_FN int columnPixels(const Windows &w, const Columns &t) {
  const int y = columnAlong(w);
  return (t.height - 1) * w.strides[y] + (w.kernel[y] - 1) * w.dilations[y] + 1;
}

/// Whether there are as many bits as pixels of a column, and taps across.
MN_SHAPE_FN bool hasBits(const Windows &w, const Columns &t) {
  return columnPixels(w, t) <= Columns::mostBits &&
         w.kernel[neighboursAlong(w)] <= Columns::mostBits;
}

/// Pixels across those of a row of windows.
MN_SHAPE_FN int acrossPixels(const Windows &w, int breadth) {
  const int x = neighboursAlong(w);
  return (breadth - 1) * w.strides[x] + (w.kernel[x] - 1) * w.dilations[x] + 1;
}

/// Elements of a filter with their padding to what is loaded at once.
MN_SHAPE_FN int filterRow(const Windows &w) {
  return ceilDiv(w.channels * w.taps(), 4) * 4;
}

/// Where pixels of few channels are read, a thread keeps those of a whole
/// window of a pool.
MN_SHAPE_FN bool keepsPixels(const Windows &w, const Columns &t) {
  const int pixels = columnPixels(w, t) * acrossPixels(w, w.pool.kernel[1]);
  return w.isPooled() && w.spatial == 2 && t.splits == 1 &&
         t.height == w.pool.kernel[0] &&
         pixels * w.channels <= Columns::mostKept;
}

MN_SHAPE_FN Columns counted(Columns t, const Windows &w) {
  const int y = columnAlong(w);
  t.keeps = keepsPixels(w, t);
  t.breadth = t.keeps ? w.pool.kernel[1] : 1;
  t.columns = int64_t(w.batch) * (w.spatial == 3 ? w.out[0] : 1) *
              ceilDiv(w.extent(y), t.height) *
              (w.extent(neighboursAlong(w)) / t.breadth);
  t.blocks = ceilDiv<int64_t>(t.columns, Columns::threads / t.splits);
  t.across = ceilDiv(w.results, t.width);
  const int fits = max(1, Columns::filterElements / (w.taps() * t.width));
  t.chunk =
      min(max(fits / t.splits, 1), ceilDiv(w.channels, t.splits)) * t.splits;
  if (t.keeps)
    t.chunk = w.channels;
  return t;
}

/// Lines of taps, across the columns, whose pixels are on their way at once.
/// With more of them too few threads are resident; those of phases may be left
/// out.
MN_SHAPE_FN int linesAtOnce(const Windows &w) {
  const int lines = w.kernel[neighboursAlong(w)];
  return lines <= (w.phaseCount() == 1 ? 3 : 4) ? lines : 2;
}

/// What a warp of a thread that keeps its pixels issues.
MN_SHAPE_FN double keptInstructions(const Windows &w, const Columns &t) {
  const double windows = t.height * t.breadth;
  const double pixels =
      w.channels * columnPixels(w, t) * acrossPixels(w, t.breadth);
  // A result is also finished and compared, and what is left of a pool stored.
  const double result = w.channels * w.taps() + 9;
  const double channel = windows * result + 0.9 * filterRow(w) +
                         12 * windows / (w.pool.kernel[0] * t.breadth);
  return 60 + 4 * pixels + 0.1 * t.width * filterRow(w) + t.width * channel;
}

/// As mmaCycles(), of threads that keep their pixels: within 6% of 4 widths of
/// SimpleCNN's first convolution at a batch of 1024 on an H100.
MN_SHAPE_FN int64_t keptCycles(const Windows &w, const Columns &t) {
  const int64_t blocks =
      ceilDiv<int64_t>(t.blocks * t.across * w.groups, referenceSms);
  // Each of four schedulers has two warps of a block.
  return int64_t(max(1.85 * double(blocks), 2.6) * keptInstructions(w, t)) +
         4000;
}

/// As mmaCycles(); fitted to 147 times of 20 convolutions and gradients on one
/// H100, where what it chose took 1.02 times as long as the best.
MN_SHAPE_FN int64_t columnCycles(const Windows &w, const Columns &t) {
  if (t.keeps)
    return keptCycles(w, t);
  const int y = columnAlong(w), pixels = columnPixels(w, t);
  const double sums = t.height * t.width;
  // Of a thread: for each channel and line of taps the pixels, and for each tap
  // the filters and the products.
  const double line =
      8.8 * pixels + w.kernel[y] * (sums + 0.64 * ceilDiv(t.width, 4));
  const double channel = 10 + w.taps() / w.kernel[y] * line;
  const double staging = 0.22 * w.channels * w.taps() * t.width;
  const double all =
      channel * ceilDiv(w.channels, t.splits) + staging + 9.4 * sums + 25;
  const double registers =
      min(255.0, sums + t.width + 1.9 * pixels * linesAtOnce(w) + 38);
  const int64_t resident = max<int64_t>(
      1, min<int64_t>(8, int64_t(65536 / (registers * t.threads))));
  const int64_t blocks = ceilDiv<int64_t>(
      t.blocks * t.across * w.groups * w.phaseCount(), referenceSms);
  // Each of four schedulers has two warps of a block; few warps wait for their
  // loads.
  const auto together = [&](int64_t n) {
    return max(2.6 * double(n), 3.5) * all;
  };
  double result = double(blocks / resident) * together(resident);
  if (blocks % resident != 0)
    result += together(blocks % resident);
  return int64_t(result) + 4000;
}

MN_SHAPE_FN bool hasColumns(const Conv &s, const Windows &w) {
  return s.layout == Layout::nchw && w.spatial >= 2;
}
/// Whether windows of a pool are in columns, and their parts in one warp.
MN_SHAPE_FN bool canPool(const Windows &w, const Columns &t) {
  const int across = w.pool.kernel[1];
  return t.keeps || (w.spatial == 2 && t.height % w.pool.kernel[0] == 0 &&
                     (across & (across - 1)) == 0 && across <= 32);
}
/// Whether a block has room for it.
MN_SHAPE_FN bool fits(const Windows &w, const Columns &t) {
  return hasBits(w, t) &&
         t.chunk * w.taps() * t.width <= Columns::mostElements &&
         t.splits <= w.channels && t.columns < int64_t(1) << 31 &&
         (!w.isPooled() || canPool(w, t));
}

/// use(columns) for all that there may be.
template <typename Use>
MN_SHAPE_FN void eachColumns(const Conv &s, const Windows &w, Use &&use) {
  if (!hasColumns(s, w))
    return;
  for (int height = 1; height <= 8; height *= 2)
    for (int width = 1; width <= 16 && height * width <= 64; width *= 2)
      for (int splits = 1; splits <= 8; splits *= 2)
        if (const Columns t = counted(Columns{height, width, splits}, w);
            fits(w, t))
          use(t);
  // Threads that keep their pixels go through more channels, and have as many
  // rows as a pool.
  const int rows = w.pool.kernel[0];
  for (int width = 2; w.isPooled() && width <= 32; width *= 2)
    if (const Columns t = counted(Columns{rows, width}, w);
        t.keeps && fits(w, t) &&
        (rows > 8 || (rows & (rows - 1)) != 0 || width > 16 ||
         rows * width > 64))
      use(t);
}

MN_SHAPE_FN LaunchShape launchOf(const Windows &w, const Columns &t) {
  return {
      static_cast<unsigned>(t.blocks * t.across * w.groups * w.phaseCount()),
      Columns::threads,
      1,
      0,
      true,
      true};
}

} // namespace shape

#ifdef __CUDACC__

namespace device {

/// An operation is as in conv_patch.cuh, with results and channels of a group.
/// Its pads() are those of its phase.
template <typename T, shape::Windows W, shape::Columns t> struct ColumnKernel {
  static constexpr int threads = t.threads, splits = t.splits;
  static constexpr int lanes = threads / splits;
  static constexpr int height = t.height, width = t.width;
  static constexpr int y = shape::columnAlong(W), x = y + 1;
  static constexpr int pixels = shape::columnPixels(W, t);
  static constexpr int rows = W.kernel[y], across = W.kernel[x];
  static constexpr int outside = y == 1 ? W.kernel[0] : 1;
  static constexpr int taps = W.taps();
  static constexpr int lines = shape::linesAtOnce(W);

  union Memory {
    alignas(16) T filter[t.chunk][taps][width];
    T sum[splits == 1 ? 1 : width][threads];
  };

  /// The first window of a column.
  struct Column {
    int image;
    Place at;
  };
  static MN_DEVICE Column columnOf(int number) {
    constexpr int wide = W.extent(x);
    constexpr int tall = (W.extent(y) + height - 1) / height;
    const int column = number % wide, row = number / wide % tall * height;
    const int rest = number / (wide * tall);
    if constexpr (y == 1)
      return {rest / W.out[0], {rest % W.out[0], row, column}};
    else
      return {rest, {row, column, 0}};
  }
  static MN_DEVICE Place below(Place at, int rows) {
    (y == 1 ? at.x1 : at.x0) += rows;
    return at;
  }
  static MN_DEVICE Place tapPlace(int before, int row, int column) {
    return y == 1 ? Place{before, row, column} : Place{row, column, 0};
  }
  static MN_DEVICE int tapNumber(int before, int row, int column) {
    return (before * rows + row) * across + column;
  }
  static MN_DEVICE int along(const Place &p, int d) {
    return d == 0 ? p.x0 : d == 1 ? p.x1 : p.x2;
  }

  /// A column's place in the image, and which of its pixels are inside: bits.
  struct Reach {
    static_assert(shape::hasBits(W, t));
    using Bits =
        typename Choice<(pixels > 32 || across > 32), uint64_t, unsigned>::Type;
    int image;
    Place first;
    Bits rows = 0, columns = 0;

    template <typename Op>
    MN_DEVICE Reach(const Op &op, const Column &column) : image(column.image) {
      const Place pads = op.pads(), at = column.at;
      first = {at.x0 * W.strides[0] - pads.x0, at.x1 * W.strides[1] - pads.x1,
               at.x2 * W.strides[2] - pads.x2};
#pragma unroll
      for (int i = 0; i < pixels; ++i)
        rows |= Bits(unsigned(along(first, y) + i) < unsigned(W.in[y])) << i;
#pragma unroll
      for (int i = 0; i < across; ++i)
        columns |= Bits(unsigned(along(first, x) + i * W.dilations[x]) <
                        unsigned(W.in[x]))
                   << i;
    }
    /// Pixel number `i` of the column that tap (before, ., column) reads:
    /// elements at fixed distances from one whose place is computed once.
    template <typename Op>
    MN_DEVICE T load(const Op &op, int channel, int before, int column,
                     int i) const {
      Place apart = below(Place{0, 0, 0}, i);
      (x == 2 ? apart.x2 : apart.x1) += column * W.dilations[x];
      bool inside = (rows >> i & columns >> column & 1) != 0;
      if constexpr (y == 1) {
        apart.x0 = before * W.dilations[0];
        inside = inside && unsigned(first.x0 + apart.x0) < unsigned(W.in[0]);
      }
      const Index offset = op.pixelAt(0, apart) - op.pixelAt(0, Place{0, 0, 0});
      return inside ? op.loadPixel(op.pixelAt(image, first) + offset, channel)
                    : T(0);
    }
  };

  T sum[height][width];

  template <typename Op>
  MN_DEVICE void addChannel(const Op &op, const Reach &reach, int channel,
                            const T (&filter)[taps][width]) {
    const Place begin = op.firstTap();
#pragma unroll
    for (int before = 0; before < outside; ++before)
#pragma unroll(lines)
      for (int column = 0; column < across; ++column) {
        if ((y == 1 && before < begin.x0) || column < along(begin, x))
          continue;
        T pixel[pixels];
#pragma unroll
        for (int i = 0; i < pixels; ++i)
          pixel[i] = reach.load(op, channel, before, column, i);
#pragma unroll
        for (int row = 0; row < rows; ++row) {
          if (row < along(begin, y))
            continue;
          T weight[width];
#pragma unroll
          for (int r = 0; r < width; ++r)
            weight[r] = filter[tapNumber(before, row, column)][r];
#pragma unroll
          for (int i = 0; i < height; ++i)
#pragma unroll
            for (int r = 0; r < width; ++r)
              sum[i][r] +=
                  pixel[i * W.strides[y] + row * W.dilations[y]] * weight[r];
        }
      }
  }

  template <typename Op>
  static MN_DEVICE void stage(const Op &op, Memory &memory, int channel,
                              int firstResult) {
    // Neighbours are taps, as they are in memory.
    for (int e = int(threadIdx.x); e < t.chunk * taps * width; e += threads) {
      const int tap = e % taps, c = e / taps % t.chunk;
      const int r = e / (taps * t.chunk);
      const bool inside =
          channel + c < W.channels &&
          (W.results % width == 0 || firstResult + r < W.results);
      const T v = op.loadFilter(inside ? firstResult + r : 0,
                                inside ? channel + c : 0, inside ? tap : 0);
      memory.filter[c][tap][r] = inside ? v : T(0);
    }
  }

  template <typename Op>
  MN_DEVICE void addUp(const Op &op, Memory &memory, const Reach &reach,
                       int firstResult) {
#pragma unroll
    for (int i = 0; i < height; ++i)
#pragma unroll
      for (int r = 0; r < width; ++r)
        sum[i][r] = T(0);
#pragma unroll 1
    for (int channel = 0; channel < W.channels; channel += t.chunk) {
      if (channel != 0)
        __syncthreads();
      stage(op, memory, channel, firstResult);
      __syncthreads();
#pragma unroll 1
      for (int c = int(threadIdx.x) / lanes; c < t.chunk; c += splits)
        if (channel + c < W.channels)
          addChannel(op, reach, channel + c, memory.filter[c]);
    }
  }

  /// Channels of results that a thread has in a row of its column.
  static constexpr int turns = (width + splits - 1) / splits;

  /// Stores a thread's results, or what a pool makes of them: those of the
  /// `which`-th channel of a thread come one below the other, a warp's
  /// together.
  template <typename Op> struct Stores {
    const Op &op;
    const Column &column;
    bool isMine;
    int firstResult;
    Pooled<T, W.pool.mean> pooled[W.isPooled() ? width : 1] = {};
    // What is stored together: a column, or a row of it.
    static constexpr bool waits =
        !W.isPooled() && ComputesResults<typename Op::Functor>;
    static constexpr int atOnce = !waits ? 1 : splits == 1 ? height : turns;
    typename Op::ResultIndex place[atOnce];
    T sum[atOnce];

    MN_DEVICE void operator()(int i, int which, int r, T v) {
      const int result = firstResult + r;
      const Place at = below(column.at, i);
      const bool isResult = isMine && along(at, y) < W.out[y] &&
                            along(at, x) < W.out[x] && result < W.results &&
                            r < width && op.has(at);
      if constexpr (waits) {
        const int number = splits == 1 ? i : which;
        place[number] = placeIf(isResult, op.place(column.image, result, at));
        sum[number] = v;
      } else if constexpr (!W.isPooled()) {
        if (isResult)
          storeResult(op.f, op.place(column.image, result, at), v);
      } else {
        constexpr int high = W.pool.kernel[0], across = W.pool.kernel[1];
        const int inWindow = int(threadIdx.x) % across;
        if (isResult)
          pooled[which].see(op.tile(column.image, result, at, v),
                            i % high * across + inWindow);
        if (i % high != high - 1)
          return;
#pragma unroll
        for (int other = 1; other < across; other *= 2)
          pooled[which].join(other);
        const Place window = {at.x0 / high, at.x1 / across, 0};
        if (isMine && inWindow == 0 && result < W.results && r < width)
          op.storePool(column.image, result, window, pooled[which]);
        pooled[which] = {};
      }
    }
    MN_DEVICE void finish() {
      if constexpr (waits)
        storeResults(op.f, place, sum);
    }
  };

  /// `number`: of the block among those of its group and phase.
  template <typename Op> static MN_DEVICE void run(const Op &op, int number) {
    gridDependencySyncOf<typename Op::Functor>();
    __shared__ Memory memory;
    const int firstResult = number % int(t.across) * width;
    const int lane = int(threadIdx.x) % lanes;
    const int place = number / int(t.across) * lanes + lane;
    const bool isMine = place < int(t.columns);
    const Column column = columnOf(isMine ? place : 0);
    ColumnKernel kernel;
    kernel.addUp(op, memory, Reach(op, column), firstResult);
    afterLastLoads<typename Op::Functor>();
    Stores<Op> stores{op, column, isMine, firstResult};
    if constexpr (splits == 1) {
#pragma unroll
      for (int r = 0; r < width; ++r) {
#pragma unroll
        for (int i = 0; i < height; ++i)
          stores(i, r, r, kernel.sum[i][r]);
        stores.finish();
      }
    } else {
#pragma unroll
      for (int i = 0; i < height; ++i) {
        __syncthreads();
#pragma unroll
        for (int r = 0; r < width; ++r)
          memory.sum[r][threadIdx.x] = kernel.sum[i][r];
        __syncthreads();
#pragma unroll
        for (int turn = 0; turn < turns; ++turn) {
          const int r = turn * splits + int(threadIdx.x) / lanes;
          T v = T(0);
#pragma unroll
          for (int s = 0; s < splits; ++s)
            v += memory.sum[shape::min(r, width - 1)][s * lanes + lane];
          stores(i, turn, r, v);
        }
        stores.finish();
      }
    }
  }
};

} // namespace device

#endif // __CUDACC__

} // namespace mn

#endif // MNISTRT_CUDA_KERNELS_CONV_COLUMNS_CUH
