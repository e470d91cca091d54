//===- StepBody.h - what a step computes, read off its body -----*- C++ -*-===//
//
// Most bodies have at most one root, an op that is neither elementwise nor
// indexing. What feeds the root is the step's prologue, what follows it its
// epilogue; a step without a root is a map, and one with several a row step
// (RowBody.h), a pool step (PoolBody.h) or a gradient step (GradientBody.h).
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_IR_PLAN_STEPBODY_H
#define MNISTC_IR_PLAN_STEPBODY_H

#include "lib/IR/Mnist/MnistOps.h"
#include "lib/IR/Plan/PlanOps.h"
#include <optional>

namespace mlir::mnistc {

/// Neither elementwise nor indexing nor a constant: has its own loops, and
/// is not inlined.
bool isRoot(Operation *op);

/// Reductions, softmax and arg-max too, where an element of the result is a
/// loop over elements of the operand; and max_unpool, where it is one of these
/// or 0.
bool mayBeInlined(Operation *op);

/// A small reduction that is computed where its result is read, or a max_unpool
/// whose reader is given the windows instead: marked `plan.inline`.
bool isInlined(Operation *op);

/// Marks an op that is computed again for what reads it: it belongs to its
/// readers, not to what makes its operands. Only until rows are formed.
inline constexpr llvm::StringLiteral againAttribute = "plan.again";

/// The inlined max_unpool that gives `value`, or null.
MaxUnpoolOp inlinedUnpoolOf(Value value);

/// The gradient of the output that a convolution's gradient reads, or null.
Value outputGradOf(Operation *gradient);

/// A matrix product, a convolution or a gradient of one: ops that libraries
/// compute, and whose operands are read many times.
bool isContraction(Operation *op);

/// Whether it is a product or convolution of operands that are bf16 in memory.
bool readsRounded(Operation *op);
/// Whether generated kernels load an operand in bf16 as well, where the result
/// is f32: an image of a convolution or of a gradient of one, and an operand of
/// a product in bf16.
bool mayBeRounded(OpOperand &operand);

/// Whether an implementation is that of collectives.
bool isCollective(Impl impl);

/// Whether a step consists of collectives: a bucket, where it has several.
bool isCollectiveStep(StepOp step);

/// The links of a chain (ChainBody.h), in order; none of another step.
SmallVector<StepOp> linksOf(StepOp step);

/// All ops of a step but its yield; of a chain those of its links.
SmallVector<Operation *> opsIn(StepOp step);

/// The root of a step, of several the first; null for a map.
Operation *rootOf(StepOp step);
/// All roots of a step, in order.
SmallVector<Operation *> rootsOf(StepOp step);

/// The operands of a step's yield.
OperandRange yieldsOf(StepOp step);

/// `value` without the reshapes that it went through: they cost nothing.
Value skipReshapes(Value value);

/// Whether `op` computes element i from the elements i of its operands, in
/// row-major order: elementwise ops and reshapes.
bool isPointwise(Operation *op);

/// What follows from a root and does not go through the elements as the root
/// does, or null.
Operation *firstOutOfOrder(Operation *root);

/// Whether who computes an element of the result reads of `operand` only the
/// element of the same number: of two tensors of one element always.
bool readsInOrder(Operation *op, Value operand);

/// Whether a kernel computes a step that has no root.
bool isMapStep(StepOp step);

/// Whether all that a step makes of its input number `number` is in the order
/// of its elements.
bool keepsOrder(StepOp step, unsigned number);

/// y = relu?(x + bias? + residual?), with x the root's result. `bias` has one
/// element a channel (conv) or column (matmul), `residual` as many elements as
/// y. Both are arguments of the body or null.
struct LibraryEpilogue {
  Value bias, residual;
  bool relu = false;
};

/// The parts of a LibraryEpilogue that an implementation can do.
struct EpilogueParts {
  bool bias = true, residual = true, relu = true;
};

/// The longest beginning of a step's epilogue that has the form of a
/// LibraryEpilogue with these parts only, and the value that it ends in.
struct EpiloguePrefix {
  LibraryEpilogue epilogue;
  Value end;
};
EpiloguePrefix matchEpiloguePrefix(StepOp step, EpilogueParts parts);

/// Whether the root's operands are in memory: arguments of the body, or
/// reshapes of them.
bool rootReadsMemory(StepOp step);

/// The epilogue of a step that is as libraries want it: the root reads memory,
/// and all that follows is a LibraryEpilogue.
std::optional<LibraryEpilogue> matchLibraryEpilogue(StepOp step);

/// Results of a map that one loop makes together: equally many elements, which
/// share what they are computed from. Segments know nothing of each other: on a
/// GPU, threads of different blocks compute them, in any order.
struct Segment {
  SmallVector<unsigned> results; ///< their numbers
  int64_t elements;
};
/// Each result of a step is in one. Of a step with a root, neighbours of
/// equally many elements are together.
SmallVector<Segment> segmentsOf(StepOp step);

/// Whether result number `result` of a step may take the place of input number
/// `input`: where element i of the result is stored, only element i of the
/// input is read, and nothing else of the step reads it. Libraries promise no
/// order.
bool canUpdateInPlace(StepOp step, unsigned input, unsigned result = 0);

/// Bytes of a tensor in memory; a boolean takes one.
int64_t sizeInBytes(Type type);

/// Floating-point operations of a step: a multiplication with its addition are
/// two, anything elementwise is one, an index nothing.
double flopsOf(StepOp step);

/// Bytes of a step's inputs and results, each counted once.
double bytesOf(StepOp step);

} // namespace mlir::mnistc

#endif // MNISTC_IR_PLAN_STEPBODY_H
