//===- RootAnswers.h - what families of root ops answer ---------*- C++ -*-===//
//
// Called by the definitions in TensorOps.td and NetworkOps.td.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_IR_MNIST_ROOTANSWERS_H
#define MNISTC_IR_MNIST_ROOTANSWERS_H

#include "lib/IR/Mnist/Geometry.h"
#include "lib/IR/Mnist/TensorShape.h"

namespace mlir::mnistc {

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// A ShapeText, of which only those fields are written that differ from their
/// defaults.
class Fields {
public:
  explicit Fields(StringRef type) { text.type = type; }
  Fields &add(StringRef name, int64_t value, int64_t standard = 1);
  Fields &flag(StringRef name, bool value, bool standard = false);
  /// An array with an element for each of three spatial dimensions.
  Fields &spatial(StringRef name, ArrayRef<int64_t> values, int64_t standard);
  Fields &layout(Layout layout);
  /// The windows of a convolution, a pool or one of their gradients.
  template <typename Op>
  Fields &windows(Op op, ArrayRef<int64_t> in, ArrayRef<int64_t> kernel,
                  ArrayRef<int64_t> out) {
    return spatial("in", in, 1)
        .spatial("kernel", kernel, 1)
        .spatial("out", out, 1)
        .spatial("strides", op.getStrides(), 1)
        .spatial("pads", op.getPads().take_front(in.size()), 0)
        .spatial("padsAfter", op.getPads().drop_front(in.size()), 0)
        .spatial("dilations", op.getDilations(), 1);
  }
  ShapeText done() { return std::move(text); }

private:
  ShapeText text;
};

/// Of a convolution with these tensors, for itself and for its gradients.
template <typename Op>
ShapeText convShape(Op op, Value in, Value filter, Value out) {
  ConvShape s(op.getLayout(), shapeOf(in), shapeOf(filter), shapeOf(out));
  return Fields("mn::Conv")
      .layout(op.getLayout())
      .add("spatial", s.inSize.size(), 2)
      .add("batch", s.batch)
      .add("inChannels", s.inChannels)
      .add("outChannels", s.outChannels)
      .add("groups", op.getGroups())
      .windows(op, s.inSize, s.kernel, s.outSize)
      .done();
}

template <typename Op>
ShapeText poolShape(Op op, Value in, Value out, bool countPads = false,
                    bool columnMajor = false, bool inWindow = false) {
  ImageShape x(op.getLayout(), shapeOf(in)), y(op.getLayout(), shapeOf(out));
  return Fields("mn::Pool")
      .layout(op.getLayout())
      .add("spatial", x.size.size(), 2)
      .add("batch", x.batch)
      .add("channels", x.channels)
      .windows(op, x.size, op.getKernel(), y.size)
      .flag("countPads", countPads)
      .flag("columnMajor", columnMajor)
      .flag("inWindow", inWindow)
      .done();
}

ShapeText matmulShape(MatmulOp op);
ShapeText softmaxShape(Value input, int64_t dim, bool log);
ShapeText reduceShape(Value input, ArrayRef<int64_t> dims);

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

MultiplyAdds matmulMultiplyAdds(MatmulOp op);

/// Of a convolution: for each group pixels x output channels x weights of one.
template <typename Op>
MultiplyAdds convMultiplyAdds(Op op, Value filter, Value out) {
  ImageShape w(op.getLayout(), shapeOf(filter)),
      y(op.getLayout(), shapeOf(out));
  int64_t groups = op.getGroups();
  return {
      groups,
      y.batch * ShapedType::getNumElements(y.size),
      y.channels / groups,
      w.channels * ShapedType::getNumElements(w.size),
      w.channels,
      y.channels / groups,
      ShapedType::getNumElements(w.size),
      w.size.back(),
      llvm::any_of(op.getStrides(), [](int64_t stride) { return stride > 1; })};
}

/// The elements of all windows of a pool with this output.
template <typename Op> double windowReads(Op op, Value output) {
  return double(countOf(output)) * ShapedType::getNumElements(op.getKernel());
}

/// The channels of a result that is an image.
template <typename Op> Channels imageChannels(Op op) {
  ImageShape image(op.getLayout(), shapeOf(op->getResult(0)));
  return {image.channels, op.getLayout() == Layout::nchw
                              ? ShapedType::getNumElements(image.size)
                              : 1};
}

} // namespace mlir::mnistc

#endif // MNISTC_IR_MNIST_ROOTANSWERS_H
