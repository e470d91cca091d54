//===- JoinInputs.cpp - products of several matrices with one of weights --===//
//
// x A, y A and z A are parts of [x; y; z] A: what the cells of a recurrence
// read of a sequence. None may need what another one gives. The gradient of the
// weights is one product, too, then, instead of a sum.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Mnist/TensorShape.h"
#include "lib/IR/Mnist/WeightedProducts.h"
#include "lib/Passes/EraseDead.h"
#include "lib/Passes/Passes.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace mlir::mnistc {

#define GEN_PASS_DEF_JOININPUTS
#include "lib/Passes/Passes.h.inc"

namespace {
using Products = SmallVector<WeightedProduct>;

struct JoinInputs : impl::JoinInputsBase<JoinInputs> {
  using JoinInputsBase::JoinInputsBase;

  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    Block &block = getOperation().getBody().front();
    // By weights, with their flag, and by the bias.
    llvm::MapVector<std::tuple<Value, unsigned, Value>, Products> groups;
    for (auto op : block.getOps<MatmulOp>())
      if (FailureOr<WeightedProduct> product = weightedProduct(op);
          succeeded(product))
        groups[{product->weights(),
                static_cast<unsigned>(product->areWeightsTransposed()),
                product->bias}]
            .push_back(*product);
    for (auto &[key, products] : groups)
      if (int64_t(products.size()) >= fewest && inputsOf(products) <= inputs &&
          areIndependent(products)) {
        join(products);
        numJoined += products.size();
      }
    eraseDead(block);
  }

private:
  static bool areIndependent(Products &products);
  static int64_t inputsOf(Products &products);
  void join(Products &products);
};
} // namespace

/// Whether none needs what another one gives.
bool JoinInputs::areIndependent(Products &products) {
  llvm::SmallPtrSet<Operation *, 16> later; // they, and what needs one of them
  for (WeightedProduct &product : products)
    later.insert(product.matmul);
  for (Operation &op : *products.front().matmul->getBlock()) {
    bool needs = llvm::any_of(op.getOperands(), [&](Value operand) {
      return later.contains(operand.getDefiningOp());
    });
    if (needs && !later.insert(&op).second)
      return false;
  }
  return true;
}

/// How many elements they have in all.
int64_t JoinInputs::inputsOf(Products &products) {
  int64_t count = 0;
  for (WeightedProduct &product : products)
    count += countOf(product.matmul.getLhs());
  return count;
}

void JoinInputs::join(Products &products) {
  OpBuilder builder(products.back().matmul);
  SmallVector<Value> rows;
  for (WeightedProduct &product : products)
    rows.push_back(product.matmul.getLhs());
  WeightedProduct &first = products.front();
  SmallVector<Value> bias;
  if (first.bias)
    bias.push_back(first.bias);
  Value joined = joinedProduct(builder, products, concatAt(builder, rows, 0),
                               first.weights(), bias);
  int64_t begin = 0;
  for (WeightedProduct &product : products) {
    replaceByPart(builder, product, /*withBias=*/!bias.empty(), joined,
                  /*dim=*/0, begin);
    begin += shapeOf(product.matmul.getOutput())[0];
  }
  // Some stand before what they read now.
  sortTopologically(&getOperation().getBody().front());
}

} // namespace mlir::mnistc
