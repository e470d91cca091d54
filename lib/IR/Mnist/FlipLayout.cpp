//===- FlipLayout.cpp - an op in the other layout -------------------------===//

#include "lib/IR/Mnist/FlipLayout.h"
#include "lib/IR/Mnist/Evaluate.h"
#include "lib/IR/Mnist/Geometry.h"
#include "lib/IR/Mnist/Permutation.h"

using namespace mlir;
using namespace mlir::mnistc;

static Value transposed(OpBuilder &builder, Value value,
                        ArrayRef<int64_t> perm) {
  return createOrEvaluate<TransposeOp>(builder, value.getLoc(), value, perm);
}

void mlir::mnistc::flipLayout(LayoutOpInterface op, Layout layout) {
  OpBuilder builder(op);
  auto permFor = [&](Value value, Layout from, Layout to) {
    return layoutPermutation(from, to,
                             cast<RankedTensorType>(value.getType()).getRank());
  };
  Layout old = op.getLayout();
  SmallVector<unsigned> operands = op.getImageOperands();
  llvm::append_range(operands, op.getFilterOperands());
  for (unsigned number : operands) {
    Value operand = op->getOperand(number);
    op->setOperand(number,
                   transposed(builder, operand, permFor(operand, old, layout)));
  }
  op.setLayout(layout);
  Value result = op->getResult(0);
  auto type = cast<RankedTensorType>(result.getType());
  result.setType(
      type.clone(permute(type.getShape(), permFor(result, old, layout))));
  builder.setInsertionPointAfter(op);
  auto back = builder.create<TransposeOp>(op.getLoc(), result,
                                          permFor(result, layout, old));
  result.replaceAllUsesExcept(back, back);
}
