//===- KnownAttributes.cpp - the attributes of a dialect ------------------===//

#include "lib/IR/KnownAttributes.h"
#include "lib/IR/Plan/StepBody.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::mnistc;

AttributeKind mlir::mnistc::aString() {
  return {"a string", [](Attribute value) { return isa<StringAttr>(value); }};
}

AttributeKind mlir::mnistc::aUnit() {
  return {"a unit", [](Attribute value) { return isa<UnitAttr>(value); }};
}

AttributeKind mlir::mnistc::aNumberOfBytes() {
  return {"an i64 from 0 to " + std::to_string(maxBytes), [](Attribute value) {
            auto number = dyn_cast<IntegerAttr>(value);
            return number && number.getType().isSignlessInteger(64) &&
                   number.getInt() >= 0 && number.getInt() <= maxBytes;
          }};
}

AttributeKind mlir::mnistc::anI64() {
  return {"an i64", [](Attribute value) {
            auto number = dyn_cast<IntegerAttr>(value);
            return number && number.getType().isSignlessInteger(64);
          }};
}

AttributeKind mlir::mnistc::manyI64() {
  return {"an array of i64",
          [](Attribute value) { return isa<DenseI64ArrayAttr>(value); }};
}

AttributeKind mlir::mnistc::oneOf(std::initializer_list<StringRef> words) {
  std::vector<std::string> known(words.begin(), words.end());
  return {"one of " + llvm::join(known, ", "), [known](Attribute value) {
            auto word = dyn_cast<StringAttr>(value);
            return word && llvm::is_contained(known, word.str());
          }};
}

/// A value as a message may quote it.
static std::string quoted(Attribute value) {
  if (!value)
    return "none";
  constexpr size_t longest = 60;
  std::string text;
  llvm::raw_string_ostream(text) << value;
  if (text.size() > longest)
    text = text.substr(0, longest) + "...";
  return text;
}

static std::string wordsFor(unsigned places) {
  static constexpr std::pair<Place, StringLiteral> words[] = {
      {onModule, "a module"},
      {onFunction, "a function"},
      {onArgument, "an argument"},
      {onResult, "a result"},
      {onGlobal, "a global"},
      {onConstant, "a constant outside of steps"},
      {onInlined, "a reduction or a max_unpool"},
      {onStep, "a step"},
      {onOp, "an op"}};
  SmallVector<StringRef> found;
  for (auto &[place, text] : words)
    if (places & place)
      found.push_back(text);
  return llvm::join(found, " or ");
}

unsigned mlir::mnistc::placesOf(Operation *op) {
  if (isa<ModuleOp>(op))
    return onModule;
  if (isa<func::FuncOp>(op))
    return onFunction;
  if (isa<ml_program::GlobalOp>(op))
    return onGlobal;
  if (isa<ConstantOp>(op) && isa<func::FuncOp>(op->getParentOp()))
    return onConstant | onOp;
  if (isa<StepOp>(op))
    return onStep | onOp;
  return mayBeInlined(op) ? onInlined | onOp : onOp;
}

LogicalResult mlir::mnistc::verifyKnown(Operation *op, unsigned places,
                                        NamedAttribute attribute,
                                        ArrayRef<KnownAttribute> known) {
  StringRef name = attribute.getName();
  const KnownAttribute *row = llvm::find_if(
      known, [&](const KnownAttribute &row) { return row.name == name; });
  if (row == known.end())
    return op->emitError("expected a known attribute of the dialect '")
           << attribute.getNameDialect()->getNamespace() << "', got '" << name
           << "'";
  if (!(row->places & places))
    return op->emitError("expected '")
           << name << "' on " << wordsFor(row->places) << ", got it on "
           << wordsFor(places & ~onOp ? places & ~onOp : places);
  if (!row->kind.holds(attribute.getValue()))
    return op->emitError("expected '")
           << name << "' to be " << row->kind.text << ", got "
           << quoted(attribute.getValue());
  return success();
}

LogicalResult mlir::mnistc::verifyEntries(Operation *op, StringRef attribute,
                                          DictionaryAttr entries,
                                          ArrayRef<KnownEntry> known) {
  for (const KnownEntry &row : known) {
    Attribute value = entries.get(row.name);
    if (!value || !row.kind.holds(value))
      return op->emitError("expected '")
             << row.name << "' in '" << attribute << "' to be " << row.kind.text
             << ", got " << quoted(value);
  }
  if (entries.size() != known.size())
    return op->emitError("expected ")
           << known.size() << " entries in '" << attribute << "', got "
           << entries.size();
  return success();
}
