//===- PoolBody.cpp - steps that pool what they compute -------------------===//

#include "lib/IR/Plan/PoolBody.h"
#include "lib/IR/Mnist/TensorShape.h"
#include "lib/IR/Plan/RowBody.h"
#include "lib/IR/Plan/StepBody.h"

using namespace mlir;
using namespace mlir::mnistc;

bool mlir::mnistc::isJoinablePool(Operation *op) {
  auto pool = dyn_cast<PoolOpInterface>(op);
  return pool && pool.isTiled();
}

bool mlir::mnistc::givesIndices(Operation *pool) {
  return cast<PoolOpInterface>(pool).getPoolResult() ==
         PoolResult::indexOfMaximum;
}

bool mlir::mnistc::givesMaximum(Operation *pool) {
  return cast<PoolOpInterface>(pool).getPoolResult() == PoolResult::maximum;
}

bool mlir::mnistc::haveSameWindows(Operation *pool, Operation *other) {
  // The windows are adjacent: kernel and results say all.
  return cast<PoolOpInterface>(pool).getWindow() ==
             cast<PoolOpInterface>(other).getWindow() &&
         cast<LayoutOpInterface>(pool).getLayout() ==
             cast<LayoutOpInterface>(other).getLayout() &&
         shapeOf(pool->getResult(0)) == shapeOf(other->getResult(0));
}

bool mlir::mnistc::isPoolStep(StepOp step) {
  SmallVector<Operation *> roots = rootsOf(step);
  return roots.size() > 1 && isJoinablePool(roots.back());
}

namespace {
class PoolReader {
public:
  explicit PoolReader(StepOp step) : step(step) {}

  FailureOr<PoolBody> read() {
    if (failed(readRoots()) || failed(readOps()) || failed(readResults()))
      return failure();
    return body;
  }

private:
  /// What a value follows from.
  enum class Stage { memory, conv, pool, indices };

  LogicalResult readRoots();
  LogicalResult addPool(Operation *op);
  LogicalResult readOps();
  LogicalResult readResults();
  Stage stageOf(Value value) const { return stages.lookup(value); }
  InFlightDiagnostic wrong(StringRef expected) {
    return step.emitError("expected ")
           << expected << " in step '" << step.getName() << "', which pools, ";
  }

  StepOp step;
  PoolBody body;
  DenseMap<Value, Stage> stages;
};
} // namespace

LogicalResult PoolReader::addPool(Operation *op) {
  if (!isJoinablePool(op))
    return wrong("pools of windows next to each other")
           << "got '" << op->getName() << "'";
  if (!body.pooled)
    body.pooled = op->getOperand(0);
  Operation *other = body.pool ? body.pool : body.indices;
  if (op->getOperand(0) != body.pooled ||
      (other && !haveSameWindows(op, other)))
    return wrong("pools of one value with the same windows")
           << "got '" << op->getName() << "' of others";
  Operation *&place = givesIndices(op) ? body.indices : body.pool;
  if (place)
    return wrong("one pool of a kind") << "got '" << op->getName() << "' again";
  place = op;
  return success();
}

LogicalResult PoolReader::readRoots() {
  for (Operation *root : rootsOf(step)) {
    auto conv = dyn_cast<ConvOp>(root);
    if (conv && !body.conv && !body.pooled)
      body.conv = conv;
    else if (failed(addPool(root)))
      return failure();
  }
  if (!body.pool || (body.indices && !givesMaximum(body.pool)))
    return wrong("a maximum or a mean, indices only with a maximum")
           << "got '" << rootsOf(step).back()->getName() << "'";
  return success();
}

/// What follows from a root goes through the elements as it does.
LogicalResult PoolReader::readOps() {
  for (Operation &op : step.getBody().front().without_terminator()) {
    Stage stage = Stage::memory;
    for (Value operand : op.getOperands()) {
      Stage other = stageOf(operand);
      if (other != Stage::memory && stage != Stage::memory && other != stage)
        return wrong("elements of one pool or of what is pooled")
               << "got '" << op.getName() << "' of both";
      stage = std::max(stage, other);
    }
    bool isPool = &op == body.pool || &op == body.indices;
    if (isPool && stage > Stage::conv)
      return wrong("pools of one value") << "got a pool of a pool";
    if (isPool && body.conv && stage != Stage::conv)
      return wrong("pools of what the convolution gives")
             << "got '" << op.getName() << "' of what is in memory";
    if (!isPool && stage != Stage::memory && !isPointwise(&op))
      return wrong("ops that keep the order of the elements")
             << "got '" << op.getName() << "'";
    if (&op == body.conv.getOperation())
      stage = Stage::conv;
    else if (isPool)
      stage = &op == body.pool ? Stage::pool : Stage::indices;
    stages[op.getResult(0)] = stage;
  }
  return success();
}

LogicalResult PoolReader::readResults() {
  for (auto [number, value] : llvm::enumerate(yieldsOf(step))) {
    switch (stageOf(value)) {
    case Stage::memory:
      return wrong("results that follow from it") << "got " << value.getType();
    case Stage::conv:
      body.elements.push_back(number);
      break;
    case Stage::pool:
      body.pools.push_back(number);
      break;
    case Stage::indices:
      body.places.push_back(number);
    }
  }
  if (body.pools.empty() || (body.indices && body.places.empty()))
    return wrong("a result of each pool") << "got none of one";
  return success();
}

FailureOr<PoolBody> mlir::mnistc::readPoolBody(StepOp step) {
  return PoolReader(step).read();
}
