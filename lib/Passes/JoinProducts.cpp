//===- JoinProducts.cpp - products of one matrix with several weights -----===//
//
// x A, x B and x C are parts of x [A B C]: queries, keys and values of one
// sequence, or a gate and what it lets through. One product fills a machine
// that three small ones leave idle, and in the backward pass the gradient of x
// is one product, too, instead of a sum of three.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Mnist/TensorShape.h"
#include "lib/IR/Mnist/WeightedProducts.h"
#include "lib/Passes/EraseDead.h"
#include "lib/Passes/Passes.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::mnistc {

#define GEN_PASS_DEF_JOINPRODUCTS
#include "lib/Passes/Passes.h.inc"

/// A part begins where kernels can read four elements at once.
static constexpr int64_t partWidth = 4;

namespace {
using Products = SmallVector<WeightedProduct>;

struct JoinProducts : impl::JoinProductsBase<JoinProducts> {
  using JoinProductsBase::JoinProductsBase;

  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    // By the value behind reshapes, and by types and options.
    llvm::MapVector<std::tuple<Value, Type, unsigned>, Products> groups;
    for (auto op : getOperation().getBody().front().getOps<MatmulOp>())
      if (FailureOr<WeightedProduct> product = weightedProduct(op);
          succeeded(product) && product->width() % partWidth == 0)
        groups[{sourceOf(op.getLhs()), op.getLhs().getType(),
                static_cast<unsigned>(product->areWeightsTransposed())}]
            .push_back(*product);
    for (auto &[key, products] : groups)
      if (products.size() > 1 && weightsOf(products) <= weights) {
        join(products);
        numJoined += products.size();
      }
    eraseDead(getOperation().getBody().front());
  }

private:
  static Value sourceOf(Value value);
  static int64_t weightsOf(Products &products);
  void join(Products &products);
};
} // namespace

Value JoinProducts::sourceOf(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getInput();
  return value;
}

/// How many elements they have in all.
int64_t JoinProducts::weightsOf(Products &products) {
  int64_t count = 0;
  for (WeightedProduct &product : products)
    count += countOf(product.weights());
  return count;
}

void JoinProducts::join(Products &products) {
  MatmulOp first = products.front().matmul;
  OpBuilder builder(first);
  SmallVector<Value> columns, biases;
  for (WeightedProduct &product : products) {
    columns.push_back(product.weights());
    if (product.bias)
      biases.push_back(product.bias);
  }
  const bool addsBiases = biases.size() == products.size();
  const int64_t dim = products.front().areWeightsTransposed() ? 0 : 1;
  Value joined = joinedProduct(builder, products, first.getLhs(),
                               concatAt(builder, columns, dim),
                               addsBiases ? biases : ArrayRef<Value>());
  int64_t begin = 0;
  for (WeightedProduct &product : products) {
    const int64_t width = product.width();
    replaceByPart(builder, product, addsBiases, joined, /*dim=*/1, begin);
    begin += width;
  }
}

} // namespace mlir::mnistc
