//===- MnistBuilders.cpp - builders that infer types ----------------------===//

#include "lib/IR/Mnist/Arithmetic.h"

using namespace mlir;
using namespace mlir::mnistc;

void CompareOp::build(OpBuilder &builder, OperationState &state,
                      Predicate predicate, Value lhs, Value rhs) {
  build(builder, state, typeOf(lhs).clone(builder.getI1Type()), predicate, lhs,
        rhs);
}

void TransposeOp::build(OpBuilder &builder, OperationState &state, Value input,
                        ArrayRef<int64_t> perm) {
  SmallVector<int64_t> shape;
  for (int64_t dim : perm)
    shape.push_back(typeOf(input).getDimSize(dim));
  build(builder, state, typeOf(input).clone(shape), input, perm);
}

static RankedTensorType reducedType(Value input, ArrayRef<int64_t> dims) {
  SmallVector<int64_t> shape;
  for (auto [dim, size] : llvm::enumerate(typeOf(input).getShape()))
    if (!llvm::is_contained(dims, (int64_t)dim))
      shape.push_back(size);
  return typeOf(input).clone(shape);
}

void ReduceMaxOp::build(OpBuilder &builder, OperationState &state, Value input,
                        ArrayRef<int64_t> dims) {
  build(builder, state, reducedType(input, dims), input, dims);
}
void ReduceMinOp::build(OpBuilder &builder, OperationState &state, Value input,
                        ArrayRef<int64_t> dims) {
  build(builder, state, reducedType(input, dims), input, dims);
}
void ReduceSumOp::build(OpBuilder &builder, OperationState &state, Value input,
                        ArrayRef<int64_t> dims) {
  build(builder, state, reducedType(input, dims), input, dims);
}

void MatmulOp::build(OpBuilder &builder, OperationState &state, Value lhs,
                     Value rhs, bool lhsT, bool rhsT) {
  ArrayRef<int64_t> a = typeOf(lhs).getShape(), b = typeOf(rhs).getShape();
  SmallVector<int64_t> shape(a.drop_back(2));
  shape.push_back(a[a.size() - (lhsT ? 1 : 2)]);
  shape.push_back(b[b.size() - (rhsT ? 2 : 1)]);
  Type element = typeOf(lhs).getElementType();
  if (element.isBF16())
    element = builder.getF32Type();
  build(builder, state, RankedTensorType::get(shape, element), lhs, rhs,
        {lhsT, rhsT});
}
