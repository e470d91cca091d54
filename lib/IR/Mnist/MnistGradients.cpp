//===- MnistGradients.cpp - the derivative of every op --------------------===//
//
// All the calculus of mnistc, in the order of MnistOps.td; that of indexing is
// in IndexingGradients.cpp. A rule reads as the formula it implements; `dy` is
// the gradient of the loss with respect to the result, and a null value says
// that no gradient flows.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Mnist/Arithmetic.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::mnistc;

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

// y = |x|      dx = x > 0 ? dy : x < 0 ? -dy : 0
SmallVector<Value> AbsOp::buildGradient(OpBuilder &b, ValueRange dy) {
  Arithmetic c{b, getLoc()};
  Value x = getInput(), zero = c.number(x, 0);
  Value negative = c.where(c.compare(Predicate::lt, x, zero), c.neg(dy[0]));
  return {c.select(c.compare(Predicate::gt, x, zero), dy[0], negative)};
}

// y = x > 0 ? x : a (e^x - 1)      dx = x > 0 ? dy : (y + a) dy
SmallVector<Value> EluOp::buildGradient(OpBuilder &b, ValueRange dy) {
  Arithmetic c{b, getLoc()};
  Value x = getInput(), y = getOutput();
  Value slope = c.add(y, c.number(y, getAlpha().convertToDouble()));
  return {c.select(c.compare(Predicate::gt, x, c.number(x, 0)), dy[0],
                   c.mul(slope, dy[0]))};
}

// y = erf(x)      dx = 2/sqrt(pi) e^(-x x) dy
SmallVector<Value> ErfOp::buildGradient(OpBuilder &b, ValueRange dy) {
  Arithmetic c{b, getLoc()};
  Value bell = c.exp(c.neg(c.mul(getInput(), getInput())));
  return {c.mul(c.mul(c.number(bell, 1.1283791670955126), bell), dy[0])};
}

// y = e^x      dx = y dy
SmallVector<Value> ExpOp::buildGradient(OpBuilder &b, ValueRange dy) {
  return {Arithmetic{b, getLoc()}.mul(getOutput(), dy[0])};
}

// y = x >= 0 ? x : s x      dx = x >= 0 ? dy : s dy
SmallVector<Value> LeakyReluOp::buildGradient(OpBuilder &b, ValueRange dy) {
  Arithmetic c{b, getLoc()};
  Value x = getInput();
  Value scaled = c.mul(c.number(x, getSlope().convertToDouble()), dy[0]);
  return {c.select(c.compare(Predicate::ge, x, c.number(x, 0)), dy[0], scaled)};
}

// y = log x      dx = dy / x
SmallVector<Value> LogOp::buildGradient(OpBuilder &b, ValueRange dy) {
  return {Arithmetic{b, getLoc()}.div(dy[0], getInput())};
}

// y = -x      dx = -dy
SmallVector<Value> NegOp::buildGradient(OpBuilder &b, ValueRange dy) {
  return {Arithmetic{b, getLoc()}.neg(dy[0])};
}

// Nothing flows through a boolean.
SmallVector<Value> NotOp::buildGradient(OpBuilder &, ValueRange) {
  return {Value()};
}

// y = max(x, 0)      dx = y > 0 ? dy : 0
SmallVector<Value> ReluOp::buildGradient(OpBuilder &b, ValueRange dy) {
  Arithmetic c{b, getLoc()};
  Value y = getOutput();
  return {c.where(c.compare(Predicate::gt, y, c.number(y, 0)), dy[0])};
}

// y = 1 / (1 + e^-x)      dx = y (1 - y) dy
SmallVector<Value> SigmoidOp::buildGradient(OpBuilder &b, ValueRange dy) {
  Arithmetic c{b, getLoc()};
  Value y = getOutput();
  return {c.mul(c.mul(y, c.sub(c.number(y, 1), y)), dy[0])};
}

// y = log(1 + e^x)      dx = sigmoid(x) dy
SmallVector<Value> SoftplusOp::buildGradient(OpBuilder &b, ValueRange dy) {
  Arithmetic c{b, getLoc()};
  return {c.mul(c.sigmoid(getInput()), dy[0])};
}

// y = sqrt(x)      dx = dy / (2 y)
SmallVector<Value> SqrtOp::buildGradient(OpBuilder &b, ValueRange dy) {
  Arithmetic c{b, getLoc()};
  Value y = getOutput();
  return {c.div(dy[0], c.mul(c.number(y, 2), y))};
}

// y = tanh(x)      dx = (1 - y y) dy
SmallVector<Value> TanhOp::buildGradient(OpBuilder &b, ValueRange dy) {
  Arithmetic c{b, getLoc()};
  Value y = getOutput();
  return {c.mul(c.sub(c.number(y, 1), c.mul(y, y)), dy[0])};
}

// y = a + b      da = dy, db = dy
SmallVector<Value> AddOp::buildGradient(OpBuilder &, ValueRange dy) {
  return {dy[0], dy[0]};
}

// Nothing flows through a boolean.
SmallVector<Value> AndOp::buildGradient(OpBuilder &, ValueRange) {
  return {Value(), Value()};
}

// y = a / b      da = dy / b, db = -y dy / b
SmallVector<Value> DivOp::buildGradient(OpBuilder &b, ValueRange dy) {
  Arithmetic c{b, getLoc()};
  Value da = c.div(dy[0], getRhs());
  return {da, c.neg(c.mul(getOutput(), da))};
}

/// y = max(a, b) or min(a, b): dy goes to the one that was chosen, to both by
/// halves where they are equal, as PyTorch has it. Where b is one constant
/// number, a limit, it goes to what is inside, as PyTorch's ReLU6 has it.
static SmallVector<Value> chosenGradient(const Arithmetic &c, Predicate wins,
                                         Value x, Value y, Value dy) {
  if (SplatElementsAttr limit; matchPattern(y, m_Constant(&limit)))
    return {c.where(c.compare(wins, x, y), dy), Value()};
  Value equal = c.compare(Predicate::eq, x, y);
  Value half = c.mul(c.number(dy, 0.5), dy);
  Value dx = c.where(c.compare(wins, x, y), dy);
  Value dOther = c.where(c.compare(wins, y, x), dy);
  return {c.select(equal, half, dx), c.select(equal, half, dOther)};
}

// y = max(a, b)      da = a > b ? dy : a = b ? dy / 2 : 0
SmallVector<Value> MaxOp::buildGradient(OpBuilder &b, ValueRange dy) {
  return chosenGradient({b, getLoc()}, Predicate::gt, getLhs(), getRhs(),
                        dy[0]);
}

// y = min(a, b)      da = a < b ? dy : a = b ? dy / 2 : 0
SmallVector<Value> MinOp::buildGradient(OpBuilder &b, ValueRange dy) {
  return chosenGradient({b, getLoc()}, Predicate::lt, getLhs(), getRhs(),
                        dy[0]);
}

// y = a b      da = dy b, db = a dy
SmallVector<Value> MulOp::buildGradient(OpBuilder &b, ValueRange dy) {
  Arithmetic c{b, getLoc()};
  return {c.mul(dy[0], getRhs()), c.mul(getLhs(), dy[0])};
}

// Nothing flows through a boolean.
SmallVector<Value> OrOp::buildGradient(OpBuilder &, ValueRange) {
  return {Value(), Value()};
}

// y = a^b      da = b = 0 ? 0 : b a^(b - 1) dy, db = a = 0 ? 0 : y log(a) dy
SmallVector<Value> PowOp::buildGradient(OpBuilder &b, ValueRange dy) {
  Arithmetic c{b, getLoc()};
  Value x = getLhs(), n = getRhs(), y = getOutput();
  Value dx = c.mul(c.mul(n, c.pow(x, c.sub(n, c.number(n, 1)))), dy[0]);
  Value dn = c.mul(c.mul(y, c.log(x)), dy[0]);
  auto nonzero = [&](Value value) {
    return c.compare(Predicate::ne, value, c.number(value, 0));
  };
  return {c.where(nonzero(n), dx), c.where(nonzero(x), dn)};
}

// y = a - b      da = dy, db = -dy
SmallVector<Value> SubOp::buildGradient(OpBuilder &b, ValueRange dy) {
  return {dy[0], Arithmetic{b, getLoc()}.neg(dy[0])};
}

// y = x in another float type      dx = dy in x's
SmallVector<Value> CastOp::buildGradient(OpBuilder &b, ValueRange dy) {
  if (!isa<FloatType>(getInput().getType().getElementType()))
    return {Value()};
  return {b.create<CastOp>(getLoc(), getInput().getType(), dy[0])};
}

// y = c ? a : b      da = c ? dy : 0, db = c ? 0 : dy
SmallVector<Value> SelectOp::buildGradient(OpBuilder &b, ValueRange dy) {
  Arithmetic c{b, getLoc()};
  Value zero = c.number(dy[0], 0);
  return {Value(), c.select(getCondition(), dy[0], zero),
          c.select(getCondition(), zero, dy[0])};
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// y = the extreme element: dy goes to all elements that equal it, in equal
/// parts.
template <typename Op>
static SmallVector<Value> extremeGradient(Op op, OpBuilder &b, Value dy) {
  Arithmetic c{b, op.getLoc()};
  Value x = op.getInput();
  auto kept = otherDims(op.getDims(), typeOf(x).getRank());
  Value y = c.broadcast(op.getOutput(), kept, x.getType());
  Value hit = c.where(c.compare(Predicate::eq, x, y), c.number(x, 1));
  Value count = b.create<ReduceSumOp>(op.getLoc(), hit, op.getDims());
  Value share = c.broadcast(c.div(dy, count), kept, x.getType());
  return {c.mul(hit, share)};
}

// y = max_i x[i]      dx[i] = x[i] = y ? dy / number of such : 0
SmallVector<Value> ReduceMaxOp::buildGradient(OpBuilder &b, ValueRange dy) {
  return extremeGradient(*this, b, dy[0]);
}

// y = min_i x[i]      dx[i] = x[i] = y ? dy / number of such : 0
SmallVector<Value> ReduceMinOp::buildGradient(OpBuilder &b, ValueRange dy) {
  return extremeGradient(*this, b, dy[0]);
}

// y = sum_i x[i]      dx[i] = dy
SmallVector<Value> ReduceSumOp::buildGradient(OpBuilder &b, ValueRange dy) {
  auto in = getInput().getType();
  return {Arithmetic{b, getLoc()}.broadcast(
      dy[0], otherDims(getDims(), cast<RankedTensorType>(in).getRank()), in)};
}

//===----------------------------------------------------------------------===//
// Contractions and windows
//===----------------------------------------------------------------------===//

// y = a b      da = dy b', db = a' dy   (and likewise for a', b')
SmallVector<Value> MatmulOp::buildGradient(OpBuilder &b, ValueRange dy) {
  bool at = getTransposed()[0], bt = getTransposed()[1];
  Value da = at ? b.create<MatmulOp>(getLoc(), getRhs(), dy[0], bt, true)
                : b.create<MatmulOp>(getLoc(), dy[0], getRhs(), false, !bt);
  Value db = bt ? b.create<MatmulOp>(getLoc(), dy[0], getLhs(), true, at)
                : b.create<MatmulOp>(getLoc(), getLhs(), dy[0], !at, false);
  return {da, db};
}

// y = x * w      dx = dy * w turned, dw = x * dy
SmallVector<Value> ConvOp::buildGradient(OpBuilder &b, ValueRange dy) {
  return {b.create<ConvInputGradOp>(getLoc(), getInput().getType(), dy[0],
                                    getFilter(), getLayout(), getStrides(),
                                    getPads(), getDilations(), getGroups()),
          b.create<ConvFilterGradOp>(
              getLoc(), getFilter().getType(), getInput(), dy[0], getLayout(),
              getStrides(), getPads(), getDilations(), getGroups())};
}

// y[i] = sum over windows that i is in of x w: linear in both, and the filter's
// gradient is that of the convolution from y to x
//      dx = dy * w, dw = dy * x
SmallVector<Value> ConvInputGradOp::buildGradient(OpBuilder &b, ValueRange dy) {
  return {b.create<ConvOp>(getLoc(), getOutputGrad().getType(), dy[0],
                           getFilter(), getLayout(), getStrides(), getPads(),
                           getDilations(), getGroups()),
          b.create<ConvFilterGradOp>(getLoc(), getFilter().getType(), dy[0],
                                     getOutputGrad(), getLayout(), getStrides(),
                                     getPads(), getDilations(), getGroups())};
}

SmallVector<Value> AvgPoolOp::buildGradient(OpBuilder &b, ValueRange dy) {
  return {b.create<AvgPoolGradOp>(getLoc(), getInput().getType(), dy[0],
                                  getLayout(), getKernel(), getStrides(),
                                  getPads(), getDilations(), getCountPads())};
}

SmallVector<Value> MaxPoolOp::buildGradient(OpBuilder &b, ValueRange dy) {
  return {b.create<MaxPoolGradOp>(getLoc(), getInput().getType(), getInput(),
                                  dy[0], getLayout(), getKernel(), getStrides(),
                                  getPads(), getDilations())};
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

// y = sum of x over ranks      dx = sum of dy over ranks: the loss is a sum too
SmallVector<Value> AllReduceOp::buildGradient(OpBuilder &b, ValueRange dy) {
  return {b.create<AllReduceOp>(getLoc(), dy[0])};
}

//===----------------------------------------------------------------------===//
// Normalization
//===----------------------------------------------------------------------===//

// Training expands these two before it differentiates; what is left of them is
// frozen: y = s n + b, with n = (x - m) / d, d = sqrt(v + e)
//      dx = s / d dy, ds = sum(n dy), db = sum(dy), dm = -sum(dx),
//      dv = -sum(n dx) / (2 d)   (sums by channel)
SmallVector<Value> BatchNormOp::buildGradient(OpBuilder &b, ValueRange dy) {
  Arithmetic c{b, getLoc()};
  auto type = typeOf(getInput());
  int64_t dim = getDim();
  auto sum = [&](Value x) { return c.sum(x, otherDims(dim, type.getRank())); };
  Value v = getVariance();
  Value deviation =
      c.sqrt(c.add(v, c.number(v, getEpsilon().convertToDouble())));
  Value factor = c.broadcast(c.div(getScale(), deviation), dim, type);
  Value dx = c.mul(factor, dy[0]);
  Value normal = c.div(c.sub(getInput(), c.broadcast(getMean(), dim, type)),
                       c.broadcast(deviation, dim, type));
  Value half = c.div(c.number(v, -0.5), deviation);
  return {dx, sum(c.mul(normal, dy[0])), sum(dy[0]), c.neg(sum(dx)),
          c.mul(half, sum(c.mul(normal, dx)))};
}

SmallVector<Value> DropoutOp::buildGradient(OpBuilder &, ValueRange dy) {
  return {dy[0]};
}

// y = x - log sum e^x      dx = dy - e^y sum(dy)
SmallVector<Value> LogSoftmaxOp::buildGradient(OpBuilder &b, ValueRange dy) {
  Arithmetic c{b, getLoc()};
  int64_t dim = getDim();
  Value sum = b.create<ReduceSumOp>(getLoc(), dy[0], dim);
  Value all = c.broadcast(sum, otherDims(dim, typeOf(dy[0]).getRank()),
                          dy[0].getType());
  return {c.sub(dy[0], c.mul(c.exp(getOutput()), all))};
}

// y = e^x / sum e^x      dx = y (dy - sum(y dy))
SmallVector<Value> SoftmaxOp::buildGradient(OpBuilder &b, ValueRange dy) {
  Arithmetic c{b, getLoc()};
  int64_t dim = getDim();
  Value y = getOutput();
  Value sum = b.create<ReduceSumOp>(getLoc(), c.mul(y, dy[0]), dim);
  Value all =
      c.broadcast(sum, otherDims(dim, typeOf(y).getRank()), y.getType());
  return {c.mul(y, c.sub(dy[0], all))};
}
