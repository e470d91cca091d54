//===- MnistFolds.cpp - local simplifications -----------------------------===//
//
// Folds: identities and small constants. Whole tensors are computed by the pass
// FoldConstants, which has a size limit.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Mnist/MnistOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

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

static bool isIdentityPermutation(ArrayRef<int64_t> perm) {
  return llvm::equal(perm, llvm::seq<int64_t>(perm.size()));
}

/// A constant `value` of one repeated element under another shape, or null.
static Attribute resplat(Attribute value, Type type) {
  auto splat = dyn_cast_or_null<SplatElementsAttr>(value);
  return splat ? splat.resizeSplat(cast<ShapedType>(type)) : Attribute();
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

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getOutput().getType())
    return getInput();
  if (auto value = dyn_cast_or_null<DenseElementsAttr>(adaptor.getInput()))
    return value.reshape(getOutput().getType());
  return {};
}

OpFoldResult SliceOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getOutput().getType() &&
      llvm::all_of(getSteps(), [](int64_t step) { return step == 1; }))
    return getInput();
  return resplat(adaptor.getInput(), getType());
}

OpFoldResult TransposeOp::fold(FoldAdaptor adaptor) {
  if (isIdentityPermutation(getPerm()))
    return getInput();
  return resplat(adaptor.getInput(), getType());
}

// A sum over nothing.
OpFoldResult ReduceSumOp::fold(FoldAdaptor) {
  return getDims().empty() ? getInput() : Value();
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {
/// reshape(reshape(x)) = reshape(x)
struct MergeReshapes : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op,
                                PatternRewriter &rewriter) const override {
    auto producer = op.getInput().getDefiningOp<ReshapeOp>();
    if (!producer)
      return rewriter.notifyMatchFailure(op, "input is no reshape");
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(),
                                           producer.getInput());
    return success();
  }
};

/// transpose(transpose(x, p), q) = transpose(x, p of q)
struct MergeTransposes : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op,
                                PatternRewriter &rewriter) const override {
    auto producer = op.getInput().getDefiningOp<TransposeOp>();
    if (!producer)
      return rewriter.notifyMatchFailure(op, "input is no transpose");
    SmallVector<int64_t> perm;
    for (int64_t dim : op.getPerm())
      perm.push_back(producer.getPerm()[dim]);
    rewriter.replaceOpWithNewOp<TransposeOp>(op, op.getType(),
                                             producer.getInput(), perm);
    return success();
  }
};

/// A transpose that only moves dimensions of size 1 is a reshape.
struct TransposeToReshape : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op,
                                PatternRewriter &rewriter) const override {
    ArrayRef<int64_t> shape = op.getInput().getType().getShape();
    int64_t last = -1;
    for (int64_t dim : op.getPerm()) {
      if (shape[dim] == 1)
        continue;
      if (dim < last)
        return rewriter.notifyMatchFailure(op, "elements change their order");
      last = dim;
    }
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), op.getInput());
    return success();
  }
};
} // namespace

void ReshapeOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                            MLIRContext *context) {
  patterns.add<MergeReshapes>(context);
}

void TransposeOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *context) {
  patterns.add<MergeTransposes, TransposeToReshape>(context);
}
