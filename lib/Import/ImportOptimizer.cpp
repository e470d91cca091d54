//===- ImportOptimizer.cpp - updates of tensors by their gradients --------===//
//
// One node updates many tensors: its inputs are a rate R, the number T of
// updates so far, all values X, all gradients G, then the states V, H of each;
// its outputs are the new values and states in that order.
//
//===----------------------------------------------------------------------===//

#include "lib/Import/Operators.h"

using namespace mlir;
using namespace mlir::mnistc;
using namespace mlir::mnistc::importer;

namespace {
constexpr int scalarInputs = 2;

/// The formulas of a node, for one tensor after the other.
class Update {
public:
  Update(Node &n, int states);

  /// Calls `next` with value, gradient and states of each tensor, for the new
  /// value and states.
  Value each(llvm::function_ref<SmallVector<Value>(ArrayRef<Value>)> next);

  /// R and T, of f64: they are few, and 1 - beta^T cancels.
  Value rate, count;
  Arithmetic a;

  /// A number of the whole node, in the type of the tensors.
  Value rounded(Value number) {
    return a.cast(number, Float32Type::get(n.context()));
  }
  Value isLater() {
    return a.compare(Predicate::gt, count, a.number(count, 0));
  }
  Value scaled(Value x, double factor) { return a.mul(x, a.number(x, factor)); }
  /// g + factor x: the gradient with that of 0.5 factor ||x||^2.
  Value regularized(Value x, Value g) {
    return coefficient == 0 ? g : a.add(scaled(x, coefficient), g);
  }

private:
  Value scalar(Value x, StringRef what);

  Node &n;
  int kinds; ///< inputs of a tensor
  double coefficient;
};
} // namespace

Update::Update(Node &n, int states)
    : a(n.arithmetic()), n(n), kinds(2 + states),
      coefficient(n.attribute("norm_coefficient", 0.0)) {
  int tensors = n.numInputs() - scalarInputs;
  if (tensors < kinds || tensors % kinds != 0)
    fail("expected R, T and " + Twine(kinds) + " inputs for each tensor, got " +
         Twine(n.numInputs()) + " inputs");
  rate = scalar(n.floatInput(0), "R");
  count = scalar(n.input(1), "T");
}

Value Update::scalar(Value x, StringRef what) {
  if (product(shapeOf(x)) != 1)
    fail("expected one number as " + quoted(what) + ", got the shape " +
         shapeText(shapeOf(x)));
  return n.reshape(n.cast(x, Float64Type::get(n.context())), {});
}

Value Update::each(
    llvm::function_ref<SmallVector<Value>(ArrayRef<Value>)> next) {
  int tensors = (n.numInputs() - scalarInputs) / kinds;
  Value first;
  for (int i = 0; i < tensors; ++i) {
    SmallVector<Value> inputs;
    for (int kind = 0; kind < kinds; ++kind) {
      inputs.push_back(n.floatInput(scalarInputs + kind * tensors + i));
      if (shapeOf(inputs.back()) != shapeOf(inputs.front()))
        fail("expected one shape for all inputs of tensor " + Twine(i + 1) +
             ", got " + shapeText(shapeOf(inputs.front())) + " and " +
             shapeText(shapeOf(inputs.back())));
    }
    for (auto [kind, value] : llvm::enumerate(next(inputs))) {
      n.setOutput(static_cast<int>(kind) * tensors + i, value);
      if (!first)
        first = value;
    }
  }
  return first;
}

//===----------------------------------------------------------------------===//
// The optimizers
//===----------------------------------------------------------------------===//

// h' = h + g^2
// x' = x - R / (1 + T decay) g / (sqrt(h') + epsilon)
static Value adagrad(Node &n) {
  Update u(n, /*states=*/1);
  Arithmetic &a = u.a;
  double epsilon = n.attribute("epsilon", 1e-6);
  Value decay = u.scaled(u.count, n.attribute("decay_factor", 0.0));
  Value rate = u.rounded(a.div(u.rate, a.add(a.number(decay, 1), decay)));
  return u.each([&](ArrayRef<Value> in) -> SmallVector<Value> {
    Value x = in[0], g = u.regularized(x, in[1]), h = in[2];
    Value newH = a.add(h, a.mul(g, g));
    Value root = a.add(a.sqrt(newH), a.number(h, epsilon));
    return {a.sub(x, a.div(a.mul(rate, g), root)), newH};
  });
}

// v' = alpha v + (1 - alpha) g
// h' = beta h + (1 - beta) g^2
// x' = (1 - post) (x - rate v' / (sqrt(h') + epsilon))
// rate = R, from the second update on R sqrt(1 - beta^T) / (1 - alpha^T)
static Value adam(Node &n) {
  Update u(n, /*states=*/2);
  Arithmetic &a = u.a;
  double alpha = n.attribute("alpha", 0.9), beta = n.attribute("beta", 0.999);
  double epsilon = n.attribute("epsilon", 1e-6);
  double post = n.attribute("norm_coefficient_post", 0.0);
  auto correction = [&](double base) {
    return a.oneMinus(a.pow(a.number(u.count, base), u.count));
  };
  Value corrected =
      a.div(a.mul(u.rate, a.sqrt(correction(beta))), correction(alpha));
  Value rate = u.rounded(a.select(u.isLater(), corrected, u.rate));
  return u.each([&](ArrayRef<Value> in) -> SmallVector<Value> {
    Value x = in[0], g = u.regularized(x, in[1]), v = in[2], h = in[3];
    Value newV = a.add(u.scaled(v, alpha), u.scaled(g, 1 - alpha));
    Value newH = a.add(u.scaled(h, beta), u.scaled(a.mul(g, g), 1 - beta));
    Value root = a.add(a.sqrt(newH), a.number(h, epsilon));
    Value newX = a.sub(x, a.mul(rate, a.div(newV, root)));
    return {post == 0 ? newX : u.scaled(newX, 1 - post), newV, newH};
  });
}

// v' = alpha v + b g, where b is beta, in the first update 1
// x' = x - R v', in Nesterov's form x - R (g + alpha v')
static Value momentum(Node &n) {
  Update u(n, /*states=*/1);
  Arithmetic &a = u.a;
  double alpha = n.attribute("alpha", 0.0), beta = n.attribute("beta", 1.0);
  StringRef mode = n.attribute("mode", "standard");
  if (mode != "standard" && mode != "nesterov")
    fail("expected a mode of nesterov or standard, got " + quoted(mode));
  Value weight = u.rounded(
      a.select(u.isLater(), a.number(u.count, beta), a.number(u.count, 1)));
  Value rate = u.rounded(u.rate);
  return u.each([&](ArrayRef<Value> in) -> SmallVector<Value> {
    Value x = in[0], g = u.regularized(x, in[1]), v = in[2];
    Value newV = a.add(u.scaled(v, alpha), a.mul(weight, g));
    Value step = mode == "standard" ? newV : a.add(g, u.scaled(newV, alpha));
    return {a.sub(x, a.mul(rate, step)), newV};
  });
}

ArrayRef<Operator> importer::optimizerOperators() {
  constexpr StringLiteral domain = "ai.onnx.preview.training";
  static const Operator rows[] = {
      withoutGradient({"Adagrad", 1, adagrad, domain}),
      withoutGradient({"Adam", 1, adam, domain}),
      withoutGradient({"Momentum", 1, momentum, domain}),
  };
  return rows;
}
