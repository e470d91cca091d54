//===- PushTransposes.cpp - transposes meet, and go into weights ----------===//
//
// Three parts that alternate: transposes go on to where others follow
// (MeetTransposes.h), regions of ops that do not care about the order of
// dimensions are turned as a whole where that pays (TransposeRegions.h), and
// the patterns below take in what then stands at their borders. No step leaves
// more transposes to run than it found.
//
//===----------------------------------------------------------------------===//

#include "lib/Passes/PushTransposes.h"
#include "lib/IR/Mnist/Evaluate.h"
#include "lib/IR/Mnist/FlipLayout.h"
#include "lib/IR/Mnist/Geometry.h"
#include "lib/IR/Mnist/MeetTransposes.h"
#include "lib/IR/Mnist/Patterns.h"
#include "lib/IR/Mnist/TensorShape.h"
#include "lib/IR/Mnist/TransposeRegions.h"
#include "lib/Passes/Passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::mnistc {

#define GEN_PASS_DEF_PUSHTRANSPOSES
#include "lib/Passes/Passes.h.inc"

/// transpose(constant) = constant
static LogicalResult transposeConstant(TransposeOp op,
                                       PatternRewriter &rewriter) {
  ElementsAttr value = constantValue(op.getInput());
  ElementsAttr turned = value ? evaluate(op, value) : ElementsAttr();
  if (!turned)
    return rewriter.notifyMatchFailure(op, "input is no constant");
  rewriter.replaceOp(
      op, createConstant(rewriter, op.getLoc(), turned, op.getInput()));
  return success();
}

/// transpose(broadcast(x)) = broadcast(transpose(x)), which is smaller
static LogicalResult transposeBroadcast(TransposeOp op,
                                        PatternRewriter &rewriter) {
  auto broadcast = op.getInput().getDefiningOp<BroadcastOp>();
  if (!broadcast)
    return rewriter.notifyMatchFailure(op, "input is no broadcast");
  Permutation order = inverse(op.getPerm()), dims, perm;
  for (int64_t dim : broadcast.getDims())
    dims.push_back(order[dim]);
  SmallVector<int64_t> sorted(dims);
  llvm::sort(sorted);
  for (int64_t dim : sorted)
    perm.push_back(llvm::find(dims, dim) - dims.begin());
  Value input = broadcast.getInput();
  if (!isIdentity(perm))
    input = rewriter.create<TransposeOp>(op.getLoc(), input, perm);
  rewriter.replaceOpWithNewOp<BroadcastOp>(op, op.getType(), input, sorted);
  return success();
}

/// transpose(iota) = iota
static LogicalResult transposeIota(TransposeOp op, PatternRewriter &rewriter) {
  auto iota = op.getInput().getDefiningOp<IotaOp>();
  if (!iota)
    return rewriter.notifyMatchFailure(op, "input is no iota");
  rewriter.replaceOpWithNewOp<IotaOp>(op, op.getType(),
                                      inverse(op.getPerm())[iota.getDim()]);
  return success();
}

/// The permutation that transposes the matrices of `value`.
static Permutation swapOf(Value value) {
  int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
  auto perm = llvm::to_vector(llvm::seq<int64_t>(rank));
  std::swap(perm[rank - 2], perm[rank - 1]);
  return perm;
}

static Value numberLike(Value number, ArrayRef<int64_t> shape, OpBuilder &b) {
  auto type = cast<RankedTensorType>(number.getType()).clone(shape);
  if (auto broadcast = number.getDefiningOp<BroadcastOp>())
    return b.create<BroadcastOp>(broadcast.getLoc(), type, broadcast.getInput(),
                                 ArrayRef<int64_t>());
  auto constant = cast<SplatElementsAttr>(constantValue(number));
  return createConstant(b, number.getLoc(), constant.resizeSplat(type), number);
}

/// The same elementwise op with `tensor`, of any shape, in place of its only
/// one.
static Value cloneWith(Operation *op, Value tensor, OpBuilder &b) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(tensor.getType()).getShape();
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(isNumber(operand) ? numberLike(operand, shape, b)
                                         : tensor);
  Operation *own = b.clone(*op);
  own->setOperands(operands);
  own->getResult(0).setType(
      cast<RankedTensorType>(op->getResult(0).getType()).clone(shape));
  return own->getResult(0);
}

/// What `value` is the transpose of, matrix by matrix; null if of nothing. Of
/// another transpose, that with the matrices as they were, if elements that are
/// adjacent in memory stay so then, and nothing else needs the first one.
static Value matricesTransposed(Value value, OpBuilder &b, bool isOwn = true) {
  isOwn &= value.hasOneUse();
  if (auto reshape = value.getDefiningOp<ReshapeOp>();
      reshape && keepsMatrices(reshape))
    if (Value before = matricesTransposed(reshape.getInput(), b, isOwn)) {
      RankedTensorType type = reshape.getType();
      return b.createOrFold<ReshapeOp>(
          reshape.getLoc(), type.clone(permute(type.getShape(), swapOf(value))),
          before);
    }
  Operation *op = value.getDefiningOp();
  if (Value tensor = op && isOwn ? onlyTensor(op) : Value())
    if (Value before = matricesTransposed(tensor, b, isOwn))
      return cloneWith(op, before, b);
  auto transpose = value.getDefiningOp<TransposeOp>();
  if (!transpose)
    return {};
  if (swapsMatrix(transpose.getPerm()))
    return transpose.getInput();
  int64_t last = static_cast<int64_t>(transpose.getPerm().size()) - 1;
  Permutation perm = permute(transpose.getPerm(), swapOf(value));
  if (!isOwn || transpose.getPerm().back() == last || perm.back() != last)
    return {};
  return b.create<TransposeOp>(transpose.getLoc(), transpose.getInput(), perm);
}

static MatmulOp turned(MatmulOp op, OpBuilder &b) {
  return b.create<MatmulOp>(op.getLoc(), op.getRhs(), op.getLhs(),
                            !op.getTransposed()[1], !op.getTransposed()[0]);
}

/// Such a value with its matrices transposed, which are but the product's
/// flags.
static Value turnedMatrices(Value value, OpBuilder &b) {
  Operation *op = value.getDefiningOp();
  if (auto matmul = dyn_cast<MatmulOp>(op))
    return turned(matmul, b);
  auto reshape = dyn_cast<ReshapeOp>(op);
  if (!reshape)
    return cloneWith(op, turnedMatrices(onlyTensor(op), b), b);
  RankedTensorType type = reshape.getType();
  return b.create<ReshapeOp>(
      op->getLoc(), type.clone(permute(type.getShape(), swapOf(value))),
      turnedMatrices(reshape.getInput(), b));
}

/// transpose(a b) = b' a', which are but flags. A transpose of more than the
/// matrices is left with the rest, if columns of the product become rows:
/// elements that are adjacent after it are so before it then.
static LogicalResult transposeProduct(TransposeOp op,
                                      PatternRewriter &rewriter) {
  const auto rank = static_cast<int64_t>(op.getPerm().size());
  if (rank < 2 || op.getPerm().back() != rank - 2 ||
      !isOfProduct(op.getInput()))
    return rewriter.notifyMatchFailure(op, "no columns of a product");
  const Permutation swap = swapOf(op.getInput());
  Value before = turnedMatrices(op.getInput(), rewriter);
  const Permutation rest = permute(swap, op.getPerm());
  if (isIdentity(rest))
    rewriter.replaceOp(op, before);
  else
    rewriter.replaceOpWithNewOp<TransposeOp>(op, op.getType(), before, rest);
  return success();
}

/// transpose(a) b, with `transposed` in place of the transpose
static LogicalResult matmulOfTranspose(MatmulOp op, PatternRewriter &rewriter) {
  Value operands[2] = {op.getLhs(), op.getRhs()};
  bool transposed[2] = {op.getTransposed()[0], op.getTransposed()[1]};
  bool changed = false;
  for (int i : {0, 1}) {
    Value before = matricesTransposed(operands[i], rewriter);
    if (!before)
      continue;
    operands[i] = before;
    transposed[i] = !transposed[i];
    changed = true;
  }
  if (!changed)
    return rewriter.notifyMatchFailure(op, "no operand is a transpose");
  rewriter.replaceOpWithNewOp<MatmulOp>(op, operands[0], operands[1],
                                        transposed[0], transposed[1]);
  return success();
}

static Value inOrder(Value value, const ElementOrder &order, OpBuilder &b) {
  auto type = cast<RankedTensorType>(value.getType());
  Location loc = value.getLoc();
  Value split =
      createOrEvaluate<ReshapeOp>(b, loc, type.clone(order.shape), value);
  Value turned = createOrEvaluate<TransposeOp>(b, loc, split, order.perm);
  return createOrEvaluate<ReshapeOp>(b, loc, type, turned);
}

/// reshape(transpose(x)) w, of images flattened in another order than that in
/// which they are computed: permute the rows of the constant w instead.
static LogicalResult matmulOfFlattened(MatmulOp op, PatternRewriter &rewriter) {
  std::optional<FlattenedProduct> product = flattenedProduct(op);
  if (!product || !constantValue(op.getRhs()))
    return rewriter.notifyMatchFailure(
        op, "no flattened transpose times a constant");
  Value weights = inOrder(op.getRhs(), product->right, rewriter);
  Value flat = rewriter.create<ReshapeOp>(product->reshape.getLoc(),
                                          product->reshape.getType(),
                                          product->transpose.getInput());
  rewriter.modifyOpInPlace(op, [&] {
    op.getLhsMutable().assign(flat);
    op.getRhsMutable().assign(weights);
  });
  return success();
}

namespace {
/// f(reshape(x)) w = reshape(f(x)) w, so that the reshape that flattens an
/// image stands before a product with weights, which may take in what is before
/// it.
struct SinkReshape : RewritePattern {
  SinkReshape(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}
  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!isUnary(op))
      return rewriter.notifyMatchFailure(op, "not elementwise in one operand");
    auto reshape = op->getOperand(0).getDefiningOp<ReshapeOp>();
    if (!reshape || !reshape->hasOneUse() || !isMultiplied(op))
      return rewriter.notifyMatchFailure(op, "not between reshape and product");
    RankedTensorType from = reshape.getInput().getType();
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    if (from.getRank() <= type.getRank())
      return rewriter.notifyMatchFailure(op, "nothing is flattened");
    Operation *before = rewriter.clone(*op);
    before->setOperand(0, reshape.getInput());
    before->getResult(0).setType(type.clone(from.getShape()));
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, type, before->getResult(0));
    return success();
  }

private:
  static bool isUnary(Operation *op) {
    return op->hasTrait<Elementwise>() && op->getNumOperands() == 1;
  }
  /// Whether `op`, or what is computed only from it, is multiplied by weights
  /// whose rows may be permuted.
  static bool isMultiplied(Operation *op) {
    while (op->hasOneUse() && isUnary(*op->user_begin()))
      op = *op->user_begin();
    return !op->use_empty() &&
           llvm::all_of(op->getUsers(), [](Operation *user) {
             auto matmul = dyn_cast<MatmulOp>(user);
             return matmul && mayPermuteRows(matmul.getRhs());
           });
  }
};

} // namespace

/// reduce(transpose(x)) = transpose(reduce(x)), which is smaller
template <typename Op>
static LogicalResult reduceTranspose(Op op, PatternRewriter &rewriter) {
  auto transpose = op.getInput().template getDefiningOp<TransposeOp>();
  if (!transpose)
    return rewriter.notifyMatchFailure(op, "input is no transpose");
  constexpr bool isArgMax = std::is_same_v<Op, ArgMaxOp>;
  SmallVector<int64_t> gone;
  if constexpr (isArgMax)
    gone.push_back(transpose.getPerm()[op.getDim()]);
  else
    gone = permute(transpose.getPerm(), op.getDims());
  llvm::sort(gone);
  Permutation perm = without(transpose.getPerm(), gone);
  auto type = cast<RankedTensorType>(op.getType());
  RankedTensorType before = type.clone(permute(type.getShape(), inverse(perm)));
  if (!transpose->hasOneUse() && !preservesMemoryOrder(perm, before.getShape()))
    return rewriter.notifyMatchFailure(op, "a transpose would be left");
  Value reduced;
  if constexpr (isArgMax)
    reduced = rewriter.create<ArgMaxOp>(
        op.getLoc(), before, transpose.getInput(), gone.front(), op.getLast());
  else
    reduced =
        rewriter.create<Op>(op.getLoc(), before, transpose.getInput(), gone);
  rewriter.replaceOpWithNewOp<TransposeOp>(op, type, reduced, perm);
  return success();
}

namespace {
struct PushTransposes : impl::PushTransposesBase<PushTransposes> {
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    Block &block = getOperation().getBody().front();
    int64_t before = transposeCost(block).count;
    pushTransposes(getOperation());
    numRemoved += before - transposeCost(block).count;
  }
};
} // namespace

/// Whether `image` was transposed from the layout `to`.
static bool isTurned(Layout from, Layout to, Value image) {
  auto transpose = image.getDefiningOp<TransposeOp>();
  return transpose &&
         transpose.getPerm() == ArrayRef(layoutPermutation(
                                    to, from, int64_t(shapeOf(image).size())));
}

/// Whether `image` is the same in memory in both layouts: it has one channel.
static bool hasBothLayouts(Layout from, Layout to, Value image) {
  ArrayRef<int64_t> shape = shapeOf(image);
  return preservesMemoryOrder(
      layoutPermutation(from, to, int64_t(shape.size())), shape);
}

/// Gives gradients of filters whose image has one channel, and so both layouts,
/// the layout that their other image was transposed from.
static bool turnFilterGradients(func::FuncOp function) {
  bool any = false;
  function.walk([&](LayoutOpInterface op) {
    if (!op.isFilterResult())
      return;
    const Layout from = op.getLayout();
    const Layout to = from == Layout::nchw ? Layout::nhwc : Layout::nchw;
    int turned = 0, both = 0;
    for (unsigned number : op.getImageOperands()) {
      turned += isTurned(from, to, op->getOperand(number));
      both += hasBothLayouts(from, to, op->getOperand(number));
    }
    if (turned != 1 || both != 1)
      return;
    flipLayout(op, to);
    any = true;
  });
  return any;
}

void pushTransposes(func::FuncOp function) {
  if (function.isExternal())
    return;
  MLIRContext *context = function.getContext();
  RewritePatternSet patterns(context);
  TransposeOp::getCanonicalizationPatterns(patterns, context);
  ReshapeOp::getCanonicalizationPatterns(patterns, context);
  addPatterns(patterns, transposeConstant, transposeBroadcast, transposeIota,
              transposeProduct, matmulOfTranspose, matmulOfFlattened);
  patterns.add<SinkReshape>(context);
  addPatterns(patterns, reduceTranspose<ReduceSumOp>,
              reduceTranspose<ReduceMaxOp>, reduceTranspose<ReduceMinOp>,
              reduceTranspose<ArgMaxOp>);
  FrozenRewritePatternSet frozen(std::move(patterns));
  Block &block = function.getBody().front();
  // Every round must lower what is left, or it is the last; convergence of the
  // driver is no matter of correctness.
  (void)applyPatternsAndFoldGreedily(function, frozen);
  while (meetTransposes(block))
    (void)applyPatternsAndFoldGreedily(function, frozen);
  for (TransposeCost least = transposeCost(block); turnRegions(block);) {
    (void)applyPatternsAndFoldGreedily(function, frozen);
    TransposeCost cost = transposeCost(block);
    if (cost.bytes > least.bytes || cost.count > least.count ||
        (cost.bytes == least.bytes && cost.count == least.count))
      break;
    least = cost;
  }
  if (turnFilterGradients(function))
    (void)applyPatternsAndFoldGreedily(function, frozen);
}

} // namespace mlir::mnistc
