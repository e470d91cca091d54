//===- RowEmitter.h - a step that reduces rows as text ----------*- C++ -*-===//

#ifndef MNISTC_CODEGEN_ROWEMITTER_H
#define MNISTC_CODEGEN_ROWEMITTER_H

#include "lib/CodeGen/FunctorEmitter.h"
#include "lib/IR/Mnist/TensorShape.h"
#include "lib/IR/Plan/RowBody.h"

namespace mlir::mnistc {

/// The model's name of a result, or what its kind is called if several have
/// that name.
std::string nameOf(Operation *op, const NameScope &scope);

/// "mn::Values<float, 2>": what elements or rows give to a phase.
std::string givenText(const RowPhase &phase);

/// The type of what comes of a phase.
std::string resultText(const RowPhase &phase);

/// Result number `i` of a phase, as an element of its tensor.
Expr resultOf(const RowPhase &phase, unsigned i);

/// The functor of a step that reduces rows (mnistrt/rows.h).
class RowEmitter {
public:
  RowEmitter(FunctorEmitter &functor, const RowBody &rows)
      : out(functor), body(functor.body), rows(rows), space(rows.space),
        element(
            rowPosition(space.getShape(), space.getReducedDims(), &divisors)),
        row(positionAt({"o"}, space.getRowShape())),
        elementIndex(linearIndex(element, space.getShape())),
        rowIndex(linearIndex(row, space.getRowShape())) {
    if (space.getRun() > 1)
      numberType = out.takeRun(divisors, space.size(), indexType).str();
  }

  LogicalResult emit();

private:
  /// A member of ElementValues or RowValues.
  struct Field {
    Value value;
    std::string name;
    unsigned known; ///< after so many phases
  };

  std::string factsText() const;
  void findFields();
  void findElementFields();
  void addElementField(Value value);
  /// Whether a value is an input of an element, or is made of these alone by
  /// elementwise ops, each of which has been asked about.
  bool isOfElement(Value value) const {
    return space.hasElements(value) &&
           (isa<BlockArgument>(skipReshapes(value)) || made.contains(value));
  }
  bool isLoadedEarly(Operation &op, Value operand) const;
  bool readsElements(Operation &op) const {
    return isa<YieldOp>(op) || space.isMap(&op) || space.isReduction(&op) ||
           space.isTotal(&op);
  }
  /// What there is one of for each row, or at all.
  void addRowField(Value value);
  /// Where such a value is in its tensor, for row `o`.
  Position rowPlaceOf(Value value) const {
    return space.hasRows(value) ? row : positionAt({"0"}, shapeOf(value));
  }
  Expr rowIndexOf(Value value) const {
    return linearIndex(rowPlaceOf(value), shapeOf(value));
  }
  std::string structText(StringRef name, ArrayRef<Field> fields);
  std::string arraysText() const;
  std::string phasesText(StringRef name, ArrayRef<RowPhase> phases);
  /// What a function of an element is given.
  SmallVector<Parameter> elementParameters() const;
  /// Begins a function that knows the elements, where it `hasElement`, and the
  /// row after so many phases.
  void beginBody(unsigned known, bool hasElement);
  LogicalResult emitLoad();
  /// An input of an element at a place.
  FailureOr<Expr> loadedInput(Value input);
  LogicalResult emitPhase(unsigned number);
  LogicalResult emitUpdate(StringRef head, ArrayRef<Parameter> parameters,
                           unsigned known);
  bool storesInLastPhase() const;
  /// The results of elements, computed in the body.
  FailureOr<SmallVector<StoredField>> storedFields();
  LogicalResult emitStores();
  LogicalResult emitRowStores();
  LogicalResult emitTotals();
  LogicalResult emitTotal(unsigned number, ArrayRef<std::string> fields);
  LogicalResult emitStoreTotals(ArrayRef<std::string> fields);

  FunctorEmitter &out;
  BodyEmitter &body;
  const RowBody &rows;
  const RowSpace &space;
  Divisors divisors; ///< of an element's number
  std::string numberType = indexType.str();
  Position element, row;
  Expr elementIndex, rowIndex;
  SmallVector<Field> elementFields, rowFields;
  NameScope elementNames, rowNames;
  llvm::SetVector<Value> elementInputs; ///< that are in memory
  llvm::SetVector<Value> made;          ///< of these
  bool keepsMade = false; ///< are elements these, not their inputs?
  llvm::SetVector<Value> seen;
};

} // namespace mlir::mnistc

#endif // MNISTC_CODEGEN_ROWEMITTER_H
