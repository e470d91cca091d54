//===- KnownAttributes.h - the attributes of a dialect ----------*- C++ -*-===//
//
// What passes and code generation leave on modules, functions and ops, as a
// table of each dialect: where an attribute stands, and what it says. A text
// that was written or changed manually is checked against it when it is read.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_IR_KNOWNATTRIBUTES_H
#define MNISTC_IR_KNOWNATTRIBUTES_H

#include "mlir/IR/Operation.h"
#include <functional>

namespace mlir::mnistc {

/// What a value must be, in words and in fact.
struct AttributeKind {
  std::string text;
  std::function<bool(Attribute)> holds;
};

AttributeKind aString();
AttributeKind aUnit();
AttributeKind anI64();
/// An i64 that does not overflow when sizes are added to it.
AttributeKind aNumberOfBytes();
AttributeKind manyI64();
AttributeKind oneOf(std::initializer_list<StringRef> words);

inline constexpr int64_t maxBytes = int64_t(1) << 60;

/// Where attributes stand: bits.
enum Place : unsigned {
  onModule = 1,
  onFunction = 2,
  onArgument = 4,
  onResult = 8,
  onGlobal = 16,
  onConstant = 32, ///< outside of steps
  onInlined = 64,
  onOp = 128,
  onStep = 256,
};

struct KnownAttribute {
  StringRef name; ///< with the dialect's: "plan.offset"
  unsigned places;
  AttributeKind kind;
};

/// The places that an op is.
unsigned placesOf(Operation *op);

/// Says what is wrong with an attribute that stands at one of `places`.
LogicalResult verifyKnown(Operation *op, unsigned places,
                          NamedAttribute attribute,
                          ArrayRef<KnownAttribute> known);

/// Says which entry is missing in a dictionary, or is not what it must be.
struct KnownEntry {
  StringRef name;
  AttributeKind kind;
};
LogicalResult verifyEntries(Operation *op, StringRef attribute,
                            DictionaryAttr entries, ArrayRef<KnownEntry> known);

} // namespace mlir::mnistc

#endif // MNISTC_IR_KNOWNATTRIBUTES_H
