//===- transposed.cuh - maps of transposed matrices -------------*- C++ -*-===//
//
// A block has a tile of a matrix. It reads it along columns, which are adjacent
// in what is transposed, into shared memory, and from there along rows, which
// are adjacent in the results.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_TRANSPOSED_CUH
#define MNISTRT_CUDA_KERNELS_TRANSPOSED_CUH

#include "mnistrt/cuda/kernels/common.cuh"
#include "mnistrt/cuda/launch.h"
#include "mnistrt/maps.h"

namespace mn {

namespace shape {

/// Tiles of a matrix: all but the last of a side are equally large.
struct TransposedTiles {
  int rows, columns; ///< of a tile
  int down, across;  ///< tiles of a matrix

  MN_SHAPE_FN int count() const { return down * across; }
  /// Of a column in shared memory: odd, so that the elements of a row are in
  /// different banks.
  MN_SHAPE_FN int pitch() const { return rows | 1; }
};

/// Elements of a thread, and threads of a block.
inline constexpr int transposedElements = 16, transposedThreads = 256;

/// A part of a side: of sides that go in fours, these stay together.
MN_SHAPE_FN int partOf(int side, int parts) {
  const int part = ceilDiv(side, parts);
  return side % 4 == 0 ? ceilDiv(part, 4) * 4 : part;
}

/// Of values of at most 4 bytes, sides of about 64, or longer ones beside short
/// ones.
template <typename F> MN_SHAPE_FN TransposedTiles transposedTiles() {
  constexpr MatrixSides matrix = F::matrices;
  constexpr int words = ceilDiv(int(sizeof(typename F::TransposedValues)), 4);
  constexpr int side = 64,
                most = transposedElements * transposedThreads / words;
  constexpr int tall = matrix.columns < side ? most / matrix.columns : side;
  TransposedTiles tiles{};
  tiles.rows = partOf(matrix.rows, ceilDiv(matrix.rows, tall));
  tiles.columns = partOf(matrix.columns,
                         ceilDiv(matrix.columns, max(most / tiles.rows, 1)));
  tiles.down = ceilDiv(matrix.rows, tiles.rows);
  tiles.across = ceilDiv(matrix.columns, tiles.columns);
  return tiles;
}

/// Bytes of shared memory; 1 for a functor that needs none.
template <typename F> MN_SHAPE_FN int transposedBytes() {
  if constexpr (Transposes<F>) {
    constexpr TransposedTiles tiles = transposedTiles<F>();
    return tiles.columns * tiles.pitch() *
           int(sizeof(typename F::TransposedValues));
  } else {
    return 1;
  }
}

} // namespace shape

#ifdef __CUDACC__

namespace device {

/// A tile of a matrix, whose sides go in fours where they may: these a thread
/// loads or stores at once.
template <typename F> struct TransposedTile {
  static constexpr MatrixSides matrix = F::matrices;
  static constexpr shape::TransposedTiles tiles = shape::transposedTiles<F>();
  static constexpr int elements = tiles.rows * tiles.columns,
                       threads = shape::transposedThreads;
  using Values = typename F::TransposedValues;

  static MN_SHAPE_FN int fours(int side, int ofTile) {
    return side % 4 == 0 && ofTile % 4 == 0 ? 4 : 1;
  }
  static constexpr int tall = fours(matrix.rows, tiles.rows),
                       wide = fours(matrix.columns, tiles.columns);
  /// How many of them a thread has, at most.
  static constexpr int loads = shape::ceilDiv(elements, tall *threads),
                       stores = shape::ceilDiv(elements, wide *threads);

  const F &f;
  Index of; ///< number of the matrix
  int firstRow, firstColumn;
  Values *values; ///< in shared memory, column by column

  MN_DEVICE bool isInside(int number, int most, int row, int column) const {
    return number < most && firstRow + row < matrix.rows &&
           firstColumn + column < matrix.columns;
  }

  /// All loads are under way before the first value is needed.
  MN_DEVICE void load() const {
    Values v[loads][tall];
    eachLoad([&](int n, int row, int column) {
#pragma unroll
      for (int j = 0; j < tall; ++j)
        v[n][j] =
            f.transposed(of, Offset(firstRow + row) + j, firstColumn + column);
    });
    eachLoad([&](int n, int row, int column) {
#pragma unroll
      for (int j = 0; j < tall; ++j)
        values[column * tiles.pitch() + row + j] = v[n][j];
    });
  }
  MN_DEVICE void store() const {
    each<stores>([&](int, int i) {
      const int row = i / (tiles.columns / wide),
                column = i % (tiles.columns / wide) * wide;
      if (!isInside(i, elements / wide, row, column))
        return;
      const Index first = (of * matrix.rows + firstRow + row) * matrix.columns +
                          firstColumn + column;
      const Index place = wide == 1 ? first : first & Index(-wide);
      typename F::StoredValues v[wide];
#pragma unroll
      for (int j = 0; j < wide; ++j)
        v[j] = f.results(values[(column + j) * tiles.pitch() + row],
                         f.load(Offset(place) + j),
                         neighbour<wide>(Element(place), j));
      f.store(v, place);
    });
  }

private:
  /// use(how often before, row, column) of what the thread loads.
  template <typename Use> MN_DEVICE void eachLoad(const Use &use) const {
    each<loads>([&](int n, int i) {
      const int row = i % (tiles.rows / tall) * tall,
                column = i / (tiles.rows / tall);
      if (isInside(i, elements / tall, row, column))
        use(n, row, column);
    });
  }
  /// use(how often before, number) of those that the thread has.
  template <int count, typename Use>
  static MN_DEVICE void each(const Use &use) {
#pragma unroll
    for (int n = 0; n < count; ++n)
      use(n, n * threads + int(threadIdx.x));
  }
};

/// Tile number `tile` of all matrices.
template <typename F>
MN_DEVICE void transposeTile(const F &functor, int64_t tile, void *memory) {
  using Tile = TransposedTile<F>;
  constexpr shape::TransposedTiles tiles = Tile::tiles;
  const F f = withAlignedTensors(functor);
  const int inMatrix = int(tile % tiles.count());
  const Tile mine{f, Index(tile / tiles.count()),
                  inMatrix / tiles.across * tiles.rows,
                  inMatrix % tiles.across * tiles.columns,
                  static_cast<typename Tile::Values *>(memory)};
  mine.load();
  __syncthreads();
  mine.store();
}

} // namespace device

#endif // __CUDACC__

} // namespace mn

#endif // MNISTRT_CUDA_KERNELS_TRANSPOSED_CUH
