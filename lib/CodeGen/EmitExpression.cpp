//===- EmitExpression.cpp - elementwise ops as C++ expressions ------------===//
//
// One row for each op, in lib/IR/Mnist/Elementwise.def; the functions are in
// mnistrt/math.h.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/EmitBody.h"
#include "lib/IR/Mnist/HostTensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"
#include <charconv>
#include <cmath>

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
/// How an op prints: as a function of its operands, or, where it has a sign,
/// between or before them.
struct Row {
  StringLiteral op;
  StringLiteral function;
  StringLiteral sign;
  Precedence precedence;
  StringLiteral noun; ///< what a result without a name is called
};
} // namespace

static const Row rows[] = {
#define MNIST_FUNCTION(OP, COST, FUNCTION, NOUN)                               \
  {OP::getOperationName(), "mn::" #FUNCTION, "", Precedence::primary, NOUN},
#define MNIST_FUNCTION_OF(OP, COST, FUNCTION, GETTER, NOUN)                    \
  MNIST_FUNCTION(OP, COST, FUNCTION, NOUN)
#define MNIST_INFIX(OP, COST, FUNCTION, SIGN, PRECEDENCE, NOUN)                \
  {OP::getOperationName(), "mn::" #FUNCTION, SIGN, Precedence::PRECEDENCE,     \
   NOUN},
#define MNIST_PREFIX(OP, COST, FUNCTION, SIGN, NOUN)                           \
  {OP::getOperationName(), "mn::" #FUNCTION, SIGN, Precedence::unary, NOUN},
#include "lib/IR/Mnist/Elementwise.def"
};

static const Row *findRow(Operation *op) {
  for (const Row &row : rows)
    if (row.op == op->getName().getStringRef())
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

static Expr printCompare(CompareOp op, ArrayRef<Expr> x) {
  switch (op.getPredicate()) {
#define MNIST_PREDICATE(NAME, SIGN, PRECEDENCE)                                \
  case Predicate::NAME:                                                        \
    return infix(x[0], #SIGN, x[1], Precedence::PRECEDENCE);
#include "lib/IR/Mnist/Elementwise.def"
  }
  llvm_unreachable("all predicates are above");
}

/// The attribute that is the last argument of an op's function, or none.
static std::optional<APFloat> lastArgument(Operation *op) {
#define MNIST_FUNCTION_OF(OP, COST, FUNCTION, GETTER, NOUN)                    \
  if (auto of = dyn_cast<OP>(op))                                              \
    return of.GETTER();
#include "lib/IR/Mnist/Elementwise.def"
  return std::nullopt;
}

/// Whether an op divides by a number whose reciprocal is not exact, nor out of
/// the range of normal numbers.
static bool dividesByNumber(Operation *op) {
  SplatElementsAttr by;
  if (!isa<DivOp>(op) || !matchPattern(op->getOperand(1), m_Constant(&by)) ||
      !by.getElementType().isF32())
    return false;
  const float number = std::abs(by.getSplatValue<float>());
  return number > 0x1p-120f && number < 0x1p120f &&
         by.getSplatValue<APFloat>().getExactLog2Abs() == INT_MIN;
}

FailureOr<Expr> mlir::mnistc::emitElementwise(Operation *op, ArrayRef<Expr> x) {
  Type element = getElementTypeOrSelf(op->getResult(0).getType());
  if (isa<CastOp>(op))
    return call("mn::cast<" + elementTypeName(element).str() + ">", {x[0]});
  if (dividesByNumber(op))
    return call("mn::divideBy", {x[0], x[1]});
  if (auto compare = dyn_cast<CompareOp>(op))
    return printCompare(compare, x);
  if (isa<SelectOp>(op))
    return conditional(x[0], x[1], x[2]);

  const Row *row = findRow(op);
  if (!row)
    return op->emitOpError("has no C++ expression");
  SmallVector<Expr> arguments(x);
  if (std::optional<APFloat> last = lastArgument(op)) {
    bool inexact;
    last->convert(cast<FloatType>(element).getFloatSemantics(),
                  APFloat::rmNearestTiesToEven, &inexact);
    arguments.push_back(literal(element, *last));
  }
  // C++ has no signs for integers that wrap around, and for bytes none at all.
  bool isInteger = isa<IntegerType>(element) && !element.isInteger(1);
  if (row->sign.empty() || isInteger)
    return call(row->function, arguments);
  if (x.size() == 2)
    return infix(x[0], row->sign, x[1], row->precedence);
  return Expr{row->sign.str() + x[0].as(Precedence::primary), row->precedence};
}
