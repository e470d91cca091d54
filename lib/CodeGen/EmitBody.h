//===- EmitBody.h - the body of a step as statements ------------*- C++ -*-===//
//
// Prints the value of one element of a step. A body is a graph: what is used
// more than once, or too long to read, gets a name and a statement. Which
// expression an op becomes is in EmitExpression.cpp, which element it reads in
// EmitIndex.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_CODEGEN_EMITBODY_H
#define MNISTC_CODEGEN_EMITBODY_H

#include "lib/CodeGen/Names.h"
#include "lib/CodeGen/Position.h"
#include "lib/IR/Mnist/MnistOps.h"
#include "mlir/IR/TypeUtilities.h"
#include <functional>
#include <map>
#include <memory>

namespace mlir::mnistc {

class BodyEmitter {
public:
  /// `tensors` are the names that locals may not take; `pointerTo` names the
  /// pointer of an argument of the body. `loadsBeforeChoices`: what is repeated
  /// is loaded whether a choice takes it or not. A loop with a load that
  /// depends on a choice is no SIMD code.
  BodyEmitter(const NameScope &tensors,
              std::function<std::string(BlockArgument)> pointerTo,
              bool loadsBeforeChoices)
      : tensors(tensors), pointerTo(std::move(pointerTo)),
        loadsBeforeChoices(loadsBeforeChoices) {}

  /// Begins the body of a function whose statements are indented.
  void begin(unsigned indent);
  /// The statements that the values asked for since `begin` need.
  std::string statements() { return scopes.front()->lines; }

  /// From now on, until the next body begins, element number `index` of a
  /// tensor is `value`.
  void bind(Value tensor, Expr value, const Expr &index);

  /// From now on, until this scope ends, an index has a name.
  void bindIndex(const Expr &index, const Expr &name) {
    remember(nullptr, index.text, name);
  }

  /// The value of an element, as an operand.
  FailureOr<Expr> value(Value tensor, const Position &position);
  /// The same, computed before the statements that follow.
  FailureOr<Expr> namedValue(Value tensor, const Position &position);
  /// The same, as the right side of an assignment.
  FailureOr<Expr> statementValue(Value tensor, const Position &position);

  // For EmitIndex.cpp.

  /// A name for an index that is more than a name or number.
  Expr nameIndex(const Expr &index);
  /// The name of an index, if it has one, or else the index.
  Expr knownIndex(const Expr &index) const;
  /// Declares a constant of a C++ type.
  Expr declare(StringRef type, StringRef name, const Expr &value);
  /// One of two values, of which the other is not computed.
  using Branch = llvm::function_ref<FailureOr<Expr>()>;
  FailureOr<Expr> choose(Operation *op, const Expr &condition, Branch then,
                         Branch otherwise);

  // For EmitReduction.cpp.

  /// Declares a variable; its name.
  std::string declareVariable(StringRef type, StringRef name,
                              const Twine &initial);
  /// A variable that begins as `initial` and a loop of some turns. `turn` gives
  /// the last statement of one, from the names of its number and the variable.
  FailureOr<Expr>
  loop(StringRef type, StringRef name, const Twine &initial, int64_t turns,
       llvm::function_ref<FailureOr<std::string>(const std::string &r,
                                                 const std::string &result)>
           turn);
  /// What was remembered for an op and an index, in this scope or one around
  /// it; or null.
  const Expr *known(const void *key, const std::string &index) const;
  void remember(const void *key, const std::string &index, const Expr &value) {
    scopes.back()->values[{key, index}] = value;
  }

private:
  struct Scope {
    Scope(const NameScope *outer, unsigned indent)
        : names(outer), indent(indent) {}
    NameScope names;
    unsigned indent;
    std::string lines;
    std::map<std::pair<const void *, std::string>, Expr> values;
  };

  void push();
  std::unique_ptr<Scope> pop();
  FailureOr<Expr> compute(Value tensor, const Position &position);
  bool isLoadedBefore(Operation *op, Value operand) const;
  FailureOr<Expr> constantElement(ConstantOp op, const Expr &index);
  std::string localName(Operation *op);

  const NameScope &tensors;
  std::function<std::string(BlockArgument)> pointerTo;
  bool loadsBeforeChoices;
  std::vector<std::unique_ptr<Scope>> scopes;
  struct Bound {
    Expr value;
    std::string index;
  };
  DenseMap<Value, Bound> bound;
  int budget = 0; ///< ops that may still be printed
};

/// Element `position` of an op that only renames the index.
FailureOr<Expr> emitIndexing(BodyEmitter &body, Operation *op,
                             const Position &position);

/// What a sequence of random numbers depends on: its seed, stream and step; of
/// a rank's rows also the elements of a row, the rank and how many there are.
FailureOr<SmallVector<Expr>> sequenceOf(BodyEmitter &body, RandomUniformOp op);

/// Element `position` of a reduction that is computed where it is read.
FailureOr<Expr> emitReduction(BodyEmitter &body, Operation *op,
                              const Position &position);

/// The expression of an elementwise op on the expressions of its operands.
FailureOr<Expr> emitElementwise(Operation *op, ArrayRef<Expr> operands);

/// What the result of an elementwise op is called where the model has no name:
/// "sum" for add.
StringRef resultNoun(Operation *op);

/// Elements as C++ spells them.
Expr literal(Type element, const APFloat &value);
Expr literal(Type element, const APInt &value);

/// The elements of a constant, one for a splat; none if they are not at hand.
std::optional<SmallVector<std::string>> constantElements(ElementsAttr value);

} // namespace mlir::mnistc

#endif // MNISTC_CODEGEN_EMITBODY_H
