//===- SameBits.cpp - numbers that are asked to be equal ------------------===//

#include "lib/IR/Mnist/SameBits.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::mnistc;

bool CompareOp::needsSameBits() {
  return llvm::is_contained({Predicate::eq, Predicate::ne}, getPredicate()) &&
         isa<FloatType>(getElementTypeOrSelf(getLhs()));
}

/// What comparisons read, through makers that `passes` accepts.
static llvm::DenseSet<Value>
askedToBeEqual(Block &block, llvm::function_ref<bool(Operation *)> passes) {
  llvm::DenseSet<Value> found;
  SmallVector<Value> open;
  for (auto compare : block.getOps<CompareOp>())
    if (compare.needsSameBits())
      llvm::append_range(open, compare->getOperands());
  while (!open.empty()) {
    Value value = open.pop_back_val();
    Operation *maker = value.getDefiningOp();
    if (found.insert(value).second && maker && passes(maker))
      llvm::append_range(open, maker->getOperands());
  }
  return found;
}

llvm::DenseSet<Value> mlir::mnistc::valuesAskedToBeEqual(Block &block) {
  return askedToBeEqual(
      block, [](Operation *maker) { return maker->hasTrait<Indexing>(); });
}

llvm::DenseSet<Value> mlir::mnistc::elementsAskedToBeEqual(Block &block) {
  return askedToBeEqual(block, [](Operation *maker) {
    return maker->hasTrait<Indexing>() || maker->hasTrait<Elementwise>();
  });
}
