//===- MovedElements.cpp - maps that only move elements -------------------===//

#include "lib/IR/Plan/MovedElements.h"
#include "lib/IR/Mnist/MnistOps.h"
#include "lib/IR/Mnist/TensorShape.h"
#include "llvm/ADT/TypeSwitch.h"
#include <numeric>

using namespace mlir;
using namespace mlir::mnistc;

bool mlir::mnistc::movesElements(StepOp step) {
  if (step.getNumResults() != 1 || step.getInputs().empty())
    return false;
  int64_t read = 0;
  for (BlockArgument argument : step.getBody().getArguments())
    read += countOf(argument);
  auto moves = [](Operation &op) {
    return isa<ReshapeOp, TransposeOp, ConcatOp, CastOp>(op) &&
           op.getResult(0).hasOneUse();
  };
  Block &body = step.getBody().front();
  return read == countOf(step.getResult(0)) &&
         llvm::all_of(body.without_terminator(), moves) &&
         llvm::all_of(body.getArguments(), [](BlockArgument argument) {
           return argument.hasOneUse();
         });
}

SmallVector<OpOperand *> mlir::mnistc::movesOf(BlockArgument input) {
  SmallVector<OpOperand *> moves;
  for (Value value = input;; value = moves.back()->getOwner()->getResult(0)) {
    OpOperand &use = *value.getUses().begin();
    if (isa<YieldOp>(use.getOwner()))
      return moves;
    moves.push_back(&use);
  }
}

/// Elements of a tensor from dimension `dim` on, for one index before it.
static int64_t elementsFrom(Value value, size_t dim) {
  ArrayRef<int64_t> sizes = shapeOf(value).drop_front(dim);
  return std::accumulate(sizes.begin(), sizes.end(), int64_t(1),
                         std::multiplies<>());
}

/// How many neighbours an op leaves together.
static int64_t runOf(OpOperand &move) {
  Value x = move.get();
  return llvm::TypeSwitch<Operation *, int64_t>(move.getOwner())
      .Case([&](TransposeOp op) {
        size_t dim = shapeOf(x).size();
        while (dim > 0 && op.getPerm()[dim - 1] == int64_t(dim) - 1)
          --dim;
        return elementsFrom(x, dim);
      })
      .Case([&](ConcatOp op) {
        int64_t run = 0;
        for (Value input : op.getInputs())
          run = std::gcd(run, elementsFrom(input, op.getDim()));
        return run;
      })
      .Default([&](Operation *) { return countOf(x); });
}

int64_t mlir::mnistc::runOfMoved(BlockArgument input) {
  int64_t run = countOf(input);
  for (OpOperand *move : movesOf(input))
    run = std::gcd(run, runOf(*move));
  return run;
}
