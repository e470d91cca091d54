//===- MnistFolds.cpp - local simplifications -----------------------------===//
//
// Folds: identities and small constants. Whole tensors are computed by the pass
// FoldConstants, which has a size limit.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Mnist/Arithmetic.h"
#include "lib/IR/Mnist/Evaluate.h"
#include "lib/IR/Mnist/MnistOps.h"
#include "lib/IR/Mnist/Patterns.h"
#include "lib/IR/Mnist/Permutation.h"
#include "lib/IR/Mnist/TensorSize.h"
#include "mlir/IR/Matchers.h"
#include <cmath>

using namespace mlir;
using namespace mlir::mnistc;

/// Whether `attribute` is a constant tensor all of whose elements are `value`.
static bool isSplat(Attribute attribute, double value) {
  auto splat = dyn_cast_or_null<SplatElementsAttr>(attribute);
  if (!splat)
    return false;
  if (isa<FloatType>(splat.getElementType()))
    return splat.getSplatValue<APFloat>().convertToDouble() == value;
  return splat.getSplatValue<APInt>() == (int64_t)value;
}

/// A constant `value` of one repeated element under another shape, or null.
static Attribute resplat(Attribute value, Type type) {
  auto splat = dyn_cast_or_null<SplatElementsAttr>(value);
  return splat ? splat.resizeSplat(cast<ShapedType>(type)) : Attribute();
}

static bool areAll(ArrayRef<int64_t> numbers, int64_t number) {
  return llvm::all_of(numbers, [&](int64_t n) { return n == number; });
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

// x + 0 = x
OpFoldResult AddOp::fold(FoldAdaptor adaptor) {
  return isSplat(adaptor.getRhs(), 0) ? getLhs() : Value();
}

// x - 0 = x
OpFoldResult SubOp::fold(FoldAdaptor adaptor) {
  return isSplat(adaptor.getRhs(), 0) ? getLhs() : Value();
}

// x 1 = x
OpFoldResult MulOp::fold(FoldAdaptor adaptor) {
  return isSplat(adaptor.getRhs(), 1) ? getLhs() : Value();
}

// x / 1 = x
OpFoldResult DivOp::fold(FoldAdaptor adaptor) {
  return isSplat(adaptor.getRhs(), 1) ? getLhs() : Value();
}

OpFoldResult CastOp::fold(FoldAdaptor) {
  return getInput().getType() == getOutput().getType() ? getInput() : Value();
}

OpFoldResult SelectOp::fold(FoldAdaptor adaptor) {
  if (getThen() == getOtherwise())
    return getThen();
  if (auto splat = dyn_cast_or_null<SplatElementsAttr>(adaptor.getCondition()))
    return splat.getSplatValue<bool>() ? getThen() : getOtherwise();
  return {};
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getOutput().getType())
    return getInput();
  return resplat(adaptor.getInput(), getType());
}

OpFoldResult ConcatOp::fold(FoldAdaptor) {
  return getInputs().size() == 1 ? getInputs().front() : Value();
}

// Nothing is added or taken away.
OpFoldResult PadOp::fold(FoldAdaptor) {
  if (getInput().getType() != getOutput().getType() || !areAll(getLow(), 0))
    return {};
  return getInput();
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getOutput().getType())
    return getInput();
  if (auto value = dyn_cast_or_null<DenseElementsAttr>(adaptor.getInput()))
    return value.reshape(getOutput().getType());
  return {};
}

OpFoldResult SliceOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getOutput().getType() && areAll(getSteps(), 1))
    return getInput();
  return resplat(adaptor.getInput(), getType());
}

OpFoldResult TransposeOp::fold(FoldAdaptor adaptor) {
  if (isIdentity(getPerm()))
    return getInput();
  return resplat(adaptor.getInput(), getType());
}

// Over no dimension.
OpFoldResult ReduceMaxOp::fold(FoldAdaptor) {
  return getDims().empty() ? getInput() : Value();
}
OpFoldResult ReduceMinOp::fold(FoldAdaptor) {
  return getDims().empty() ? getInput() : Value();
}
OpFoldResult ReduceSumOp::fold(FoldAdaptor) {
  return getDims().empty() ? getInput() : Value();
}

/// Whether every window of a pool is the one element at its place.
template <typename Pool> static bool isElementByElement(Pool op) {
  return op.getInput().getType() == op.getOutput().getType() &&
         areAll(op.getKernel(), 1) && areAll(op.getStrides(), 1) &&
         areAll(op.getPads(), 0);
}

OpFoldResult AvgPoolOp::fold(FoldAdaptor) {
  return isElementByElement(*this) ? getInput() : Value();
}
OpFoldResult MaxPoolOp::fold(FoldAdaptor) {
  return isElementByElement(*this) ? getInput() : Value();
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

/// broadcast(broadcast(x, p), q) = broadcast(x, q of p)
static LogicalResult mergeBroadcasts(BroadcastOp op,
                                     PatternRewriter &rewriter) {
  auto producer = op.getInput().getDefiningOp<BroadcastOp>();
  if (!producer)
    return rewriter.notifyMatchFailure(op, "input is no broadcast");
  rewriter.replaceOpWithNewOp<BroadcastOp>(
      op, op.getType(), producer.getInput(),
      permute(op.getDims(), producer.getDims()));
  return success();
}

/// concat(concat(x, y), z, nothing) = concat(x, y, z)
static LogicalResult flattenConcat(ConcatOp op, PatternRewriter &rewriter) {
  SmallVector<Value> inputs;
  for (Value input : op.getInputs()) {
    auto producer = input.getDefiningOp<ConcatOp>();
    if (producer && producer.getDim() == op.getDim())
      llvm::append_range(inputs, producer.getInputs());
    else if (cast<RankedTensorType>(input.getType()).getDimSize(op.getDim()) !=
             0)
      inputs.push_back(input);
  }
  // A tree of the same value would become all its leaves.
  if (inputs.size() > op.getInputs().size() && inputs.size() > maxConcatInputs)
    return rewriter.notifyMatchFailure(op, "too many operands");
  if (inputs.empty() || llvm::equal(inputs, op.getInputs()))
    return rewriter.notifyMatchFailure(op, "no operand is empty or a concat");
  rewriter.replaceOpWithNewOp<ConcatOp>(op, op.getType(), inputs, op.getDim());
  return success();
}

/// The first index and the step from each to the next, if that is always the
/// same and all are in a dimension of `size`.
static std::optional<std::pair<int64_t, int64_t>>
regularIndices(ElementsAttr indices, int64_t size) {
  if (!indices || indices.empty() || indices.getNumElements() > size)
    return std::nullopt;
  SmallVector<int64_t> numbers;
  for (const APInt &index : indices.getValues<APInt>()) {
    int64_t number = index.getSExtValue();
    numbers.push_back(number < 0 ? number + size : number);
    if (numbers.back() < 0 || numbers.back() >= size)
      return std::nullopt;
  }
  int64_t step = numbers.size() == 1 ? 1 : numbers[1] - numbers[0];
  for (size_t i = 1; i < numbers.size(); ++i)
    if (numbers[i] - numbers[i - 1] != step || step == 0)
      return std::nullopt;
  return std::make_pair(numbers.front(), step);
}

/// gather(x, [s, s + t, s + 2 t ...]) = slice(x, s, t), whose gradient is no
/// product
static LogicalResult gatherToSlice(GatherOp op, PatternRewriter &rewriter) {
  RankedTensorType input = op.getInput().getType();
  int64_t dim = op.getDim();
  auto regular =
      regularIndices(constantValue(op.getIndices()), input.getDimSize(dim));
  if (!regular)
    return rewriter.notifyMatchFailure(op, "no constant, regular indices");
  SmallVector<int64_t> shape(input.getShape());
  SmallVector<int64_t> starts(shape.size(), 0), steps(shape.size(), 1);
  shape[dim] = op.getIndices().getType().getNumElements();
  std::tie(starts[dim], steps[dim]) = *regular;
  Value slice = rewriter.createOrFold<SliceOp>(op.getLoc(), input.clone(shape),
                                               op.getInput(), starts, steps);
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), slice);
  return success();
}

/// slice(transpose(x)) = transpose(slice(x)), which is smaller
static LogicalResult sliceOfTranspose(SliceOp op, PatternRewriter &rewriter) {
  auto transpose = op.getInput().getDefiningOp<TransposeOp>();
  if (!transpose ||
      !llvm::all_of(transpose->getUsers(), llvm::IsaPred<SliceOp>))
    return rewriter.notifyMatchFailure(op, "more than slices of a transpose");
  SmallVector<int64_t> order = inverse(transpose.getPerm());
  auto before = op.getType().clone(permute(op.getType().getShape(), order));
  Value slice = rewriter.create<SliceOp>(
      op.getLoc(), before, transpose.getInput(), permute(op.getStarts(), order),
      permute(op.getSteps(), order));
  rewriter.replaceOpWithNewOp<TransposeOp>(op, op.getType(), slice,
                                           transpose.getPerm());
  return success();
}

/// slice(slice(x, s, t), u, v) = slice(x, s + u t, t v)
static LogicalResult mergeSlices(SliceOp op, PatternRewriter &rewriter) {
  auto producer = op.getInput().getDefiningOp<SliceOp>();
  if (!producer)
    return rewriter.notifyMatchFailure(op, "input is no slice");
  SmallVector<int64_t> starts, steps;
  for (size_t i = 0; i < op.getStarts().size(); ++i) {
    starts.push_back(producer.getStarts()[i] +
                     op.getStarts()[i] * producer.getSteps()[i]);
    steps.push_back(op.getSteps()[i] * producer.getSteps()[i]);
  }
  rewriter.replaceOpWithNewOp<SliceOp>(op, op.getType(), producer.getInput(),
                                       starts, steps);
  return success();
}

/// reshape(broadcast(x)) of one element = broadcast(reshape(x))
static LogicalResult reshapeOfRepeated(ReshapeOp op,
                                       PatternRewriter &rewriter) {
  auto producer = op.getInput().getDefiningOp<BroadcastOp>();
  if (!producer || producer.getInput().getType().getNumElements() != 1)
    return rewriter.notifyMatchFailure(op, "input repeats no single element");
  auto scalar = rewriter.create<ReshapeOp>(
      op.getLoc(), op.getType().clone(ArrayRef<int64_t>()),
      producer.getInput());
  rewriter.replaceOpWithNewOp<BroadcastOp>(op, op.getType(), scalar,
                                           ArrayRef<int64_t>());
  return success();
}

/// A reduction over dimensions of size 1 is a reshape.
template <typename Op>
static LogicalResult reduceToReshape(Op op, PatternRewriter &rewriter) {
  auto input = cast<RankedTensorType>(op.getInput().getType());
  for (int64_t dim : op.getDims())
    if (input.getDimSize(dim) != 1)
      return rewriter.notifyMatchFailure(op, "there is something to reduce");
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), op.getInput());
  return success();
}

/// A sum over all that max_unpool places is a sum over the values.
static LogicalResult sumOfPlaced(ReduceSumOp op, PatternRewriter &rewriter) {
  auto producer = op.getInput().getDefiningOp<MaxUnpoolOp>();
  if (!producer)
    return rewriter.notifyMatchFailure(op, "input is no max_unpool");
  int64_t first = producer.getLayout() == Layout::nchw ? 2 : 1;
  for (size_t d = 0; d < producer.getKernel().size(); ++d)
    if (!llvm::is_contained(op.getDims(), first + int64_t(d)))
      return rewriter.notifyMatchFailure(op, "places are not summed");
  rewriter.replaceOpWithNewOp<ReduceSumOp>(op, op.getType(),
                                           producer.getInput(), op.getDims());
  return success();
}

/// A sum over what a broadcast repeats is a product with how often.
static LogicalResult sumOfRepeated(ReduceSumOp op, PatternRewriter &rewriter) {
  auto producer = op.getInput().getDefiningOp<BroadcastOp>();
  if (!producer || !isa<FloatType>(op.getType().getElementType()))
    return rewriter.notifyMatchFailure(op, "input is no broadcast of floats");
  ArrayRef<int64_t> shape = producer.getType().getShape();
  int64_t count = 1;
  for (int64_t dim : op.getDims()) {
    if (llvm::is_contained(producer.getDims(), dim))
      return rewriter.notifyMatchFailure(op, "what is summed is not repeated");
    count *= shape[dim];
  }
  if (count == 0)
    return rewriter.notifyMatchFailure(op, "there is nothing to sum");
  SmallVector<int64_t> kept = otherDims(op.getDims(), shape.size()), dims;
  for (int64_t dim : producer.getDims())
    dims.push_back(llvm::find(kept, dim) - kept.begin());
  Arithmetic c{rewriter, op.getLoc()};
  Value one = rewriter.createOrFold<BroadcastOp>(op.getLoc(), op.getType(),
                                                 producer.getInput(), dims);
  rewriter.replaceOp(op, c.mul(one, c.number(one, double(count))));
  return success();
}

/// reshape(reshape(x)) = reshape(x)
static LogicalResult mergeReshapes(ReshapeOp op, PatternRewriter &rewriter) {
  auto producer = op.getInput().getDefiningOp<ReshapeOp>();
  if (!producer)
    return rewriter.notifyMatchFailure(op, "input is no reshape");
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), producer.getInput());
  return success();
}

/// transpose(transpose(x, p), q) = transpose(x, p of q)
static LogicalResult mergeTransposes(TransposeOp op,
                                     PatternRewriter &rewriter) {
  auto producer = op.getInput().getDefiningOp<TransposeOp>();
  if (!producer)
    return rewriter.notifyMatchFailure(op, "input is no transpose");
  rewriter.replaceOpWithNewOp<TransposeOp>(
      op, op.getType(), producer.getInput(),
      permute(producer.getPerm(), op.getPerm()));
  return success();
}

/// A transpose that only moves dimensions of size 1 is a reshape.
static LogicalResult transposeToReshape(TransposeOp op,
                                        PatternRewriter &rewriter) {
  if (!preservesMemoryOrder(op.getPerm(), op.getInput().getType().getShape()))
    return rewriter.notifyMatchFailure(op, "elements change their order");
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), op.getInput());
  return success();
}

/// What a sum without other users adds, each of its terms.
static void collectTerms(AddOp sum, SmallVectorImpl<Value> &terms) {
  for (Value operand : {sum.getRhs(), sum.getLhs()}) {
    auto inner = operand.getDefiningOp<AddOp>();
    if (inner && inner->hasOneUse())
      collectTerms(inner, terms);
    else
      terms.push_back(operand);
  }
}

/// The one dimension along which something puts zeros around a tensor.
static std::optional<int64_t> paddedDim(PadOp op) {
  if (op.getMode() != PadMode::constant || !op.getValue().isZero())
    return std::nullopt;
  std::optional<int64_t> padded;
  ArrayRef<int64_t> from = op.getInput().getType().getShape(),
                    to = op.getType().getShape();
  for (auto [dim, low] : llvm::enumerate(op.getLow())) {
    if (low == 0 && from[dim] == to[dim])
      continue;
    if (padded || low < 0 || low + from[dim] > to[dim])
      return std::nullopt;
    padded = dim;
  }
  return padded;
}

/// A sum of tensors with zeros around them that meet nowhere, and cover all:
/// these one after another. Gradients of slices are such a sum.
static LogicalResult sumOfPads(AddOp op, PatternRewriter &rewriter) {
  SmallVector<Value> terms;
  collectTerms(op, terms);
  auto pads = llvm::map_to_vector(
      terms, [](Value term) { return term.getDefiningOp<PadOp>(); });
  auto fail = [&] {
    return rewriter.notifyMatchFailure(op, "no pads that cover all");
  };
  std::optional<int64_t> dim;
  for (PadOp pad : pads) {
    std::optional<int64_t> padded = pad ? paddedDim(pad) : std::nullopt;
    if (!padded || (dim && dim != padded))
      return fail();
    dim = padded;
  }
  llvm::sort(pads, [&](PadOp a, PadOp b) {
    return a.getLow()[*dim] < b.getLow()[*dim];
  });
  int64_t end = 0;
  SmallVector<Value> inputs;
  for (PadOp pad : pads) {
    if (pad.getLow()[*dim] != end)
      return fail();
    end += pad.getInput().getType().getDimSize(*dim);
    inputs.push_back(pad.getInput());
  }
  if (end != op.getType().getDimSize(*dim))
    return fail();
  rewriter.replaceOpWithNewOp<ConcatOp>(op, op.getType(), inputs, *dim);
  return success();
}

/// transpose(concat(x...)) of one element each along the new dimension =
/// concat(transpose(x)...): what lies between are reshapes then.
static LogicalResult transposeOfStack(TransposeOp op,
                                      PatternRewriter &rewriter) {
  auto stack = op.getInput().getDefiningOp<ConcatOp>();
  if (!stack || !stack->hasOneUse())
    return rewriter.notifyMatchFailure(op, "no concat of its own");
  int64_t dim = stack.getDim();
  SmallVector<Value> parts;
  for (Value input : stack.getInputs()) {
    auto type = cast<RankedTensorType>(input.getType());
    if (type.getDimSize(dim) != 1)
      return rewriter.notifyMatchFailure(op, "more than one element each");
    parts.push_back(
        rewriter.create<TransposeOp>(op.getLoc(), input, op.getPerm()));
  }
  rewriter.replaceOpWithNewOp<ConcatOp>(op, op.getType(), parts,
                                        inverse(op.getPerm())[dim]);
  return success();
}

/// The one number of which a tensor of floats consists; none for NaN.
static std::optional<double> splatOf(Value value) {
  SplatElementsAttr splat;
  if (!matchPattern(value, m_Constant(&splat)) ||
      !isa<FloatType>(splat.getElementType()))
    return std::nullopt;
  const double number = splat.getSplatValue<APFloat>().convertToDouble();
  return std::isnan(number) ? std::nullopt : std::optional(number);
}

static bool holds(Predicate p, double x, double y) {
  return p == Predicate::lt   ? x < y
         : p == Predicate::le ? x <= y
         : p == Predicate::gt ? x > y
                              : x >= y;
}

/// max(x, c) < d = x < d where c < d, max(x, c) > d = x > d where it is not,
/// and of min(x, c) the other way round: whether an element is inside limits is
/// seen by what it was before.
static LogicalResult compareOfLimited(CompareOp op, PatternRewriter &rewriter) {
  Predicate p = op.getPredicate();
  Operation *limited = op.getLhs().getDefiningOp();
  if (!isa_and_nonnull<MaxOp, MinOp>(limited) || p == Predicate::eq ||
      p == Predicate::ne)
    return rewriter.notifyMatchFailure(op, "nothing with a limit is compared");
  std::optional<double> c = splatOf(limited->getOperand(1)),
                        d = splatOf(op.getRhs());
  const bool isBelow = p == Predicate::lt || p == Predicate::le;
  if (!c || !d || holds(p, *c, *d) != (isBelow == isa<MaxOp>(limited)))
    return rewriter.notifyMatchFailure(op, "the limit decides");
  rewriter.replaceOpWithNewOp<CompareOp>(op, p, limited->getOperand(0),
                                         op.getRhs());
  return success();
}

/// What a condition compares, or null.
static Value comparedBy(SelectOp op) {
  auto compare = op.getCondition().getDefiningOp<CompareOp>();
  return compare ? compare.getLhs() : Value();
}

/// a ? (b ? x : y) : y = a && b ? x : y, where both are limits of one value:
/// one mask is kept for the gradient, not two.
static LogicalResult mergeSelects(SelectOp op, PatternRewriter &rewriter) {
  auto inner = op.getThen().getDefiningOp<SelectOp>();
  if (!inner || !inner->hasOneUse() ||
      inner.getOtherwise() != op.getOtherwise() || !comparedBy(op) ||
      comparedBy(op) != comparedBy(inner))
    return rewriter.notifyMatchFailure(op, "no limits of one value");
  Value both = rewriter.create<AndOp>(op.getLoc(), op.getCondition(),
                                      inner.getCondition());
  rewriter.replaceOpWithNewOp<SelectOp>(op, op.getType(), both, inner.getThen(),
                                        op.getOtherwise());
  return success();
}

#define MNIST_PATTERNS(OP, ...)                                                \
  void OP::getCanonicalizationPatterns(RewritePatternSet &patterns,            \
                                       MLIRContext *) {                        \
    addPatterns(patterns, __VA_ARGS__);                                        \
  }

MNIST_PATTERNS(AddOp, sumOfPads)
MNIST_PATTERNS(BroadcastOp, mergeBroadcasts)
MNIST_PATTERNS(CompareOp, compareOfLimited)
MNIST_PATTERNS(ConcatOp, flattenConcat)
MNIST_PATTERNS(GatherOp, gatherToSlice)
MNIST_PATTERNS(ReduceMaxOp, reduceToReshape<ReduceMaxOp>)
MNIST_PATTERNS(ReduceMinOp, reduceToReshape<ReduceMinOp>)
MNIST_PATTERNS(ReduceSumOp, reduceToReshape<ReduceSumOp>, sumOfPlaced,
               sumOfRepeated)
MNIST_PATTERNS(ReshapeOp, mergeReshapes, reshapeOfRepeated)
MNIST_PATTERNS(SelectOp, mergeSelects)
MNIST_PATTERNS(SliceOp, mergeSlices, sliceOfTranspose)
MNIST_PATTERNS(TransposeOp, mergeTransposes, transposeToReshape,
               transposeOfStack)

#undef MNIST_PATTERNS
