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
  static constexpr int reached = shape::squarePixels(W);

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
