//===- conv_way.cuh - how a convolution is computed -------------*- C++ -*-===//
//
// Groups of few results directly, other convolutions the way that takes the
// fewest cycles: by columns, on tensor cores by patches, or as a product.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_CONV_WAY_CUH
#define MNISTRT_CUDA_KERNELS_CONV_WAY_CUH

#include "mnistrt/cuda/kernels/conv_columns.cuh"
#include "mnistrt/cuda/kernels/conv_direct.cuh"
#include "mnistrt/cuda/kernels/conv_patch.cuh"

namespace mn {

namespace shape {

enum class Way { direct, columns, patches, product };

struct ConvWay {
  Way way = Way::product;
  Direct direct = {};
  Columns columns = {};
  Patch patch = {};
};

MN_SHAPE_FN ConvWay wayOf(const Direct &direct) {
  return {direct.applies ? Way::direct : Way::product, direct};
}

MN_SHAPE_FN ConvWay wayOf(const Conv &s, const Direct &direct, const Windows &w,
                          const Product &p) {
  if (direct.applies || s.schedule.tile[0] != 0)
    return wayOf(direct);
  const Tiles t = tiles(p);
  const int64_t fewest = t.mma == Mma::ffma ? cycles(p, t) : mmaCycles(p, t);
  const Patch patch = patchOf(s, w, fewest);
  // What any launch takes is counted for columns only. Gathering windows for
  // the FMA units takes longer than cycles() says.
  const int64_t others = patch.applies        ? patchCycles(w, patch)
                         : t.mma == Mma::ffma ? 4000 + fewest * 17 / 10
                                              : 4000 + fewest;
  if (const Columns columns = columnsOf(s, w, others); columns.applies)
    return {Way::columns, {}, columns};
  if (patch.applies)
    return {Way::patches, {}, {}, patch};
  return {};
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
  case Way::product:
    break;
  }
  return product(p);
}

} // namespace shape

#ifdef __CUDACC__

namespace device {

/// Runs the block's share of operation(group, phase), by columns or patches.
template <typename T, shape::Windows W, shape::ConvWay way, Layout layout,
          bool resultsAdjacent, typename Operation>
MN_DEVICE void runWindows(const Operation &operation) {
  constexpr int each = way.way == shape::Way::columns
                           ? int(way.columns.blocks * way.columns.across)
                           : int(way.patch.tiles * way.patch.across);
  const int which = int(blockIdx.x) / each, number = int(blockIdx.x) % each;
  constexpr int phases = W.phaseCount();
  const Place phase = placeOf<W.phases[1], W.phases[2]>(which % phases);
  const auto op = operation(which / phases, phase);
  if constexpr (way.way == shape::Way::columns)
    ColumnKernel<T, W, way.columns>::run(op, number);
  else
    PatchKernel<W, way.patch, layout == Layout::nchw, resultsAdjacent>::run(
        op, number);
}

} // namespace device

#endif // __CUDACC__

} // namespace mn

#endif // MNISTRT_CUDA_KERNELS_CONV_WAY_CUH
