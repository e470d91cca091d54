//===- chain_products.cuh - matrix products of a block's rows ---*- C++ -*-===//
//
// Products as links of a chain (chain.cuh), on the FMA units (on tensor cores:
// chain_fragments.cuh). Of one matrix of
// weights and a row of the first operand for each row of the result: a block
// reads the weights whole, from memory where it has few rows, else into shared
// memory. Or several products, as of the heads of an attention: a block has all
// of some of them, and holds their operands in shared memory.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_CHAIN_PRODUCTS_CUH
#define MNISTRT_CUDA_KERNELS_CHAIN_PRODUCTS_CUH

#include "mnistrt/cuda/kernels/chain_shape.cuh"
#include "mnistrt/cuda/kernels/results.cuh"

#ifdef __CUDACC__

namespace mn::device {

/// The rows that a block has.
struct ChainRows {
  int64_t first;
  int count;

  /// The same, where the compiler should know how many these are if all blocks
  /// have equally many. Not for links that hold rows in shared memory: those
  /// then spill registers, and a small ViT took 137 us a step instead of 127.
  template <ChainBlocks b> MN_DEVICE ChainRows known() const {
    return {first, b.rows % b.ofBlock == 0 ? b.ofBlock : count};
  }
  /// Where there are so many of each.
  MN_DEVICE ChainRows times(int each) const {
    return {first * each, count * each};
  }
};

/// What links hold one after the other: the same for all of a kernel.
MN_DEVICE char *chainMemory() {
  __shared__ char bytes[shape::chainMemory] __attribute__((aligned(16)));
  return bytes;
}

/// Where the warps of a row's team leave their sums, in a chain: one phase
/// writes half of the memory while the one before may still be read.
struct ChainJoins {
  template <typename State, int count, int phase>
  static MN_DEVICE State *memory() {
    constexpr int half = shape::chainMemory / 2;
    static_assert(count * sizeof(State) <= half);
    return reinterpret_cast<State *>(chainMemory() + phase % 2 * half);
  }
};

/// A product whose first operand has the rows.
template <typename T, typename F, Matmul S, int most, int threads>
struct MatmulRows {
  static constexpr int warps = threads / 32;
  static constexpr int atOnce = shape::min(most, 4);
  // A warp has so many columns at once; fewer where each warp has some then.
  static constexpr int each =
      shape::max(1, shape::min(8, shape::ceilDiv(S.n, warps)));
  // So many threads have a column each, and there are as many teams of these as
  // share the sums.
  static constexpr int wide =
      shape::min(threads, shape::ceilDiv(shape::max(S.n, 1), 32) * 32);
  static constexpr int teams =
      shape::max(1, shape::min(threads / wide, S.k / 8));
  static constexpr int share = shape::ceilDiv(S.k, teams);

  /// Element k of row number `r` of those of the block; of the last one where
  /// there are fewer.
  static MN_DEVICE T left(const F &f, const ChainRows &here, int r, int k) {
    return f.loadA(Index(here.first + shape::min(r, here.count - 1)) * S.k + k);
  }
  static MN_DEVICE void store(const F &f, const ChainRows &here, int r,
                              int column, T v) {
    if (r < here.count && column < S.n)
      storeResult(f, Index(here.first + r) * S.n + column, v);
  }

  /// Adds up the terms of a thread: `count` places along k from `first` on, so
  /// far apart, of which those from `end` on are not there unless all are. The
  /// compiler knows how many there are, so that the loads of many are on their
  /// way at once. loadB(k, column) gives a weight.
  template <int count, bool allThere, int columns, typename LoadB>
  static MN_DEVICE void
  addTerms(const F &f, const ChainRows &here, int r0, int first, int apart,
           int end, const LoadB &loadB, T (&sum)[atOnce][columns]) {
    constexpr int bytes = 96; ///< of a thread
    constexpr int turns = shape::ceilDiv(
        count, shape::max(1, bytes / int((atOnce + columns) * sizeof(T))));
    constexpr int n = shape::ceilDiv(count, turns);
#pragma unroll 1
    for (int turn = 0; turn < turns; ++turn) {
      T a[n][atOnce], b[n][columns];
      const auto placeOf = [&](int i) {
        return first + (turn * n + i) * apart;
      };
      const auto isThere = [&](int i) {
        return (allThere && turns * n == count) || placeOf(i) < end;
      };
#pragma unroll
      for (int i = 0; i < n; ++i) {
        const int k = isThere(i) ? placeOf(i) : end - 1;
#pragma unroll
        for (int r = 0; r < atOnce; ++r)
          a[i][r] = left(f, here, r0 + r, k);
#pragma unroll
        for (int c = 0; c < columns; ++c)
          b[i][c] = loadB(k, c);
      }
#pragma unroll
      for (int i = 0; i < n; ++i)
#pragma unroll
        for (int r = 0; r < atOnce; ++r)
#pragma unroll
          for (int c = 0; c < columns; ++c) {
            const T more = sum[r][c] + a[i][r] * b[i][c];
            sum[r][c] = isThere(i) ? more : sum[r][c];
          }
    }
  }

  /// Where the weights of a column are adjacent: the lanes of a warp share a
  /// sum.
  static MN_DEVICE void alongSums(const F &f, const ChainRows &here, int r0,
                                  int c0) {
    const int lane = int(threadIdx.x) % 32;
    T sum[atOnce][each] = {};
    addTerms<shape::ceilDiv(S.k, 32), S.k % 32 == 0>(
        f, here, r0, lane, 32, S.k,
        [&](int k, int c) {
          return f.loadB(Index(shape::min(c0 + c, S.n - 1)) * S.k + k);
        },
        sum);
#pragma unroll
    for (int r = 0; r < atOnce; ++r)
#pragma unroll
      for (int c = 0; c < each; ++c) {
#pragma unroll
        for (int lanes = 16; lanes > 0; lanes /= 2)
          sum[r][c] += shuffleXor(sum[r][c], lanes);
        if (lane == r * each + c)
          store(f, here, r0 + r, c0 + c, sum[r][c]);
      }
  }

  /// Where those of a row of weights are: neighbouring threads have
  /// neighbouring columns.
  static MN_DEVICE void alongColumns(const F &f, const ChainRows &here, int r0,
                                     int c0) {
    static_assert(atOnce * threads * sizeof(T) <= shape::chainMemory);
    const auto parts = reinterpret_cast<T(*)[threads]>(chainMemory());
    const int team = int(threadIdx.x) / wide;
    const int column = c0 + int(threadIdx.x) % wide;
    const int from = team * share;
    T sum[atOnce][1] = {};
    if (team < teams && column < S.n)
      addTerms<share, teams * share == S.k>(
          f, here, r0, from, 1, shape::min(S.k, from + share),
          [&](int k, int) { return f.loadB(Index(k) * S.n + column); }, sum);
    if constexpr (teams > 1) {
#pragma unroll
      for (int r = 0; r < atOnce; ++r)
        parts[r][threadIdx.x] = sum[r][0];
      __syncthreads();
      if (team == 0)
#pragma unroll
        for (int r = 0; r < atOnce; ++r)
          for (int other = 1; other < teams; ++other)
            sum[r][0] += parts[r][other * wide + threadIdx.x];
      __syncthreads(); // before the next ones are written
    }
    if (team == 0)
#pragma unroll
      for (int r = 0; r < atOnce; ++r)
        store(f, here, r0 + r, column, sum[r][0]);
  }

  static MN_DEVICE void run(const F &f, const ChainRows &here) {
#pragma unroll 1
    for (int r0 = 0; r0 < here.count; r0 += atOnce)
      if constexpr (S.transposedB)
#pragma unroll 1
        for (int c0 = int(threadIdx.x) / 32 * each; c0 < S.n;
             c0 += warps * each)
          alongSums(f, here, r0, c0);
      else
#pragma unroll 1
        for (int c0 = 0; c0 < S.n; c0 += wide)
          alongColumns(f, here, r0, c0);
  }
};

/// Lines of k elements in shared memory, of two operands.
template <typename T, int k, int threads> struct HeldLines {
  static constexpr int pitch = int(shape::chainPitch(k));
  static constexpr int most = int(shape::chainMemory / sizeof(T)) / pitch;

  struct alignas(4 * sizeof(T) <= 16 ? 4 * sizeof(T) : 16) Four {
    T v[4];
  };
  static MN_DEVICE Four fourOf(const T *line, int i) {
    return *reinterpret_cast<const Four *>(line + i);
  }

  /// Rows of a thread's results, where there are so many results.
  static MN_SHAPE_FN int tallOf(int rows, int results) {
    return shape::min(rows, results > 2 * threads ? 4
                            : results > threads   ? 2
                                                  : 1);
  }

  /// What a thread brings of an operand of at most so many elements: up to
  /// `atOnce` times `wide` neighbours of a line.
  template <int mostOf, int wide> struct Part {
    static constexpr int atOnce = wide == 1 ? 4 : 2;
    static constexpr int apart = wide * threads;
    static constexpr int count =
        shape::max(1, shape::min(atOnce, shape::ceilDiv(mostOf, apart)));
    static constexpr bool isAll = mostOf <= count * apart;
    T v[count][wide];

    static MN_DEVICE int first() { return int(threadIdx.x) * wide; }
    template <typename Load>
    MN_DEVICE void load(int e0, int size, const Load &loadAt) {
#pragma unroll
      for (int j = 0; j < count; ++j)
#pragma unroll
        for (int i = 0; i < wide; ++i)
          v[j][i] = loadAt(shape::min(e0 + j * apart, size - wide), i);
    }
    template <typename Place>
    MN_DEVICE void store(T *to, int e0, int size, const Place &place) const {
#pragma unroll
      for (int j = 0; j < count; ++j)
        if (const int e = e0 + j * apart; e >= size)
          return;
        else if constexpr (wide == 4)
          *reinterpret_cast<Four *>(to + place(e)) = {
              {v[j][0], v[j][1], v[j][2], v[j][3]}};
        else
          to[place(e)] = v[j][0];
    }
  };

  /// An operand that is brought: `size` elements, at most `mostOf`. loadAt(e,
  /// i) gives element e + i of neighbours from an aligned one on, and place(e)
  /// says where the first one belongs.
  template <int mostOf, int wide, typename Load, typename Place>
  struct Operand {
    using Elements = Part<mostOf, wide>;
    int size;
    Load loadAt;
    Place place;
  };
  template <int mostOf, int wide = 1, typename Load, typename Place>
  static MN_DEVICE Operand<mostOf, wide, Load, Place>
  operand(int size, const Load &loadAt, const Place &place) {
    return {size, loadAt, place};
  }

  /// Brings an operand from element `e0` of the thread on.
  template <typename O>
  static MN_DEVICE void bringFrom(T *to, int e0, const O &o) {
    using Elements = typename O::Elements;
#pragma unroll 1
    for (int e = e0; e < o.size; e += Elements::count * Elements::apart) {
      Elements part;
      part.load(e, o.size, o.loadAt);
      part.store(to, e, o.size, o.place);
    }
  }

  /// Brings two operands: the first elements of both are on their way at once.
  template <typename A, typename B>
  static MN_DEVICE void bring(T *to, const A &a, const B &b) {
    typename A::Elements ofA;
    typename B::Elements ofB;
    ofA.load(ofA.first(), a.size, a.loadAt);
    ofB.load(ofB.first(), b.size, b.loadAt);
    ofA.store(to, ofA.first(), a.size, a.place);
    ofB.store(to, ofB.first(), b.size, b.place);
    if constexpr (!ofA.isAll)
      bringFrom(to, ofA.first() + ofA.count * ofA.apart, a);
    if constexpr (!ofB.isAll)
      bringFrom(to, ofB.first() + ofB.count * ofB.apart, b);
  }

  /// The products of some lines with b.
  template <int tall>
  static MN_DEVICE void sums(const T *const (&a)[tall], const T *b,
                             T (&sum)[tall]) {
#pragma unroll 4
    for (int i = 0; i + 4 <= k; i += 4) {
      const Four y = fourOf(b, i);
#pragma unroll
      for (int r = 0; r < tall; ++r) {
        const Four x = fourOf(a[r], i);
#pragma unroll
        for (int j = 0; j < 4; ++j)
          sum[r] += x.v[j] * y.v[j];
      }
    }
    for (int i = k / 4 * 4; i < k; ++i)
#pragma unroll
      for (int r = 0; r < tall; ++r)
        sum[r] += a[r][i] * b[i];
  }

  /// Calls store(row, column, sum) for the products of all lines of a with all
  /// of b.
  template <int rows, int columns, int tall, typename Store>
  static MN_DEVICE void multiply(const T *a, const T *b, int o,
                                 const Store &store) {
    const int column = o % columns, r0 = o / columns * tall;
    const T *lines[tall];
#pragma unroll
    for (int r = 0; r < tall; ++r)
      lines[r] =
          a +
          (rows % tall == 0 ? r0 + r : shape::min(r0 + r, rows - 1)) * pitch;
    T sum[tall] = {};
    sums(lines, b + column * pitch, sum);
#pragma unroll
    for (int r = 0; r < tall; ++r)
      if (rows % tall == 0 || r0 + r < rows)
        store(r0 + r, column, sum[r]);
  }
};

/// A product of many rows: some of them and some columns of the weights at a
/// time.
template <typename T, typename F, Matmul S, int most, int threads>
struct MatmulTiles {
  using Held = HeldLines<T, S.k, threads>;
  static constexpr int rows = shape::min(most, Held::most / 2);
  static constexpr int columns = shape::min(S.n, Held::most - rows);
  static constexpr int tall = Held::tallOf(rows, rows *columns);
  static constexpr int groups = shape::ceilDiv(rows, tall);

  /// Elements of a line that a thread loads at once.
  static constexpr int wideA = S.k % 4 == 0 ? 4 : 1;
  static constexpr int wideB = S.transposedB ? wideA : 1;

  static MN_DEVICE void bring(const F &functor, T *held, Index r0, int count,
                              int c0) {
    const F f = withAlignedTensors(functor);
    const int wide = columns == S.n ? S.n : shape::min(columns, S.n - c0);
    const auto a = Held::template operand<rows * S.k, wideA>(
        count * S.k,
        [&](int e, int i) -> T {
          return f.loadA(((r0 * S.k + e) & Index(-wideA)) + i);
        },
        [](int e) { return e / S.k * Held::pitch + e % S.k; });
    const auto b = Held::template operand<columns * S.k, wideB>(
        wide * S.k,
        [&](int e, int i) -> T {
          const Index at = S.transposedB || columns == S.n
                               ? Index(c0) * S.k + e
                               : Index(e / wide) * S.n + c0 + e % wide;
          return f.loadB((at & Index(-wideB)) + i);
        },
        [&](int e) {
          const int line = S.transposedB ? e / S.k : e % wide;
          return (rows + line) * Held::pitch +
                 (S.transposedB ? e % S.k : e / wide);
        });
    Held::bring(held, a, b);
  }

  static MN_DEVICE void run(const F &f, const ChainRows &here) {
    T *held = reinterpret_cast<T *>(chainMemory());
#pragma unroll 1
    for (int done = 0; done < here.count; done += rows)
#pragma unroll 1
      for (int c0 = 0; c0 < S.n; c0 += columns) {
        const Index first = Index(here.first + done);
        const int count = shape::min(rows, here.count - done);
        if (done + c0 > 0)
          __syncthreads(); // before the next ones are written
        bring(f, held, first, count, c0);
        __syncthreads();
#pragma unroll 1
        for (int o = int(threadIdx.x); o < groups * columns; o += threads)
          Held::template multiply<rows, columns, tall>(
              held, held + rows * Held::pitch, o,
              [&](int row, int column, T sum) {
                if (row < count && c0 + column < S.n)
                  storeResult(f, (first + row) * S.n + c0 + column, sum);
              });
      }
  }
};

/// Several products: the rows are matrices, of which a block has at most so
/// many.
template <typename T, typename F, Matmul S, int most, int threads>
struct MatmulBatch {
  using Held = HeldLines<T, S.k, threads>;
  static constexpr int lines = S.m + S.n; // first those of a, then of b
  static constexpr int atOnce =
      shape::max(1, shape::min(most, Held::most / lines));
  static constexpr int tall = Held::tallOf(S.m, atOnce *S.m *S.n);
  static constexpr int each = shape::ceilDiv(S.m, tall) * S.n;

  /// Where element e of matrices of `size` lines belongs; `across`: neighbours
  /// in memory are in different lines.
  template <int size, bool across> static MN_DEVICE int placeOf(int e) {
    const int matrix = e / (size * S.k), i = e % (size * S.k);
    const int line = across ? i % size : i / S.k;
    return (matrix * lines + line) * Held::pitch +
           (across ? i / size : i % S.k);
  }

  static MN_DEVICE void bring(const F &f, T *held, Index first, int count) {
    constexpr int ofA = S.m * S.k, ofB = S.n * S.k;
    const auto a = Held::template operand<atOnce * ofA>(
        count * ofA, [&](int e, int) -> T { return f.loadA(first * ofA + e); },
        [](int e) { return placeOf<S.m, S.transposedA>(e); });
    const auto b = Held::template operand<atOnce * ofB>(
        count * ofB, [&](int e, int) -> T { return f.loadB(first * ofB + e); },
        [](int e) {
          return S.m * Held::pitch + placeOf<S.n, !S.transposedB>(e);
        });
    Held::bring(held, a, b);
  }

  static MN_DEVICE void run(const F &f, const ChainRows &here) {
    T *held = reinterpret_cast<T *>(chainMemory());
#pragma unroll 1
    for (int done = 0; done < here.count; done += atOnce) {
      const Index first = Index(here.first + done);
      const int count = shape::min(atOnce, here.count - done);
      if (done > 0)
        __syncthreads(); // before the next ones are written
      bring(f, held, first, count);
      __syncthreads();
#pragma unroll 1
      for (int o = int(threadIdx.x); o < count * each; o += threads) {
        const T *a = held + o / each * lines * Held::pitch;
        const Index base = (first + o / each) * (S.m * S.n);
        Held::template multiply<S.m, S.n, tall>(
            a, a + S.m * Held::pitch, o % each,
            [&](int row, int column, T sum) {
              storeResult(f, base + row * S.n + column, sum);
            });
      }
    }
  }
};

} // namespace mn::device

#endif // __CUDACC__

#endif // MNISTRT_CUDA_KERNELS_CHAIN_PRODUCTS_CUH
