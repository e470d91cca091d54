//===- JoinTerms.cpp - sums of products as one product --------------------===//
//
// a A + b B + c C is [a b c] times A, B and C one below the other. Weights that
// are used several times, as those of a recurrent cell, have such a gradient:
// small products, each of which waits for the sum of the ones before.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Mnist/Arithmetic.h"
#include "lib/IR/Mnist/TensorShape.h"
#include "lib/IR/Mnist/WeightedProducts.h"
#include "lib/Passes/EraseDead.h"
#include "lib/Passes/Passes.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::mnistc {

#define GEN_PASS_DEF_JOINTERMS
#include "lib/Passes/Passes.h.inc"

namespace {
using Products = SmallVector<MatmulOp>;

struct JoinTerms : impl::JoinTermsBase<JoinTerms> {
  using JoinTermsBase::JoinTermsBase;

  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    Block &block = getOperation().getBody().front();
    for (AddOp sum : llvm::to_vector(block.getOps<AddOp>()))
      if (!isTerm(sum))
        joinTermsOf(sum);
    eraseDead(block);
  }

private:
  static bool isTerm(AddOp sum);
  void joinTermsOf(AddOp sum);
  bool pays(const Products &products) const;
};
} // namespace

/// Whether a sum is but a term of another one.
bool JoinTerms::isTerm(AddOp sum) {
  return sum->hasOneUse() && isa<AddOp>(*sum->user_begin());
}

/// The terms of a sum, in their order.
static void collectTerms(Value value, SmallVectorImpl<Value> &terms,
                         bool isWhole = true) {
  auto sum = value.getDefiningOp<AddOp>();
  if (!sum || !(isWhole || sum->hasOneUse()))
    return terms.push_back(value);
  collectTerms(sum.getLhs(), terms, false);
  collectTerms(sum.getRhs(), terms, false);
}

/// The dimension over which a product sums, of its left or right operand.
static int64_t summedDim(MatmulOp product, bool isRight) {
  return product.getTransposed()[isRight] == isRight ? 1 : 0;
}

bool JoinTerms::pays(const Products &products) const {
  int64_t elements = 0;
  for (MatmulOp product : products)
    elements += countOf(product.getLhs()) + countOf(product.getRhs());
  return int64_t(products.size()) >= fewest && elements <= most;
}

/// The left or right operands, one after another along what is summed.
static Value operandsOf(OpBuilder &builder, Location loc,
                        const Products &products, bool isRight) {
  SmallVector<Value> parts;
  for (MatmulOp product : products)
    parts.push_back(isRight ? product.getRhs() : product.getLhs());
  return concatAt(builder, loc, parts, summedDim(products.front(), isRight));
}

void JoinTerms::joinTermsOf(AddOp sum) {
  SmallVector<Value> terms, others;
  collectTerms(sum.getResult(), terms);
  llvm::MapVector<std::pair<Type, unsigned>, Products> groups;
  for (Value term : terms)
    if (auto product = term.getDefiningOp<MatmulOp>();
        product && product->hasOneUse() && product.getType().getRank() == 2)
      groups[{product.getLhs().getType().getElementType(),
              product.getTransposed()[0] * 2u + product.getTransposed()[1]}]
          .push_back(product);
    else
      others.push_back(term);
  if (llvm::none_of(groups, [&](auto &group) { return pays(group.second); }))
    return;
  OpBuilder builder(sum);
  for (auto &[key, products] : groups) {
    if (!pays(products)) {
      for (MatmulOp product : products)
        others.push_back(product.getOutput());
      continue;
    }
    SmallVector<Location> locations;
    for (MatmulOp product : products)
      locations.push_back(product.getLoc());
    const Location loc = builder.getFusedLoc(locations);
    MatmulOp first = products.front();
    Value left = operandsOf(builder, loc, products, false);
    Value right = operandsOf(builder, loc, products, true);
    others.push_back(builder.create<MatmulOp>(
        loc, left, right, first.getTransposed()[0], first.getTransposed()[1]));
    numJoined += products.size();
  }
  Value joined = others.front();
  for (Value other : ArrayRef(others).drop_front())
    joined = builder.create<AddOp>(sum.getLoc(), joined, other);
  sum.replaceAllUsesWith(joined);
}

} // namespace mlir::mnistc
