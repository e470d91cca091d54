//===- FunctorEmitter.h - a step on generated code as text ------*- C++ -*-===//

#ifndef MNISTC_CODEGEN_FUNCTOREMITTER_H
#define MNISTC_CODEGEN_FUNCTOREMITTER_H

#include "lib/CodeGen/EmitBody.h"
#include "lib/CodeGen/EmitStep.h"
#include "lib/CodeGen/KernelTable.h"
#include "lib/IR/Mnist/MnistOps.h"
#include "lib/IR/Plan/ChainBody.h"
#include "lib/IR/Plan/StepBody.h"
#include "lib/IR/Plan/Target.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::mnistc {

inline StringRef elementName(Value value) {
  return elementTypeName(getElementTypeOrSelf(value.getType()));
}

/// "y[i] = x;"
std::string storeLine(StringRef pointer, StringRef index, const Expr &value,
                      unsigned indent = 4);

/// Whether a result shares the address of an input that the step may still
/// read.
bool takesPlace(StepOp step, ValueRange results, const PlanNames &names);

/// ".pool = {.kernel = {2, 2, 1}, .out = {14, 14, 1}}", of a pool that gives
/// `pooled`.
std::string poolField(Layout layout, ArrayRef<int64_t> window, Value pooled,
                      bool isMaximum);

/// Element `r` of those along `dims` that become element `o`.
Position rowPosition(ArrayRef<int64_t> shape, ArrayRef<int64_t> dims,
                     Divisors *ofElement = nullptr,
                     Divisors *ofResult = nullptr);

/// What has the type in which a root computes: its result, unless that is an
/// index, and its operands may be rounded.
Value computedBy(Operation *root);

inline constexpr StringLiteral indexType = "mn::Index";
inline constexpr StringLiteral offsetType = "mn::Offset";

/// A parameter of a functor's function.
struct Parameter {
  Parameter(StringRef type, StringRef name) : type(type), name(name) {}
  std::string type, name;
};

/// What a functor loads of an element: a tensor in memory, and what it is
/// called.
struct LoadedField {
  Value tensor;
  std::string name;
};
/// What a functor stores of an element.
struct StoredField {
  Value result; ///< of the step
  Expr value;
};

/// A link of a chain, "mn::MatmulLink<float, Hidden, hidden_shape>", its
/// functor, and what its step makes, or what it brings to shared memory.
struct LinkText {
  SmallVector<Value> made;
  std::string type;
  FunctorTable functor;
};

/// The functor of a step on generated code, and what it is called with.
class FunctorEmitter {
public:
  friend class RowEmitter;
  FunctorEmitter(StepOp step, PlanNames &names, KernelTable &kernels)
      : step(step), names(names), kernels(kernels), root(rootOf(step)),
        locals(&names.scope),
        body(
            locals, [this](BlockArgument argument) { return use(argument); },
            machineFor(step).countsInRuns) {
    name = (names.space() + "_" + names[step.getResult(0)]).str();
  }

  /// Writes the functor and what makes it a kernel to `text`.
  FailureOr<Kernel> emit(StepText &text);
  /// Writes the functors of a chain's link to `text` (EmitChain.cpp).
  LogicalResult emitLinks(std::string &text, const ChainShape &chain,
                          SmallVectorImpl<LinkText> &links);

private:
  std::string use(BlockArgument argument) {
    Value value = step.getInputs()[argument.getArgNumber()];
    inputs.insert(value);
    ++uses;
    return names[value].str();
  }
  LogicalResult emitKernel();
  LogicalResult emitMap(); ///< EmitMap.cpp
  LogicalResult emitOneSegment(const Segment &segment);
  LogicalResult emitSegments(ArrayRef<Segment> segments);
  FailureOr<MapFunctorUse> functorFor(const Segment &segment, MapForm form);
  LogicalResult emitMapLinks(const mn::ChainBlocks &blocks,
                             SmallVectorImpl<LinkText> &links);
  void emitMovedLinks(const mn::ChainBlocks &blocks,
                      SmallVectorImpl<LinkText> &links); ///< EmitMoved.cpp
  void emitMovedElements(BlockArgument input);
  void emitMovedElement(BlockArgument input);
  LogicalResult emitForm(const Segment &segment, MapForm form, bool inPlace);
  LogicalResult emitSegment(const Segment &segment, bool inPlace);
  LogicalResult emitElement(const Segment &segment, bool inPlace,
                            SmallVector<Parameter> more);
  LogicalResult emitDrawn(const Segment &segment, bool inPlace);
  LogicalResult emitSegmentByFours(const Segment &segment);
  LogicalResult emitMovedFours(const Segment &segment);
  LogicalResult emitTransposed(const Segment &segment);
  LogicalResult emitFourLoads(SmallVectorImpl<LoadedField> &loaded);
  LogicalResult emitLoadedResults(const Segment &segment,
                                  ArrayRef<LoadedField> loaded);
  void emitDirectLoads(ArrayRef<BlockArgument> arguments,
                       SmallVectorImpl<LoadedField> &loaded);
  LogicalResult emitSegmentResults(const Segment &segment,
                                   ArrayRef<Parameter> parameters);
  LogicalResult emitRoot(RootOpInterface root);
  LogicalResult emitRows(); ///< EmitRows.cpp
  /// What a contraction only reads is given as a reference, so that its kernel
  /// may read more of memory at once.
  LogicalResult emitLoad(StringRef name, Value operand,
                         ArrayRef<Parameter> parameters,
                         const Position &position);
  LogicalResult emitPools(); ///< EmitPools.cpp
  LogicalResult emitLoads(RootOpInterface root);
  LogicalResult emitRowLoad(StringRef name, Value operand,
                            ArrayRef<int64_t> dims);
  /// What a root's operand is read by: element `i` of a tensor.
  LogicalResult emitElementLoads(StringRef name, Value operand);
  /// The function that stores `results` from an element of `of`, called `v`; of
  /// a contraction, where memory is read for that, after emitResult().
  LogicalResult emitStore(StringRef function, Value of, StringRef index,
                          bool givesIndex, ArrayRef<unsigned> results);
  /// Arguments of the body of which what becomes of an element of `of` takes
  /// the element of the same number, with names for these.
  SmallVector<LoadedField> elementsFor(Value of, ArrayRef<unsigned> results);
  /// The function that loads these, as ElementValues: a kernel does for several
  /// results before it computes one, for a compiler moves no load before a
  /// branch, such as that of a division.
  LogicalResult emitElements(ArrayRef<LoadedField> elements, StringRef index);
  /// The function that computes what becomes of an element, which `store` is
  /// then given, a value or StoredValues: a kernel computes several before it
  /// stores one. `fields` and `parameters` become those of `store`.
  void emitResult(SmallVectorImpl<StoredField> &fields,
                  SmallVectorImpl<Parameter> &parameters, bool takesElements);
  /// Declares StoredValues; the statement that gives them, which begins with
  /// `head`.
  std::string declareStored(ArrayRef<StoredField> fields,
                            StringRef head = "return ");
  /// The function that loads ElementValues, of which these are the values at a
  /// `place`.
  void finishElementLoad(ArrayRef<std::string> values);
  /// The same of a place in a four: what is adjacent in memory is seen to be.
  /// The values are those of placeInFour().
  void finishFourLoad(ArrayRef<std::string> values);
  static Position placeInFour(ArrayRef<int64_t> shape);
  /// The function that stores several results of neighbours, one result after
  /// the other: a compiler does not know that two are different tensors.
  void emitStoreOfNeighbours(ArrayRef<StoredField> fields);
  /// The functions that compute an element's results and that store those of
  /// neighbours: what is adjacent may be stored at once.
  void emitResults(ArrayRef<StoredField> fields,
                   ArrayRef<Parameter> parameters);
  /// The kernel that a root's function becomes, of `shapeText`.
  void callKernel(KernelText text, StringRef element, const ShapeText &shape);
  /// Lets the functor count in runs, where that is faster; the type of an
  /// element's number then, else `type`.
  StringRef takeRun(const Divisors &divisors, int64_t elements, StringRef type);
  void finishFunction(StringRef head, ArrayRef<Parameter> parameters,
                      const Twine &last);
  /// The functor's members: pointers to results, and to the inputs that its
  /// functions use.
  SmallVector<Value> membersFor(ValueRange results) const;
  std::string structText(StringRef type, ArrayRef<Value> members) const;
  /// Declares the functor, or finds the one that reads alike; its name here.
  std::string takeFunctor();
  /// The same of one with these members, whose name says `identifier`.
  FunctorTable declareFunctor(StringRef identifier, ArrayRef<Value> members);

  StepOp step;
  PlanNames &names;
  KernelTable &kernels;
  Operation *root;
  NameScope locals;
  BodyEmitter body;
  llvm::SetVector<Value> inputs;
  unsigned uses = 0;                     ///< of inputs
  std::optional<int64_t> run, resultRun; ///< mnistrt/cpu/runs.h
  SmallVector<FunctorTable> tables;
  std::string name, functions;
  std::string declared; ///< the functors that are not shared
  std::string macro;    ///< what makes the functor a kernel
  std::string call;
  std::string shape, shapeText; ///< its name and its declaration
  std::string count;            ///< of elements, where there is no shape
};

} // namespace mlir::mnistc

#endif // MNISTC_CODEGEN_FUNCTOREMITTER_H
