//===- WeightedProducts.cpp - products with weights -----------------------===//

#include "lib/IR/Mnist/WeightedProducts.h"
#include "lib/IR/Mnist/Arithmetic.h"
#include "lib/IR/Mnist/TensorShape.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"

using namespace mlir;
using namespace mlir::mnistc;

bool mlir::mnistc::isGiven(Value value) {
  return isa<BlockArgument>(value) ||
         isa<ConstantOp, ml_program::GlobalLoadOp>(value.getDefiningOp());
}

/// What is added to each row of a value, if a given bias is.
static Value biasIn(AddOp add, Value rows) {
  const bool isFirst = add.getLhs() == rows;
  auto bias =
      (isFirst ? add.getRhs() : add.getLhs()).getDefiningOp<BroadcastOp>();
  const int64_t last = typeOf(add.getResult()).getRank() - 1;
  if (!bias || !isGiven(bias.getInput()) ||
      bias.getDims() != ArrayRef<int64_t>{last})
    return {};
  return bias.getInput();
}

FailureOr<WeightedProduct> mlir::mnistc::weightedProduct(MatmulOp op) {
  if (op.getType().getRank() != 2 || op.getTransposed()[0] ||
      !isGiven(op.getRhs()) ||
      op.getRhs().getType().getElementType() !=
          op.getLhs().getType().getElementType())
    return failure();
  WeightedProduct product{op, op.getOutput(), {}};
  Value sum = op.getOutput();
  auto next = [&] { return sum.hasOneUse() ? *sum.user_begin() : nullptr; };
  if (auto reshape = dyn_cast_or_null<ReshapeOp>(next());
      reshape && shapeOf(reshape.getOutput()).back() == product.width())
    sum = reshape.getOutput();
  if (auto add = dyn_cast_or_null<AddOp>(next()))
    if (Value bias = biasIn(add, sum))
      product.end = add.getResult(), product.bias = bias;
  return product;
}

Value mlir::mnistc::concatAt(OpBuilder &builder, Location loc,
                             ArrayRef<Value> parts, int64_t dim) {
  SmallVector<int64_t> shape(shapeOf(parts.front()));
  shape[dim] = 0;
  for (Value part : parts) {
    shape[dim] += shapeOf(part)[dim];
    if (Operation *given = part.getDefiningOp();
        given && isGiven(part) &&
        builder.getInsertionPoint()->isBeforeInBlock(given))
      given->moveBefore(&*builder.getInsertionPoint());
  }
  return builder.create<ConcatOp>(loc, typeOf(parts.front()).clone(shape),
                                  parts, dim);
}

Value mlir::mnistc::concatAt(OpBuilder &builder, ArrayRef<Value> parts,
                             int64_t dim) {
  auto locations = llvm::map_to_vector(
      parts, [](Value part) -> Location { return part.getLoc(); });
  return concatAt(builder, builder.getFusedLoc(locations), parts, dim);
}

Value mlir::mnistc::joinedProduct(OpBuilder &builder,
                                  MutableArrayRef<WeightedProduct> products,
                                  Value rows, Value weights,
                                  ArrayRef<Value> biases) {
  SmallVector<Location> locations, ends;
  for (WeightedProduct &product : products) {
    locations.push_back(product.matmul.getLoc());
    ends.push_back(product.end.getLoc());
  }
  Value joined = builder.create<MatmulOp>(
      builder.getFusedLoc(locations), rows, weights, /*lhsT=*/false,
      products.front().areWeightsTransposed());
  if (biases.empty())
    return joined;
  const Location sum = builder.getFusedLoc(ends);
  Value bias =
      biases.size() == 1 ? biases.front() : concatAt(builder, biases, 0);
  Value repeated = builder.create<BroadcastOp>(sum, joined.getType(), bias,
                                               ArrayRef<int64_t>{1});
  return builder.create<AddOp>(sum, joined, repeated);
}

void mlir::mnistc::replaceByPart(OpBuilder &builder, WeightedProduct &product,
                                 bool withBias, Value joined, int64_t dim,
                                 int64_t begin) {
  Value end = withBias ? product.end : product.matmul.getOutput();
  SmallVector<int64_t> starts(2, 0);
  starts[dim] = begin;
  Value part = builder.create<SliceOp>(
      end.getLoc(), typeOf(joined).clone(shapeOf(product.matmul.getOutput())),
      joined, starts, ArrayRef<int64_t>{1, 1});
  end.replaceAllUsesWith(
      builder.createOrFold<ReshapeOp>(end.getLoc(), end.getType(), part));
}
