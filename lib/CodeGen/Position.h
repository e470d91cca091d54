//===- Position.h - which element of a tensor -------------------*- C++ -*-===//
//
// The index arithmetic of generated code: an element is named by a coordinate
// for each dimension, kept as digits of a linear index for as long as possible,
// so that what was split joins again and `x[i / 8 * 8 + i % 8]` prints as
// `x[i]`.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_CODEGEN_POSITION_H
#define MNISTC_CODEGEN_POSITION_H

#include "lib/CodeGen/CppText.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <memory>
#include <optional>

namespace mlir::mnistc {

/// What the number of an element is divided by where it is printed.
class Divisors {
public:
  void add(int64_t divisor) { all.push_back(divisor); }
  /// A length of runs into which so many elements can be cut: quotients by
  /// divisors are equal in a run, and remainders as far apart as elements, but
  /// for divisors below 16. Nothing where there are no others.
  std::optional<int64_t> runOf(int64_t elements) const;

private:
  SmallVector<int64_t> all;
};

/// scale * (base / div % size) + offset, where base is less than `range`.
struct Coordinate {
  Expr base;
  int64_t range = 1, div = 1, size = 1;
  int64_t scale = 1, offset = 0;
  /// What base is the sum of, if it is one: it can be part of a longer one.
  std::shared_ptr<const SmallVector<Coordinate, 0>> terms = nullptr;

  /// Some expression less than `size`.
  static Coordinate opaque(Expr base, int64_t size) {
    return {std::move(base), size, 1, size, 1, 0};
  }
  bool isPlain() const { return scale == 1 && offset == 0; }
  /// by * this + from
  Coordinate affine(int64_t by, int64_t from) const {
    Coordinate result = *this;
    result.scale *= by;
    result.offset = result.offset * by + from;
    return result;
  }
  Expr print() const;
  /// Whether it is less than a number.
  Expr isBelow(int64_t bound) const;
};

/// An element of a tensor, one coordinate a dimension.
using Position = SmallVector<Coordinate>;

/// Element number `base` of a tensor, in row-major order.
Position positionAt(const Expr &base, ArrayRef<int64_t> shape);

/// The number of the element in row-major order.
Expr linearIndex(const Position &position, ArrayRef<int64_t> shape);

/// The element of the same number under another shape. `name` gives a name to
/// an expression that is needed more than once.
Position reshaped(const Position &position, ArrayRef<int64_t> from,
                  ArrayRef<int64_t> to,
                  llvm::function_ref<Expr(const Expr &)> name);

} // namespace mlir::mnistc

#endif // MNISTC_CODEGEN_POSITION_H
