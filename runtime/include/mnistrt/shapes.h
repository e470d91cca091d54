//===- shapes.h - the sizes of one computation ------------------*- C++ -*-===//
//
// What a kernel or library call needs to know besides its pointers. All are
// literal types, so that they serve as template arguments too. Read by the host
// and by the device compiler: no other header may be needed.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_SHAPES_H
#define MNISTRT_SHAPES_H

#ifdef __CUDACC_RTC__
using int32_t = int;
using int64_t = long long;
using uint8_t = unsigned char;
using uint16_t = unsigned short;
using uint32_t = unsigned int;
using uint64_t = unsigned long long;
#else
#include <cstddef>
#include <cstdint>
#endif

namespace mn {

/// How an image is stored: N C D... or N D... C; a filter: O C K... or O K...
/// C.
enum class Layout { nchw, nhwc };

/// What multiplies f32, and adds up in f32: FMA units, or tensor cores that
/// read numbers rounded to bf16, rounded to tf32, or split into two of tf32,
/// which keeps the accuracy of f32. On the CPU all are the first.
enum class Mma { ffma, tf32x3, tf32, bf16 };

/// How the GPU computes a contraction: as a product in tiles; a convolution or
/// the gradient of its input also with a result a thread, with a column of
/// results a thread, or from shifted patches on tensor cores; the gradient of a
/// filter also with few weights in the registers of a thread, or from bands of
/// rows on tensor cores; a product of few rows also as dot products.
enum class Way { product, direct, columns, patches, weights, bands, dots };

/// What a step's schedule in the plan says (docs/reference/plan.md). Libraries
/// and the CPU have no tile.
struct ProductSchedule {
  Mma mma = Mma::ffma;
  int tile[3] = {0, 0, 0}; ///< product: of m and n, and of k at a time
  /// Product: of a block, along m and along n; dots: of a block.
  int warps[2] = {1, 1};
  /// Blocks that share a sum; columns: threads.
  int split = 1;
  Way way = Way::product;
  int images = 1; ///< direct: of a thread
  int height = 1; ///< columns: windows of a thread; bands: output channels
  /// Columns, patches: channels of results next to each other; bands: input
  /// channels; dots: columns of a block.
  int width = 1;
  int channels = 1; ///< weights: output channels of a thread
  /// Bands: that share a band, 2 to 4; 0: each warp multiplies for itself.
  int warpgroups = 0;
  int slices = 1; ///< product on tensor cores: of k, in a block
};

/// A pool of what a convolution gives, in one step with it: windows next to
/// each other, without padding. None where `out` is 0.
struct PoolWindows {
  int kernel[3] = {1, 1, 1};
  int out[3] = {0, 0, 0};
  bool mean = false; ///< else the maximum
  /// Where the maxima are is stored, too. For choices of schedules only.
  bool indices = false;
};

/// A convolution over `spatial` dimensions, 1 to 3; unused ones have size 1,
/// stride 1, pad 0 and dilation 1, and come last. Only the padding before is
/// given: what is beyond the input is 0.
struct Conv {
  Layout layout = Layout::nchw;
  int spatial = 2;
  int batch = 1;
  int inChannels = 1;
  int outChannels = 1;
  int groups = 1;
  int in[3] = {1, 1, 1};
  int kernel[3] = {1, 1, 1};
  int out[3] = {1, 1, 1};
  int strides[3] = {1, 1, 1};
  int pads[3] = {0, 0, 0};
  int padsAfter[3] = {0, 0, 0};
  int dilations[3] = {1, 1, 1};
  PoolWindows pool = {};
  bool bias = false; ///< of a gradient of the filter: with that of a bias
  ProductSchedule schedule = {};
};

/// A pool; see Conv. `countPads`: an average counts the zeros in the padding,
/// but never what is beyond `padsAfter`.
struct Pool {
  Layout layout = Layout::nchw;
  int spatial = 2;
  int batch = 1;
  int channels = 1;
  int in[3] = {1, 1, 1};
  int kernel[3] = {1, 1, 1};
  int out[3] = {1, 1, 1};
  int strides[3] = {1, 1, 1};
  int pads[3] = {0, 0, 0};
  int padsAfter[3] = {0, 0, 0};
  int dilations[3] = {1, 1, 1};
  bool countPads = false;
  // Of the indices that argMaxPool gives:
  bool columnMajor = false;
  bool inWindow = false; ///< into each window, of windows next to each other
};

/// out[b] (m x n) = a[b] (m x k) b[b] (k x n), row-major. A transposed operand
/// is stored k x m, or n x k.
struct Matmul {
  int batch = 1;
  int m = 1;
  int n = 1;
  int k = 1;
  bool transposedA = false;
  bool transposedB = false;
  ProductSchedule schedule = {};
};

/// Softmax along the middle dimension of outer x size x inner.
struct Softmax {
  /// So many elements the registers of a warp hold.
  static constexpr int64_t ofWarp = 1024;

  int64_t outer = 1;
  int64_t size = 1;
  int64_t inner = 1;
  bool log = false;
};

/// `outputs` results, each from `size` elements. `contiguous`: the elements of
/// one result are adjacent in memory; else only `run` of them are, and where
/// that is 1, neighbouring results are adjacent.
struct Reduce {
  int64_t outputs = 1;
  int64_t size = 1;
  bool contiguous = true;
  int64_t run = 1;
};

/// The elements of each segment of a step that is several maps.
template <int n> struct Elements {
  static constexpr int count = n;
  int64_t of[n];
};

#ifndef __CUDACC__
/// What a library call does to its result before it writes it:
/// y = act(x + bias + residual).
struct Epilogue {
  const float *bias = nullptr;     ///< one number a channel (conv) or column
  const float *residual = nullptr; ///< of the shape of the result
  bool relu = false;
};
#endif

} // namespace mn

#endif // MNISTRT_SHAPES_H
