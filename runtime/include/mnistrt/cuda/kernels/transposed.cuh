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

/// Of values of at most 4 bytes, sides of about 64, or longer ones beside short
/// ones.
template <typename F> MN_SHAPE_FN TransposedTiles transposedTiles() {
  constexpr MatrixSides matrix = F::matrices;
  constexpr int words = ceilDiv(int(sizeof(typename F::TransposedValues)), 4);
  constexpr int side = 64,
                most = transposedElements * transposedThreads / words;
  TransposedTiles tiles{};
  tiles.down = ceilDiv(matrix.rows,
                       matrix.columns < side ? most / matrix.columns : side);
  tiles.rows = ceilDiv(matrix.rows, tiles.down);
  tiles.across = ceilDiv(matrix.columns, max(most / tiles.rows, 1));
  tiles.columns = ceilDiv(matrix.columns, tiles.across);
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

/// Tile number `tile` of all matrices.
template <typename F>
MN_DEVICE void transposeTile(const F &f, int64_t tile, void *memory) {
  constexpr MatrixSides matrix = F::matrices;
  constexpr shape::TransposedTiles tiles = shape::transposedTiles<F>();
  constexpr int elements = tiles.rows * tiles.columns,
                threads = shape::transposedThreads;
  auto *values = static_cast<typename F::TransposedValues *>(memory);
  const int inMatrix = int(tile % tiles.count());
  const Index of = Index(tile / tiles.count());
  const int firstRow = inMatrix / tiles.across * tiles.rows,
            firstColumn = inMatrix % tiles.across * tiles.columns;
  const auto isInside = [&](int row, int column) {
    return firstRow + row < matrix.rows &&
           firstColumn + column < matrix.columns;
  };
#pragma unroll
  for (int at = 0; at < elements; at += threads) {
    const int i = at + int(threadIdx.x);
    const int row = i % tiles.rows, column = i / tiles.rows;
    if (i < elements && isInside(row, column))
      values[column * tiles.pitch() + row] =
          f.transposed(of, firstRow + row, firstColumn + column);
  }
  __syncthreads();
#pragma unroll
  for (int at = 0; at < elements; at += threads) {
    const int i = at + int(threadIdx.x);
    const int row = i / tiles.columns, column = i % tiles.columns;
    if (i < elements && isInside(row, column)) {
      const Index place = (of * matrix.rows + firstRow + row) * matrix.columns +
                          firstColumn + column;
      typename F::StoredValues v[1] = {
          f.results(values[column * tiles.pitch() + row], f.load(place),
                    neighbour<1>(Element(place), 0))};
      f.store(v, place);
    }
  }
}

} // namespace device

#endif // __CUDACC__

} // namespace mn

#endif // MNISTRT_CUDA_KERNELS_TRANSPOSED_CUH
