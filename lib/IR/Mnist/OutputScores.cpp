//===- OutputScores.cpp - what the numbers of an output are ---------------===//

#include "lib/IR/Mnist/OutputScores.h"
#include "lib/IR/Mnist/Arithmetic.h"

using namespace mlir;
using namespace mlir::mnistc;

static bool isAll(Value value, double number) {
  auto constant = value.getDefiningOp<ConstantOp>();
  auto splat = constant ? dyn_cast<SplatElementsAttr>(constant.getValue())
                        : SplatElementsAttr();
  return splat && isa<FloatType>(splat.getElementType()) &&
         splat.getSplatValue<APFloat>().convertToDouble() == number;
}

/// The operand s of 1 - s, or null.
static Value operandOfOneMinus(Value value) {
  auto sub = value.getDefiningOp<SubOp>();
  return sub && isAll(sub.getLhs(), 1) ? sub.getRhs() : Value();
}

/// Scores z whose softmax is (1 - s, s) or (s, 1 - s): for a
/// sigmoid s of z these are (0, z), else logarithms.
static Value scoresOfPair(Value output, Arithmetic a) {
  auto pair = output.getDefiningOp<ConcatOp>();
  if (!pair || pair.getDim() != classDim || pair.getInputs().size() != 2)
    return {};
  Value first = pair.getInputs()[0], second = pair.getInputs()[1];
  bool isSecond = operandOfOneMinus(first) == second;
  if ((!isSecond && operandOfOneMinus(second) != first) ||
      typeOf(first).getDimSize(classDim) != 1)
    return {};
  Value s = isSecond ? second : first;
  if (auto sigmoid = s.getDefiningOp<SigmoidOp>()) {
    Value z = sigmoid.getInput(), zero = a.number(z, 0);
    return a.b.create<ConcatOp>(
        a.loc, output.getType(),
        isSecond ? ValueRange{zero, z} : ValueRange{z, zero}, classDim);
  }
  return output;
}

/// Whether a value is e / sum(e) over the classes.
static bool isShareOfSum(Value output) {
  auto div = output.getDefiningOp<DivOp>();
  auto repeated =
      div ? div.getRhs().getDefiningOp<BroadcastOp>() : BroadcastOp();
  if (!repeated)
    return false;
  Value sum = repeated.getInput();
  while (auto reshape = sum.getDefiningOp<ReshapeOp>())
    sum = reshape.getInput();
  auto reduce = sum.getDefiningOp<ReduceSumOp>();
  return reduce && reduce.getInput() == div.getLhs() &&
         reduce.getDims() == ArrayRef<int64_t>(classDim);
}

Value mlir::mnistc::scoresOfProbabilities(Value output, OpBuilder &builder) {
  if (typeOf(output).getRank() < 2)
    return {};
  builder.setInsertionPointAfterValue(output);
  Arithmetic a{builder, output.getLoc()};
  Value scores = scoresOfPair(output, a);
  if (!scores && isShareOfSum(output))
    scores = output;
  constexpr double smallest = 1e-30; // Its logarithm is a number.
  return scores == output && scores
             ? a.log(a.max(output, a.number(output, smallest)))
             : scores;
}

bool mlir::mnistc::looksLikeLogits(Value output) {
  while (Operation *op = output.getDefiningOp()) {
    if (auto root = dyn_cast<RootOpInterface>(op))
      return root.mayGiveLogits();
    if (!op->hasTrait<Indexing>() || isa<ConcatOp>(op))
      return isa<AddOp, SubOp, MulOp, BatchNormOp, LogOp>(op);
    output = op->getOperand(0);
  }
  return true;
}
