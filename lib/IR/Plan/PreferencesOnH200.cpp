//===- PreferencesOnH200.cpp - what computes an op fastest, measured ------===//

#include "lib/IR/Plan/PreferencesOnH200.h"
#include "lib/IR/Plan/RoundedOnH200.h"
#include <vector>

using namespace mlir;
using namespace mlir::mnistc;

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
/// A short sum of a gradient of weights, which adds over rows.
static constexpr int64_t shortSum = 32;
/// Multiplications that hide what a call of cuBLASLt costs, for any shape.
static constexpr int64_t matmulWork = 1 << 26;

// On tensor cores, on one H100 (docs/results/2026-11-22-tensor-cores-h100.md):
// our tf32x3 is faster than cuDNN and cuBLASLt on FMA units but where sums are
// very long, and than our kernels on these but where there is little to do. In
// tf32 the libraries are faster where their tiles are full.

/// A matrix product on tensor cores: its sides fill a tile's, and it takes
/// longer than to get there.
static constexpr Preference productOnCores(Mma mma, int64_t minSide,
                                           int64_t minWork) {
  return {.impl = Impl::kernel,
          .op = "matmul",
          .epilogue = wholeEpilogue,
          .mma = mma,
          .minK = minSide,
          .minSide = minSide,
          .minWork = minWork};
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
/// Where their tiles are full. With less work our tiles, into which updates are
/// fused, are faster: 13 networks of dense layers and 256 rows take 11 % less
/// time to 2 % more in tf32, eight in bf16 10 % less to 6 % more
/// (docs/results/2026-11-27-windows-of-pools-h200.md).
static constexpr int64_t cublasWork = 1 << 26;
static constexpr Preference productOnCublasCores(int64_t minK, int64_t minSide,
                                                 int64_t minResults) {
  return {.impl = Impl::cublas,
          .op = "matmul",
          .epilogue = biasAndRelu,
          .mma = Mma::tf32,
          .minK = minK,
          .minSide = minSide,
          .minWork = cublasWork,
          .minResults = minResults};
}
/// Of few rows, with many results: the gradient of 2048 x 4096 weights, batch
/// 128, takes 22 us instead of 43, that of 16 of 768 x 768, batch 32, 20
/// instead of 37; 128 rows by 768 x 2048 13 instead of 15, by 2048 x 4096 24
/// instead of 37 (docs/results/2026-11-26-large-networks.md).
static constexpr Preference ofWeights(Preference p, bool gradient) {
  p.transposedLeft = gradient;
  return p;
}
/// Of tf32 and bf16 smaller ones, too: with these, and small gradients of
/// weights, an MLP of five layers, batch 64, took 44 us a step in tf32 instead
/// of 52, LeNet-5 45 instead of 48
/// (docs/results/2026-11-27-rows-and-sums-h100.md).
static constexpr Preference smallProductOnCores(Mma mma) {
  return ofWeights(productOnCores(mma, 8, 1 << 15), false);
}
/// Small gradients of weights run beside other steps: by tf32x3 in any
/// precision, as in tf32 and bf16 themselves an MLP's step would be 2 to 7 us
/// longer (docs/results/2026-11-27-whole-windows-h200.md).
static constexpr Preference smallGradOnCores() {
  return ofWeights(productOnCores(Mma::tf32x3, 8, 1 << 15), true);
}
/// And large ones, up to what cuBLASLt takes: the MLP in tf32 and bf16 takes
/// 18.3 and 17.6 us a step instead of 21.7 and 22.7. Between, networks of dense
/// layers and mixers would take up to 8 % more
/// (docs/results/2026-11-27-windows-of-pools-h200.md).
static constexpr Preference someGradOnCores() {
  Preference p = ofWeights(productOnCores(Mma::tf32x3, 16, 3 << 24), true);
  p.lessWork = cublasWork;
  return p;
}
/// Shorter sides where there are many results: products of 8192 rows with 192
/// to 768 columns and sums of 192 to 768 take 0.64 to 0.89 of our kernels'
/// time, and those of their gradients of weights 0.62 to 0.94 (a transformer).
/// By libraries, networks of dense layers of 128 to 768 take 13 to 24 % less
/// time with 2048 rows, with 1024 from 7 % less to 6 % more. With sums of 128
/// and gradients that sum 1024 rows Net would take 987 us a step instead of 928
/// (docs/results/2026-11-26-sums-in-clusters.md).
static constexpr int64_t shorterSide = 128, longerSum = 192,
                         longerWork = 1 << 27;
static constexpr Preference manyResultsOnCublasCores() {
  Preference p = productOnCublasCores(longerSum, shorterSide, 1 << 18);
  p.minWork = longerWork;
  return ofWeights(p, false);
}
static constexpr Preference gradOfManyRowsOnCublasCores() {
  Preference p = productOnCublasCores(2048, shorterSide, 0);
  p.minWork = longerWork;
  return ofWeights(p, true);
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

// Large convolutions on the tensor cores of one H200, 35 shapes with their
// gradients (docs/results/2026-11-26-large-networks.md). Our kernels are the
// faster ones in bf16, which cuDNN has only for what is bf16 in memory, and
// cuDNN's where it gathers what our kernels do not keep in shared memory:
// strides, and windows of one element. For fewer than 192 output channels it
// took up to six times as long as our kernel, and rarely less.
static constexpr int64_t cudnnOutChannels = 192;
/// Multiply-adds from which on cuDNN is the faster one at windows with strides.
static constexpr int64_t largeWork = int64_t(1) << 32;

/// What tf32 of cuDNN computes fastest, if it has this much to do.
static constexpr Preference onCudnnCores(StringRef op, int64_t minEither,
                                         int64_t minOutChannels,
                                         int64_t minWork) {
  return {.impl = Impl::cudnn,
          .op = op,
          .epilogue = noEpilogue,
          .mma = Mma::tf32,
          .onlyLayout = Layout::nchw,
          .minEither = minEither,
          .minOutChannels = minOutChannels,
          .ungrouped = true,
          .minWork = minWork};
}
/// Which cuDNN ends with an epilogue.
static constexpr Preference forward(Preference p) {
  p.epilogue = wholeEpilogue;
  return p;
}
static constexpr Preference stridedOnCudnnCores(StringRef op, int64_t minEither,
                                                int64_t minOutChannels,
                                                int64_t minWork) {
  Preference p = onCudnnCores(op, minEither, minOutChannels, minWork);
  p.strided = true;
  return p;
}
static constexpr Preference windowsOnCudnnCores(StringRef op, int64_t minTaps,
                                                int64_t minOutChannels,
                                                int64_t minWork) {
  Preference p = onCudnnCores(op, 64, minOutChannels, minWork);
  p.minTaps = minTaps;
  return p;
}
// docs/results/2026-11-29-rounded-products-h200.md, forward with bias and ReLU:

/// Of 3 x 3 elements our kernels are faster, by a third to a half with 256 ->
/// 256 or 128 -> 384 channels.
static constexpr Preference largeWindowsOnCudnnCores(StringRef op,
                                                     int64_t minWork) {
  Preference p = onCudnnCores(op, 96, cudnnOutChannels, minWork);
  p.minTaps = 10;
  return p;
}
/// Not of images that a window covers: of 26 shapes of 7 x 7 on 7 x 7 24 take
/// 1.1 to 3.8 times as long. Gradients of inputs, and one without bias: less.
static constexpr Preference onLargerImages(Preference p) {
  p.largerImages = true;
  return p;
}
/// Of 7 x 7 elements on 14 x 14, our kernels take 0.55 to 0.9 of the time for
/// the gradient of a filter, with any of eight pairs of channels. Where windows
/// cover images, with batches of 256 and 512, 1.0 to 1.9, and once 0.8.
static constexpr Preference filtersOnCudnnCores(bool coverImages) {
  Preference p = onCudnnCores("conv_filter_grad", 128, 128, 2 * largeWork);
  if (coverImages)
    p.largerImages = false, p.minWork = 4 * largeWork;
  else
    p.maxTaps = 48;
  return p;
}
/// Our kernels keep no filters of so many channels in shared memory: in bf16
/// the gradient of 256 -> 64 channels, 7x7, batch 256, takes 95 us instead of
/// 160 (docs/results/2026-11-26-transformers.md).
static constexpr Preference manyInputsOnCudnnCores() {
  Preference p = windowsOnCudnnCores("conv_input_grad", 49, 64, 2 * largeWork);
  p.minChannels = 256;
  return p;
}
/// Of 128 results a pixel and more. 5x5 on 7x7, 128 -> 128 channels, batch 512,
/// takes 103 us instead of 203 forward and 98 instead of 213 for the input's
/// gradient; on 14x14, batch 256, 64 -> 128 forward 91 instead of 177, and the
/// gradient of 128 -> 64, with its mask, 161 instead of 234; 64 -> 64: not
/// (docs/results/2026-11-26-sums-in-clusters.md).
static constexpr Preference manyResultsOnCudnnCores(StringRef op,
                                                    int64_t minChannels,
                                                    int64_t minOutChannels) {
  Preference p = windowsOnCudnnCores(op, 25, minOutChannels, largeWork);
  p.minChannels = minChannels;
  return p;
}
static constexpr Preference pixelsOnCudnnCores(StringRef op) {
  Preference p = onCudnnCores(op, 48, cudnnOutChannels, 1 << 30);
  p.unstrided = true, p.maxTaps = 1;
  return p;
}

/// The gradient of a filter by FFT, which is in f32: of 32 -> 64, 3x3 on 14x14,
/// batch 1024, tensor cores take 152 us and the FFT 227; a network of 64 -> 64
/// is 2 % faster by it (docs/results/2026-11-24-first-layers-h100.md). It takes
/// about 35 us and 0.6 us for each MB that it makes of the tensors, as fitted
/// to fourteen shapes, of which some take half as long again.
static constexpr Preference filterGradByFft() {
  return {.impl = Impl::cudnn,
          .op = "conv_filter_grad",
          .epilogue = noEpilogue,
          .minChannels = manyChannels,
          .minEither = 32,
          .minTaps = someTaps,
          .unstrided = true,
          .oddTaps = true,
          .minWork = 900'000'000,
          .minOfTransformed = 17};
}
/// Seven by seven elements: 192 -> 64 on 32x32, batch 32, takes 114 us instead
/// of 581 forward, and 288 instead of 655 for the input's gradient.
static constexpr Preference hugeWindowsByFft(StringRef op) {
  Preference p = filterGradByFft();
  p.op = op, p.minChannels = 0, p.minTaps = 49, p.minOfTransformed = 100;
  return p;
}
/// Of three by three elements and many channels, whatever is transformed: 256
/// -> 256 on 7x7, batch 64, takes 53 us. Which engine that is was not looked
/// at.
static constexpr Preference smallWindowsOnCudnn() {
  return {.impl = Impl::cudnn,
          .op = "conv_filter_grad",
          .epilogue = noEpilogue,
          .minEither = 192,
          .minTaps = 9,
          .maxTaps = 9,
          .unstrided = true,
          .minWork = 1 << 30};
}

static const Preference onH200[] = {
    forward(stridedOnCudnnCores("conv", 48, cudnnOutChannels, largeWork)),
    forward(pixelsOnCudnnCores("conv")),
    stridedOnCudnnCores("conv_input_grad", 96, cudnnOutChannels, largeWork),
    stridedOnCudnnCores("conv_input_grad", 96, 96, 2 * largeWork),
    pixelsOnCudnnCores("conv_input_grad"),
    stridedOnCudnnCores("conv_filter_grad", 96, 96, 2 * largeWork),
    manyInputsOnCudnnCores(),
    someGradOnCores(),
    productOnCublasCores(someSide, someSide, 0),
    ofWeights(productOnCublasCores(shortSum, 512, 1 << 20), true),
    ofWeights(productOnCublasCores(shortSum, 128, 1 << 21), true),
    ofWeights(productOnCublasCores(longSum, 64, 1 << 18), false),
    convOnCores(Mma::bf16),
    gradOnCores("conv_input_grad", Mma::bf16, inputGradWork),
    gradOnCores("conv_filter_grad", Mma::bf16, coresFilterGradWork,
                someWeights),
    gradOnCores("conv_filter_grad", Mma::bf16, coresFilterGradWork, 0,
                manyChannels),
    productOnCores(Mma::bf16, 16, 1 << 23),
    smallProductOnCores(Mma::bf16),
    forward(onLargerImages(largeWindowsOnCudnnCores("conv", largeWork / 2))),
    forward(stridedOnCudnnCores("conv", 32, cudnnOutChannels, 1 << 29)),
    forward(onLargerImages(manyResultsOnCudnnCores("conv", 64, 128))),
    largeWindowsOnCudnnCores("conv_input_grad", 3 * largeWork / 2),
    windowsOnCudnnCores("conv_input_grad", 49, 64, 2 * largeWork),
    stridedOnCudnnCores("conv_input_grad", 48, cudnnOutChannels, largeWork),
    stridedOnCudnnCores("conv_filter_grad", 96, 96, largeWork / 2),
    manyResultsOnCudnnCores("conv_input_grad", 128, 64),
    // 512 x 128, 5x5 on 7x7: 151 or 207 us, not 269 or 289; 64 x 64: not.
    filtersOnCudnnCores(/*coverImages=*/false),
    filtersOnCudnnCores(/*coverImages=*/true),
    manyResultsOnCublasCores(),
    gradOfManyRowsOnCublasCores(),
    convOnCores(Mma::tf32),
    gradOnCores("conv_input_grad", Mma::tf32, inputGradWork),
    gradOnCores("conv_filter_grad", Mma::tf32, coresFilterGradWork,
                someWeights),
    gradOnCores("conv_filter_grad", Mma::tf32, coresFilterGradWork, 0,
                manyChannels),
    productOnCores(Mma::tf32, 16, 1 << 23),
    smallProductOnCores(Mma::tf32),
    filterGradByFft(),
    smallWindowsOnCudnn(),
    forward(hugeWindowsByFft("conv")),
    hugeWindowsByFft("conv_input_grad"),
    convOnCores(Mma::tf32x3),
    gradOnCores("conv_input_grad", Mma::tf32x3, inputGradWork),
    gradOnCores("conv_filter_grad", Mma::tf32x3, coresFilterGradWork,
                someWeights),
    gradOnCores("conv_filter_grad", Mma::tf32x3, coresFilterGradWork, 0,
                manyChannels),
    productOnCores(Mma::tf32x3, 16, 1 << 23),
    smallGradOnCores(),
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

ArrayRef<Preference> mlir::mnistc::preferencesOnH200() {
  static const std::vector<Preference> all = [] {
    std::vector<Preference> all = roundedOnH200();
    all.insert(all.end(), std::begin(onH200), std::end(onH200));
    return all;
  }();
  return all;
}
