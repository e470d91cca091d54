//===- StepBuilder.cpp - ops into a step and out of it --------------------===//

#include "lib/IR/Plan/StepBuilder.h"
#include "lib/IR/Plan/StepOrder.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::mnistc;

StepNames::StepNames(Block &function) {
  for (StepOp step : function.getOps<StepOp>())
    taken.insert(step.getName());
}

LogicalResult mlir::mnistc::expectModelOps(Block &block) {
  for (Operation &op : block.without_terminator())
    if (!isa<MnistDialect>(op.getDialect()) && !isa<StepOp>(op))
      return op.emitOpError("expected an op of the mnist dialect");
  return success();
}

std::string StepNames::take(StringRef wanted, StringRef suffix) {
  std::string name = wanted.str();
  if (!taken.contains(name)) {
    taken.insert(name);
    return name;
  }
  std::string base = name + "." + suffix.str();
  name = base;
  // Below it all numbers are taken.
  int &number = next.try_emplace(base, 2).first->second;
  for (; !taken.insert(name).second; ++number)
    name = base + "_" + std::to_string(number);
  return name;
}

namespace {
/// What a body is made of: the group, copies of free ops and constants, and
/// values from outside.
struct Contents {
  Contents(ArrayRef<Operation *> group,
           llvm::function_ref<bool(Operation *)> free)
      : inside(group.begin(), group.end()) {
    hasContraction = llvm::any_of(group, isContraction);
    for (Operation *op : group)
      addOperands(op, free);
    ops = llvm::to_vector(inside);
    llvm::sort(
        ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  }

  SmallVector<Operation *> ops;
  llvm::SetVector<Value> inputs;

private:
  void addOperands(Operation *op, llvm::function_ref<bool(Operation *)> free) {
    for (Value operand : op->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (producer && inside.contains(producer))
        continue;
      auto constant = operand.getDefiningOp<ConstantOp>();
      bool copied = constant ? isa<SplatElementsAttr>(constant.getValue()) &&
                                   !neededInMemory(operand, op)
                             : producer && free(producer);
      if (!copied) {
        inputs.insert(operand);
        continue;
      }
      inside.insert(producer);
      addOperands(producer, free);
    }
  }

  /// Whether `user` reads a constant by its address: what a library may be
  /// given as operand or bias.
  bool neededInMemory(Value constant, Operation *user) const {
    if (isRoot(user))
      return true;
    if (isa<ReshapeOp>(user))
      return llvm::any_of(user->getUsers(), [&](Operation *next) {
        return inside.contains(next) &&
               neededInMemory(user->getResult(0), next);
      });
    auto type = cast<ShapedType>(constant.getType());
    return isa<BroadcastOp>(user) && hasContraction && type.getRank() > 0;
  }

  llvm::SetVector<Operation *> inside;
  bool hasContraction = false;
};
} // namespace

/// Erases an op whose copy is in a step, and before it the free ops that use
/// it: theirs are there too.
static void eraseCopied(Operation *op) {
  while (!op->use_empty())
    eraseCopied(*op->user_begin());
  op->erase();
}

StepOp mlir::mnistc::outline(ArrayRef<Operation *> group, StringRef name,
                             llvm::function_ref<bool(Operation *)> free) {
  Operation *last = group.back();
  return outline(group, {last}, name, free);
}

StepOp mlir::mnistc::outline(ArrayRef<Operation *> group,
                             ArrayRef<Operation *> results, StringRef name,
                             llvm::function_ref<bool(Operation *)> free) {
  Operation *last = group.back();
  Contents contents(group, free);
  SmallVector<Location> locations =
      llvm::map_to_vector(group, [](Operation *op) { return op->getLoc(); });
  SmallVector<Type> types = llvm::map_to_vector(
      results, [](Operation *op) { return op->getResult(0).getType(); });

  OpBuilder builder(last);
  auto step = builder.create<StepOp>(
      FusedLoc::get(last->getContext(), locations), types,
      builder.getStringAttr(name),
      ImplAttr::get(last->getContext(), Impl::undecided), DenseI64ArrayAttr(),
      /*schedule=*/Attribute(), contents.inputs.getArrayRef());
  Block &body = step.getBody().emplaceBlock();
  IRMapping mapping;
  for (Value input : contents.inputs)
    mapping.map(input, body.addArgument(input.getType(), input.getLoc()));
  builder.setInsertionPointToEnd(&body);
  for (Operation *op : contents.ops)
    builder.clone(*op, mapping);
  builder.create<YieldOp>(last->getLoc(),
                          llvm::map_to_vector(results, [&](Operation *op) {
                            return mapping.lookup(op->getResult(0));
                          }));

  for (auto [op, result] : llvm::zip_equal(results, step.getResults()))
    op->getResult(0).replaceAllUsesWith(result);
  for (Operation *op : llvm::reverse(group))
    eraseCopied(op);
  return step;
}

/// A step before `place` with what several steps need of others; `mapping` has
/// the arguments of its body.
static StepOp stepFor(ArrayRef<StepOp> steps, TypeRange types, StringRef name,
                      Operation *place, IRMapping &mapping) {
  llvm::SetVector<Value> inputs;
  for (StepOp step : steps)
    for (Value input : step.getInputs())
      if (llvm::none_of(steps, [&](StepOp other) {
            return input.getDefiningOp() == other;
          }))
        inputs.insert(input);
  SmallVector<Location> locations =
      llvm::map_to_vector(steps, [](StepOp step) { return step.getLoc(); });
  OpBuilder builder(place);
  auto joined = builder.create<StepOp>(
      FusedLoc::get(place->getContext(), locations), types,
      builder.getStringAttr(name),
      ImplAttr::get(place->getContext(), Impl::undecided), DenseI64ArrayAttr(),
      /*schedule=*/Attribute(), inputs.getArrayRef());
  Block &body = joined.getBody().emplaceBlock();
  for (Value input : inputs)
    mapping.map(input, body.addArgument(input.getType(), input.getLoc()));
  return joined;
}

/// Others read what is new instead; the steps are gone.
static void replace(ArrayRef<StepOp> steps, ValueRange results, StepOp joined) {
  for (auto [old, result] : llvm::zip_equal(results, joined.getResults()))
    Value(old).replaceAllUsesWith(result);
  for (StepOp step : llvm::reverse(steps))
    step.erase();
}

StepOp mlir::mnistc::join(ArrayRef<StepOp> steps, ArrayRef<Value> results,
                          StringRef name, Operation *place) {
  IRMapping mapping; // from values outside and in the steps' bodies
  StepOp joined =
      stepFor(steps, ValueRange(results).getTypes(), name, place, mapping);
  auto builder = OpBuilder::atBlockEnd(&joined.getBody().front());
  for (StepOp step : steps) {
    for (auto [argument, input] :
         llvm::zip_equal(step.getBody().getArguments(), step.getInputs()))
      mapping.map(argument, mapping.lookup(input));
    for (Operation &op : step.getBody().front().without_terminator())
      builder.clone(op, mapping);
    for (auto [value, result] :
         llvm::zip_equal(yieldsOf(step), step.getResults()))
      mapping.map(result, mapping.lookup(value));
  }
  builder.create<YieldOp>(place->getLoc(),
                          llvm::map_to_vector(results, [&](Value result) {
                            return mapping.lookup(result);
                          }));
  replace(steps, results, joined);
  return joined;
}

StepOp mlir::mnistc::joinTo(StepOp main, ArrayRef<StepOp> steps,
                            ArrayRef<Value> results, Operation *place,
                            StringRef called) {
  std::string name = (called.empty() ? main.getName() : called).str();
  ImplAttr impl = main.getImplAttr();
  Attribute schedule = main.getScheduleAttr();
  Attribute tuned = main->getAttr(tunedAttribute);
  StepOp joined = join(steps, results, name, place);
  joined.setImplAttr(impl);
  joined.setScheduleAttr(schedule);
  if (tuned)
    joined->setAttr(tunedAttribute, tuned);
  return joined;
}

StepOp mlir::mnistc::chain(ArrayRef<StepOp> steps, ArrayRef<Value> results) {
  IRMapping mapping;
  StepOp first = steps.front(), last = steps.back();
  StepOp chain = stepFor(steps, ValueRange(results).getTypes(), first.getName(),
                         last, mapping);
  auto builder = OpBuilder::atBlockEnd(&chain.getBody().front());
  for (StepOp step : steps) {
    auto link = cast<StepOp>(builder.clone(*step, mapping));
    link.removeScheduleAttr();
    link->removeAttr(tunedAttribute);
  }
  builder.create<YieldOp>(last.getLoc(),
                          llvm::map_to_vector(results, [&](Value result) {
                            return mapping.lookup(result);
                          }));
  chain.setImplAttr(last.getImplAttr());
  replace(steps, results, chain);
  return chain;
}

SmallVector<Operation *> mlir::mnistc::dissolve(StepOp step) {
  OpBuilder builder(step);
  IRMapping mapping;
  mapping.map(step.getBody().getArguments(), step.getInputs());
  SmallVector<Operation *> ops;
  for (Operation &op : step.getBody().front().without_terminator())
    ops.push_back(builder.clone(op, mapping));
  step.getResult(0).replaceAllUsesWith(mapping.lookup(yieldsOf(step).front()));
  step.erase();
  return ops;
}
