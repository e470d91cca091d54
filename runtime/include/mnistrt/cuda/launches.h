//===- launches.h - the kernels of one step ---------------------*- C++ -*-===//
//
// For the host. The runtime's library knows what a step launches
// (runtime/cuda/launches.cpp): the functions that say it are long, and the
// host's compiler took three times as long where each program compiled them.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_LAUNCHES_H
#define MNISTRT_CUDA_LAUNCHES_H

#include "mnistrt/cuda/launch.h"

#ifndef __CUDACC__
namespace mn {

namespace shape {
struct RowTraits;
}

/// Of a contraction.
struct Launches {
  LaunchShape shape;
  /// Of the kernel that adds up the parts of sums that blocks leave, if any do.
  LaunchShape sums = {.blocks = 0};
  /// Of the kernel that packs filters, if any does, and the bytes of these.
  LaunchShape filters = {.blocks = 0};
  size_t filterBytes = 0;
};

Launches convLaunches(const Conv &s);
Launches convInputGradLaunches(const Conv &s);
Launches convFilterGradLaunches(const Conv &s);
Launches matmulLaunches(const Matmul &s);
LaunchShape reduceLaunch(const Reduce &s);
LaunchShape softmaxLaunch(const Softmax &s);

/// Of a step of rows, which is launched `count` times.
struct RowLaunches {
  LaunchShape shape;
  int count;
};
RowLaunches rowLaunches(const Reduce &s, const shape::RowTraits &f);

template <typename F> struct WithFilters; // conv_patch_filters.cuh

template <typename F>
void launchPacked(Context &ctx, const char *kernel, const Launches &all,
                  const F &functor) {
  const WithFilters<F> argument = {functor, stepMemory(ctx, all.filterBytes),
                                   ctx.part == StepPart::others};
  if (ctx.part != StepPart::others)
    launch(ctx, kernel, all.filters, argument, filtersSuffix);
  if (ctx.part != StepPart::packing)
    launch(ctx, kernel, all.shape, argument);
}

template <typename F>
void launch(Context &ctx, const char *kernel, const Launches &all,
            const F &functor) {
  if (all.filterBytes != 0)
    return launchPacked(ctx, kernel, all, functor);
  launch(ctx, kernel, all.shape, functor);
  if (all.sums.blocks != 0)
    launch(ctx, kernel, all.sums, functor, "_sums");
}

} // namespace mn
#endif // __CUDACC__

#endif // MNISTRT_CUDA_LAUNCHES_H
