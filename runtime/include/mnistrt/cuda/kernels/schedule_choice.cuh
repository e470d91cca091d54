//===- schedule_choice.cuh - how to compute a contraction -------*- C++ -*-===//
//
// The schedule that takes the fewest cycles by models of a large GPU, and those
// that are not much slower by them. For the compiler, which writes it into the
// plan; kernels obey. What multiplies is given.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_KERNELS_SCHEDULE_CHOICE_CUH
#define MNISTRT_CUDA_KERNELS_SCHEDULE_CHOICE_CUH

#include "mnistrt/cuda/kernels/conv.cuh"
#include "mnistrt/cuda/kernels/conv_filter_grad.cuh"
#include "mnistrt/cuda/kernels/conv_input_grad.cuh"
#include "mnistrt/cuda/kernels/matmul.cuh"
#include "mnistrt/cuda/kernels/product_choice.cuh"

namespace mn {

namespace shape {

/// Keeps the first of the schedules that take the fewest cycles.
struct Fewest {
  ProductSchedule schedule = {};
  int64_t cycles = -1;
  MN_SHAPE_FN void operator()(const ProductSchedule &s, int64_t needed) {
    if (cycles < 0 || needed < cycles)
      schedule = s, cycles = needed;
  }
};

template <typename Use>
MN_SHAPE_FN void eachSchedule(const Product &p, Use &&use) {
  eachTiles(
      p, [&](const Tiles &t, int64_t cycles) { use(scheduleOf(t), cycles); });
}

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

/// As ffmaCycles(), estimated and not fitted: a round of loads takes as long as
/// one from the L2 cache, all of them as a multiprocessor needs for the bytes.
MN_SHAPE_FN int64_t dotsCycles(const Matmul &s, const Tiles &t) {
  const Dots dots = dotsOf(t, s.transposedB);
  const int64_t share = shareOfK(productOf(s), t);
  const int turns = dots.turns(t.rows, share, t.threads());
  const int64_t rounds =
      ceilDiv<int64_t>(share, int64_t(dots.along(t.threads())) * turns);
  const int64_t blocks = ceilDiv<int64_t>(t.count * t.splits, referenceSms);
  const int64_t bytes =
      blocks * share * (t.width() + t.rows) * int64_t(sizeof(float));
  const int64_t issue = 12 * rounds * turns * (dots.columns + t.rows);
  const int64_t joins =
      300 + 20 * t.rows * dots.columns + (t.warps > 1 ? 60 : 0);
  // As parts of a cluster's tile.
  const int64_t together = t.splits > 1 ? 2300 : 0;
  constexpr int latency = 700, bytesACycle = 26;
  return latency + max(latency * (rounds - 1) + issue, bytes / bytesACycle) +
         joins + together;
}

template <typename Use>
MN_SHAPE_FN void eachDotsSchedule(const Matmul &s, Use &&use) {
  if (!mayBeDots(s))
    return;
  const Product p = productOf(s);
  for (int columns = fewestDotsColumns(s); columns <= mostDotsColumns(s);
       columns *= 2)
    for (int warps = 1; warps <= mostDotsWarps; warps *= 2) {
      Tiles t = dotsTiles(p, columns, warps);
      for (t.splits = 1; t.splits <= largestCluster; t.splits *= 2)
        if (maySplit(p, t, t.splits))
          use(scheduleOf(t), dotsCycles(s, t));
    }
}

template <typename Use>
MN_SHAPE_FN void eachSchedule(const Matmul &s, Use &&use) {
  eachSchedule(productOf(s), use);
  eachDotsSchedule(s, use);
}

//===----------------------------------------------------------------------===//
// Convolutions and the gradients of their inputs
//===----------------------------------------------------------------------===//

/// `channels` results a group and pixel, each a sum of `products`.
struct DirectSizes {
  int channels;
  int64_t products, perImage;
};

MN_SHAPE_FN bool isForDirect(const Conv &s, const DirectSizes &d) {
  constexpr int fewChannels = 4;
  // Of one group columns are faster where they can be.
  const bool columns =
      s.groups == 1 && s.layout == Layout::nchw && s.spatial > 1;
  return s.schedule.mma == Mma::ffma && !columns && d.channels <= fewChannels &&
         d.products <= Direct::mostProducts;
}

MN_SHAPE_FN ProductSchedule directSchedule(const Conv &s,
                                           const DirectSizes &d) {
  constexpr int64_t fullGpu = int64_t(1024) * referenceSms;
  ProductSchedule how = {.way = Way::direct};
  while (2 * how.images <= Direct::mostImages &&
         s.batch % (2 * how.images) == 0 &&
         s.batch / (2 * how.images) * d.perImage >= fullGpu)
    how.images *= 2;
  return how;
}

/// As mmaCycles(): of each tap a thread loads a weight and a pixel of each of
/// its images. Fitted to one convolution of 7 x 7 windows on an H100, where
/// loads are what takes the time.
MN_SHAPE_FN int64_t directCycles(const Conv &s, const DirectSizes &d,
                                 const ProductSchedule &how) {
  const double warps =
      double(s.batch / how.images * d.perImage) / (32 * referenceSms);
  return int64_t(warps * double(d.products) * 2.4 * (how.images + 1)) + 4000;
}

/// A convolution, or the gradient of its input.
struct ConvWork {
  DirectSizes direct;
  Product product;
  Windows windows, ofPatches;
  bool hasWindows = true;
};

MN_SHAPE_FN ConvWork workOfConv(const Conv &s) {
  return {{s.outChannels / s.groups, int64_t(s.inChannels / s.groups) * taps(s),
           int64_t(s.outChannels) * pixelsOut(s)},
          productOf(s),
          windowsOf(s),
          foldedOf(s)};
}
MN_SHAPE_FN ConvWork workOfInputGrad(const Conv &s) {
  return {{s.inChannels / s.groups, int64_t(s.outChannels / s.groups) * taps(s),
           int64_t(s.inChannels) * pixelsIn(s)},
          inputGradOf(s),
          readersOf(s),
          readersOf(s),
          hasPhases(s)};
}

template <typename Use>
MN_SHAPE_FN void eachPatchSchedule(const Conv &s, const ConvWork &work,
                                   Use &&use) {
  if (work.hasWindows)
    eachPatch(s, work.ofPatches, [&](const Patch &t) {
      use({.mma = s.schedule.mma,
           .split = t.split,
           .way = Way::patches,
           .height = t.height,
           .width = t.width},
          patchCycles(work.ofPatches, t));
    });
}
template <typename Use>
MN_SHAPE_FN void eachColumnSchedule(const Conv &s, const ConvWork &work,
                                    Use &&use) {
  if (work.hasWindows)
    eachColumns(s, work.windows, [&](const Columns &t) {
      use({.split = t.splits,
           .way = Way::columns,
           .height = t.height,
           .width = t.width},
          columnCycles(work.windows, t));
    });
}

/// Gathering windows takes longer than the models of products say, and what any
/// launch takes is counted for columns only.
MN_SHAPE_FN int64_t gatherCycles(Mma mma, int64_t cycles) {
  return 4000 + cycles * (mma == Mma::ffma ? 17 : 12) / 10;
}

/// With a pool; none where blocks have no whole windows of it.
MN_SHAPE_FN Fewest fewestWithPool(const Conv &s, const ConvWork &work) {
  Fewest fewest;
  eachColumnSchedule(s, work, fewest);
  eachPatchSchedule(s, work, fewest);
  return fewest;
}

template <typename Use>
MN_SHAPE_FN void eachSchedule(const Conv &s, const ConvWork &work, Use &&use) {
  eachSchedule(work.product, [&](const ProductSchedule &how, int64_t cycles) {
    use(how, gatherCycles(how.mma, cycles));
  });
  // Packing takes less beside other steps than alone, but not nothing.
  constexpr int64_t packing = 2000;
  eachPatchSchedule(s, work, [&](const ProductSchedule &how, int64_t cycles) {
    use(how, cycles + packing);
  });
  eachColumnSchedule(s, work, use);
}

/// Other ways are compared with products that have one slice, as they were
/// timed; a product that is chosen may have several. With slices counted a
/// gradient in tf32 and bf16 was a product, not bands, and SimpleCNN took 3
/// us longer.
struct FewestOfOneSlice {
  Fewest fewest;

  MN_SHAPE_FN void operator()(const ProductSchedule &how, int64_t cycles) {
    if (how.slices == 1)
      fewest(how, cycles);
  }
  MN_SHAPE_FN Fewest withSlices(const Product &p) const {
    if (fewest.cycles < 0 || fewest.schedule.way != Way::product)
      return fewest;
    Fewest product;
    eachSchedule(p, product);
    return {product.schedule, fewest.cycles};
  }
};

/// Of what is not computed directly.
MN_SHAPE_FN Fewest fewestOf(const Conv &s, const ConvWork &work) {
  FewestOfOneSlice one;
  eachSchedule(s, work, one);
  return one.withSlices(work.product);
}

/// Directly, unless columns are expected to take much less: those load a pixel
/// once for all taps of a column.
MN_SHAPE_FN ProductSchedule directOrColumns(const Conv &s,
                                            const ConvWork &work) {
  const ProductSchedule direct = directSchedule(s, work.direct);
  Fewest columns;
  eachColumnSchedule(s, work, columns);
  const bool isMuchLess =
      columns.cycles >= 0 &&
      10 * columns.cycles < 7 * directCycles(s, work.direct, direct);
  return isMuchLess ? columns.schedule : direct;
}

MN_SHAPE_FN ProductSchedule choiceOf(const Conv &s, const ConvWork &work) {
  if (work.windows.isPooled())
    return fewestWithPool(s, work).schedule;
  return isForDirect(s, work.direct) ? directOrColumns(s, work)
                                     : fewestOf(s, work).schedule;
}

/// Whether a convolution takes less time with its pool than the two steps.
MN_SHAPE_FN bool poolPays(const Conv &s) {
  Conv alone = s;
  alone.pool = {};
  const ConvWork work = workOfConv(alone);
  const Fewest both = fewestWithPool(s, workOfConv(s));
  if (both.cycles < 0 || isForDirect(alone, work.direct))
    return false;
  // What another step takes, with stores and loads of what it pools.
  const int64_t step = 6000 + work.direct.perImage * s.batch * 8 / 3000;
  return both.cycles <= fewestOf(alone, work).cycles + step;
}

//===----------------------------------------------------------------------===//
// Gradients of filters
//===----------------------------------------------------------------------===//

/// Without windows that share pixels a thread has to load too many of them for
/// each gradient of the output, unless it has several output channels. With
/// channels last it has to have the only one of the input: a filter is the same
/// in both layouts then.
MN_SHAPE_FN bool isForFewWeights(const Conv &s) {
  const int most = FewWeights::mostWeights / (taps(s) == 1 ? 2 : 1);
  return s.schedule.mma == Mma::ffma &&
         (s.layout == Layout::nchw || s.inChannels == 1) &&
         weightsOf(s) <= most && hasColumnsOfFew(s);
}

MN_SHAPE_FN ProductSchedule fewWeightsSchedule(const Conv &s) {
  constexpr int pixelsEach = 4;
  const int weights = int(weightsOf(s)), outChannels = s.outChannels / s.groups;
  ProductSchedule how = {.way = Way::weights};
  while (how.channels < 8 && 2 * how.channels <= outChannels &&
         2 * how.channels * weights <= FewWeights::registers)
    how.channels *= 2;
  const int64_t tiles = int64_t(s.groups) * ceilDiv(outChannels, how.channels);
  // Of so many registers no more blocks fit.
  const int resident = (how.channels * weights > 64 ? 2 : 4) * referenceSms;
  const int64_t useful =
      int64_t(s.batch) * pixelsOut(s) / (FewWeights::threads * pixelsEach);
  how.split = int(max<int64_t>(1, min(useful, resident / tiles)));
  return how;
}

template <typename Use>
MN_SHAPE_FN void eachBandsSchedule(const Conv &s, Use &&use) {
  eachBands(s, [&](const Bands &t) {
    use({.mma = s.schedule.mma,
         .split = t.splits,
         .way = Way::bands,
         .height = t.height,
         .width = t.width,
         .warpgroups = t.warpgroups},
        bandsCycles(s, t));
  });
}

MN_SHAPE_FN ProductSchedule filterGradSchedule(const Conv &s) {
  FewestOfOneSlice one;
  eachSchedule(filterGradOf(s),
               [&](const ProductSchedule &how, int64_t cycles) {
                 // Of what it gathers.
                 one(how, taps(s) == 1 ? cycles : cycles * 6 / 5);
               });
  eachBandsSchedule(s, one);
  return one.withSlices(filterGradOf(s)).schedule;
}

//===----------------------------------------------------------------------===//
// Of a shape whose schedule says what multiplies
//===----------------------------------------------------------------------===//

MN_SHAPE_FN Matmul choose(Matmul s) {
  Fewest fewest;
  eachSchedule(s, fewest);
  s.schedule = fewest.schedule;
  return s;
}
MN_SHAPE_FN Conv chooseConv(Conv s) {
  s.schedule = choiceOf(s, workOfConv(s));
  return s;
}
MN_SHAPE_FN Conv chooseInputGrad(Conv s) {
  s.schedule = choiceOf(s, workOfInputGrad(s));
  return s;
}
MN_SHAPE_FN Conv chooseFilterGrad(Conv s) {
  s.schedule =
      isForFewWeights(s) ? fewWeightsSchedule(s) : filterGradSchedule(s);
  return s;
}

} // namespace shape

} // namespace mn

#endif // MNISTRT_CUDA_KERNELS_SCHEDULE_CHOICE_CUH
