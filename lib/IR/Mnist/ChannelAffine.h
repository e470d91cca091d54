//===- ChannelAffine.h - x * scale + shift, by channel ----------*- C++ -*-===//
//
// The arithmetic that can be folded into the weights of convolutions and
// products.
// Everything here works on one number for each channel.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_IR_MNIST_CHANNELAFFINE_H
#define MNISTC_IR_MNIST_CHANNELAFFINE_H

#include "lib/IR/Mnist/MnistOps.h"

namespace mlir::mnistc {

/// One number, or none, for each channel.
struct ChannelAffine {
  Value scale; ///< tensor<C>; null for 1
  Value shift; ///< tensor<C>; null for 0
};

/// scale = scale / sqrt(variance + epsilon), shift = bias - mean * scale. Of
/// constants, constants.
ChannelAffine batchNormAffine(OpBuilder &builder, BatchNormOp op);

/// What `op`, an op with operand `input`, does to it, if that is an affine map
/// with constants that depend on nothing but the index along `dim`.
std::optional<ChannelAffine>
matchChannelAffine(OpBuilder &builder, Operation *op, Value input, int64_t dim);

/// `second` after `first`.
ChannelAffine compose(OpBuilder &builder, Location loc, ChannelAffine first,
                      ChannelAffine second);

} // namespace mlir::mnistc

#endif // MNISTC_IR_MNIST_CHANNELAFFINE_H
