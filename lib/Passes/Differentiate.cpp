//===- Differentiate.cpp - reverse-mode automatic differentiation ---------===//
//
// One backward walk over straight-line code: seed with one, ask each op, add
// up. All calculus is in lib/IR/Mnist/MnistGradients.cpp.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Mnist/Arithmetic.h"
#include "lib/IR/Names.h"
#include "lib/Passes/Passes.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::mnistc {

#define GEN_PASS_DEF_DIFFERENTIATE
#include "lib/Passes/Passes.h.inc"

namespace {
/// The gradients found so far, by value.
class Gradients {
public:
  explicit Gradients(OpBuilder &builder) : builder(builder) {}

  Value lookup(Value value) const { return gradients.lookup(value); }

  /// A value with several uses gets the sum over them.
  void add(Value value, Value gradient) {
    Value &sum = gradients[value];
    sum = sum ? builder.create<AddOp>(gradient.getLoc(), sum, gradient)
              : gradient;
  }

private:
  OpBuilder &builder;
  DenseMap<Value, Value> gradients;
};

struct Differentiate : impl::DifferentiateBase<Differentiate> {
  void runOnOperation() override;
  void findActive(Block &body);
  LogicalResult propagate(Operation &op, Gradients &gradients,
                          OpBuilder &builder);
  void appendResults(const Gradients &gradients);

  llvm::MapVector<StringAttr, SmallVector<Value>> loads; ///< of parameters
  DenseSet<Value> active;
};
} // namespace

static bool isFloat(Value value) {
  auto type = dyn_cast<ShapedType>(value.getType());
  return type && isa<FloatType>(type.getElementType());
}

/// Only what depends on a parameter needs a gradient: an op without a
/// derivative does no harm elsewhere.
void Differentiate::findActive(Block &body) {
  SymbolTableCollection symbols;
  loads.clear();
  active.clear();
  for (Operation &op : body) {
    if (auto load = dyn_cast<ml_program::GlobalLoadOp>(op)) {
      auto global = symbols.lookupNearestSymbolFrom<ml_program::GlobalOp>(
          load, load.getGlobal());
      auto role = global ? global->getAttrOfType<StringAttr>("mnist.role")
                         : StringAttr();
      if (role && role == "parameter") {
        loads[load.getGlobal().getLeafReference()].push_back(load.getResult());
        active.insert(load.getResult());
      }
      continue;
    }
    if (llvm::any_of(op.getOperands(),
                     [&](Value v) { return active.contains(v); }))
      for (Value result : op.getResults())
        if (isFloat(result))
          active.insert(result);
  }
}

LogicalResult Differentiate::propagate(Operation &op, Gradients &gradients,
                                       OpBuilder &builder) {
  if (op.getNumResults() != 1 || isa<ml_program::GlobalLoadOp>(op) ||
      !active.contains(op.getResult(0)))
    return success();
  Value dy = gradients.lookup(op.getResult(0));
  if (!dy)
    return success();
  auto differentiable = dyn_cast<DifferentiableOpInterface>(op);
  SmallVector<Value> operands;
  if (differentiable)
    operands = differentiable.buildGradient(builder, dy);
  if (operands.size() != op.getNumOperands()) {
    InFlightDiagnostic error =
        op.emitError("expected an op with a derivative, but '")
        << op.getName() << "' has none";
    for (const OnnxName &name : namesIn(op.getLoc()))
      if (!name.node.empty())
        error << "; it computes node '" << name.node << "' ("
              << name.operatorName << ")";
    return error;
  }
  for (auto [operand, gradient] : llvm::zip_equal(op.getOperands(), operands))
    if (gradient && active.contains(operand))
      gradients.add(operand, gradient);
  return success();
}

/// Returns the gradient of each parameter; 0 for one that the loss does not
/// depend on.
void Differentiate::appendResults(const Gradients &gradients) {
  func::FuncOp function = getOperation();
  auto end = cast<func::ReturnOp>(function.getBody().front().getTerminator());
  OpBuilder builder(end);
  Arithmetic a{builder, end.getLoc()};
  SmallVector<Value> results(end.getOperands());
  size_t first = results.size();
  SmallVector<StringAttr> names;
  for (auto &[name, values] : loads) {
    Value sum;
    for (Value load : values)
      if (Value gradient = gradients.lookup(load))
        sum = sum ? a.add(sum, gradient) : gradient;
    results.push_back(sum ? sum : a.number(values.front(), 0));
    names.push_back(name);
    ++numGradients;
  }
  end->setOperands(results);
  function.setType(builder.getFunctionType(function.getArgumentTypes(),
                                           ValueRange(results).getTypes()));
  for (auto [i, name] : llvm::enumerate(names))
    function.setResultAttr(first + i, "mnist.gradient", name);
}

void Differentiate::runOnOperation() {
  func::FuncOp function = getOperation();
  if (function.isExternal() || function.getNumResults() == 0 ||
      !function.getName().starts_with("train") ||
      !function.getResultAttr(0, "mnist.loss"))
    return;
  Block &body = function.getBody().front();
  auto end = cast<func::ReturnOp>(body.getTerminator());
  Value loss = end.getOperand(0);
  findActive(body);
  if (!active.contains(loss)) {
    function.emitError("expected a loss that depends on a parameter, but that "
                       "of '")
        << function.getName() << "' depends on none";
    return signalPassFailure();
  }
  SmallVector<Operation *> ops;
  for (Operation &op : body.without_terminator())
    ops.push_back(&op);
  OpBuilder builder(end);
  Gradients gradients(builder);
  gradients.add(loss, Arithmetic{builder, loss.getLoc()}.number(loss, 1));
  for (Operation *op : llvm::reverse(ops))
    if (failed(propagate(*op, gradients, builder)))
      return signalPassFailure();
  appendResults(gradients);
}

} // namespace mlir::mnistc
