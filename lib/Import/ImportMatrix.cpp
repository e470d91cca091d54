//===- ImportMatrix.cpp - matrix products ---------------------------------===//

#include "lib/Import/Operators.h"

using namespace mlir;
using namespace mlir::mnistc;
using namespace mlir::mnistc::importer;

static Value scaled(Node &n, Value x, double factor) {
  return factor == 1 ? x : n.create<MulOp>(x, n.splat(x, factor));
}

// alpha A B + beta C
static Value gemm(Node &n) {
  Value a = n.input(0), b = n.input(1);
  bool aT = n.flag("transA"), bT = n.flag("transB");
  double alpha = n.attribute("alpha", 1.0), beta = n.attribute("beta", 1.0);
  // Before opset 7 a C of another shape needs `broadcast`.
  bool mayRepeat = n.opset() >= 7 || n.flag("broadcast");
  if (rankOf(a) != 2 || rankOf(b) != 2)
    fail("expected two matrices, got " + shapeText(shapeOf(a)) + " and " +
         shapeText(shapeOf(b)));
  Value y = scaled(n, n.create<MatmulOp>(a, b, aT, bT), alpha);
  if (!n.hasInput(2) || beta == 0)
    return y;
  Value c = isFloat(y) ? n.learnedInput(2) : n.input(2);
  if (!mayRepeat && shapeOf(c) != shapeOf(y))
    fail("expected the shape " + shapeText(shapeOf(y)) +
         " of C, as there is no 'broadcast', got " + shapeText(shapeOf(c)));
  return n.create<AddOp>(y, n.broadcast(scaled(n, c, beta), shapeOf(y)));
}

/// Stacks of matrices of any rank: a stack times one matrix is a product of
/// two matrices, else both become stacks of one dimension.
static Value matmulStacks(Node &n, Value a, Value b) {
  ArrayRef<int64_t> as = shapeOf(a), bs = shapeOf(b);
  int64_t k = as.back(), rows = as[as.size() - 2], columns = bs.back();
  if (k != bs[bs.size() - 2])
    fail("expected as many rows on the right as columns on the left, got " +
         shapeText(as) + " and " + shapeText(bs));
  Shape stack = broadcastShape(as.drop_back(2), bs.drop_back(2));
  Shape result(stack);
  result.append({rows, columns});
  tensorType(result, elementOf(a)); // before any product of its sizes
  if (bs.size() == 2) {
    Value tall = n.reshape(a, {product(as.drop_back()), k});
    return n.reshape(n.create<MatmulOp>(tall, b), result);
  }
  int64_t count = product(stack);
  auto stacked = [&](Value x, int64_t height, int64_t width) {
    Shape whole(stack);
    whole.append({height, width});
    return n.reshape(n.broadcast(x, whole), {count, height, width});
  };
  Value y = n.create<MatmulOp>(stacked(a, rows, k), stacked(b, k, columns));
  return n.reshape(y, result);
}

/// A vector is a matrix of one row on the left, of one column on the right;
/// the result then lacks that dimension.
static Value matmul(Node &n) {
  Value a = n.input(0), b = n.input(1);
  bool isRow = rankOf(a) == 1, isColumn = rankOf(b) == 1;
  if (rankOf(a) == 0 || rankOf(b) == 0)
    fail("expected vectors or matrices, got " + shapeText(shapeOf(a)) +
         " and " + shapeText(shapeOf(b)));
  if (isRow)
    a = n.reshape(a, {1, shapeOf(a)[0]});
  if (isColumn)
    b = n.reshape(b, {shapeOf(b)[0], 1});
  Value y = matmulStacks(n, a, b);
  Shape shape(shapeOf(y));
  if (isColumn)
    shape.pop_back();
  if (isRow)
    shape.erase(shape.end() - (isColumn ? 1 : 2));
  return n.reshape(y, shape);
}

ArrayRef<Operator> importer::matrixOperators() {
  static const Operator rows[] = {
      {"Gemm", 1, gemm},
      {"MatMul", 1, matmul},
  };
  return rows;
}
