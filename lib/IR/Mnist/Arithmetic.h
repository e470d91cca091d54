//===- Arithmetic.h - ops that read as a formula ----------------*- C++ -*-===//
//
// For writing gradients, losses and optimizers. Numbers become splats; a scalar
// is repeated where it is combined with a tensor.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_IR_MNIST_ARITHMETIC_H
#define MNISTC_IR_MNIST_ARITHMETIC_H

#include "lib/IR/Mnist/MnistOps.h"
#include "mlir/IR/Matchers.h"

namespace mlir::mnistc {

inline RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// Whether it is a constant of zeros.
inline bool isZero(Value value) {
  return matchPattern(value, m_AnyZeroFloat());
}

/// The dimensions below `rank` that are not in `dims`.
inline SmallVector<int64_t> otherDims(ArrayRef<int64_t> dims, int64_t rank) {
  SmallVector<int64_t> others;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (!llvm::is_contained(dims, dim))
      others.push_back(dim);
  return others;
}

struct Arithmetic {
  OpBuilder &b;
  Location loc;

  /// `value` everywhere, in a tensor of `type`.
  Value number(Type type, double value) const {
    auto shaped = mlir::cast<ShapedType>(type);
    Type element = shaped.getElementType();
    Attribute splat = isa<FloatType>(element)
                          ? Attribute(b.getFloatAttr(element, value))
                          : b.getIntegerAttr(element, (int64_t)value);
    return b.create<ConstantOp>(loc, DenseElementsAttr::get(shaped, splat));
  }
  Value number(Value like, double value) const {
    return number(like.getType(), value);
  }

  Value add(Value x, Value y) const { return apply<AddOp>(x, y); }
  Value sub(Value x, Value y) const { return apply<SubOp>(x, y); }
  Value mul(Value x, Value y) const { return apply<MulOp>(x, y); }
  Value div(Value x, Value y) const { return apply<DivOp>(x, y); }
  Value pow(Value x, Value y) const { return apply<PowOp>(x, y); }
  Value min(Value x, Value y) const { return apply<MinOp>(x, y); }
  Value max(Value x, Value y) const { return apply<MaxOp>(x, y); }
  Value logicalAnd(Value x, Value y) const { return apply<AndOp>(x, y); }
  Value abs(Value x) const { return b.create<AbsOp>(loc, x); }
  Value neg(Value x) const { return b.create<NegOp>(loc, x); }
  Value exp(Value x) const { return b.create<ExpOp>(loc, x); }
  Value log(Value x) const { return b.create<LogOp>(loc, x); }
  Value sqrt(Value x) const { return b.create<SqrtOp>(loc, x); }
  Value sigmoid(Value x) const { return b.create<SigmoidOp>(loc, x); }
  Value softplus(Value x) const { return b.create<SoftplusOp>(loc, x); }
  Value oneMinus(Value x) const { return sub(number(x, 1), x); }

  Value compare(Predicate p, Value x, Value y) const {
    match(x, y);
    return b.create<CompareOp>(loc, p, x, y);
  }
  Value select(Value c, Value x, Value y) const {
    return b.create<SelectOp>(loc, y.getType(), c, x, y);
  }
  /// x where `c` holds, else 0.
  Value where(Value c, Value x) const { return select(c, x, number(x, 0)); }

  /// `x` with elements of another type.
  Value cast(Value x, Type element) const {
    if (typeOf(x).getElementType() == element)
      return x;
    return b.create<CastOp>(loc, typeOf(x).clone(element), x);
  }
  Value reshape(Value x, Type type) const {
    return b.createOrFold<ReshapeOp>(loc, type, x);
  }
  Value broadcast(Value x, ArrayRef<int64_t> dims, Type type) const {
    return b.createOrFold<BroadcastOp>(loc, type, x, dims);
  }
  /// A scalar, in every element of `type`'s shape.
  Value spread(Value scalar, Type type) const {
    return broadcast(scalar, {},
                     mlir::cast<RankedTensorType>(type).clone(
                         typeOf(scalar).getElementType()));
  }
  Value sum(Value x, ArrayRef<int64_t> dims) const {
    return b.create<ReduceSumOp>(loc, x, dims);
  }
  Value sumOfAll(Value x) const {
    return sum(x, llvm::to_vector(llvm::seq<int64_t>(typeOf(x).getRank())));
  }

private:
  template <typename Op> Value apply(Value x, Value y) const {
    match(x, y);
    return b.create<Op>(loc, x, y);
  }
  /// Gives a scalar the other's shape.
  void match(Value &x, Value &y) const {
    if (typeOf(x).getRank() < typeOf(y).getRank())
      x = spread(x, y.getType());
    else if (typeOf(y).getRank() < typeOf(x).getRank())
      y = spread(y, x.getType());
  }
};

} // namespace mlir::mnistc

#endif // MNISTC_IR_MNIST_ARITHMETIC_H
