//===- conv_way.cuh - how a convolution is computed -------------*- C++ -*-===//
//
// As the schedule says: directly, by columns, on tensor cores by patches, or as
// a product.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_CONV_WAY_CUH
#define MNISTRT_CUDA_KERNELS_CONV_WAY_CUH

#include "mnistrt/cuda/kernels/conv_columns.cuh"
#include "mnistrt/cuda/kernels/conv_direct.cuh"
#include "mnistrt/cuda/kernels/conv_kept.cuh"
#include "mnistrt/cuda/kernels/conv_patch.cuh"
#include "mnistrt/cuda/kernels/conv_strip.cuh"

namespace mn {

namespace shape {

/// The sizes of what a schedule says.
struct ConvWay {
  Way way = Way::product;
  Direct direct = {};
  Columns columns = {};
  Patch patch = {};
};

/// `perImage` results.
MN_SHAPE_FN ConvWay wayOf(const Conv &s, const Windows &w, int64_t perImage) {
  const ProductSchedule &how = s.schedule;
  ConvWay result = {how.way};
  if (how.way == Way::direct)
    result.direct = directOf(s, perImage);
  else if (how.way == Way::columns)
    result.columns = counted(Columns{how.height, how.width, how.split}, w);
  else if (how.way == Way::patches)
    result.patch = counted(Patch{how.width, how.split, how.height}, w);
  return result;
}

MN_SHAPE_FN LaunchShape launchOf(const ConvWay &way, const Windows &w,
                                 const Product &p) {
  switch (way.way) {
  case Way::direct:
    return launchOf(way.direct);
  case Way::columns:
    return launchOf(w, way.columns);
  case Way::patches:
    return launchOf(w, way.patch);
  default:
    return product(p);
  }
}

} // namespace shape

#ifdef __CUDACC__

namespace device {

/// Runs the block's share of operation(group, phase), by columns or patches;
/// `filters`: for the latter, which `isPacked` says more of (WithFilters).
template <typename T, shape::Windows W, shape::ConvWay way, Layout layout,
          typename Operation>
MN_DEVICE void runWindows(const Operation &operation, const uint4 *filters,
                          bool isPacked) {
  constexpr int each = way.way == Way::columns
                           ? int(way.columns.blocks * way.columns.across)
                           : int(way.patch.blocks());
  const int which = int(blockIdx.x) / each, number = int(blockIdx.x) % each;
  constexpr int phases = W.phaseCount();
  const Place phase = placeOf<W.phases[1], W.phases[2]>(which % phases);
  const auto op = operation(which / phases, phase);
  if constexpr (way.way == Way::columns && way.columns.keeps)
    KeptKernel<T, W, way.columns>::run(op, number);
  else if constexpr (way.way == Way::columns)
    ColumnKernel<T, W, way.columns>::run(op, number);
  else {
    const uint4 *mine = filters + which * PackedFilters<W, way.patch>::phase;
    constexpr bool nchw = layout == Layout::nchw;
    if constexpr (way.patch.isStrip())
      StripKernel<W, way.patch, nchw>::run(op, mine, isPacked, number);
    else
      PatchKernel<W, way.patch, nchw>::run(op, mine, isPacked, number);
  }
}

} // namespace device

#endif // __CUDACC__

} // namespace mn

#endif // MNISTRT_CUDA_KERNELS_CONV_WAY_CUH
