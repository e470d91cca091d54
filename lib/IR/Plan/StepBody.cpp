//===- StepBody.cpp - what a step computes, read off its body -------------===//

#include "lib/IR/Plan/StepBody.h"
#include "lib/IR/Mnist/Geometry.h"
#include "lib/IR/Mnist/TensorShape.h"
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
  return isa<ReduceSumOp, ReduceMaxOp, ReduceMinOp, ArgMaxOp, SoftmaxOp,
             LogSoftmaxOp>(op);
}

bool mlir::mnistc::isInlined(Operation *op) {
  return op->hasAttr("plan.inline") && mayBeInlined(op);
}

bool mlir::mnistc::isContraction(Operation *op) {
  return isa<MatmulOp, ConvOp, ConvInputGradOp, ConvFilterGradOp>(op);
}

Operation *mlir::mnistc::rootOf(StepOp step) {
  for (Operation &op : step.getBody().front().without_terminator())
    if (isRoot(&op))
      return &op;
  return nullptr;
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

bool mlir::mnistc::rootReadsMemory(StepOp step) {
  Operation *root = rootOf(step);
  return root && llvm::all_of(root->getOperands(), [](Value operand) {
           return isa<BlockArgument>(skipReshapes(operand));
         });
}

//===----------------------------------------------------------------------===//
// Epilogues
//===----------------------------------------------------------------------===//

/// The channels of a root's result, and how many elements lie between
/// neighbouring ones; nothing for roots that have no channels.
static std::optional<std::pair<int64_t, int64_t>> channelsOf(Operation *root) {
  ArrayRef<int64_t> shape = shapeOf(root->getResult(0));
  if (isa<MatmulOp>(root))
    return std::pair(shape.back(), int64_t(1));
  auto conv = dyn_cast<LayoutOpInterface>(root);
  if (!conv || !isContraction(root) || conv.isFilterResult())
    return std::nullopt;
  ImageShape image(conv.getLayout(), shape);
  int64_t between = conv.getLayout() == Layout::nchw
                        ? ShapedType::getNumElements(image.size)
                        : 1;
  return std::pair(image.channels, between);
}

/// The argument that `value` repeats, one element for each channel, or null.
/// Where the result has one element a channel, nothing is repeated.
static Value matchBias(Value value, Operation *root) {
  auto channels = channelsOf(root);
  if (!channels)
    return {};
  if (countOf(value) == channels->first)
    if (auto whole = dyn_cast<BlockArgument>(skipReshapes(value)))
      return whole;
  auto broadcast = skipReshapes(value).getDefiningOp<BroadcastOp>();
  if (!broadcast || countOf(broadcast.getInput()) != channels->first)
    return {};
  // All elements lie along one dimension of the result, whose stride is that of
  // the channels.
  ArrayRef<int64_t> shape = shapeOf(broadcast.getOutput());
  for (auto [i, dim] : llvm::enumerate(broadcast.getDims())) {
    int64_t size = shapeOf(broadcast.getInput())[i];
    if (size == 1)
      continue;
    int64_t between = ShapedType::getNumElements(shape.drop_front(dim + 1));
    if (size != channels->first || between != channels->second)
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
      Value bias = matchBias(other, root), residual = matchResidual(other);
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

SmallVector<Segment> mlir::mnistc::segmentsOf(StepOp step) {
  SmallVector<Segment> segments;
  for (auto [i, result] : llvm::enumerate(step.getResults())) {
    int64_t elements = countOf(result);
    if (segments.empty() || segments.back().elements != elements)
      segments.push_back({unsigned(i), 0, elements});
    ++segments.back().count;
  }
  return segments;
}

bool mlir::mnistc::canUpdateInPlace(StepOp step, unsigned input,
                                    unsigned result) {
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
  SmallVector<Segment> segments = segmentsOf(step);
  const Segment *segment =
      llvm::find_if(segments, [&](const Segment &candidate) {
        return result - candidate.first < candidate.count;
      });
  // Every value that comes from the input keeps its order, and ends there.
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
        if (use.getOperandNumber() - segment->first >= segment->count)
          return false;
        continue;
      }
      if (!isPointwise(user))
        return false;
      if (seen.insert(user).second)
        values.push_back(user->getResult(0));
    }
  return true;
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

/// Multiplications and additions of a convolution or its gradients: each
/// element of the output takes part in one for each element of a filter.
static double convFlops(Value output, Value filter) {
  return 2.0 * countOf(output) * countOf(filter) / shapeOf(filter).front();
}

static double flopsOf(Operation *op) {
  double results = countOf(op->getResult(0));
  auto window = [](ArrayRef<int64_t> kernel) {
    return double(ShapedType::getNumElements(kernel));
  };
  return llvm::TypeSwitch<Operation *, double>(op)
      .Case([&](MatmulOp matmul) {
        ArrayRef<int64_t> lhs = shapeOf(matmul.getLhs());
        return 2.0 * results *
               lhs[lhs.size() - (matmul.getTransposed()[0] ? 2 : 1)];
      })
      .Case([&](ConvOp conv) {
        return convFlops(conv.getOutput(), conv.getFilter());
      })
      .Case([&](ConvInputGradOp conv) {
        return convFlops(conv.getOutputGrad(), conv.getFilter());
      })
      .Case([&](ConvFilterGradOp conv) {
        return convFlops(conv.getOutputGrad(), conv.getFilterGrad());
      })
      .Case<MaxPoolOp, AvgPoolOp, ArgMaxPoolOp>(
          [&](auto pool) { return results * window(pool.getKernel()); })
      .Case<MaxPoolGradOp, AvgPoolGradOp>([&](auto pool) {
        return countOf(pool.getOutputGrad()) * window(pool.getKernel());
      })
      // Maximum, difference, exponential, sum, quotient.
      .Case<SoftmaxOp, LogSoftmaxOp>([&](auto) { return 5 * results; })
      .Case<ReduceSumOp, ReduceMaxOp, ReduceMinOp, ArgMaxOp>(
          [&](auto reduce) { return double(countOf(reduce.getInput())); })
      .Default([&](Operation *other) {
        return other->hasTrait<Elementwise>() ? results : 0.0;
      });
}

double mlir::mnistc::flopsOf(StepOp step) {
  double flops = 0;
  for (Operation &op : step.getBody().front().without_terminator())
    flops += ::flopsOf(&op);
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
