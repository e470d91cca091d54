//===- EmitShape.cpp - the sizes of a root op -----------------------------===//
//
// As a struct of mnistrt/shapes.h, of which only those fields are written that
// differ from their defaults.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/EmitStep.h"
#include "lib/IR/Mnist/Geometry.h"
#include "lib/IR/Mnist/TensorShape.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::mnistc;

static int64_t product(ArrayRef<int64_t> sizes) {
  int64_t result = 1;
  for (int64_t size : sizes)
    result *= size;
  return result;
}

namespace {
class Fields {
public:
  explicit Fields(StringRef type) { text.type = type; }
  Fields &add(StringRef name, int64_t value, int64_t standard) {
    if (value != standard)
      text.fields.push_back("." + name.str() + " = " + std::to_string(value));
    return *this;
  }
  Fields &flag(StringRef name, bool value, bool standard = false) {
    if (value != standard)
      text.fields.push_back("." + name.str() + " = " +
                            (value ? "true" : "false"));
    return *this;
  }
  /// An array with an element for each of three spatial dimensions.
  Fields &spatial(StringRef name, ArrayRef<int64_t> values, int64_t standard) {
    SmallVector<std::string> all;
    for (size_t dim = 0; dim < 3; ++dim)
      all.push_back(
          std::to_string(dim < values.size() ? values[dim] : standard));
    if (llvm::any_of(values, [&](int64_t v) { return v != standard; }))
      text.fields.push_back("." + name.str() + " = {" + llvm::join(all, ", ") +
                            "}");
    return *this;
  }
  Fields &layout(Layout layout) {
    if (layout != Layout::nchw)
      text.fields.push_back(".layout = mn::Layout::nhwc");
    return *this;
  }
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
} // namespace

/// Of a convolution with these tensors, for itself and for its gradients.
template <typename Op>
static ShapeText convShape(Op op, Value in, Value filter, Value out) {
  ConvShape s(op.getLayout(), shapeOf(in), shapeOf(filter), shapeOf(out));
  return Fields("mn::Conv")
      .layout(op.getLayout())
      .add("spatial", s.inSize.size(), 2)
      .add("batch", s.batch, 1)
      .add("inChannels", s.inChannels, 1)
      .add("outChannels", s.outChannels, 1)
      .add("groups", op.getGroups(), 1)
      .windows(op, s.inSize, s.kernel, s.outSize)
      .done();
}

template <typename Op>
static ShapeText poolShape(Op op, Value in, Value out, bool countPads = false,
                           bool columnMajor = false) {
  ImageShape x(op.getLayout(), shapeOf(in)), y(op.getLayout(), shapeOf(out));
  return Fields("mn::Pool")
      .layout(op.getLayout())
      .add("spatial", x.size.size(), 2)
      .add("batch", x.batch, 1)
      .add("channels", x.channels, 1)
      .windows(op, x.size, op.getKernel(), y.size)
      .flag("countPads", countPads)
      .flag("columnMajor", columnMajor)
      .done();
}

static ShapeText matmulShape(MatmulOp op) {
  ArrayRef<int64_t> lhs = shapeOf(op.getLhs()), out = shapeOf(op.getOutput());
  bool transposedA = op.getTransposed()[0], transposedB = op.getTransposed()[1];
  return Fields("mn::Matmul")
      .add("batch", out.size() == 3 ? out[0] : 1, 1)
      .add("m", out[out.size() - 2], 1)
      .add("n", out.back(), 1)
      .add("k", transposedA ? lhs[lhs.size() - 2] : lhs.back(), 1)
      .flag("transposedA", transposedA)
      .flag("transposedB", transposedB)
      .done();
}

static ShapeText softmaxShape(Value input, int64_t dim, bool log) {
  ArrayRef<int64_t> shape = shapeOf(input);
  return Fields("mn::Softmax")
      .add("outer", product(shape.take_front(dim)), 1)
      .add("size", shape[dim], 1)
      .add("inner", product(shape.drop_front(dim + 1)), 1)
      .flag("log", log)
      .done();
}

static ShapeText reduceShape(Value input, ArrayRef<int64_t> dims) {
  ArrayRef<int64_t> shape = shapeOf(input);
  int64_t outputs = 1, size = 1, run = 1;
  bool contiguous = true;
  for (auto [dim, extent] : llvm::enumerate(shape)) {
    bool reduced = llvm::is_contained(dims, static_cast<int64_t>(dim));
    (reduced ? size : outputs) *= extent;
    // A dimension that stays, behind one that goes.
    contiguous &= reduced || extent == 1 || size == 1;
    if (extent != 1)
      run = reduced ? run * extent : 1;
  }
  return Fields("mn::Reduce")
      .add("outputs", outputs, 1)
      .add("size", size, 1)
      .flag("contiguous", contiguous, true)
      .add("run", contiguous ? 1 : run, 1)
      .done();
}

ShapeText mlir::mnistc::shapeOfRoot(Operation *root) {
  using Text = ShapeText;
  return llvm::TypeSwitch<Operation *, Text>(root)
      .Case([](ConvOp op) {
        return convShape(op, op.getInput(), op.getFilter(), op.getOutput());
      })
      .Case([](ConvFilterGradOp op) {
        return convShape(op, op.getInput(), op.getFilterGrad(),
                         op.getOutputGrad());
      })
      .Case([](ConvInputGradOp op) {
        return convShape(op, op.getInputGrad(), op.getFilter(),
                         op.getOutputGrad());
      })
      .Case([](ArgMaxPoolOp op) {
        return poolShape(op, op.getInput(), op.getOutput(), false,
                         op.getColumnMajor());
      })
      .Case([](AvgPoolOp op) {
        return poolShape(op, op.getInput(), op.getOutput(), op.getCountPads());
      })
      .Case([](AvgPoolGradOp op) {
        return poolShape(op, op.getInputGrad(), op.getOutputGrad(),
                         op.getCountPads());
      })
      .Case([](MaxPoolOp op) {
        return poolShape(op, op.getInput(), op.getOutput());
      })
      .Case([](MaxPoolGradOp op) {
        return poolShape(op, op.getInput(), op.getOutputGrad());
      })
      .Case([](MatmulOp op) { return matmulShape(op); })
      .Case([](SoftmaxOp op) {
        return softmaxShape(op.getInput(), op.getDim(), false);
      })
      .Case([](LogSoftmaxOp op) {
        return softmaxShape(op.getInput(), op.getDim(), true);
      })
      .Case([](ArgMaxOp op) {
        int64_t dim = op.getDim();
        return reduceShape(op.getInput(), dim);
      })
      .Case<ReduceMaxOp, ReduceMinOp, ReduceSumOp>(
          [](auto op) { return reduceShape(op.getInput(), op.getDims()); })
      .Default([](Operation *) { return Text(); });
}
