//===- ImportElementwise.cpp - one element at a time ----------------------===//

#include "lib/Import/Operators.h"

using namespace mlir;
using namespace mlir::mnistc;
using namespace mlir::mnistc::importer;

using Operands = std::array<Value, 2>;

static void checkSameElements(ArrayRef<Value> values) {
  for (Value value : values)
    if (elementOf(value) != elementOf(values.front())) {
      std::string text;
      llvm::raw_string_ostream(text)
          << elementOf(values.front()) << " and " << elementOf(value);
      fail("expected inputs of one element type, got " + text);
    }
}

static Operands broadcastOperands(Node &n) {
  Operands operands = {n.input(0), n.input(1)};
  n.broadcastTogether(operands);
  return operands;
}

/// Before opset 7 the right operand is repeated only where `broadcast` is set,
/// and its first dimension is dimension `axis` of the left one.
static Operands alignedOperands(Node &n) {
  n.ignore("consumed_inputs");
  Value lhs = n.input(0), rhs = n.input(1);
  bool broadcast = n.flag("broadcast");
  int64_t free = rankOf(lhs) - rankOf(rhs);
  bool hasAxis = n.hasAttribute("axis");
  int64_t axis = n.attribute("axis", free);
  if (!broadcast) {
    if (shapeOf(lhs) != shapeOf(rhs))
      fail("expected inputs of one shape, as there is no 'broadcast', got " +
           shapeText(shapeOf(lhs)) + " and " + shapeText(shapeOf(rhs)));
    return {lhs, rhs};
  }
  if (hasAxis && axis < 0)
    axis += rankOf(lhs);
  if (free < 0 || axis < 0 || axis > free)
    fail("expected a right input that is part of the left one, got " +
         shapeText(shapeOf(rhs)) + " at axis " + Twine(axis) + " of " +
         shapeText(shapeOf(lhs)));
  Shape shape(shapeOf(rhs));
  shape.append(free - axis, 1);
  return {lhs, n.broadcast(n.reshape(rhs, shape), shapeOf(lhs))};
}

//===----------------------------------------------------------------------===//
// Rows that are one op
//===----------------------------------------------------------------------===//

template <typename Op> static Value unaryFloat(Node &n) {
  n.ignore("consumed_inputs");
  return n.create<Op>(n.floatInput(0));
}

template <typename Op> static Value unary(Node &n) {
  n.ignore("consumed_inputs");
  return n.create<Op>(n.input(0));
}

template <typename Op> static Value apply(Node &n, Operands operands) {
  checkSameElements(operands);
  return n.create<Op>(operands[0], operands[1]);
}

template <typename Op> static Value binary(Node &n) {
  return apply<Op>(n, broadcastOperands(n));
}

template <typename Op> static Value alignedBinary(Node &n) {
  return apply<Op>(n, alignedOperands(n));
}

template <Predicate predicate> static Value compare(Node &n) {
  Operands operands = broadcastOperands(n);
  checkSameElements(operands);
  return n.create<CompareOp>(predicate, operands[0], operands[1]);
}

template <Predicate predicate> static Value alignedCompare(Node &n) {
  Operands operands = alignedOperands(n);
  checkSameElements(operands);
  return n.create<CompareOp>(predicate, operands[0], operands[1]);
}

template <typename Op> static Value variadic(Node &n) {
  n.ignore("consumed_inputs");
  SmallVector<Value> values;
  for (int i = 0; i < n.numInputs(); ++i)
    values.push_back(n.input(i));
  checkSameElements(values);
  n.broadcastTogether(values);
  Value result = values.front();
  for (Value value : llvm::drop_begin(values))
    result = n.create<Op>(result, value);
  return result;
}

//===----------------------------------------------------------------------===//
// Rows that are several
//===----------------------------------------------------------------------===//

// r = a - b trunc(a / b); with the sign of b unless `fmod` asks for that of a
static Value mod(Node &n) {
  Operands operands = broadcastOperands(n);
  checkSameElements(operands);
  auto [a, b] = operands;
  if (isFloat(a))
    unsupported("the remainder of floats is not supported, only of integers");
  Value whole = n.create<MulOp>(b, n.create<DivOp>(a, b));
  Value rest = n.create<SubOp>(a, whole);
  if (n.flag("fmod"))
    return rest;
  Value zero = n.splat(rest, 0);
  auto isNegative = [&](Value x) {
    return n.create<CompareOp>(Predicate::lt, x, zero);
  };
  Value isRest = n.create<CompareOp>(Predicate::ne, rest, zero);
  Value differs =
      n.create<CompareOp>(Predicate::ne, isNegative(rest), isNegative(b));
  return n.create<SelectOp>(rest.getType(), n.create<AndOp>(isRest, differs),
                            n.create<AddOp>(rest, b), rest);
}

static Value mean(Node &n) {
  Value sum = variadic<AddOp>(n);
  if (n.numInputs() == 1)
    return sum;
  return n.create<MulOp>(sum, n.splat(sum, 1.0 / n.numInputs()));
}

static Value reciprocal(Node &n) {
  n.ignore("consumed_inputs");
  Value x = n.floatInput(0);
  return n.create<DivOp>(n.splat(x, 1), x);
}

/// The result is of the base's type; a float on either side makes it a power
/// of floats.
static Value pow(Node &n) {
  Operands x = broadcastOperands(n);
  Type type = elementOf(x[0]);
  Type computed = isFloat(x[1]) ? elementOf(x[1]) : type;
  Value power = n.create<PowOp>(n.cast(x[0], computed), n.cast(x[1], computed));
  return n.cast(power, type);
}

static Value where(Node &n) {
  std::array<Value, 3> x = {n.input(0), n.input(1), n.input(2)};
  checkSameElements({x[1], x[2]});
  n.broadcastTogether(x);
  return n.create<SelectOp>(x[1].getType(), x[0], x[1], x[2]);
}

/// A limit of Clip, known at compile time or not, in the shape of `x`.
static Value limit(Node &n, int input, Value x) {
  auto type = cast<RankedTensorType>(x.getType());
  if (n.inputType(input).getElementType() != type.getElementType())
    checkSameElements({x, n.input(input)});
  if (n.inputType(input).getNumElements() != 1)
    fail("expected one number as a limit, got the shape " +
         shapeText(n.inputType(input).getShape()));
  if (DenseElementsAttr known = n.knownConstant(input))
    return n.constantOf(known.resizeSplat(type));
  return n.broadcast(n.reshape(n.input(input), {}), shapeOf(x));
}

static Value clip(Node &n) {
  Value x = n.input(0);
  if (n.hasInput(1))
    x = n.create<MaxOp>(x, limit(n, 1, x));
  if (n.hasInput(2))
    x = n.create<MinOp>(x, limit(n, 2, x));
  return x;
}

static Value clipByAttributes(Node &n) {
  n.ignore("consumed_inputs");
  Value x = n.floatInput(0);
  if (n.hasAttribute("min"))
    x = n.create<MaxOp>(x, n.splat(x, n.attribute("min", 0.0)));
  if (n.hasAttribute("max"))
    x = n.create<MinOp>(x, n.splat(x, n.attribute("max", 0.0)));
  return x;
}

static Value castTo(Node &n, int onnxType) {
  Type type = elementType(n.context(), onnxType);
  if (!type)
    unsupported("a cast to " + typeName(onnxType) + " is not supported");
  if (changesPrecision(onnxType))
    n.note("a cast to " + typeName(onnxType) + " is one to float");
  return n.cast(n.input(0), type);
}

static Value castToType(Node &n) {
  n.ignore("saturate"); // of 8-bit floats only, as is round_mode
  n.ignore("round_mode");
  int64_t to = n.attribute("to", 0);
  if (to < 0 || to > INT32_MAX)
    fail("expected an element type as 'to', got number " + Twine(to));
  return castTo(n, static_cast<int>(to));
}

/// Before opset 6 the type is a string.
static Value castToNamed(Node &n) {
  StringRef name = n.attribute("to", "");
  onnx::TensorProto_DataType type;
  if (!onnx::TensorProto_DataType_Parse(name.upper(), &type))
    fail("expected an element type, got " + quoted(name));
  return castTo(n, type);
}

static Value castLike(Node &n) {
  n.ignore("saturate");
  n.ignore("round_mode");
  return n.cast(n.input(0), n.inputType(1).getElementType());
}

ArrayRef<Operator> importer::elementwiseOperators() {
  static const Operator rows[] = {
      {"Abs", 1, unary<AbsOp>},
      {"Add", 1, alignedBinary<AddOp>},
      {"Add", 7, binary<AddOp>},
      withoutGradient({"And", 1, alignedBinary<AndOp>}),
      withoutGradient({"And", 7, binary<AndOp>}),
      {"Cast", 1, castToNamed},
      {"Cast", 6, castToType},
      {"CastLike", 15, castLike},
      {"Clip", 1, clipByAttributes},
      {"Clip", 11, clip},
      {"Div", 1, alignedBinary<DivOp>},
      {"Div", 7, binary<DivOp>},
      withoutGradient({"Equal", 1, alignedCompare<Predicate::eq>}),
      withoutGradient({"Equal", 7, compare<Predicate::eq>}),
      {"Erf", 9, unaryFloat<ErfOp>},
      {"Exp", 1, unaryFloat<ExpOp>},
      withoutGradient({"Greater", 1, alignedCompare<Predicate::gt>}),
      withoutGradient({"Greater", 7, compare<Predicate::gt>}),
      withoutGradient({"GreaterOrEqual", 12, compare<Predicate::ge>}),
      withoutGradient({"Less", 1, alignedCompare<Predicate::lt>}),
      withoutGradient({"Less", 7, compare<Predicate::lt>}),
      withoutGradient({"LessOrEqual", 12, compare<Predicate::le>}),
      {"Log", 1, unaryFloat<LogOp>},
      {"Max", 1, variadic<MaxOp>},
      {"Mean", 1, mean},
      {"Min", 1, variadic<MinOp>},
      withoutGradient({"Mod", 10, mod}),
      {"Mul", 1, alignedBinary<MulOp>},
      {"Mul", 7, binary<MulOp>},
      {"Neg", 1, unary<NegOp>},
      withoutGradient({"Not", 1, unary<NotOp>}),
      withoutGradient({"Or", 1, alignedBinary<OrOp>}),
      withoutGradient({"Or", 7, binary<OrOp>}),
      {"Pow", 1, alignedBinary<PowOp>},
      {"Pow", 7, pow},
      {"Reciprocal", 1, reciprocal},
      {"Sqrt", 1, unaryFloat<SqrtOp>},
      {"Sub", 1, alignedBinary<SubOp>},
      {"Sub", 7, binary<SubOp>},
      {"Sum", 1, variadic<AddOp>},
      {"Where", 9, where},
      withoutGradient({"Xor", 1, alignedCompare<Predicate::ne>}),
      withoutGradient({"Xor", 7, compare<Predicate::ne>}),
  };
  return rows;
}
