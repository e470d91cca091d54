//===- ImportActivations.cpp - activation functions -----------------------===//
//
// Each under its formula.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Operators.h"

using namespace mlir;
using namespace mlir::mnistc;
using namespace mlir::mnistc::importer;

template <typename Op> static Value floatUnary(Node &n) {
  n.ignore("consumed_inputs");
  return n.create<Op>(n.floatInput(0));
}

static Value relu(Node &n) {
  n.ignore("consumed_inputs");
  return n.create<ReluOp>(n.input(0));
}

static Value add(Node &n, Value x, double number) {
  return n.create<AddOp>(x, n.splat(x, number));
}

static Value mul(Node &n, Value x, double number) {
  return n.create<MulOp>(x, n.splat(x, number));
}

// max(0, min(1, alpha x + beta))
static Value hardSigmoid(Node &n, Value x, double alpha, double beta) {
  Value line = add(n, mul(n, x, alpha), beta);
  Value low = n.create<MinOp>(line, n.splat(x, 1));
  return n.create<MaxOp>(low, n.splat(x, 0));
}

static Value hardSigmoidRow(Node &n) {
  n.ignore("consumed_inputs");
  return hardSigmoid(n, n.floatInput(0), n.attribute("alpha", 0.2),
                     n.attribute("beta", 0.5));
}

// x max(0, min(1, x / 6 + 1/2))
static Value hardSwish(Node &n) {
  Value x = n.floatInput(0);
  return n.create<MulOp>(x, hardSigmoid(n, x, 1.0 / 6, 0.5));
}

// alpha elu(x / alpha)
static Value celu(Node &n) {
  Value x = n.floatInput(0);
  double alpha = n.attribute("alpha", 1.0);
  Value scaled = alpha == 1 ? x : mul(n, x, 1 / alpha);
  Value y = n.create<EluOp>(scaled, n.f64(1));
  return alpha == 1 ? y : mul(n, y, alpha);
}

static Value elu(Node &n) {
  n.ignore("consumed_inputs");
  return n.create<EluOp>(n.floatInput(0), n.f64(n.attribute("alpha", 1.0)));
}

// x Phi(x), or nearly so: x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) / 2
static Value gelu(Node &n) {
  Value x = n.floatInput(0);
  StringRef approximate = n.attribute("approximate", "none");
  Value inner;
  if (approximate == "tanh") {
    Value cube = n.create<MulOp>(n.create<MulOp>(x, x), x);
    Value sum = n.create<AddOp>(x, mul(n, cube, 0.044715));
    inner = n.create<TanhOp>(mul(n, sum, 0.7978845608028654));
  } else if (approximate == "none") {
    inner = n.create<ErfOp>(mul(n, x, 0.7071067811865476));
  } else {
    fail("expected 'none' or 'tanh' as 'approximate', got " +
         quoted(approximate));
  }
  return n.create<MulOp>(mul(n, x, 0.5), add(n, inner, 1));
}

static Value leakyRelu(Node &n) {
  n.ignore("consumed_inputs");
  return n.create<LeakyReluOp>(n.floatInput(0),
                               n.f64(n.attribute("alpha", 0.01)));
}

// x tanh(softplus(x))
static Value mish(Node &n) {
  Value x = n.floatInput(0);
  return n.create<MulOp>(x, n.create<TanhOp>(n.create<SoftplusOp>(x)));
}

// x >= 0 ? x : slope x
static Value prelu(Node &n, Value x, Value slope) {
  Value positive = n.create<CompareOp>(Predicate::ge, x, n.splat(x, 0));
  Value scaled = n.create<MulOp>(slope, x);
  return n.create<SelectOp>(x.getType(), positive, x, scaled);
}

static Value preluRow(Node &n) {
  Value x = n.floatInput(0);
  return prelu(n, x, n.broadcast(n.learnedInput(1), shapeOf(x)));
}

/// Before opset 7 there is one slope, or one for each channel.
static Value preluByChannel(Node &n) {
  n.ignore("consumed_inputs");
  Value x = n.floatInput(0), slope = n.learnedInput(1);
  Shape shape;
  if (product(shapeOf(slope)) != 1) {
    shape = {product(shapeOf(slope))};
    shape.append(std::max<int64_t>(rankOf(x) - 2, 0), 1);
  }
  return prelu(n, x, n.broadcast(n.reshape(slope, shape), shapeOf(x)));
}

// gamma elu(x, alpha)
static Value selu(Node &n) {
  // The first definition had fewer digits.
  bool rounded = n.opset() < 6;
  n.ignore("consumed_inputs");
  double alpha = n.attribute("alpha", rounded ? 1.6732 : 1.6732632423543772);
  double gamma = n.attribute("gamma", rounded ? 1.0507 : 1.0507009873554805);
  return mul(n, n.create<EluOp>(n.floatInput(0), n.f64(alpha)), gamma);
}

// x / (1 + |x|)
static Value softsign(Node &n) {
  Value x = n.floatInput(0);
  return n.create<DivOp>(x, add(n, n.create<AbsOp>(x), 1));
}

// x sigmoid(alpha x)
static Value swish(Node &n) {
  Value x = n.floatInput(0);
  double alpha = n.attribute("alpha", 1.0);
  Value scaled = alpha == 1 ? x : mul(n, x, alpha);
  return n.create<MulOp>(x, n.create<SigmoidOp>(scaled));
}

// x > alpha ? x : 0
static Value thresholdedRelu(Node &n) {
  Value x = n.floatInput(0);
  Value alpha = n.splat(x, n.attribute("alpha", 1.0));
  Value above = n.create<CompareOp>(Predicate::gt, x, alpha);
  return n.create<SelectOp>(x.getType(), above, x, n.splat(x, 0));
}

ArrayRef<Operator> importer::activationOperators() {
  static const Operator rows[] = {
      {"Celu", 12, celu},
      {"Elu", 1, elu},
      {"Gelu", 20, gelu},
      {"HardSigmoid", 1, hardSigmoidRow},
      {"HardSwish", 14, hardSwish},
      {"LeakyRelu", 1, leakyRelu},
      {"Mish", 18, mish},
      {"PRelu", 1, preluByChannel},
      {"PRelu", 7, preluRow},
      {"Relu", 1, relu},
      {"Selu", 1, selu},
      {"Sigmoid", 1, floatUnary<SigmoidOp>},
      {"Softplus", 1, floatUnary<SoftplusOp>},
      {"Softsign", 1, softsign},
      {"Swish", 24, swish},
      {"Tanh", 1, floatUnary<TanhOp>},
      {"ThresholdedRelu", 10, thresholdedRelu},
  };
  return rows;
}
