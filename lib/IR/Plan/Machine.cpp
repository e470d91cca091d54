//===- Machine.cpp - what is profitable, as data of a machine -------------===//

#include "lib/IR/Plan/Machine.h"
#include "lib/IR/Plan/Schedule.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::mnistc;

static constexpr EpilogueParts noEpilogue = {false, false, false};
static constexpr EpilogueParts biasAndRelu = {true, false, true};
static constexpr EpilogueParts wholeEpilogue = {true, true, true};

//===----------------------------------------------------------------------===//
// NVIDIA H200
//===----------------------------------------------------------------------===//

// Times below are medians in microseconds on one H200, in f32. The convolution
// is 32 -> 64 channels, 3x3, on 14x14 images; "first" is 1 -> 32 on 28x28.
//
//   step            batch  kernel nchw  kernel nhwc  cuDNN nchw  cuDNN nhwc
//   convolution         1          7.3                     10.2
//   convolution        64         22.8         24.3        22.4        45.7
//   convolution      1024                     296         193         720
//   first               1          2.7                      3.6
//   first              64          6.0                     12.2
//   first            1024         60                       85
//
//   filter's gradient   weights of a channel  kernel nchw  cuDNN nchw
//   1 -> 32, 3x3             64            9          8.0        24.4
//   1 -> 20, 5x5             64           25          9.5        25.8
//   3 -> 32, 3x3             64           27         19.7        98.7
//   32 -> 64, 3x3             1          288          6.2        11.1
//   32 -> 64, 3x3            64          288         58.5        34.1
//
//   product m n k               kernel  cuBLASLt
//   64 x 10 x 128                  3.9       7.0
//   64 x 128 x 3136               12.2      10.7
//   64 x 128 x 9216               19.0      17.3
//   256 x 256 x 784               10.3      12.2
//   256 x 784 x 256                9.5       8.3
//   10 x 128 x 1024                          56.5

// The convolutions of 48 random networks (batch 16 to 256, 1 to 256 channels,
// images of 5 to 32, windows 1 to 5, strides, groups) were timed both ways
// (docs/results/2026-11-22-choice-h100.md). cuDNN is slowest where it has no
// transform: windows of 1, strides, few channels.

/// A convolution of few products per result is bound by memory: a kernel reads
/// the input once and saves the library's set-up.
static constexpr int64_t fewProducts = 17;
/// cuDNN is made for many channels and fills up what is missing: with one
/// channel a kernel is faster at every batch size, for larger filters too.
static constexpr int64_t someChannels = 2;
/// Windows from which on cuDNN's transforms save multiplications.
static constexpr int64_t someTaps = 9;
/// Multiplications that hide what a call of cuDNN costs: where its tiles are
/// filled, where they are not, and (assumed, not measured) for any window.
static constexpr int64_t convWork = 1 << 25, largeConvWork = 1 << 27,
                         hugeConvWork = 1 << 30;
static constexpr int64_t filterGradWork = 1 << 26,
                         largeFilterGradWork = 1 << 27,
                         hugeFilterGradWork = int64_t(1) << 31;
/// A long sum of few results is cut into parts by cuBLASLt, not by the kernel.
static constexpr int64_t longSum = 500, longSumWork = 1 << 25;
/// What cuBLASLt cuts is slow again where there are too few results for a tile.
static constexpr int64_t someResults = 4096;
/// In tf32 our tiles are as fast where a side or the sum is short: on one H100
/// the products of 64 and of 1024 rows with 3136 x 128 and 9216 x 128 and their
/// gradients make a step 2 to 3 % shorter, those of 1024 rows with 784 x 512
/// and 512 x 256 would make it 10 % longer
/// (docs/results/2026-11-25-blocks-and-orders.md).
static constexpr int64_t someSide = 256;
/// Multiplications that hide what a call of cuBLASLt costs, for any shape.
static constexpr int64_t matmulWork = 1 << 26;

// On tensor cores, on one H100 (docs/results/2026-11-22-tensor-cores-h100.md):
// our tf32x3 is faster than cuDNN and cuBLASLt on FMA units but where sums are
// very long, and than our kernels on these but where there is little to do. In
// tf32 the libraries are faster where their tiles are full.

/// A matrix product on tensor cores: its sides fill a tile's, and it takes
/// longer than to get there.
static constexpr Preference productOnCores(Mma mma) {
  return {.impl = Impl::kernel,
          .op = "matmul",
          .epilogue = wholeEpilogue,
          .mma = mma,
          .minK = 16,
          .minSide = 16,
          .minWork = 1 << 23};
}
/// Of few channels, too: half a tile is faster than gathering windows for FMA
/// units (docs/results/2026-11-22-choices-h100.md).
static constexpr Preference convOnCores(Mma mma) {
  return {.impl = Impl::kernel,
          .op = "conv",
          .epilogue = wholeEpilogue,
          .mma = mma,
          .minK = 16,
          .minSide = 2,
          .minWork = 1 << 23};
}
static constexpr Preference gradOnCores(StringRef op, Mma mma, int64_t minWork,
                                        int64_t minResults = 0,
                                        int64_t minChannels = 0) {
  return {.impl = Impl::kernel,
          .op = op,
          .epilogue = wholeEpilogue,
          .mma = mma,
          .minK = 2,
          .minSide = 2,
          .minChannels = minChannels,
          .minWork = minWork,
          .minResults = minResults};
}
/// As of a convolution: on one H100 the gradient of 64 -> 32 channels, 1x1 on
/// 14x14, takes 6.7 us on tensor cores and 11.0 without.
static constexpr int64_t inputGradWork = 1 << 23, coresFilterGradWork = 1 << 21;
/// Fewer weights are summed in registers, unless they are of many channels: on
/// one H100 the gradient of 64 -> 8 channels, 1x1 on 7x7, took 38 us so, and 9
/// on tensor cores. Of 16 -> 32 channels registers are faster.
static constexpr int64_t someWeights = 600, manyChannels = 33;

/// A convolution of so many channels that cuDNN fills its tiles.
static constexpr Preference onCudnnCores(StringRef op, EpilogueParts epilogue,
                                         int64_t minTaps) {
  return {.impl = Impl::cudnn,
          .op = op,
          .epilogue = epilogue,
          .mma = Mma::tf32,
          .onlyLayout = Layout::nchw,
          .minEither = 96,
          .minTaps = minTaps,
          .ungrouped = true,
          .minWork = 1 << 28};
}

/// The gradient of a filter by FFT, which is in f32: whatever tensor cores may
/// be used where windows are large, before tf32x3 elsewhere too, if channels
/// are many: of 32 -> 64, 3x3 on 14x14, batch 1024, tensor cores take 152 us
/// and the FFT 227; a network of 64 -> 64 is 2 % faster by it
/// (docs/results/2026-11-24-first-layers-h100.md).
static constexpr Preference byFft(int64_t minEither, int64_t minTaps,
                                  int64_t minWork, int64_t minChannels = 0) {
  return {.impl = Impl::cudnn,
          .op = "conv_filter_grad",
          .epilogue = noEpilogue,
          .minChannels = minChannels,
          .minEither = minEither,
          .minTaps = minTaps,
          .unstrided = true,
          .minWork = minWork};
}

static const Preference onH200[] = {
    byFft(32, 25, 1 << 28),
    onCudnnCores("conv", wholeEpilogue, someTaps),
    onCudnnCores("conv_input_grad", noEpilogue, 1),
    onCudnnCores("conv_filter_grad", noEpilogue, 1),
    {.impl = Impl::cublas,
     .op = "matmul",
     .epilogue = biasAndRelu,
     .mma = Mma::tf32,
     .minK = someSide,
     .minSide = someSide,
     .minWork = 1 << 25},
    convOnCores(Mma::bf16),
    gradOnCores("conv_input_grad", Mma::bf16, inputGradWork),
    gradOnCores("conv_filter_grad", Mma::bf16, coresFilterGradWork,
                someWeights),
    gradOnCores("conv_filter_grad", Mma::bf16, coresFilterGradWork, 0,
                manyChannels),
    productOnCores(Mma::bf16),
    convOnCores(Mma::tf32),
    gradOnCores("conv_input_grad", Mma::tf32, inputGradWork),
    gradOnCores("conv_filter_grad", Mma::tf32, coresFilterGradWork,
                someWeights),
    gradOnCores("conv_filter_grad", Mma::tf32, coresFilterGradWork, 0,
                manyChannels),
    productOnCores(Mma::tf32),
    byFft(32, someTaps, 1 << 30, manyChannels),
    convOnCores(Mma::tf32x3),
    gradOnCores("conv_input_grad", Mma::tf32x3, inputGradWork),
    gradOnCores("conv_filter_grad", Mma::tf32x3, coresFilterGradWork,
                someWeights),
    gradOnCores("conv_filter_grad", Mma::tf32x3, coresFilterGradWork, 0,
                manyChannels),
    productOnCores(Mma::tf32x3),
    {.impl = Impl::cudnn,
     .op = "conv",
     .epilogue = wholeEpilogue,
     .onlyLayout = Layout::nchw,
     .minK = fewProducts,
     .minEither = 16,
     .minTaps = someTaps,
     .unstrided = true,
     .minWork = convWork},
    {.impl = Impl::cudnn,
     .op = "conv",
     .epilogue = wholeEpilogue,
     .onlyLayout = Layout::nchw,
     .minK = fewProducts,
     .minChannels = someChannels,
     .minTaps = someTaps,
     .unstrided = true,
     .minWork = largeConvWork},
    {.impl = Impl::cudnn,
     .op = "conv",
     .epilogue = wholeEpilogue,
     .onlyLayout = Layout::nchw,
     .minK = fewProducts,
     .minChannels = someChannels,
     .minWork = hugeConvWork},
    {.impl = Impl::cudnn,
     .op = "conv_input_grad",
     .epilogue = noEpilogue,
     .minTaps = someTaps,
     .ungrouped = true,
     .unstrided = true,
     .minWork = convWork},
    {.impl = Impl::cudnn,
     .op = "conv_input_grad",
     .epilogue = noEpilogue,
     .ungrouped = true,
     .unstrided = true,
     .minWork = hugeConvWork},
    {.impl = Impl::cudnn,
     .op = "conv_filter_grad",
     .epilogue = noEpilogue,
     .minEither = 32,
     .minTaps = someTaps,
     .unstrided = true,
     .minWork = filterGradWork},
    {.impl = Impl::cudnn,
     .op = "conv_filter_grad",
     .epilogue = noEpilogue,
     .minEither = 24,
     .minTaps = someTaps,
     .unstrided = true,
     .minWork = largeFilterGradWork},
    {.impl = Impl::cudnn,
     .op = "conv_filter_grad",
     .epilogue = noEpilogue,
     .minEither = 8,
     .minTaps = someTaps,
     .unstrided = true,
     .minWork = hugeFilterGradWork},
    {.impl = Impl::cublas,
     .op = "matmul",
     .epilogue = biasAndRelu,
     .minK = longSum,
     .minWork = longSumWork,
     .minResults = someResults},
    {.impl = Impl::cublas,
     .op = "matmul",
     .epilogue = biasAndRelu,
     .minWork = matmulWork,
     .minResults = someResults},
    {Impl::nccl, "all_reduce", noEpilogue},
};

const Machine &Machine::h200() {
  static const Machine machine = {
      .name = "NVIDIA H200",
      .preferredLayout = Layout::nchw, // The table above.
      .inlineElements = 16,
      .inlineResults = 65536,
      .rowBlocks = 8,
      .fullBlocks = 96,
      .blockElements = 16384,
      .shortestRun = 1,
      .storesMasks = true,
      .joinsPools = true,
      .chains = ChainLimits{.weights = 1 << 14,
                            .multiplyAdds = 1 << 17,
                            .elements = 1 << 13},
      .foursFrom = 4 * 1024 * 132, // 1024 threads a multiprocessor.
      .loadsBeforeStores = true,
      .maxRecompute = 1.5,
      .streams = 4,
      .times = StepTimes{.launch = 2,
                         .event = 1.5,
                         .flops = 15e6,
                         .bytes = 2e6,
                         .cores = 60e6,    // 462 MFLOP take 10 us in all.
                         .collective = 10, // Two of them, by NVLink: 1 kB takes
                         .reduced = 0.13e6, // 10.7 us, 1.6 MB 23, 4.7 MB 42.
                         .beside = 2,       // Assumed.
                         .disturbed = 6},   // Assumed.
      .prefetchesBatches = true,
      .roof = {.of = "NVIDIA H200",
               .flops = 67e6,
               .bytes = 4.8e6,
               .cores = {165e6, 495e6, 989e6}}, // Dense; tf32x3: a third.
      .preferences = onH200};
  return machine;
}

//===----------------------------------------------------------------------===//
// x86-64 with AVX2 or AVX-512
//===----------------------------------------------------------------------===//

// Nothing for pools: the kernel's loops take other ops along, and are as fast
// as oneDNN's where those have AVX-512, else faster. On one core, batch 1,
// nhwc, in microseconds (oneDNN with AVX-512, with AVX2, kernel): maximum of
// 32x28x28 3.1, 23.9, 3.0; mean 3.8, 8.3, 4.3; of 6x28x28 2.9, 4.1, 1.0.
static const Preference onX86[] = {
    {Impl::onednn, "conv", wholeEpilogue},
    {Impl::onednn, "conv_input_grad", noEpilogue},
    {Impl::onednn, "conv_filter_grad", noEpilogue},
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
      .countsInRuns = true,
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
  if (work.taps < preference.minTaps)
    return llvm::formatv("is profitable for windows of {0} or more, here {1}",
                         preference.minTaps, work.taps);
  if (preference.ungrouped && work.batch > 1)
    return llvm::formatv("is profitable for one group, here {0}", work.batch);
  if (preference.unstrided && work.isStrided)
    return "is profitable for strides of 1";
  return "";
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
  int64_t results =
      cast<ShapedType>(root->getResult(0).getType()).getNumElements();
  if (results < minResults)
    return llvm::formatv("is profitable for {0} or more results, here {1}",
                         minResults, results);
  if (work && work->count() < minWork)
    return llvm::formatv(
        "is profitable for {0} or more multiply-adds, here {1}", minWork,
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

bool Machine::takesFours(StepOp step, const Segment &segment) const {
  int64_t elements = 0;
  for (const Segment &other : segmentsOf(step))
    elements += other.elements;
  return elements >= foursFrom && segment.elements >= 4 &&
         readsNeighbours(step, segment);
}

bool mlir::mnistc::takesWhole(Impl impl, EpilogueParts parts, StepOp step) {
  if (impl == Impl::kernel)
    return true;
  return rootReadsMemory(step) &&
         matchEpiloguePrefix(step, parts).end == yieldsOf(step).front();
}
