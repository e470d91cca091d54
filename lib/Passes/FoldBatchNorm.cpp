//===- FoldBatchNorm.cpp - scales and shifts go into the weights ----------===//
//
// A chain of batch normalizations and constant scales and shifts by channel,
// after a convolution or a product with constant weights, costs nothing at run
// time: the weights are scaled, one shift is left.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Mnist/ChannelAffine.h"
#include "lib/IR/Mnist/Evaluate.h"
#include "lib/Passes/Passes.h"

namespace mlir::mnistc {

#define GEN_PASS_DEF_FOLDBATCHNORM
#include "lib/Passes/Passes.h.inc"

/// An op whose result's channels each have their own part of its weights.
namespace {
struct Weighted {
  Operation *op;
  unsigned weights;   ///< the operand's number
  int64_t weightsDim; ///< the dimension of the weights that are the channels
  int64_t dim;        ///< the dimension of the result that are the channels
};
} // namespace

static std::optional<Weighted> matchWeighted(Operation *op) {
  if (op->getNumResults() != 1)
    return std::nullopt;
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  std::optional<Weighted> weighted;
  if (auto matmul = dyn_cast<MatmulOp>(op)) {
    int64_t last = type.getRank() - 1;
    bool transposed = matmul.getTransposed()[1];
    if (isa<FloatType>(type.getElementType()))
      weighted = Weighted{op, 1, transposed ? last - 1 : last, last};
  } else if (auto conv = dyn_cast<ConvOp>(op)) {
    bool nchw = conv.getLayout() == Layout::nchw;
    weighted = Weighted{op, 1, 0, nchw ? 1 : type.getRank() - 1};
  } else if (auto conv = dyn_cast<ConvInputGradOp>(op)) {
    // A transposed convolution: with groups, a filter's channel belongs to
    // several channels of the result.
    int64_t dim = conv.getLayout() == Layout::nchw ? 1 : type.getRank() - 1;
    if (conv.getGroups() == 1)
      weighted = Weighted{op, 1, dim, dim};
  }
  if (!weighted || !constantValue(op->getOperand(1)))
    return std::nullopt;
  return weighted;
}

namespace {
/// The affine ops after a weighted one.
struct Chain {
  ChannelAffine affine;
  SmallVector<Operation *> ops;
  unsigned shifts = 0;
};

struct FoldBatchNorm : impl::FoldBatchNormBase<FoldBatchNorm> {
  void runOnOperation() override;

private:
  Chain collect(OpBuilder &builder, const Weighted &weighted);
  void fold(OpBuilder &builder, const Weighted &weighted, const Chain &chain);
};
} // namespace

/// Follows single uses for as long as they are affine.
Chain FoldBatchNorm::collect(OpBuilder &builder, const Weighted &weighted) {
  Chain chain;
  Value value = weighted.op->getResult(0);
  while (value.hasOneUse()) {
    Operation *user = *value.user_begin();
    std::optional<ChannelAffine> next =
        matchChannelAffine(builder, user, value, weighted.dim);
    if (!next)
      break;
    chain.shifts += bool(next->shift);
    chain.affine = compose(builder, user->getLoc(), chain.affine, *next);
    chain.ops.push_back(user);
    value = user->getResult(0);
  }
  return chain;
}

// w x, then s y + t      (s w) x + t
void FoldBatchNorm::fold(OpBuilder &builder, const Weighted &weighted,
                         const Chain &chain) {
  Operation *op = weighted.op, *last = chain.ops.back();
  Value weights = op->getOperand(weighted.weights);
  auto type = cast<RankedTensorType>(weights.getType());
  if (chain.affine.scale) {
    Value scale = createOrEvaluate<BroadcastOp>(builder, weights.getLoc(), type,
                                                chain.affine.scale,
                                                ArrayRef(weighted.weightsDim));
    weights =
        createOrEvaluate<MulOp>(builder, weights.getLoc(), weights, scale);
  }
  SmallVector<Location> locs{op->getLoc()};
  for (Operation *folded : chain.ops)
    locs.push_back(folded->getLoc());
  Operation *scaled = builder.clone(*op);
  scaled->setOperand(weighted.weights, weights);
  Value result = scaled->getResult(0);
  if (chain.affine.shift) {
    Location loc = last->getLoc();
    Value shift = builder.create<BroadcastOp>(
        loc, result.getType(), chain.affine.shift, ArrayRef(weighted.dim));
    result = builder.create<AddOp>(loc, result, shift);
  }
  result.getDefiningOp()->setLoc(builder.getFusedLoc(locs));
  last->getResult(0).replaceAllUsesWith(result);
  for (Operation *folded : llvm::reverse(chain.ops))
    folded->erase();
  op->erase();
  numFolded += chain.ops.size();
}

void FoldBatchNorm::runOnOperation() {
  SmallVector<Weighted> candidates;
  getOperation().walk([&](Operation *op) {
    if (std::optional<Weighted> weighted = matchWeighted(op))
      candidates.push_back(*weighted);
  });
  for (const Weighted &weighted : candidates) {
    OpBuilder builder(weighted.op);
    Chain chain = collect(builder, weighted);
    // A single shift is how a bias looks already.
    if (chain.affine.scale || chain.shifts > 1)
      fold(builder, weighted, chain);
  }
}

} // namespace mlir::mnistc
