//===- Machine.cpp - what is profitable, as data of a machine -------------===//

#include "lib/IR/Plan/Machine.h"
#include "lib/IR/Plan/Contraction.h"
#include "lib/IR/Plan/PreferencesOnH200.h"
#include "lib/IR/Plan/Schedule.h"
#include "lib/IR/Plan/Transforms.h"
#include "mnistrt/cuda/kernels/chain_shape.cuh"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::mnistc;

//===----------------------------------------------------------------------===//
// NVIDIA H200
//===----------------------------------------------------------------------===//

const Machine &Machine::h200() {
  static const Machine machine = {
      .name = "NVIDIA H200",
      .preferredLayout = Layout::nchw, // The table above.
      // For a megabyte of images of the forward pass five networks train 1.2 to
      // 5.7 us longer in nhwc, in bf16; to transpose one, and its gradient,
      // should take 0.8.
      .layoutGain = 3,
      .inlineElements = 16,
      .inlineResults = 65536,
      .rowBlocks = 8,
      .fullBlocks = 96,
      .blockElements = 16384,
      .adjacentRows = 32,
      .launchesPhases = true,
      .shortestRun = 1,
      .storesMasks = true,
      .joinsPools = true,
      .joinedWeights = 1 << 20, // Up to 884,736 were measured.
      // Of two, CBAM took 247.1 us a step instead of 245.9; of 28, cells of a
      // recurrence take 12 to 85 us less.
      .joinedInputs = JoinedProducts{.fewest = 4, .elements = 1 << 20},
      .joinedTerms = JoinedProducts{.fewest = 16, .elements = 1 << 22},
      .joinsReaders = true,
      .updatedWithGradient = 1 << 18,
      .chains = ChainLimits{.weights = 1 << 14,
                            .repeatedWeights = 3 << 14,
                            .multiplyAdds = 1 << 17,
                            .held = 3 << 15,
                            .elements = 1 << 12,
                            .sums = 128},
      .wideChains = ChainLimits{.weights = 1 << 14,
                                .repeatedWeights = 3 << 14,
                                .multiplyAdds = 1 << 17,
                                .held = 1 << 17,
                                .elements = 1 << 13,
                                .sums = 256},
      .foursFrom = 4 * 1024 * 132, // 1024 threads a multiprocessor.
      .recomputedFrom = 1 << 16,
      .functionsFrom = 1 << 23, // 32 MiB of 50 in the second cache.
      .roundedFrom = 1 << 20,
      .loadsBeforeStores = true,
      .maxRecompute = 1.5,
      .transposedFrom = 1 << 22, // Smaller ones stay in the second cache.
      .streams = 4,
      .times = StepTimes{.launch = 2,
                         .event = 1.5,
                         .flops = 15e6,
                         .bytes = 2e6,
                         .cores = 60e6, // 462 MFLOP take 10 us in all.
                         // Two of them, by NVLink, at the end of a step: of
                         // 1.7 MB 19.7, of 75 kB 9.9. By less, 6.5 and
                         // 0.25e6, updates of Keras's CNN are joined otherwise;
                         // a form with that took 48.2 us a step, not 45.6.
                         .collective = 10,
                         .reduced = 0.13e6,
                         .disturbed = 1, // Assumed.
                         // By hand: of ten cases those have two buckets that
                         // are faster than before, but for two, which take 1 %
                         // longer, and one with one that would take 2 % less.
                         .crowded = 0.35},
      .prefetchesBatches = true,
      .roof = {.of = "NVIDIA H200",
               .flops = 67e6,
               .bytes = 4.8e6,
               .cores = {165e6, 495e6, 989e6}}, // Dense; tf32x3: a third.
      .preferences = preferencesOnH200()};
  return machine;
}

//===----------------------------------------------------------------------===//
// x86-64 with AVX2 or AVX-512
//===----------------------------------------------------------------------===//

/// Gradients of filters by oneDNN. Of depthwise ones it has a kernel for
/// windows of up to three columns, where it takes a fifth (nhwc) to three
/// quarters (nchw) of the time that ours does; of five it takes ten times as
/// long (docs/results/2026-11-27-cpu-waits.md).
static Preference gradOfFilter(int64_t maxColumns, bool ungrouped = false,
                               int64_t minChannels = 0) {
  return {.impl = Impl::onednn,
          .op = "conv_filter_grad",
          .epilogue = noEpilogue,
          .minChannels = minChannels,
          .maxColumns = maxColumns,
          .ungrouped = ungrouped};
}
static constexpr int64_t anyColumns = std::numeric_limits<int64_t>::max();

// Nothing for pools: the kernel's loops take other ops along, and are as fast
// as oneDNN's where those have AVX-512, else faster. On one core, batch 1,
// nhwc, in microseconds (oneDNN with AVX-512, with AVX2, kernel): maximum of
// 32x28x28 3.1, 23.9, 3.0; mean 3.8, 8.3, 4.3; of 6x28x28 2.9, 4.1, 1.0.
static const Preference onX86[] = {
    {Impl::onednn, "conv", wholeEpilogue},
    {Impl::onednn, "conv_input_grad", noEpilogue},
    gradOfFilter(anyColumns, /*ungrouped=*/true),
    gradOfFilter(anyColumns, /*ungrouped=*/false, /*minChannels=*/2),
    gradOfFilter(3),
    {Impl::onednn, "matmul", biasAndRelu},
    {Impl::openblas, "matmul", noEpilogue},
    {Impl::mpi, "all_reduce", noEpilogue},
};

// oneDNN has kernels for plain images in nhwc only; those in nchw take another
// form and come back (runtime/cpu/onednn.cpp).
// How many rows are enough is assumed, not measured.
const Machine &Machine::x86() {
  static const Machine machine = {
      .name = "x86-64",
      .preferredLayout = Layout::nhwc,
      .rowBlocks = 1,
      .fullBlocks = 16,
      .blockElements = 65536,
      .shortestRun = 16,
      .storesMasks = false,
      .joinsPools = false,
      // Joined, GPT, Llama and Swin took 6 to 29 % longer.
      .joinedWeights = 0,
      // Joined, RNNCell took 9 % longer, GRUCell and LSTMCell 2 to 3 % less.
      .joinedInputs = std::nullopt,
      .countsInRuns = true,
      .storesDrawn = true,
      .maxRecompute = 1.5,
      .streams = 1,
      .times = std::nullopt,
      .prefetchesBatches = false,
      .roof = {.of = "one core with AVX2, 3 GHz", .flops = 96e3, .bytes = 15e3},
      .preferences = onX86};
  return machine;
}

//===----------------------------------------------------------------------===//
// Preferences
//===----------------------------------------------------------------------===//

/// Why a convolution's windows are not what it is made for.
static std::string objectionToWindows(const MultiplyAdds &work,
                                      const Preference &preference) {
  if (work.taps < preference.minTaps)
    return llvm::formatv("is profitable for windows of {0} or more, here {1}",
                         preference.minTaps, work.taps);
  if (work.taps > preference.maxTaps)
    return llvm::formatv("is profitable for windows of {0} or less, here {1}",
                         preference.maxTaps, work.taps);
  if (work.columns > preference.maxColumns)
    return llvm::formatv("is profitable for windows of {0} columns or less, "
                         "here {1}",
                         preference.maxColumns, work.columns);
  if (preference.ungrouped && work.batch > 1)
    return llvm::formatv("is profitable for one group, here {0}", work.batch);
  if (preference.unstrided && work.isStrided)
    return "is profitable for strides of 1";
  if (preference.strided && !work.isStrided)
    return "is profitable for strides of 2 or more";
  if (preference.oddTaps && work.taps % 2 == 0)
    return "is profitable for windows with a middle";
  return "";
}

/// Why a contraction is too small.
static std::string objectionTo(const MultiplyAdds &work,
                               const Preference &preference) {
  if (work.k < preference.minK)
    return llvm::formatv("is profitable for K >= {0}, here {1}",
                         preference.minK, work.k);
  if (int64_t side = std::min(work.m, work.n); side < preference.minSide)
    return llvm::formatv("is profitable for sides of {0} or more, here {1}",
                         preference.minSide, side);
  if (work.channels < preference.minChannels)
    return llvm::formatv(
        "is profitable for {0} or more input channels, here {1}",
        preference.minChannels, work.channels);
  if (int64_t fewer = std::min(work.channels, work.outChannels);
      fewer < preference.minEither)
    return llvm::formatv("is profitable for {0} or more channels per group on "
                         "either side, here {1}",
                         preference.minEither, fewer);
  if (int64_t more = std::max(work.channels, work.outChannels);
      more < preference.minMore)
    return llvm::formatv("is profitable for {0} or more channels per group on "
                         "one side, here {1}",
                         preference.minMore, more);
  if (work.outChannels < preference.minOutChannels)
    return llvm::formatv(
        "is profitable for {0} or more output channels, here {1}",
        preference.minOutChannels, work.outChannels);
  return objectionToWindows(work, preference);
}

/// Whether images of a convolution have more elements than a window.
static bool hasLargerImages(Operation *root) {
  const mn::Conv s = Contraction(root, {}).conv;
  return int64_t(s.in[0]) * s.in[1] * s.in[2] >
         int64_t(s.kernel[0]) * s.kernel[1] * s.kernel[2];
}

std::string Preference::objection(Operation *root) const {
  if (auto image = dyn_cast<LayoutOpInterface>(root);
      image && onlyLayout && image.getLayout() != *onlyLayout)
    return llvm::formatv("is slow with images that are {0}",
                         stringifyLayout(image.getLayout()));
  std::optional<MultiplyAdds> work =
      cast<RootOpInterface>(root).getMultiplyAdds();
  if (std::string reason = work ? objectionTo(*work, *this) : "";
      !reason.empty())
    return reason;
  if (largerImages && *largerImages != hasLargerImages(root))
    return *largerImages ? "is profitable for images larger than a window"
                         : "is profitable for images that a window covers";
  if (auto matmul = dyn_cast<MatmulOp>(root);
      matmul && transposedLeft && matmul.getTransposed()[0] != *transposedLeft)
    return *transposedLeft ? "is profitable for gradients of weights"
                           : "is not profitable for gradients of weights";
  int64_t results =
      cast<ShapedType>(root->getResult(0).getType()).getNumElements();
  if (results < minResults)
    return llvm::formatv("is profitable for {0} or more results, here {1}",
                         minResults, results);
  double least = double(minWork);
  if (minOfTransformed != 0)
    least += double(minOfTransformed) * double(transformedBytes(root));
  if (work && work->count() < least)
    return llvm::formatv(
        "is profitable for {0} or more multiply-adds, here {1}", int64_t(least),
        int64_t(work->count()));
  if (work && work->count() >= double(lessWork))
    return llvm::formatv(
        "is profitable for less than {0} multiply-adds, here {1}", lessWork,
        int64_t(work->count()));
  return "";
}

double StepTimes::of(StepOp step, double rate) const {
  if (isCollectiveStep(step)) // In place: half of its bytes are inputs.
    return collective + bytesOf(step) / 2 / reduced;
  return launch + std::max(flopsOf(step) / rate, bytesOf(step) / bytes);
}

double StepTimes::onCores(StepOp step) const {
  return of(step, mmaOf(step) == Mma::ffma ? flops : cores);
}

double Roof::flopsOn(Mma mma) const {
  switch (mma) {
  case Mma::ffma:
    return flops;
  case Mma::tf32x3:
    return cores[0];
  case Mma::tf32:
    return cores[1];
  case Mma::bf16:
    return cores[2];
  }
  llvm_unreachable("all units are named");
}

double Roof::timeOf(StepOp step) const {
  return std::max(flopsOf(step) / flopsOn(mmaOf(step)), bytesOf(step) / bytes);
}

double Machine::estimate(StepOp step) const {
  return times ? times->of(step) : roof.timeOf(step);
}

MapForm Machine::formOf(StepOp step, const Segment &segment) const {
  if (storesDrawn && !drawsOf(step, segment).empty())
    return MapForm::drawn;
  int64_t elements = 0;
  for (const Segment &other : segmentsOf(step))
    elements += other.elements;
  return elements >= foursFrom ? mnistc::formOf(step, segment) : MapForm::each;
}

bool mlir::mnistc::takesWhole(Impl impl, EpilogueParts parts, StepOp step) {
  if (impl == Impl::kernel)
    return true;
  return rootReadsMemory(step) &&
         matchEpiloguePrefix(step, parts).end == yieldsOf(step).front();
}
