//===- EmitExpression.cpp - elementwise ops as C++ expressions ------------===//
//
// One row for each op; the functions are in mnistrt/math.h.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/EmitBody.h"
#include "lib/IR/Mnist/HostTensor.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"
#include <charconv>

using namespace mlir;
using namespace mlir::mnistc;

//===----------------------------------------------------------------------===//
// Literals
//===----------------------------------------------------------------------===//

/// The shortest text that reads back as the same number.
template <typename T> static std::string shortest(T value) {
  char buffer[64];
  auto [end, code] = std::to_chars(buffer, buffer + sizeof(buffer), value);
  std::string text(buffer, end);
  if (text.find_first_of(".e") == std::string::npos)
    text += ".0";
  return text;
}

Expr mlir::mnistc::literal(Type element, const APFloat &value) {
  std::string type = elementTypeName(element).str();
  if (value.isNaN())
    return {"mn::notANumber<" + type + ">()"};
  if (value.isInfinity())
    return value.isNegative()
               ? Expr{"-mn::infinity<" + type + ">()", Precedence::unary}
               : Expr{"mn::infinity<" + type + ">()"};
  std::string text = element.isF32() ? shortest(value.convertToFloat()) + "f"
                                     : shortest(value.convertToDouble());
  return {text, value.isNegative() ? Precedence::unary : Precedence::primary};
}

Expr mlir::mnistc::literal(Type element, const APInt &value) {
  if (element.isInteger(1))
    return {value.isZero() ? "false" : "true"};
  if (element.isInteger(8))
    return {"uint8_t{" + std::to_string(value.getZExtValue()) + "}"};
  int64_t number = value.getSExtValue();
  if (element.isInteger(32))
    return number == INT32_MIN ? Expr{"mn::Limits<int32_t>::lowest()"}
                               : mlir::mnistc::number(number);
  return number == INT64_MIN ? Expr{"mn::Limits<int64_t>::lowest()"}
                             : Expr{"int64_t{" + std::to_string(number) + "}"};
}

std::optional<SmallVector<std::string>>
mlir::mnistc::constantElements(ElementsAttr value) {
  std::optional<HostTensor> tensor = HostTensor::read(value);
  if (!tensor)
    return std::nullopt;
  Type element = tensor->getType().getElementType();
  SmallVector<std::string> result;
  int64_t count = tensor->isSplat() ? 1 : tensor->size();
  dispatch(element, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t i = 0; i < count; ++i) {
      T number = tensor->data<T>()[i];
      if constexpr (std::is_floating_point_v<T>)
        result.push_back(literal(element, APFloat(number)).text);
      else
        result.push_back(
            literal(element, APInt(sizeof(T) * 8, number, std::is_signed_v<T>))
                .text);
    }
  });
  return result;
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

namespace {
/// How an op prints: between its operands, before its operand, or as a function
/// of them.
enum class Form { infix, prefix, function };

struct Row {
  StringLiteral op;
  Form form;
  StringLiteral text;
  Precedence precedence;
  StringLiteral noun; ///< what a result without a name is called
};
} // namespace

static constexpr auto primary = Precedence::primary;

static const Row rows[] = {
    {"abs", Form::function, "mn::abs", primary, "magnitude"},
    {"add", Form::infix, "+", Precedence::additive, "sum"},
    {"and", Form::infix, "&&", Precedence::logicalAnd, "both"},
    {"div", Form::infix, "/", Precedence::multiplicative, "quotient"},
    {"erf", Form::function, "mn::erf", primary, "erf"},
    {"exp", Form::function, "mn::exp", primary, "power"},
    {"log", Form::function, "mn::log", primary, "logarithm"},
    {"max", Form::function, "mn::max", primary, "larger"},
    {"min", Form::function, "mn::min", primary, "smaller"},
    {"mul", Form::infix, "*", Precedence::multiplicative, "product"},
    {"neg", Form::prefix, "-", Precedence::unary, "negative"},
    {"not", Form::prefix, "!", Precedence::unary, "opposite"},
    {"or", Form::infix, "||", Precedence::logicalOr, "either"},
    {"pow", Form::function, "mn::pow", primary, "power"},
    {"relu", Form::function, "mn::relu", primary, "active"},
    {"sigmoid", Form::function, "mn::sigmoid", primary, "gate"},
    {"softplus", Form::function, "mn::softplus", primary, "soft"},
    {"sqrt", Form::function, "mn::sqrt", primary, "root"},
    {"sub", Form::infix, "-", Precedence::additive, "difference"},
    {"tanh", Form::function, "mn::tanh", primary, "tanh"},
};

static const Row *findRow(Operation *op) {
  for (const Row &row : rows)
    if (row.op == op->getName().stripDialect())
      return &row;
  return nullptr;
}

StringRef mlir::mnistc::resultNoun(Operation *op) {
  if (const Row *row = findRow(op))
    return row->noun;
  return llvm::StringSwitch<StringRef>(op->getName().stripDialect())
      .Case("compare", "holds")
      .Case("constant", "constant")
      .Case("random_uniform", "uniform")
      .Case("select", "choice")
      .Default("element");
}

static Expr printRow(const Row &row, Operation *op, ArrayRef<Expr> x) {
  switch (row.form) {
  case Form::infix:
    return infix(x[0], row.text, x[1], row.precedence);
  case Form::prefix:
    return {row.text.str() + x[0].as(primary), row.precedence};
  case Form::function:
    return call(row.text, x);
  }
  llvm_unreachable("a form without a text");
}

static Expr printCompare(CompareOp op, ArrayRef<Expr> x) {
  bool equality =
      op.getPredicate() == Predicate::eq || op.getPredicate() == Predicate::ne;
  static constexpr StringLiteral signs[] = {"==", "!=", "<", "<=", ">", ">="};
  return infix(x[0], signs[static_cast<int>(op.getPredicate())], x[1],
               equality ? Precedence::equality : Precedence::relational);
}

FailureOr<Expr> mlir::mnistc::emitElementwise(Operation *op, ArrayRef<Expr> x) {
  Type element = getElementTypeOrSelf(op->getResult(0).getType());
  std::string type = elementTypeName(element).str();
  auto attribute = [&](APFloat value) {
    bool inexact;
    value.convert(element.isF32() ? APFloat::IEEEsingle()
                                  : APFloat::IEEEdouble(),
                  APFloat::rmNearestTiesToEven, &inexact);
    return literal(element, value);
  };
  if (auto elu = dyn_cast<EluOp>(op))
    return call("mn::elu", {x[0], attribute(elu.getAlpha())});
  if (auto leaky = dyn_cast<LeakyReluOp>(op))
    return call("mn::leakyRelu", {x[0], attribute(leaky.getSlope())});
  if (isa<CastOp>(op))
    return call("static_cast<" + type + ">", {x[0]});
  if (auto compare = dyn_cast<CompareOp>(op))
    return printCompare(compare, x);
  if (isa<SelectOp>(op))
    return conditional(x[0], x[1], x[2]);
  // Division of integers says what happens where the divisor is 0.
  if (isa<DivOp>(op) && !isa<FloatType>(element))
    return call("mn::div", x);

  const Row *row = findRow(op);
  if (!row)
    return op->emitOpError("has no C++ expression");
  Expr result = printRow(*row, op, x);
  // C++ computes small integers as int.
  if (element.isInteger(8) && row->form != Form::function)
    return call("static_cast<uint8_t>", {result});
  return result;
}
