//===- RootAnswers.cpp - what families of root ops answer -----------------===//

#include "lib/IR/Mnist/RootAnswers.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::mnistc;

Fields &Fields::add(StringRef name, int64_t value, int64_t standard) {
  if (value != standard)
    text.fields.push_back("." + name.str() + " = " + std::to_string(value));
  return *this;
}

Fields &Fields::flag(StringRef name, bool value, bool standard) {
  if (value != standard)
    text.fields.push_back("." + name.str() + " = " +
                          (value ? "true" : "false"));
  return *this;
}

Fields &Fields::spatial(StringRef name, ArrayRef<int64_t> values,
                        int64_t standard) {
  SmallVector<std::string> all;
  for (size_t dim = 0; dim < 3; ++dim)
    all.push_back(std::to_string(dim < values.size() ? values[dim] : standard));
  if (llvm::any_of(values, [&](int64_t v) { return v != standard; }))
    text.fields.push_back("." + name.str() + " = {" + llvm::join(all, ", ") +
                          "}");
  return *this;
}

Fields &Fields::layout(Layout layout) {
  if (layout != Layout::nchw)
    text.fields.push_back(".layout = mn::Layout::nhwc");
  return *this;
}

MultiplyAdds mlir::mnistc::matmulMultiplyAdds(MatmulOp op) {
  ArrayRef<int64_t> lhs = shapeOf(op.getLhs()), out = shapeOf(op.getOutput());
  int64_t k = lhs[lhs.size() - (op.getTransposed()[0] ? 2 : 1)];
  return {out.size() == 3 ? out[0] : 1, out[out.size() - 2], out.back(), k, k};
}

ShapeText mlir::mnistc::matmulShape(MatmulOp op) {
  MultiplyAdds work = matmulMultiplyAdds(op);
  return Fields("mn::Matmul")
      .add("batch", work.batch)
      .add("m", work.m)
      .add("n", work.n)
      .add("k", work.k)
      .flag("transposedA", op.getTransposed()[0])
      .flag("transposedB", op.getTransposed()[1])
      .done();
}

ShapeText mlir::mnistc::softmaxShape(Value input, int64_t dim, bool log) {
  ArrayRef<int64_t> shape = shapeOf(input);
  return Fields("mn::Softmax")
      .add("outer", ShapedType::getNumElements(shape.take_front(dim)))
      .add("size", shape[dim])
      .add("inner", ShapedType::getNumElements(shape.drop_front(dim + 1)))
      .flag("log", log)
      .done();
}

ShapeText mlir::mnistc::reduceShape(Value input, ArrayRef<int64_t> dims) {
  int64_t outputs = 1, size = 1, run = 1;
  bool contiguous = areAdjacent(shapeOf(input), dims);
  for (auto [dim, extent] : llvm::enumerate(shapeOf(input))) {
    bool reduced = llvm::is_contained(dims, static_cast<int64_t>(dim));
    (reduced ? size : outputs) *= extent;
    if (extent != 1)
      run = reduced ? run * extent : 1;
  }
  return Fields("mn::Reduce")
      .add("outputs", outputs)
      .add("size", size)
      .flag("contiguous", contiguous, true)
      .add("run", contiguous ? 1 : run)
      .done();
}
