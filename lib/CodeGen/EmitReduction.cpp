//===- EmitReduction.cpp - reductions inside of an element ----------------===//
//
// A reduction of a few elements that has no separate kernel: a loop among the
// statements of the step that reads its result.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/EmitBody.h"
#include "lib/IR/Mnist/TensorShape.h"
#include "lib/IR/Plan/StepBody.h"

using namespace mlir;
using namespace mlir::mnistc;

namespace {
/// A loop over the elements that become one.
struct Loop {
  Loop(ReductionOpInterface op, const Position &result)
      : op(op), dims(op.getReducedDims()), keepsDims(op.keepsDims()),
        kind(cast<RootOpInterface>(*op).getKernelText().kind),
        noun(op.getNoun()), result(result) {
    for (int64_t dim : dims)
      turns *= shapeOf(op->getOperand(0))[dim];
  }
  ReductionOpInterface op;
  SmallVector<int64_t> dims; ///< that it goes over
  bool keepsDims;            ///< the result has them still
  std::string kind;          ///< "mn::Sum"
  StringRef noun;            ///< for the result
  Position result;           ///< the element of the result
  int64_t turns = 1;
};
} // namespace

/// The element of the operand in turn `r`.
static Position operandAt(const Loop &loop, const std::string &r) {
  ArrayRef<int64_t> shape = shapeOf(loop.op->getOperand(0));
  SmallVector<int64_t> gone;
  for (int64_t dim : loop.dims)
    gone.push_back(shape[dim]);
  Position turn = positionAt({r}, gone), position;
  for (size_t dim = 0, k = 0, g = 0; dim < shape.size(); ++dim) {
    bool isGone = llvm::is_contained(loop.dims, int64_t(dim));
    position.push_back(isGone ? turn[g++] : loop.result[k]);
    k += !isGone || loop.keepsDims;
  }
  return position;
}

/// The row that an element belongs to, as a key.
static std::string rowOf(const Loop &loop) {
  std::string text;
  for (const Coordinate &coordinate : operandAt(loop, "0"))
    text += coordinate.print().text + ",";
  return text;
}

FailureOr<Expr> BodyEmitter::loop(
    StringRef type, StringRef name, const Twine &initial, int64_t turns,
    llvm::function_ref<FailureOr<std::string>(const std::string &r,
                                              const std::string &result)>
        turn) {
  std::string result = scopes.back()->names.add(name);
  push();
  std::string r = scopes.back()->names.add("r");
  FailureOr<std::string> update = turn(r, result);
  std::unique_ptr<Scope> inside = pop();
  if (failed(update))
    return failure();
  Scope &scope = *scopes.back();
  auto addLine = [&](const Twine &text, unsigned more) {
    scope.lines += line(text, scope.indent + more) + "\n";
  };
  addLine(type + " " + result + " = " + initial + ";", 0);
  addLine("for (mn::Index " + r + " = 0; " + r + " < " + Twine(turns) + "; ++" +
              r + ") {",
          0);
  scope.lines += inside->lines;
  addLine(*update, 2);
  addLine("}", 0);
  return Expr{result};
}

/// A sum, a maximum: elements joined one after another.
static FailureOr<Expr> emitFold(BodyEmitter &body, const Loop &loop) {
  StringRef type =
      elementTypeName(getElementTypeOrSelf(loop.op->getResult(0).getType()));
  return body.loop(type, loop.noun, loop.kind + "::empty<" + type + ">()",
                   loop.turns,
                   [&](const std::string &r,
                       const std::string &result) -> FailureOr<std::string> {
                     FailureOr<Expr> element =
                         body.value(loop.op->getOperand(0), operandAt(loop, r));
                     if (failed(element))
                       return failure();
                     return result + " = " + loop.kind + "::both(" + result +
                            ", " + element->text + ");";
                   });
}

/// The index of the element that wins over all others.
static FailureOr<Expr> emitIndex(BodyEmitter &body, const Loop &loop) {
  Value input = loop.op->getOperand(0);
  StringRef type = elementTypeName(getElementTypeOrSelf(input.getType()));
  std::string top =
      body.declareVariable(type, "top", "mn::Max::empty<" + type + ">()");
  StringRef index =
      elementTypeName(getElementTypeOrSelf(loop.op->getResult(0).getType()));
  return body.loop(index, loop.noun, "0", loop.turns,
                   [&](const std::string &r,
                       const std::string &result) -> FailureOr<std::string> {
                     FailureOr<Expr> element =
                         body.namedValue(input, operandAt(loop, r));
                     if (failed(element))
                       return failure();
                     return "if (" + loop.kind + "::wins(" + element->text +
                            ", " + top + ")) " + top + " = " + element->text +
                            ", " + result + " = " + r + ";";
                   });
}

/// x - max - log(sum(exp(x - max))), or its exponential as a quotient. Maximum
/// and sum are of the row, and shared by its elements.
static FailureOr<Expr> emitSoftmax(BodyEmitter &body, const Loop &loop) {
  Operation *op = loop.op;
  Value input = op->getOperand(0);
  StringRef type = elementTypeName(getElementTypeOrSelf(input.getType()));
  auto once = [&](StringRef name, const std::string &initial,
                  llvm::function_ref<std::string(const std::string &,
                                                 const std::string &)>
                      update) -> FailureOr<Expr> {
    std::string key = name.str() + ":" + rowOf(loop);
    if (const Expr *known = body.known(op, key))
      return *known;
    FailureOr<Expr> result =
        body.loop(type, name, initial, loop.turns,
                  [&](const std::string &r,
                      const std::string &result) -> FailureOr<std::string> {
                    FailureOr<Expr> element =
                        body.value(input, operandAt(loop, r));
                    if (failed(element))
                      return failure();
                    return update(result, element->text);
                  });
    if (succeeded(result))
      body.remember(op, key, *result);
    return result;
  };
  FailureOr<Expr> top = once(
      "top", ("mn::Max::empty<" + type + ">()").str(),
      [](const std::string &result, const std::string &element) {
        return result + " = mn::Max::both(" + result + ", " + element + ");";
      });
  if (failed(top))
    return failure();
  FailureOr<Expr> sum = once(
      loop.noun, "0",
      [&](const std::string &result, const std::string &element) {
        return result + " += mn::exp(" + element + " - " + top->text + ");";
      });
  FailureOr<Expr> x = body.value(input, loop.result);
  if (failed(sum) || failed(x))
    return failure();
  return call(isa<LogSoftmaxOp>(op) ? "mn::softmaxElement<true>"
                                    : "mn::softmaxElement<false>",
              {*x, *top, *sum});
}

FailureOr<Expr> mlir::mnistc::emitReduction(BodyEmitter &body, Operation *op,
                                            const Position &position) {
  Loop loop(cast<ReductionOpInterface>(op), position);
  ReductionForm form = loop.op.getForm();
  if (form == ReductionForm::softmax)
    return emitSoftmax(body, loop);
  std::string key = linearIndex(position, shapeOf(op->getResult(0))).text;
  if (const Expr *known = body.known(op, key))
    return *known;
  FailureOr<Expr> result = form == ReductionForm::index ? emitIndex(body, loop)
                                                        : emitFold(body, loop);
  if (succeeded(result))
    body.remember(op, key, *result);
  return result;
}
