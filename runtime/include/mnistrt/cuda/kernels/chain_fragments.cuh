//===- chain_fragments.cuh - a chain's products on tensor cores -*- C++ -*-===//
//
// A warp has 16 rows and some columns of a product at a time. What a block
// reads is little and stays in its first cache, so that operands go from memory
// into the registers in which they are multiplied: no thread waits for another.
//
// Of 16 terms a lane has four neighbours of each line. Which terms the tensor
// cores take them for does not matter, as long as both operands agree.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_CHAIN_FRAGMENTS_CUH
#define MNISTRT_CUDA_KERNELS_CHAIN_FRAGMENTS_CUH

#include "mnistrt/cuda/kernels/chain_products.cuh"
#include "mnistrt/cuda/kernels/mma.cuh"
#include "mnistrt/cuda/kernels/product_tiles.cuh"

#ifdef __CUDACC__

namespace mn::device {

/// What a lane has of 16 terms of one line, as the tensor cores take it: words
/// 0 and 1 are of its first two terms, 2 and 3 of the others, of bf16 a word of
/// each two.
template <Mma mma> struct LanesTerms {
  static constexpr int words = mma == Mma::bf16 ? 2 : 4;
  uint32_t big[words], small[mma == Mma::tf32x3 ? words : 1];

  MN_DEVICE void set(const float (&v)[4]) {
    if constexpr (mma == Mma::bf16) {
      big[0] = toBf16(v[0], v[1]);
      big[1] = toBf16(v[2], v[3]);
    } else
#pragma unroll
      for (int i = 0; i < 4; ++i)
        if constexpr (mma == Mma::tf32x3) {
          big[i] = bigOf(v[i]);
          small[i] = smallOf(v[i], big[i]);
        } else {
          big[i] = toTf32(v[i]);
        }
  }
  MN_DEVICE void set(const Bf16 (&v)[4]) {
    if constexpr (mma == Mma::bf16) {
      memcpy(big, v, sizeof(big));
    } else {
      const float wide[4] = {float(v[0]), float(v[1]), float(v[2]),
                             float(v[3])};
      set(wide);
    }
  }
};

/// A sum as the FMA units add it up, of matrices that begin at a and b.
template <Matmul S, typename F>
MN_DEVICE float exactSum(const F &f, Index a, Index b, int line, int other) {
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < S.k; ++k)
    sum +=
        float(f.loadA(a + (S.transposedA ? k * S.m + line : line * S.k + k))) *
        float(f.loadB(b + (S.transposedB ? other * S.k + k : k * S.n + other)));
  return sum;
}

/// The sums of a part of a product, of 16 rows and 8 x `wide` columns, by a
/// warp.
template <Matmul S, int wide> struct FragmentSums {
  static constexpr Mma mma = S.schedule.mma;
  static constexpr int ofStep = 16;
  static constexpr int steps = shape::ceilDiv(S.k, ofStep);
  /// Steps whose operands are on their way at once, as registers allow.
  static constexpr int atOnce =
      shape::min(steps, mma == Mma::tf32x3 && wide == 1 ? 2 : 4 / wide);
  static constexpr int kept =
      shape::max(1, shape::keptTerms(mma) / (ofStep * atOnce));
  static constexpr bool moves = steps > kept *atOnce;

  using Sums = float[wide][4];
  /// Of few columns, products of tf32x3 numbers' parts have sums of their own:
  /// tensor cores wait for a sum before they add to it.
  static constexpr int chains = mma == Mma::tf32x3 && wide == 1 ? 3 : 1;

  template <typename A, typename B>
  static MN_DEVICE void multiply(Sums (&sum)[chains], const A (&a)[2][4],
                                 const B (&b)[wide][4]) {
    LanesTerms<mma> x[2];
    x[0].set(a[0]);
    x[1].set(a[1]);
#pragma unroll
    for (int j = 0; j < wide; ++j) {
      LanesTerms<mma> y;
      y.set(b[j]);
      // The small products first.
      if constexpr (mma == Mma::tf32x3) {
        add(sum[0][j], x[0].small, x[1].small, y.big);
        add(sum[chains / 2][j], x[0].big, x[1].big, y.small);
      }
      add(sum[chains - 1][j], x[0].big, x[1].big, y.big);
    }
  }
  template <int words>
  static MN_DEVICE void add(float (&sum)[4], const uint32_t (&upper)[words],
                            const uint32_t (&lower)[words],
                            const uint32_t (&b)[words]) {
#pragma unroll
    for (int i = 0; i < words; i += 2) {
      const uint32_t both[4] = {upper[i], lower[i], upper[i + 1], lower[i + 1]};
      const uint32_t column[2] = {b[i], b[i + 1]};
      multiplyAdd<mma>(sum, both, column);
    }
  }

  /// Adds those of each chain to the sums.
  static MN_DEVICE void move(Sums &sum, Sums (&running)[chains]) {
#pragma unroll
    for (int j = 0; j < wide; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e)
#pragma unroll
        for (int chain = 0; chain < chains; ++chain) {
          sum[j][e] += running[chain][j][e];
          running[chain][j][e] = 0;
        }
  }

  /// Adds up the terms of some steps from term `k` on. `whole`: all of them are
  /// there.
  template <int count, bool whole, typename Part>
  static MN_DEVICE void addSteps(Sums (&running)[chains], const Part &part,
                                 int k) {
    using A = typename Part::A;
    using B = typename Part::B;
    A a[count][2][4];
    B b[count][wide][4];
#pragma unroll
    for (int i = 0; i < count; ++i) {
#pragma unroll
      for (int half = 0; half < 2; ++half)
        part.template loadA<whole>(a[i][half], half, k + i * ofStep);
#pragma unroll
      for (int j = 0; j < wide; ++j)
        part.template loadB<whole>(b[i][j], j, k + i * ofStep);
    }
#pragma unroll
    for (int i = 0; i < count; ++i)
      multiply(running, a[i], b[i]);
  }

  /// The sums of a part. Those of tf32x3 move to others after some terms.
  template <typename Part>
  static MN_DEVICE void addUp(Sums &sum, const Part &part) {
    constexpr int together = ofStep * atOnce, left = S.k % together;
    Sums running[chains] = {};
#pragma unroll 1
    for (int k = 0; k < S.k - left; k += together) {
      addSteps<atOnce, true>(running, part, k);
      if (moves && k / together % kept == kept - 1)
        move(sum, running);
    }
    if constexpr (left >= ofStep)
      addSteps<left / ofStep, true>(running, part, S.k - left);
    if constexpr (left % ofStep > 0)
      addSteps<1, false>(running, part, S.k - left % ofStep);
    move(sum, running);
  }

  /// Calls use(i, line, other) for the lane's sums, with the row and the column
  /// of each in the part.
  template <typename Use> static MN_DEVICE void eachSum(const Use &use) {
    const int lane = int(threadIdx.x) % 32;
#pragma unroll
    for (int i = 0; i < 4 * wide; ++i)
      use(i, lane / 4 + i % 4 / 2 * 8, i / 4 * 8 + lane % 4 * 2 + i % 2);
  }
};

/// Which of 16 terms a lane has: four neighbours, where those of one line are
/// loaded at once; else every fourth one, so that at a time the lanes of a warp
/// load lines of terms that follow each other, and not all from the same banks.
template <Matmul S> struct LanesOrder {
  static constexpr bool inFours =
      S.k % 4 == 0 && (!S.transposedA || S.transposedB);
  static constexpr int apart = inFours ? 1 : 4;
  static MN_DEVICE int first() {
    return int(threadIdx.x) % 4 * (inFours ? 4 : 1);
  }
};

/// Where a lane's terms of some lines are, of a matrix of so many: lines number
/// `line`, and 8 further each. `alongLines`: terms of a line are next to each
/// other in memory, else as far apart as there are lines.
template <Matmul S, int lines, bool alongLines, int count> struct LanesLines {
  using Order = LanesOrder<S>;
  static constexpr bool inFours = alongLines && Order::inFours;
  static constexpr int apart = alongLines ? 1 : lines; ///< terms, in memory
  Index first[count]; ///< that of the lane's first term

  /// Lines after number `last` are that one.
  MN_DEVICE LanesLines(Index matrix, int line, int last) {
    const int lane = int(threadIdx.x) % 32;
#pragma unroll
    for (int i = 0; i < count; ++i) {
      const int mine = shape::min(line + lane / 4 + 8 * i, last);
      first[i] =
          matrix + mine * (alongLines ? S.k : 1) + Order::first() * apart;
      if constexpr (inFours)
        first[i] &= Index(-4); // So that the compiler knows.
    }
  }

  /// The lane's terms of those from number k on: those after the last one are
  /// zeros, if not all are there.
  template <bool whole, typename T, typename Load>
  MN_DEVICE void load(T (&v)[4], int i, int k, const Load &loadAt) const {
    const Index line = first[i] - Order::first() * apart;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int term = k + j * Order::apart;
      const bool isThere = whole || Order::first() + (inFours ? k : term) < S.k;
      const Index at = first[i] + term * apart;
      // A place that there is, without a branch.
      v[j] = loadAt(isThere ? at : line + (inFours ? j : 0));
      v[j] = isThere ? v[j] : T(0.0f);
    }
  }
};

/// What a functor loads of a part of a product, of matrices that begin at a and
/// b: of 16 rows and 8 x `wide` columns.
template <typename F, Matmul S, int wide> struct OperandsOfPart {
  /// As it is in memory, if that is exact.
  template <typename V> static MN_DEVICE auto numberOf(const V &v) {
    if constexpr (isSame<V, Bf16>)
      return v;
    else
      return float(v);
  }
  static MN_DEVICE const F &functor();
  using A = decltype(numberOf(functor().loadA(Index(0))));
  using B = decltype(numberOf(functor().loadB(Index(0))));

  const F &f;
  Index a, b;
  int row, column; ///< the first ones
  int lastRow;     ///< of the matrix, or of the block
  LanesLines<S, S.m, !S.transposedA, 2> rows;
  LanesLines<S, S.n, S.transposedB, wide> columns;

  MN_DEVICE OperandsOfPart(const F &f, Index a, Index b, int row, int column,
                           int lastRow)
      : f(f), a(a), b(b), row(row), column(column), lastRow(lastRow),
        rows(a, row, lastRow), columns(b, column, S.n - 1) {}

  template <bool whole> MN_DEVICE void loadA(A (&v)[4], int half, int k) const {
    rows.template load<whole>(v, half, k,
                              [&](Index i) { return numberOf(f.loadA(i)); });
  }
  template <bool whole> MN_DEVICE void loadB(B (&v)[4], int j, int k) const {
    columns.template load<whole>(v, j, k,
                                 [&](Index i) { return numberOf(f.loadB(i)); });
  }
};

/// A product as a link, or several: of matrices in memory one after another, of
/// which a block has at most `most`.
template <typename F, Matmul S, bool ofMatrices, int most, int threads>
struct MatmulFragments {
  static constexpr Mma mma = S.schedule.mma;
  static constexpr int warps = threads / 32;
  /// Rows of a matrix, those of a block where it has some of one.
  static constexpr int rows = ofMatrices ? S.m : most;
  static constexpr int tall = shape::ceilDiv(rows, 16);
  static constexpr int matrices = ofMatrices ? most : 1;

  /// Parts of 16 rows and 8 x `wide` columns.
  static MN_SHAPE_FN int partsOf(int wide) {
    return matrices * tall * shape::ceilDiv(S.n, 8 * wide);
  }
  /// As few columns as give each warp no more parts: it waits for the operands
  /// of each.
  static MN_SHAPE_FN int turnsOf(int wide) {
    return shape::ceilDiv(partsOf(wide), warps);
  }
  static constexpr int wide = turnsOf(1) == turnsOf(4)   ? 1
                              : turnsOf(2) == turnsOf(4) ? 2
                                                         : 4;
  static constexpr int across = shape::ceilDiv(S.n, 8 * wide);
  static constexpr int parts = partsOf(wide);
  using Fragments = FragmentSums<S, wide>;
  using Sums = typename Fragments::Sums;
  using Part = OperandsOfPart<F, S, wide>;

  /// `result`: where the matrix of results begins.
  static MN_DEVICE void store(const Part &part, const Sums &sum, Index result) {
    Index at[4 * wide];
    float v[4 * wide];
    Fragments::eachSum([&](int i, int row, int column) {
      const int line = part.row + row, other = part.column + column;
      const bool isThere = line <= part.lastRow && other < S.n;
      at[i] = placeIf(isThere, result + line * S.n + other);
      v[i] = sum[i / 4][i % 4];
      // Infinities and numbers near the end of f32's range in two parts.
      if (mma == Mma::tf32x3 && isThere && v[i] != v[i])
        v[i] = exactSum<S>(part.f, part.a, part.b, line, other);
    });
    storeResults<S.n % 2 == 0 ? 2 : 1>(part.f, at, v, result);
  }

  /// `here`: the block's matrices, or its rows. The first part is of warp
  /// number `firstWarp`.
  template <int firstWarp>
  static MN_DEVICE void run(const F &functor, const ChainRows &here) {
    const F f = withAlignedTensors(functor);
    const int count = (ofMatrices ? here.count : 1) * tall * across;
#pragma unroll 1
    for (int p = (int(threadIdx.x) / 32 + warps - firstWarp) % warps; p < count;
         p += warps) {
      const int matrix = p / (tall * across), tile = p % (tall * across);
      const Index number = Index(here.first + matrix);
      const Part part(f, ofMatrices ? number * (S.m * S.k) : number * S.k,
                      ofMatrices ? number * (S.n * S.k) : 0, tile / across * 16,
                      tile % across * wide * 8,
                      (ofMatrices ? S.m : here.count) - 1);
      Sums sum = {};
      Fragments::addUp(sum, part);
      store(part, sum, number * (ofMatrices ? S.m * S.n : S.n));
    }
  }
};

} // namespace mn::device

#endif // __CUDACC__

#endif // MNISTRT_CUDA_KERNELS_CHAIN_FRAGMENTS_CUH
