//===- Differentiate.cpp - reverse-mode automatic differentiation ---------===//
//
// One backward walk over straight-line code: seed with one, ask each op, add
// up. All calculus is in lib/IR/Mnist/MnistGradients.cpp.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Mnist/Arithmetic.h"
#include "lib/IR/Names.h"
#include "lib/IR/PlanKind.h"
#include "lib/Passes/Activity.h"
#include "lib/Passes/Passes.h"

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
  LogicalResult propagate(Operation &op, const Activity &activity,
                          Gradients &gradients, OpBuilder &builder);
  void appendResults(const Activity &activity, const Gradients &gradients);
};
} // namespace

/// Steps and profiles speak of "fc1.weight.grad", and of the node that it is
/// for.
static void nameGradient(Operation &op, Value operand, Value gradient) {
  Operation *last = gradient.getDefiningOp();
  Operation *source = operand.getDefiningOp();
  // One that is passed on has its name.
  if (!last || !source || last->getLoc() != op.getLoc())
    return;
  std::string name = tensorName(source);
  if (auto load = dyn_cast<ml_program::GlobalLoadOp>(source))
    name = load.getGlobal().getLeafReference().str();
  SmallVector<OnnxName> names = namesIn(op.getLoc());
  OnnxName of = names.empty() ? OnnxName() : names.front();
  last->setLoc(
      nameLocation(op.getContext(), name + ".grad", of.node, of.operatorName));
}

LogicalResult Differentiate::propagate(Operation &op, const Activity &activity,
                                       Gradients &gradients,
                                       OpBuilder &builder) {
  const DenseSet<Value> &active = activity.active;
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
        op.emitError("expected operators with a derivative after a tensor that "
                     "is trained, got ");
    bool named = false;
    for (const OnnxName &name : namesIn(op.getLoc()))
      if (!name.node.empty()) {
        error << (named ? ", " : "") << "node '" << name.node << "' ("
              << name.operatorName << ")";
        named = true;
      }
    if (!named)
      error << op.getName().stripDialect();
    return error << "; --freeze=NAMES keeps the tensors before it";
  }
  for (auto [operand, gradient] : llvm::zip_equal(op.getOperands(), operands))
    if (gradient && active.contains(operand)) {
      nameGradient(op, operand, gradient);
      gradients.add(operand, gradient);
    }
  return success();
}

/// Returns the gradient of each parameter; 0 for one that the loss does not
/// depend on.
void Differentiate::appendResults(const Activity &activity,
                                  const Gradients &gradients) {
  func::FuncOp function = getOperation();
  auto end = cast<func::ReturnOp>(function.getBody().front().getTerminator());
  OpBuilder builder(end);
  Arithmetic a{builder, end.getLoc()};
  SmallVector<Value> results(end.getOperands());
  size_t first = results.size();
  SmallVector<StringAttr> names;
  for (const auto &[name, values] : activity.loads) {
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
  for (auto [i, name] : llvm::enumerate(names)) {
    function.setResultAttr(first + i, "mnist.gradient", name);
    function.setResultAttr(
        first + i, "mnist.name",
        builder.getStringAttr("gradient of " + name.getValue()));
  }
}

void Differentiate::runOnOperation() {
  func::FuncOp function = getOperation();
  if (!trains(function))
    return;
  Block &body = function.getBody().front();
  auto end = cast<func::ReturnOp>(body.getTerminator());
  Value loss = end.getOperand(0);
  Activity activity(function);
  if (!activity.active.contains(loss)) {
    function.emitError("expected a loss that depends on a trained tensor, got "
                       "one that depends on none; --explain lists them");
    return signalPassFailure();
  }
  SmallVector<Operation *> ops;
  for (Operation &op : body.without_terminator())
    ops.push_back(&op);
  OpBuilder builder(end);
  Gradients gradients(builder);
  gradients.add(loss, Arithmetic{builder, loss.getLoc()}.number(loss, 1));
  for (Operation *op : llvm::reverse(ops))
    if (failed(propagate(*op, activity, gradients, builder)))
      return signalPassFailure();
  appendResults(activity, gradients);
}

} // namespace mlir::mnistc
