//===- RoundedOnH200.cpp - what computes rounded operands fastest ---------===//

#include "lib/IR/Plan/RoundedOnH200.h"

using namespace mlir;
using namespace mlir::mnistc;

/// Of operands in bf16: what rounds them costs a launch or less, what reads
/// them half the bytes.
static constexpr Preference productOfRounded() {
  return {.impl = Impl::cublas,
          .op = "matmul",
          .epilogue = biasAndRelu,
          .mma = Mma::bf16,
          .minK = 128,
          .minSide = 128,
          .minWork = 1 << 28,
          .rounded = true};
}

/// Of images and filters in bf16, channels last: 128 -> 512 channels, 5x5 on
/// 7x7, batch 128, takes 41 to 66 us, and the gradient of the filter 38, where
/// our kernels, which read f32, take 77 to 87 and 177. The casts and
/// transposes of that network take 10 to 29 us each, and are shared
/// (docs/results/2026-11-26-convolutions-in-bf16.md).
static constexpr Preference convOfRounded(StringRef op) {
  return {.impl = Impl::cudnn,
          .op = op,
          .epilogue = noEpilogue,
          .mma = Mma::bf16,
          .minEither = 64,
          .ungrouped = true,
          .minWork = int64_t(1) << 31,
          .rounded = true};
}
/// From 32 channels on: of three networks that have 96 to 512 on the other side
/// two take 5 and 7 % less time, and one 1 % more
/// (docs/results/2026-11-26-two-bytes.md). With 64, as SimpleCNN and Net with
/// 1024 rows, it would be longer
/// (docs/results/2026-11-27-rows-and-sums-h100.md).
static constexpr Preference fewerOfRounded(StringRef op) {
  Preference p = convOfRounded(op);
  p.minEither = 32, p.minMore = 96;
  return p;
}
/// 512 -> 256 channels on 14x14, batch 64: a network takes 15 % less time.
static constexpr Preference pixelsOfRounded(StringRef op) {
  Preference p = convOfRounded(op);
  p.minEither = 32;
  p.maxTaps = 1, p.minWork = 1 << 30;
  return p;
}

/// With strides our kernels gather: 64 -> 128 channels on 28x28, batch 256,
/// takes 45 us, the gradient of its input 91, of its filter 30, and transposes
/// around them 60. A ResNet-18 takes 6 % less time, with batches of 64 2 %
/// (docs/results/2026-11-30-strided-pixels-h200.md).
static constexpr Preference stridedPixelsOfRounded(StringRef op) {
  Preference p = pixelsOfRounded(op);
  p.strided = true, p.minWork = 1 << 26;
  return p;
}

std::vector<Preference> mlir::mnistc::roundedOnH200() {
  std::vector<Preference> all = {productOfRounded()};
  for (auto preference :
       {convOfRounded, fewerOfRounded, pixelsOfRounded, stridedPixelsOfRounded})
    for (StringRef op : {"conv", "conv_input_grad", "conv_filter_grad"})
      all.push_back(preference(op));
  return all;
}
