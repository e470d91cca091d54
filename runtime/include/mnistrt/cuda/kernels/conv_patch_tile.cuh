//===- conv_patch_tile.cuh - the windows of a block of patches --*- C++ -*-===//
//
// They follow each other in the padded images. Where fewer blocks have them so,
// a warpgroup's windows are a square instead: its pixels are a square, too, and
// a tap is as far from each window.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_CONV_PATCH_TILE_CUH
#define MNISTRT_CUDA_KERNELS_CONV_PATCH_TILE_CUH

#include "mnistrt/cuda/kernels/conv_padded.cuh"
#include "mnistrt/cuda/kernels/conv_patch_shape.cuh"

#ifdef __CUDACC__

namespace mn::device {

/// Where the windows of a block are, and the pixels that they reach.
template <shape::Windows W, shape::Patch t> struct PatchTile {
  using Images = PaddedImages<W>;
  using Padded = typename Images::Padded;
  static constexpr int threads = t.threads, side = t.side;
  static constexpr int pixels = shape::patchPixels(W, t);
  /// Of a square.
  static constexpr int windows = side * side, row = shape::squareRow(W);
  static constexpr int reached = shape::squarePixels(W), rows = reached / row;

  int number;

  static MN_DEVICE int thread() { return int(threadIdx.x); }
  /// A place in one of the block's squares.
  MN_DEVICE Padded inSquare(int which, int y, int x) const {
    constexpr int columns = shape::squaresAlong(W, 1);
    constexpr int all = shape::squaresAlong(W, 0) * columns;
    const int square = number * t.warpgroups + which;
    return {
        square / all,
        {square % all / columns * side + y, square % columns * side + x, 0}};
  }
  MN_DEVICE Padded pixel(int p) const {
    if constexpr (t.squares)
      return inSquare(p / reached, p % reached / row, p % row);
    else
      return Images::paddedOf(number * t.step + p);
  }
  MN_DEVICE Padded window(int i) const {
    if constexpr (t.squares)
      return inSquare(i / windows, i % windows / side, i % side);
    else
      return Images::paddedOf(number * t.step + i);
  }
  /// The pixel of a window, and how far from it that of a tap is.
  static MN_DEVICE int pixelOf(int window) {
    if constexpr (t.squares)
      return window / windows * reached + window % windows / side * row +
             window % side;
    else
      return window;
  }
  /// From the pixels of eight windows to those of the next eight.
  static constexpr int eightsApart = t.squares ? row : 8;
  static MN_SHAPE_FN int offsetOf(int tap) {
    const int t0 = tap / (W.kernel[1] * W.kernel[2]);
    const int t1 = tap / W.kernel[2] % W.kernel[1], t2 = tap % W.kernel[2];
    return t.squares ? t0 * W.dilations[0] * row + t1 * W.dilations[1]
                     : W.offset(t0, t1, t2);
  }

  // Where a pool gives what is read: rows of its windows that may have pixels
  // of the tile, of `wide` pixels each.

  static constexpr int tall = W.given.kernel[0], wide = W.given.kernel[1];
  /// Pieces of a size that so many neighbours are in, at most.
  static MN_SHAPE_FN int mostPieces(int neighbours, int size) {
    return (neighbours + size - 2) / size + 1;
  }
  static constexpr int givenAcross =
      t.squares ? mostPieces(row, wide) : W.given.out[1];
  static constexpr int givenDown =
      t.squares ? rows : mostPieces(pixels, W.covered(1));
  static constexpr int givenRows =
      (t.squares ? t.warpgroups : 1) * givenDown * givenAcross;

  /// A row of a window.
  struct Given {
    int image;
    Place at;  ///< of its first pixel, in the image
    int pixel; ///< that one's number in the tile
    int left; ///< pixels of a row of the square, or the padded image, before it
  };
  MN_DEVICE Given given(const Place &pads, int i) const {
    const int down = i / givenAcross % givenDown, across = i % givenAcross;
    if constexpr (t.squares) {
      const int which = i / (givenAcross * givenDown);
      const Padded corner = inSquare(which, 0, 0);
      const int x =
          (shape::max(corner.at.x1 - pads.x1, 0) / wide + across) * wide;
      const int left = x + pads.x1 - corner.at.x1;
      return {corner.image,
              {corner.at.x0 + down - pads.x0, x, 0},
              which * reached + down * row + left,
              left};
    } else {
      const int first = number * t.step;
      const int below = first / W.covered(1) + down;
      const int left = across * wide + pads.x1;
      return {below / W.covered(0),
              {below % W.covered(0) - pads.x0, across * wide, 0},
              below * W.covered(1) + left - first,
              left};
    }
  }
  /// Whether its pixel number `k` is in a window, and the tile's.
  static MN_DEVICE bool has(const Given &g, int k) {
    return g.image < W.batch && unsigned(g.at.x0) < unsigned(W.in[0]) &&
           g.at.x0 < W.given.out[0] * tall && g.at.x1 < W.given.out[1] * wide &&
           g.at.x1 + k < W.in[1] &&
           unsigned(g.left + k) < unsigned(t.squares ? row : W.covered(1)) &&
           (t.squares || unsigned(g.pixel + k) < unsigned(pixels));
  }

  // Windows from one to that below it; and windows of a pool.
  static constexpr int high = W.pool.kernel[0], across = W.pool.kernel[1];
  static constexpr int rowApart = t.squares ? side : W.covered(1);
  static constexpr int poolColumns = t.squares ? side / across : W.poolTiles(1);
  static constexpr int pools =
      poolColumns *
      (t.squares ? t.warpgroups * side / high : t.step / (rowApart * high));
  /// The first window of a window of a pool: of squares, their rows follow each
  /// other.
  static MN_DEVICE int windowOf(int pool) {
    return pool / poolColumns * high * rowApart + pool % poolColumns * across;
  }
};

} // namespace mn::device

#endif // __CUDACC__
#endif // MNISTRT_CUDA_KERNELS_CONV_PATCH_TILE_CUH
