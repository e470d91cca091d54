//===- ImportReduction.cpp - sums, means, maxima along dimensions ---------===//

#include "lib/Import/Operators.h"

using namespace mlir;
using namespace mlir::mnistc;
using namespace mlir::mnistc::importer;

namespace {
struct Reduction {
  Shape dims; ///< that are gone
  Shape kept; ///< the result's shape
};
} // namespace

/// The axes are an attribute at first, an input later; none means all, or
/// no axes where `noop_with_empty_axes` is set.
static Reduction reduction(Node &n) {
  int64_t rank = n.inputType(0).getRank();
  Shape axes = n.attribute("axes", Shape());
  if (n.hasInput(1))
    axes = n.constantInts(1, "axes");
  bool isNoop = n.flag("noop_with_empty_axes");
  Reduction result;
  result.dims = n.axes(axes, rank);
  if (axes.empty() && !isNoop)
    result.dims = llvm::to_vector(llvm::seq<int64_t>(rank));
  bool keep = n.flag("keepdims", true);
  for (auto [dim, size] : llvm::enumerate(n.inputType(0).getShape())) {
    bool isReduced = llvm::is_contained(result.dims, int64_t(dim));
    if (!isReduced || keep)
      result.kept.push_back(isReduced ? 1 : size);
  }
  return result;
}

template <typename Op>
static Value reduce(Node &n, Value x, const Reduction &how) {
  Value y = how.dims.empty() ? x : n.create<Op>(x, how.dims);
  return n.reshape(y, how.kept);
}

template <typename Op> static Value reduceRow(Node &n) {
  return reduce<Op>(n, n.input(0), reduction(n));
}

static Value reduceMean(Node &n) {
  Value x = n.input(0);
  Reduction how = reduction(n);
  double count = 1;
  for (int64_t dim : how.dims)
    count *= shapeOf(x)[dim];
  Value sum = reduce<ReduceSumOp>(n, x, how);
  if (!isFloat(x))
    return n.create<DivOp>(sum, n.splat(sum, count));
  return n.create<MulOp>(sum, n.splat(sum, 1 / count));
}

static Value sumOfSquares(Node &n) {
  Value x = n.input(0);
  return reduce<ReduceSumOp>(n, n.create<MulOp>(x, x), reduction(n));
}

static Value reduceL1(Node &n) {
  return reduce<ReduceSumOp>(n, n.create<AbsOp>(n.input(0)), reduction(n));
}

static Value reduceL2(Node &n) {
  n.floatInput(0);
  return n.create<SqrtOp>(sumOfSquares(n));
}

static Value reduceLogSum(Node &n) {
  return n.create<LogOp>(reduce<ReduceSumOp>(n, n.floatInput(0), reduction(n)));
}

/// The index is along one dimension; before opset 12 it is always the first.
template <bool smallest> static Value argMax(Node &n) {
  Value x = n.input(0);
  int64_t dim = n.axis(n.attribute("axis", 0), rankOf(x));
  bool keep = n.flag("keepdims", true), last = n.flag("select_last_index");
  Shape shape(shapeOf(x));
  if (shape[dim] == 0)
    fail("expected a dimension that is not empty, got " + shapeText(shape));
  shape.erase(shape.begin() + dim);
  if (smallest)
    x = n.create<NegOp>(x);
  Type i64 = Builder(n.context()).getI64Type();
  Value index = n.create<ArgMaxOp>(RankedTensorType::get(shape, i64), x,
                                   static_cast<uint64_t>(dim), last);
  if (keep)
    shape.insert(shape.begin() + dim, 1);
  return n.reshape(index, shape);
}

static Value argMin(Node &n) {
  n.floatInput(0); // the negation of the lowest integer is itself
  return argMax<true>(n);
}

ArrayRef<Operator> importer::reductionOperators() {
  static const Operator rows[] = {
      withoutGradient({"ArgMax", 1, argMax<false>}),
      withoutGradient({"ArgMin", 1, argMin}),
      {"ReduceL1", 1, reduceL1},
      {"ReduceL2", 1, reduceL2},
      {"ReduceLogSum", 1, reduceLogSum},
      {"ReduceMax", 1, reduceRow<ReduceMaxOp>},
      {"ReduceMean", 1, reduceMean},
      {"ReduceMin", 1, reduceRow<ReduceMinOp>},
      {"ReduceSum", 1, reduceRow<ReduceSumOp>},
      {"ReduceSumSquare", 1, sumOfSquares},
  };
  return rows;
}
