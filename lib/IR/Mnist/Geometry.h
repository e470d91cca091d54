//===- Geometry.h - the shapes of images, filters, windows ------*- C++ -*-===//
//
// The one place that knows which dimension of an image or filter is which.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_IR_MNIST_GEOMETRY_H
#define MNISTC_IR_MNIST_GEOMETRY_H

#include "lib/IR/Mnist/MnistOps.h"

namespace mlir::mnistc {

/// An image tensor, N x C x D... or N x D... x C.
struct ImageShape {
  ImageShape(Layout layout, ArrayRef<int64_t> shape)
      : batch(shape.front()),
        channels(layout == Layout::nchw ? shape[1] : shape.back()),
        size(layout == Layout::nchw ? shape.drop_front(2)
                                    : shape.drop_front().drop_back()) {}
  int64_t batch, channels;
  ArrayRef<int64_t> size;
};

/// The three tensors of a convolution; a filter is read as an image whose
/// batch are the output channels.
struct ConvShape {
  ConvShape(Layout layout, ArrayRef<int64_t> in, ArrayRef<int64_t> filter,
            ArrayRef<int64_t> out) {
    ImageShape x(layout, in), w(layout, filter), y(layout, out);
    batch = x.batch, inChannels = x.channels, inSize = x.size;
    filterOutChannels = w.batch, filterChannels = w.channels, kernel = w.size;
    outBatch = y.batch, outChannels = y.channels, outSize = y.size;
  }
  int64_t batch, inChannels, outBatch, outChannels;
  int64_t filterOutChannels, filterChannels;
  ArrayRef<int64_t> inSize, kernel, outSize;
};

/// What a stride, pad, dilation or number of groups may be: more than any image
/// has, and too little for windowCount to overflow.
inline constexpr int64_t maxWindowNumber = int64_t(1) << 20;

/// How many windows of `kernel` elements, `dilation` apart, fit in `size`
/// elements and `pads` more, beginning every `stride`. May be 0 or less.
inline int64_t windowCount(int64_t size, int64_t kernel, int64_t stride,
                           int64_t pads, int64_t dilation) {
  int64_t room = size + pads - (dilation * (kernel - 1) + 1);
  return room < 0 ? 0 : room / stride + 1;
}

/// Whether the windows of a pool are next to each other, and nothing else.
template <typename Pool> bool areWindowsAdjacent(Pool op) {
  return op.getKernel() == op.getStrides() &&
         llvm::all_of(op.getPads(), [](int64_t pad) { return pad == 0; }) &&
         llvm::all_of(op.getDilations(), [](int64_t d) { return d == 1; });
}

/// The order that turns an image or filter of `rank` dimensions from one
/// layout into the other.
inline SmallVector<int64_t> layoutPermutation(Layout from, Layout to,
                                              int64_t rank) {
  SmallVector<int64_t> perm = llvm::to_vector(llvm::seq<int64_t>(rank));
  if (from == Layout::nchw && to == Layout::nhwc)
    std::rotate(perm.begin() + 1, perm.begin() + 2, perm.end());
  else if (from == Layout::nhwc && to == Layout::nchw)
    std::rotate(perm.begin() + 1, perm.end() - 1, perm.end());
  return perm;
}

} // namespace mlir::mnistc

#endif // MNISTC_IR_MNIST_GEOMETRY_H
