//===- StepBody.cpp - what a step computes, read off its body -------------===//

#include "lib/IR/Plan/StepBody.h"
#include "lib/IR/Mnist/TensorShape.h"
#include "lib/IR/Plan/RowBody.h"
#include "lib/IR/Plan/Schedule.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::mnistc;

//===----------------------------------------------------------------------===//
// Parts of a body
//===----------------------------------------------------------------------===//

bool mlir::mnistc::isRoot(Operation *op) {
  return isa<MnistDialect>(op->getDialect()) && !op->hasTrait<Elementwise>() &&
         !op->hasTrait<Indexing>() && !isa<ConstantOp>(op) && !isInlined(op);
}

bool mlir::mnistc::mayBeInlined(Operation *op) {
  return isa<ReductionOpInterface, MaxUnpoolOp>(op);
}

bool mlir::mnistc::isInlined(Operation *op) {
  return op->hasAttr("plan.inline") && mayBeInlined(op);
}

MaxUnpoolOp mlir::mnistc::inlinedUnpoolOf(Value value) {
  auto op = value.getDefiningOp<MaxUnpoolOp>();
  return op && isInlined(op) ? op : MaxUnpoolOp();
}

Value mlir::mnistc::outputGradOf(Operation *gradient) {
  return llvm::TypeSwitch<Operation *, Value>(gradient)
      .Case<ConvInputGradOp, ConvFilterGradOp>(
          [](auto op) { return op.getOutputGrad(); })
      .Default(Value());
}

bool mlir::mnistc::isContraction(Operation *op) {
  auto root = dyn_cast<RootOpInterface>(op);
  return root && root.getMultiplyAdds();
}

bool mlir::mnistc::readsRounded(Operation *op) {
  return isa<RootOpInterface>(op) && op->getNumOperands() > 0 &&
         getElementTypeOrSelf(op->getOperand(0)).isBF16();
}

bool mlir::mnistc::mayBeRounded(OpOperand &operand) {
  Operation *op = operand.getOwner();
  if (isa<MatmulOp>(op)) {
    auto step = op->getParentOfType<StepOp>();
    return step && mmaOf(step) == Mma::bf16;
  }
  return isa<ConvOp, ConvInputGradOp, ConvFilterGradOp>(op) &&
         llvm::is_contained(cast<LayoutOpInterface>(op).getImageOperands(),
                            operand.getOperandNumber());
}

bool mlir::mnistc::isCollective(Impl impl) {
  return impl == Impl::nccl || impl == Impl::mpi;
}

bool mlir::mnistc::isCollectiveStep(StepOp step) {
  bool some = false;
  for (Operation &op : step.getBody().front().without_terminator()) {
    if (!op.hasTrait<Collective>() && !isa<ReshapeOp>(op))
      return false;
    some |= op.hasTrait<Collective>();
  }
  return some;
}

SmallVector<StepOp> mlir::mnistc::linksOf(StepOp step) {
  return llvm::to_vector(step.getBody().front().getOps<StepOp>());
}

SmallVector<Operation *> mlir::mnistc::opsIn(StepOp step) {
  SmallVector<Operation *> ops;
  for (Operation &op : step.getBody().front().without_terminator())
    if (auto link = dyn_cast<StepOp>(op))
      llvm::append_range(ops, opsIn(link));
    else
      ops.push_back(&op);
  return ops;
}

Operation *mlir::mnistc::rootOf(StepOp step) {
  for (Operation &op : step.getBody().front().without_terminator())
    if (isRoot(&op))
      return &op;
  return nullptr;
}

SmallVector<Operation *> mlir::mnistc::rootsOf(StepOp step) {
  SmallVector<Operation *> roots;
  for (Operation &op : step.getBody().front().without_terminator())
    if (isRoot(&op))
      roots.push_back(&op);
  return roots;
}

OperandRange mlir::mnistc::yieldsOf(StepOp step) {
  return step.getBody().front().getTerminator()->getOperands();
}

Value mlir::mnistc::skipReshapes(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getInput();
  return value;
}

bool mlir::mnistc::isPointwise(Operation *op) {
  return op->hasTrait<Elementwise>() || isa<ReshapeOp>(op);
}

Operation *mlir::mnistc::firstOutOfOrder(Operation *root) {
  SmallVector<Operation *> open = {root};
  llvm::SmallPtrSet<Operation *, 8> seen;
  while (!open.empty())
    for (Operation *user : open.pop_back_val()->getUsers()) {
      if (isa<YieldOp>(user) || !seen.insert(user).second)
        continue;
      if (!isPointwise(user))
        return user;
      open.push_back(user);
    }
  return nullptr;
}

bool mlir::mnistc::readsInOrder(Operation *op, Value operand) {
  return isPointwise(op) ||
         (op->getNumResults() == 1 && !isRoot(op) && countOf(operand) == 1 &&
          countOf(op->getResult(0)) == 1);
}

bool mlir::mnistc::isMapStep(StepOp step) {
  return step.getImpl() == Impl::kernel && !rootOf(step) &&
         linksOf(step).empty();
}

bool mlir::mnistc::keepsOrder(StepOp step, unsigned number) {
  BlockArgument argument = step.getBody().getArgument(number);
  return llvm::all_of(argument.getUsers(), [](Operation *user) {
    return isa<YieldOp>(user) || (isPointwise(user) && !firstOutOfOrder(user));
  });
}

bool mlir::mnistc::rootReadsMemory(StepOp step) {
  Operation *root = rootOf(step);
  return root && llvm::all_of(root->getOperands(), [](Value operand) {
           return isa<BlockArgument>(skipReshapes(operand));
         });
}

//===----------------------------------------------------------------------===//
// Epilogues
//===----------------------------------------------------------------------===//

/// The argument that `value` repeats, one element for each channel, or null.
/// Where the result has one element a channel, nothing is repeated.
static Value matchBias(Value value, RootOpInterface root) {
  std::optional<Channels> channels =
      root ? root.getBiasChannels() : std::nullopt;
  if (!channels)
    return {};
  if (countOf(value) == channels->count)
    if (auto whole = dyn_cast<BlockArgument>(skipReshapes(value)))
      return whole;
  auto broadcast = skipReshapes(value).getDefiningOp<BroadcastOp>();
  if (!broadcast || countOf(broadcast.getInput()) != channels->count)
    return {};
  // All elements are along one dimension of the result, whose stride is that of
  // the channels.
  ArrayRef<int64_t> shape = shapeOf(broadcast.getOutput());
  for (auto [i, dim] : llvm::enumerate(broadcast.getDims())) {
    int64_t size = shapeOf(broadcast.getInput())[i];
    if (size == 1)
      continue;
    int64_t between = ShapedType::getNumElements(shape.drop_front(dim + 1));
    if (size != channels->count || between != channels->stride)
      return {};
  }
  Value bias = skipReshapes(broadcast.getInput());
  return isa<BlockArgument>(bias) ? bias : Value();
}

/// The argument that `value` is under another shape, or null.
static Value matchResidual(Value value) {
  Value residual = skipReshapes(value);
  return isa<BlockArgument>(residual) ? residual : Value();
}

EpiloguePrefix mlir::mnistc::matchEpiloguePrefix(StepOp step,
                                                 EpilogueParts parts) {
  Operation *root = rootOf(step);
  EpiloguePrefix prefix{{}, root->getResult(0)};
  LibraryEpilogue &epilogue = prefix.epilogue;
  while (prefix.end.hasOneUse()) {
    OpOperand &use = *prefix.end.use_begin();
    Operation *user = use.getOwner();
    if (isa<ReluOp>(user) && parts.relu && !epilogue.relu) {
      epilogue.relu = true;
    } else if (isa<AddOp>(user) && !epilogue.relu) {
      Value other = user->getOperand(1 - use.getOperandNumber());
      Value bias = matchBias(other, dyn_cast<RootOpInterface>(root)),
            residual = matchResidual(other);
      if (bias && parts.bias && !epilogue.bias)
        epilogue.bias = bias;
      else if (residual && parts.residual && !epilogue.residual)
        epilogue.residual = residual;
      else
        break;
    } else if (!isa<ReshapeOp>(user)) {
      break;
    }
    prefix.end = user->getResult(0);
  }
  return prefix;
}

std::optional<LibraryEpilogue> mlir::mnistc::matchLibraryEpilogue(StepOp step) {
  if (!rootReadsMemory(step) || step.getNumResults() != 1)
    return std::nullopt;
  EpiloguePrefix prefix = matchEpiloguePrefix(step, {});
  if (prefix.end != yieldsOf(step).front())
    return std::nullopt;
  return prefix.epilogue;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

int64_t mlir::mnistc::sizeInBytes(Type type) {
  auto tensor = cast<ShapedType>(type);
  return tensor.getNumElements() *
         llvm::divideCeil(tensor.getElementTypeBitWidth(), 8);
}

/// Values of a step's body that have one element, or the same one everywhere.
static llvm::SmallDenseSet<Value> uniformValues(StepOp step) {
  llvm::SmallDenseSet<Value> uniform;
  for (Value argument : step.getBody().getArguments())
    if (countOf(argument) == 1)
      uniform.insert(argument);
  for (Operation &op : step.getBody().front().without_terminator()) {
    auto constant = dyn_cast<ConstantOp>(op);
    bool keeps = isPointwise(&op) || isa<BroadcastOp>(op);
    bool isSplat = constant && isa<SplatElementsAttr>(constant.getValue());
    for (Value result : op.getResults())
      if (countOf(result) == 1 || isSplat ||
          (keeps && llvm::all_of(op.getOperands(), [&](Value operand) {
             return uniform.contains(operand);
           })))
        uniform.insert(result);
  }
  return uniform;
}

/// Sets of values of a step's body such that what two results have in common is
/// in one set with both.
static llvm::EquivalenceClasses<void *> connectedValues(StepOp step) {
  llvm::EquivalenceClasses<void *> classes;
  // A tensor may come in by several arguments.
  auto key = [&](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return (argument ? step.getInputs()[argument.getArgNumber()] : value)
        .getAsOpaquePointer();
  };
  for (Value yielded : yieldsOf(step))
    classes.insert(key(yielded));
  llvm::SmallDenseSet<Value> uniform = uniformValues(step);
  for (Operation &op : step.getBody().front().without_terminator())
    for (Value operand : op.getOperands()) {
      Operation *maker = operand.getDefiningOp();
      if (isa_and_nonnull<ConstantOp>(maker) ||
          (uniform.contains(operand) && countOf(operand) > 1))
        continue;
      // What is read at other elements costs little to compute twice, unless it
      // is work for each of several.
      bool isWork =
          maker && !maker->hasTrait<Indexing>() && countOf(operand) > 1;
      for (Value result : op.getResults())
        if (isWork || countOf(operand) == countOf(result))
          classes.unionSets(key(operand), key(result));
    }
  return classes;
}

SmallVector<Segment> mlir::mnistc::segmentsOf(StepOp step) {
  SmallVector<Segment> segments;
  if (rootOf(step)) {
    for (auto [i, result] : llvm::enumerate(step.getResults())) {
      int64_t elements = countOf(result);
      if (segments.empty() || segments.back().elements != elements)
        segments.push_back({{}, elements});
      segments.back().results.push_back(i);
    }
    return segments;
  }
  llvm::EquivalenceClasses<void *> classes = connectedValues(step);
  llvm::MapVector<std::pair<void *, int64_t>, Segment> found;
  for (auto [i, yielded] : llvm::enumerate(yieldsOf(step))) {
    auto argument = dyn_cast<BlockArgument>(yielded);
    Value value =
        argument ? step.getInputs()[argument.getArgNumber()] : yielded;
    int64_t elements = countOf(value);
    Segment &segment =
        found[{classes.getLeaderValue(value.getAsOpaquePointer()), elements}];
    segment.elements = elements;
    segment.results.push_back(i);
  }
  for (auto &[key, segment] : found)
    segments.push_back(std::move(segment));
  return segments;
}

bool mlir::mnistc::canUpdateInPlace(StepOp step, unsigned input,
                                    unsigned result) {
  // Each result has the place of its operand.
  if (isCollectiveStep(step))
    return input == result;
  auto from = cast<ShapedType>(step.getInputs()[input].getType());
  auto to = cast<ShapedType>(step.getResult(result).getType());
  // Stores of one type may overtake loads of another, unless they store what
  // was loaded.
  bool isLibrary =
      step.getImpl() != Impl::kernel && step.getImpl() != Impl::undecided;
  if (isLibrary || from.getNumElements() != to.getNumElements() ||
      sizeInBytes(from) != sizeInBytes(to) ||
      (step.getNumResults() != 1 &&
       from.getElementType() != to.getElementType()))
    return false;
  if (isRowStep(step))
    return canUpdateRowsInPlace(step, input, result);
  // Blocks are at different links.
  if (!linksOf(step).empty())
    return false;
  // Every value that comes from the input keeps its order, and ends in results
  // of one loop.
  llvm::SmallDenseSet<unsigned> ends;
  SmallVector<Value> values = {step.getBody().getArgument(input)};
  // The same tensor may come in twice, by another argument.
  for (auto [i, other] : llvm::enumerate(step.getInputs()))
    if (i != input && other == step.getInputs()[input])
      values.push_back(step.getBody().getArgument(i));
  llvm::SmallPtrSet<Operation *, 8> seen;
  while (!values.empty())
    for (OpOperand &use : values.pop_back_val().getUses()) {
      Operation *user = use.getOwner();
      if (isa<YieldOp>(user)) {
        ends.insert(use.getOperandNumber());
        continue;
      }
      if (!readsInOrder(user, use.get()))
        return false;
      if (seen.insert(user).second)
        values.push_back(user->getResult(0));
    }
  if (ends.empty() || (ends.size() == 1 && ends.contains(result)))
    return true;
  SmallVector<Segment> segments = segmentsOf(step);
  const Segment *segment =
      llvm::find_if(segments, [&](const Segment &candidate) {
        return llvm::is_contained(candidate.results, result);
      });
  return llvm::all_of(ends, [&](unsigned end) {
    return llvm::is_contained(segment->results, end);
  });
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

static double flopsOf(Operation *op) {
  if (auto root = dyn_cast<RootOpInterface>(op))
    return root.getFlops();
  return op->hasTrait<Elementwise>() ? countOf(op->getResult(0)) : 0.0;
}

double mlir::mnistc::flopsOf(StepOp step) {
  double flops = 0;
  for (Operation *op : opsIn(step))
    flops += ::flopsOf(op);
  return flops;
}

double mlir::mnistc::bytesOf(StepOp step) {
  double bytes = 0;
  for (Value input : step.getInputs())
    bytes += sizeInBytes(input.getType());
  for (Value result : step.getResults())
    bytes += sizeInBytes(result.getType());
  return bytes;
}
