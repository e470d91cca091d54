//===- product_loader.cuh - tiles of operands in shared memory --*- C++ -*-===//
//
// For tensor cores. In shared memory 16 bytes are neighbours along k of one
// row, and rows follow each other; numbers are rounded, or split, as they are
// stored. What is adjacent in a tensor is read 16 bytes at a time where it can
// be: what is left of a load is its part of that, of the conversion and of a
// store of 16 bytes.
//
// What is adjacent along rows is turned in registers, but for wgmma in bf16,
// which can read lines along rows as they are. What is bf16 in memory and
// adjacent along k is copied as it is.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_PRODUCT_LOADER_CUH
#define MNISTRT_CUDA_KERNELS_PRODUCT_LOADER_CUH

#include "mnistrt/cuda/kernels/mma.cuh"
#include "mnistrt/cuda/kernels/product_operand.cuh"
#include "mnistrt/cuda/kernels/product_tiles.cuh"

#ifdef __CUDACC__

namespace mn::device {

/// The tiles of a product, and what brings them.
template <shape::Product P, shape::Tiles t> struct MmaTiles {
  static constexpr Mma mma = t.mma;
  static constexpr int depth = t.depth, threads = t.threads();
  static constexpr int each = mma == Mma::bf16 ? 2 : 1; ///< terms in a word
  static constexpr int chunk = 4 * each;                ///< in 16 bytes
  static constexpr int chunks = depth / chunk;
  static constexpr bool wgmma = hasWgmma && shape::isForWgmma(t);
  static constexpr int halves = wgmma ? shape::halves(t) : 1; ///< of a number
  static constexpr bool hasLines = wgmma && mma == Mma::bf16;
  static constexpr bool kFits = P.k % depth == 0;
  static_assert(depth <= threads && depth % (2 * chunk) == 0);

  /// Of a thread: its slice of k, its number in it, and a barrier of all there.
  static MN_DEVICE int slice() { return int(threadIdx.x) / threads; }
  static MN_DEVICE int thread() {
    return t.slices == 1 ? int(threadIdx.x) : int(threadIdx.x) % threads;
  }
  static MN_DEVICE void sync() {
    if constexpr (t.slices == 1)
      __syncthreads();
    else
      syncPart(1 + slice(), threads);
  }

  static MN_SHAPE_FN bool isPowerOfTwo(int n) { return (n & (n - 1)) == 0; }

  /// Whether place k is one of the sum.
  static MN_DEVICE bool isInside(int k, int kEnd) { return kFits || k < kEnd; }

  /// How a tile of `size` rows is brought: `rows` neighbours of `terms` places
  /// along k at a time. A thread has number `j` of its own, and all of them at
  /// the same places along k where neighbours are along k.
  template <int size, bool alongK, int terms, int rows> struct Share {
    static constexpr int perRow = depth / terms;
    static constexpr int inChunk = chunk / terms; ///< threads for 16 bytes
    static constexpr int all = size / rows * perRow;
    static constexpr int count = (all + threads - 1) / threads; ///< of a thread
    static constexpr bool whole = all % threads == 0;

    struct At {
      int row, term;
    };
    /// Eight neighbours that store 16 bytes each, or twice as many 8 bytes, do
    /// so without conflicts if their rows and chunks have different sums modulo
    /// 8. They read as much memory next to each other as this allows.
    static MN_DEVICE At placeOf(int u) {
      if constexpr (rows != 1) {
        constexpr int along = chunks % 4 == 0 ? 4 : 2;
        const int n = u / inChunk, group = n / along;
        return {group % (size / rows) * rows,
                (group / (size / rows) * along + n % along) * chunk +
                    u % inChunk * terms};
      } else if constexpr (!alongK) {
        return {u % size, u / size * terms};
      } else if constexpr (terms >= 4 && 8 % chunks == 0) {
        const int eight = u / inChunk / 8, inEight = u / inChunk % 8;
        return {eight / chunks * 8 + inEight / chunks * chunks + eight % chunks,
                u % perRow * terms};
      } else {
        return {u / perRow, u % perRow * terms};
      }
    }
    /// Between powers of two nothing is carried, and what is added to the place
    /// of number 0 is known when this is compiled.
    static MN_DEVICE At at(int j) {
      if constexpr (isPowerOfTwo(threads) && isPowerOfTwo(size) &&
                    isPowerOfTwo(depth)) {
        const At first = placeOf(thread());
        const At more = placeOf(j * threads);
        return {first.row + more.row, first.term + more.term};
      } else {
        return placeOf(thread() + j * threads);
      }
    }
    static MN_DEVICE bool isMine(int j) {
      return whole || thread() + j * threads < all;
    }
  };

  /// Whether an operand is brought in lines along its rows.
  template <typename Op, bool alongK>
  static constexpr bool isInLines =
      hasLines && !alongK && Op::fours && Op::cheapAlong;

  template <typename Point, int count> struct alignas(16) Neighbours {
    Point point[count];
  };
  static constexpr int lineLength = shape::lineLength(t);
  template <int size> union Tile {
    uint4 word[2][halves][chunks][size + 1];
    uint4 line[2][hasLines ? size / 8 : 1][hasLines ? lineLength : 1];
  };
  /// What is known of an operand's rows, or of its places along k, whichever
  /// a thread sees many of.
  template <typename Op, int size, bool alongK> struct Table {
    typename Op::RowPoint row[Op::cheapRows ? 1 : size];
  };
  template <typename Op, int size> struct Table<Op, size, false> {
    alignas(16) typename Op::AlongPoint along[2][Op::cheapAlong ? 1 : depth];
  };

  /// What a thread brings of an operand of `extent` rows, from memory to
  /// registers and then to a tile.
  template <typename Op, int size, bool alongK, int extent> struct Loader {
    /// What is adjacent in memory comes four at a time where it can.
    static constexpr bool fours =
        Op::fours && (alongK || size * depth / 16 >= threads);
    static constexpr int terms = fours ? 4 : alongK ? each : chunk;
    static constexpr int rows = fours && !alongK ? 4 : 1;
    using S = Share<size, alongK, terms, rows>;
    using Table = MmaTiles::Table<Op, size, alongK>;
    using RowPoint = typename Op::RowPoint;
    using AlongPoint = typename Op::AlongPoint;
    using AlongPoints = Neighbours<AlongPoint, terms>;
    /// Of so many places along k all are inside or none is.
    static constexpr int step = P.k % 4 == 0 && terms % 4 == 0 ? 4 : 1;
    static_assert(!fours || (alongK ? P.k : extent) % 4 == 0);

    /// Whether its table changes from turn to turn.
    static constexpr bool changes = !alongK && !Op::cheapAlong;

    float held[S::count][rows][terms];

    static MN_DEVICE int clamped(int row) {
      return extent % size == 0 || row < extent ? row : extent - rows;
    }
    /// Whether place number `i` from k is inside.
    static MN_DEVICE bool isInside(int k, int i, int kEnd) {
      return MmaTiles::isInside(k + i / step * step, kEnd);
    }

    /// What does not change from turn to turn.
    static MN_DEVICE void begin(const Op &op, Table &table, int batch,
                                int first, int kBegin, int kEnd) {
      if constexpr (!alongK)
        prepare(op, table, 0, kBegin, kEnd);
      else if constexpr (!Op::cheapRows)
        for (int i = thread(); i < size; i += threads)
          table.row[i] = op.row(batch, clamped(first + i));
    }

    /// For the turn at k0, whose tables are number `which`.
    static MN_DEVICE void prepare(const Op &op, Table &table, int which, int k0,
                                  int kEnd) {
      if constexpr (changes)
        if (const int i = thread(); i < depth)
          table.along[which][i] = op.along(k0 + i < kEnd ? k0 + i : 0);
    }

    static MN_DEVICE RowPoint rowOf(const Op &op, const Table &table, int batch,
                                    int first, int j) {
      const int row = alongK && !S::isMine(j) ? 0 : S::at(j).row;
      if constexpr (!alongK || Op::cheapRows)
        return op.row(batch, clamped(first + row));
      else
        return table.row[row];
    }

    static MN_DEVICE AlongPoints alongOf(const Op &op, const Table &table,
                                         int which, int j, int k0, int kEnd) {
      const int term = S::isMine(j) ? S::at(j).term : 0;
      if constexpr (alongK || Op::cheapAlong) {
        AlongPoints along;
#pragma unroll
        for (int i = 0; i < terms; ++i)
          along.point[i] = op.along((isInside(k0 + term, i, kEnd)
                                         ? k0 + term + i / step * step
                                         : k0) +
                                    i % step);
        return along;
      } else {
        return *reinterpret_cast<const AlongPoints *>(
            &table.along[which][term]);
      }
    }

    /// Without branches, so that many loads are on their way at once.
    MN_DEVICE void load(const Op &op, const Table &table, int batch, int first,
                        int which, int k0, int kEnd) {
      // Of each number `j` or of all.
      constexpr int rowsOf =
          alongK || rows != 1 || size > threads ? S::count : 1;
      constexpr int alongsOf = alongK ? 1 : S::count;
      RowPoint row[rowsOf];
      AlongPoints along[alongsOf];
#pragma unroll
      for (int j = 0; j < rowsOf; ++j)
        row[j] = rowOf(op, table, batch, first, j);
#pragma unroll
      for (int j = 0; j < alongsOf; ++j)
        along[j] = alongOf(op, table, which, j, k0, kEnd);
#pragma unroll
      for (int j = 0; j < S::count; ++j)
        loadOne(op, held[j], row[rowsOf == 1 ? 0 : j],
                along[alongsOf == 1 ? 0 : j], j);
    }
    static MN_DEVICE void loadOne(const Op &op, float (&to)[rows][terms],
                                  const RowPoint &row, const AlongPoints &along,
                                  int j) {
      if constexpr (!fours) {
#pragma unroll
        for (int i = 0; i < terms; ++i)
          to[0][i] = op.load(row, along.point[i]);
      } else if (S::isMine(j)) {
#pragma unroll
        for (int i = 0; i < (alongK ? 1 : 4); ++i) {
          const float4 four = op.loadFour(row, along.point[i]);
          const float value[] = {four.x, four.y, four.z, four.w};
#pragma unroll
          for (int e = 0; e < 4; ++e)
            to[alongK ? 0 : e][alongK ? e : i] = value[e];
        }
      }
    }

    /// What is outside along k is 0. A row outside is one of those inside once
    /// more: its results are nobody's. Without branches (see mma.cuh): who has
    /// no share stores to a row that is not read.
    MN_DEVICE void store(Tile<size> &tile, int which, int k0, int kEnd) {
#pragma unroll
      for (int j = 0; j < S::count; ++j) {
        const bool isMine = S::isMine(j);
        const auto [row, place] = S::at(j);
        const int term = isMine ? place : 0;
#pragma unroll
        for (int r = 0; r < rows; ++r) {
#pragma unroll
          for (int i = 0; i < terms; ++i)
            if (!isInside(k0 + term, i, kEnd))
              held[j][r][i] = 0;
          storeRow(tile, which, isMine ? row + r : size, term, held[j][r]);
        }
      }
    }
    static MN_DEVICE void storeRow(Tile<size> &tile, int which, int row,
                                   int term, const float (&from)[terms]) {
      uint32_t word[terms / each];
#pragma unroll
      for (int i = 0; i < terms / each; ++i)
        if constexpr (mma == Mma::bf16)
          word[i] = toBf16(from[2 * i], from[2 * i + 1]);
        else if constexpr (mma == Mma::tf32)
          word[i] = toTf32(from[i]);
        else if constexpr (halves == 2)
          word[i] = bigOf(from[i]);
        else
          word[i] = __float_as_uint(from[i]);
      put(tile.word[which][0][term / chunk][row], term, word);
      if constexpr (halves == 2) {
#pragma unroll
        for (int i = 0; i < terms; ++i)
          word[i] = smallOf(from[i], word[i]);
        put(tile.word[which][1][term / chunk][row], term, word);
      }
    }
    template <int words>
    static MN_DEVICE void put(uint4 &to, int term,
                              const uint32_t (&word)[words]) {
      uint32_t *at = reinterpret_cast<uint32_t *>(&to) + term % chunk / each;
      if constexpr (words == 1)
        *at = word[0];
      else if constexpr (words == 2)
        *reinterpret_cast<uint2 *>(at) = uint2{word[0], word[1]};
      else
        to = uint4{word[0], word[1], word[2], word[3]};
    }
  };

  /// The same of what is rounded in memory, and adjacent along k: 16 bytes as
  /// they are.
  template <typename Op, int size, int extent> struct ChunkLoader {
    static constexpr bool changes = false;
    using S = Share<size, true, chunk, 1>;
    using Table = MmaTiles::Table<Op, size, true>;
    using Rows = Loader<Op, size, true, extent>; ///< that has the same
    static_assert(P.k % chunk == 0);

    uint4 held[S::count];

    static MN_DEVICE void begin(const Op &op, Table &table, int batch,
                                int first, int kBegin, int kEnd) {
      Rows::begin(op, table, batch, first, kBegin, kEnd);
    }
    static MN_DEVICE void prepare(const Op &, Table &, int, int, int) {}

    MN_DEVICE void load(const Op &op, const Table &table, int batch, int first,
                        int, int k0, int kEnd) {
#pragma unroll
      for (int j = 0; j < S::count; ++j) {
        const int row = S::isMine(j) ? S::at(j).row : 0;
        const int k = k0 + (S::isMine(j) ? S::at(j).term : 0);
        const auto along = op.along(isInside(k, kEnd) ? k : k0);
        if constexpr (Op::cheapRows)
          held[j] =
              op.togetherAt(op.row(batch, Rows::clamped(first + row)), along);
        else
          held[j] = op.togetherAt(table.row[row], along);
      }
    }
    MN_DEVICE void store(Tile<size> &tile, int which, int k0, int kEnd) {
#pragma unroll
      for (int j = 0; j < S::count; ++j) {
        const bool isMine = S::isMine(j);
        const auto [row, place] = S::at(j);
        const int term = isMine ? place : 0;
        tile.word[which][0][term / chunk][isMine ? row : size] =
            isInside(k0 + term, kEnd) ? held[j] : uint4{0, 0, 0, 0};
      }
    }
  };

  /// The same in bf16 of rows that are adjacent in memory, as they are there:
  /// the tensor cores turn them.
  template <typename Op, int size, int extent> struct LineLoader {
    static constexpr bool changes = false;
    static constexpr int groups = size / 8; ///< of rows, of 16 bytes each
    static constexpr int all = groups * depth;
    static constexpr int count = (all + threads - 1) / threads;
    static constexpr bool whole = all % threads == 0;
    static constexpr int together = Op::eights ? 8 : 4;
    static constexpr int pieces = 8 / together; ///< that are loaded
    static_assert(extent % together == 0);
    using Table = MmaTiles::Table<Op, size, true>;
    using RowPoint = typename Op::RowPoint;

    typename Op::Together held[count][pieces];

    struct At {
      int group, k;
    };
    static MN_DEVICE At at(int j) {
      if constexpr (threads % groups == 0)
        return {thread() % groups, thread() / groups + j * (threads / groups)};
      const int u = thread() + j * threads;
      return {u % groups, u / groups};
    }
    static MN_DEVICE bool isMine(int j) {
      return whole || thread() + j * threads < all;
    }

    static MN_DEVICE void begin(const Op &, Table &, int, int, int, int) {}
    static MN_DEVICE void prepare(const Op &, Table &, int, int, int) {}

    static MN_DEVICE RowPoint rowOf(const Op &op, int batch, int row) {
      return op.row(
          batch, extent % size == 0 || row < extent ? row : extent - together);
    }
    MN_DEVICE void load(const Op &op, const Table &, int batch, int first, int,
                        int k0, int kEnd) {
      constexpr int rowsOf = threads % groups == 0 ? 1 : count;
      RowPoint row[rowsOf][pieces];
#pragma unroll
      for (int j = 0; j < rowsOf; ++j)
#pragma unroll
        for (int h = 0; h < pieces; ++h)
          row[j][h] = rowOf(op, batch, first + at(j).group * 8 + together * h);
#pragma unroll
      for (int j = 0; j < count; ++j) {
        const int k = k0 + at(j).k;
        const auto along = op.along(isMine(j) && isInside(k, kEnd) ? k : k0);
#pragma unroll
        for (int h = 0; h < pieces; ++h)
          held[j][h] = op.togetherAt(row[rowsOf == 1 ? 0 : j][h], along);
      }
    }

    static MN_DEVICE uint4 rounded(const uint4 (&eight)[1]) { return eight[0]; }
    static MN_DEVICE uint4 rounded(const uint2 (&four)[2]) {
      return {four[0].x, four[0].y, four[1].x, four[1].y};
    }
    static MN_DEVICE uint4 rounded(const float4 (&four)[2]) {
      return {toBf16(four[0].x, four[0].y), toBf16(four[0].z, four[0].w),
              toBf16(four[1].x, four[1].y), toBf16(four[1].z, four[1].w)};
    }
    /// As Loader::store(); what nobody reads ends a line.
    MN_DEVICE void store(Tile<size> &tile, int which, int k0, int kEnd) {
#pragma unroll
      for (int j = 0; j < count; ++j) {
        const bool isMine = LineLoader::isMine(j);
        const auto [group, k] = at(j);
        const uint4 word = rounded(held[j]);
        tile.line[which][isMine ? group : 0][isMine ? k : depth] =
            isInside(k0 + k, kEnd) ? word : uint4{0, 0, 0, 0};
      }
    }
  };

  /// Which of them brings an operand.
  template <typename Op, int size, bool alongK, int extent,
            bool inLines = isInLines<Op, alongK>,
            bool inChunks = mma == Mma::bf16 && alongK && Op::eights>
  struct LoaderOf {
    using Type = Loader<Op, size, alongK, extent>;
  };
  template <typename Op, int size, bool alongK, int extent>
  struct LoaderOf<Op, size, alongK, extent, true, false> {
    using Type = LineLoader<Op, size, extent>;
  };
  template <typename Op, int size, bool alongK, int extent>
  struct LoaderOf<Op, size, alongK, extent, false, true> {
    using Type = ChunkLoader<Op, size, extent>;
  };
};

} // namespace mn::device

#endif // __CUDACC__
#endif // MNISTRT_CUDA_KERNELS_PRODUCT_LOADER_CUH
