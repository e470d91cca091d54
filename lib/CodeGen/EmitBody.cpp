//===- EmitBody.cpp - the body of a step as statements --------------------===//

#include "lib/CodeGen/EmitBody.h"
#include "lib/IR/Names.h"
#include "lib/IR/Plan/StepBody.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::mnistc;

/// An operand of more characters gets a separate statement.
static constexpr size_t maxOperand = 48;

/// Far more than a person could read; a body whose values are read at ever more
/// places could otherwise grow without end.
static constexpr int maxOps = 20000;

/// Branches inside of branches; compilers have such a limit too.
static constexpr size_t maxNested = 100;

void BodyEmitter::begin(unsigned indent) {
  scopes.clear();
  scopes.push_back(std::make_unique<Scope>(&tensors, indent));
  bound.clear();
  budget = maxOps;
}

void BodyEmitter::bind(Value value, Expr expression, const Expr &index) {
  bound[value] = {std::move(expression), index.text};
}

void BodyEmitter::push() {
  Scope &outer = *scopes.back();
  scopes.push_back(std::make_unique<Scope>(&outer.names, outer.indent + 2));
}

std::unique_ptr<BodyEmitter::Scope> BodyEmitter::pop() {
  std::unique_ptr<Scope> scope = std::move(scopes.back());
  scopes.pop_back();
  return scope;
}

const Expr *BodyEmitter::known(const void *key,
                               const std::string &index) const {
  for (const std::unique_ptr<Scope> &scope : llvm::reverse(scopes))
    if (auto it = scope->values.find({key, index}); it != scope->values.end())
      return &it->second;
  return nullptr;
}

Expr BodyEmitter::declare(StringRef type, StringRef name, const Expr &value) {
  Scope &scope = *scopes.back();
  std::string local = scope.names.add(name);
  scope.lines += line("const " + type + " " + local + " = " + value.text + ";",
                      scope.indent) +
                 "\n";
  return {local};
}

std::string BodyEmitter::declareVariable(StringRef type, StringRef name,
                                         const Twine &initial) {
  Scope &scope = *scopes.back();
  std::string local = scope.names.add(name);
  scope.lines +=
      line(type + " " + local + " = " + initial + ";", scope.indent) + "\n";
  return local;
}

static bool isNameOrNumber(StringRef text) {
  return llvm::all_of(text,
                      [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

Expr BodyEmitter::nameIndex(const Expr &index) {
  if (isNameOrNumber(index.text))
    return index;
  if (const Expr *name = known(nullptr, index.text))
    return *name;
  Expr name = declare("mn::Index", "at", index);
  bindIndex(index, name);
  return name;
}

Expr BodyEmitter::knownIndex(const Expr &index) const {
  const Expr *name = known(nullptr, index.text);
  return name ? *name : index;
}

/// The tensor that the op computes, or what its kind of result is called.
std::string BodyEmitter::localName(Operation *op) {
  SmallVector<OnnxName> names = namesIn(op->getLoc());
  if (!names.empty()) {
    std::string name = names.back().tensor.str();
    if (!scopes.back()->names.contains(identifier(name)))
      return name;
  }
  return resultNoun(op).str();
}

FailureOr<Expr> BodyEmitter::choose(Operation *op, const Expr &condition,
                                    Branch then, Branch otherwise) {
  // Taken first: the branches assign to it.
  if (scopes.size() > maxNested)
    return op->emitOpError("expected a step whose choices are nested at most ")
           << maxNested << " deep";
  std::string name = scopes.back()->names.add(localName(op));
  push();
  FailureOr<Expr> thenValue = then();
  std::unique_ptr<Scope> thenScope = pop();
  push();
  FailureOr<Expr> otherwiseValue = otherwise();
  std::unique_ptr<Scope> otherwiseScope = pop();
  if (failed(thenValue) || failed(otherwiseValue))
    return failure();
  Scope &scope = *scopes.back();
  if (thenScope->lines.empty() && otherwiseScope->lines.empty()) {
    scope.names.release(name);
    return conditional(condition, *thenValue, *otherwiseValue);
  }
  Type element = getElementTypeOrSelf(op->getResult(0).getType());
  auto addLine = [&](const Twine &text, unsigned more) {
    scope.lines += line(text, scope.indent + more) + "\n";
  };
  auto addBranch = [&](const Scope &branch, const Expr &value) {
    scope.lines += branch.lines;
    addLine(name + " = " + value.text + ";", 2);
  };
  bool simple = otherwiseScope->lines.empty();
  addLine(elementTypeName(element) + " " + name +
              (simple ? " = " + otherwiseValue->text : "") + ";",
          0);
  addLine("if (" + condition.text + ") {", 0);
  addBranch(*thenScope, *thenValue);
  if (!simple) {
    addLine("} else {", 0);
    addBranch(*otherwiseScope, *otherwiseValue);
  }
  addLine("}", 0);
  return Expr{name};
}

FailureOr<Expr> BodyEmitter::constantElement(ConstantOp op, const Expr &index) {
  std::optional<SmallVector<std::string>> elements =
      constantElements(op.getValue());
  if (!elements)
    return op.emitOpError("expected a constant with its elements");
  if (elements->empty()) // never run, but compiled
    return Expr{
        (elementTypeName(op.getOutput().getType().getElementType()) + "{}")
            .str()};
  if (elements->size() == 1)
    return Expr{elements->front(), elements->front()[0] == '-'
                                       ? Precedence::unary
                                       : Precedence::primary};
  const Expr *table = known(op, "");
  if (!table) {
    Scope &scope = *scopes.back();
    std::string name = scope.names.add(localName(op));
    Type element = op.getOutput().getType().getElementType();
    std::string head =
        ("constexpr " + elementTypeName(element) + " " + name + "[] = ").str();
    scope.lines +=
        argumentLines(head, "{", *elements, "};", scope.indent) + "\n";
    table = &(scope.values[{op, ""}] = Expr{name});
  }
  return Expr{table->text + "[" + index.text + "]"};
}

bool BodyEmitter::isLoadedBefore(Operation *op, Value operand) const {
  auto repeated = operand.getDefiningOp<BroadcastOp>();
  return loadsBeforeChoices && isa<SelectOp>(op) && repeated &&
         isa<BlockArgument>(repeated.getInput()) &&
         !bound.contains(repeated.getInput());
}

FailureOr<Expr> BodyEmitter::compute(Value tensor, const Position &position) {
  Operation *op = tensor.getDefiningOp();
  if (--budget < 0)
    return op->emitOpError("expected a step whose elements take less than ")
           << maxOps << " ops to compute";
  if (op->hasTrait<Indexing>())
    return emitIndexing(*this, op, position);
  if (isInlined(op) && isa<ReductionOpInterface>(op))
    return emitReduction(*this, op, position);
  if (!op->hasTrait<Elementwise>())
    return op->emitOpError(
        "expected at most one op in a step that is neither elementwise nor "
        "indexing");
  SmallVector<Expr> operands;
  for (Value operand : op->getOperands()) {
    FailureOr<Expr> text = isLoadedBefore(op, operand)
                               ? namedValue(operand, position)
                               : value(operand, position);
    if (failed(text))
      return failure();
    operands.push_back(*text);
  }
  return emitElementwise(op, operands);
}

/// A name, or one element of a tensor by a name: as short as a name for it.
static bool isSimple(StringRef text) {
  auto [name, index] = text.split('[');
  index.consume_back("]");
  return isNameOrNumber(name) && isNameOrNumber(index);
}

FailureOr<Expr> BodyEmitter::value(Value tensor, const Position &position) {
  FailureOr<Expr> result = statementValue(tensor, position);
  if (failed(result) || isa<BlockArgument>(tensor) || bound.contains(tensor))
    return result;
  Operation *op = tensor.getDefiningOp();
  bool shared = !tensor.hasOneUse() && !isa<ConstantOp>(op);
  auto shape = cast<ShapedType>(tensor.getType()).getShape();
  std::pair<const void *, std::string> key{op,
                                           linearIndex(position, shape).text};
  bool simple = isSimple(result->text);
  // Its index may have taken statements.
  if (simple && shared)
    scopes.back()->values[key] = *result;
  if (simple || (!shared && result->text.size() <= maxOperand))
    return result;
  Type element = getElementTypeOrSelf(tensor.getType());
  Expr name = declare(elementTypeName(element), localName(op), *result);
  scopes.back()->values[key] = name;
  return name;
}

FailureOr<Expr> BodyEmitter::namedValue(Value tensor,
                                        const Position &position) {
  FailureOr<Expr> result = value(tensor, position);
  if (failed(result) || isNameOrNumber(result->text))
    return result;
  Type element = getElementTypeOrSelf(tensor.getType());
  Operation *op = tensor.getDefiningOp();
  return declare(elementTypeName(element), op ? localName(op) : "element",
                 *result);
}

FailureOr<Expr> BodyEmitter::statementValue(Value tensor,
                                            const Position &position) {
  auto shape = cast<ShapedType>(tensor.getType()).getShape();
  Expr index = linearIndex(position, shape);
  auto found = bound.find(tensor);
  if (found != bound.end() && found->second.index == index.text)
    return found->second.value;
  if (auto argument = dyn_cast<BlockArgument>(tensor))
    return Expr{pointerTo(argument) + "[" + index.text + "]"};
  Operation *op = tensor.getDefiningOp();
  if (found != bound.end() && isRoot(op))
    return op->emitOpError("expected what follows it in its step to keep the "
                           "order of its elements");
  if (const Expr *name = known(op, index.text))
    return *name;
  if (auto constant = dyn_cast<ConstantOp>(op))
    return constantElement(constant, index);
  return compute(tensor, position);
}
