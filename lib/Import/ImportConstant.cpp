//===- ImportConstant.cpp - tensors that the graph itself holds -----------===//

#include "lib/Import/Operators.h"
#include <cmath>

using namespace mlir;
using namespace mlir::mnistc;
using namespace mlir::mnistc::importer;

/// What is known at compile time is stored in the program.
static constexpr int64_t maxRange = int64_t(1) << 26;

static Value constant(Node &n) {
  if (n.numInputs() != 0)
    fail("expected no inputs, got " + Twine(n.numInputs()));
  Builder builder(n.context());
  auto type = [&](int64_t count, Type element) {
    return RankedTensorType::get({count}, element);
  };
  if (const auto *value = n.rawAttribute("value"))
    return n.constantOf(n.decode(value->t()));
  if (const auto *value = n.rawAttribute("value_float"))
    return n.constantOf(DenseElementsAttr::get(
        RankedTensorType::get({}, builder.getF32Type()), value->f()));
  if (const auto *value = n.rawAttribute("value_int"))
    return n.constantOf(integersAttr(
        RankedTensorType::get({}, builder.getI64Type()), {value->i()}));
  if (const auto *value = n.rawAttribute("value_floats")) {
    SmallVector<float> numbers(value->floats().begin(), value->floats().end());
    return n.constantOf(DenseElementsAttr::get(
        type(numbers.size(), builder.getF32Type()), ArrayRef<float>(numbers)));
  }
  if (const auto *value = n.rawAttribute("value_ints")) {
    Shape numbers(value->ints().begin(), value->ints().end());
    return n.constantOf(
        integersAttr(type(numbers.size(), builder.getI64Type()), numbers));
  }
  for (StringRef name : {"sparse_value", "value_string", "value_strings"})
    if (n.rawAttribute(name))
      unsupported("attribute '" + name + "' is not supported");
  fail("expected a value, got none");
}

static Value constantOfShape(Node &n) {
  Shape shape = n.constantInts(0, "shape");
  const auto *attribute = n.rawAttribute("value");
  if (!attribute)
    return n.constantOf(
        splatAttr(tensorType(shape, Builder(n.context()).getF32Type()), 0));
  DenseElementsAttr value = n.decode(attribute->t());
  if (value.getNumElements() != 1)
    fail("expected one number as 'value', got the shape " +
         shapeText(value.getType().getShape()));
  return n.constantOf(
      value.resizeSplat(tensorType(shape, value.getElementType())));
}

/// start, start + delta, and so on below the limit, or above it where delta is
/// negative. Exact for integers up to 2^53.
static Value range(Node &n) {
  double start = n.constantNumber(0, "start");
  double limit = n.constantNumber(1, "limit");
  double delta = n.constantNumber(2, "delta");
  Type element = n.inputType(0).getElementType();
  for (int i : {1, 2})
    if (n.inputType(i).getElementType() != element)
      fail("expected three numbers of one type, got " + typeName(element) +
           " and " + typeName(n.inputType(i).getElementType()));
  double count = std::ceil((limit - start) / delta);
  if (delta == 0 || std::isnan(count))
    fail("expected finite numbers and a delta that is not 0, got " +
         numberText(start) + ", " + numberText(limit) + ", " +
         numberText(delta));
  if (count > maxRange)
    unsupported("expected a range of at most " + Twine(maxRange) +
                " numbers, got " + numberText(count));
  auto type = RankedTensorType::get({int64_t(std::max(count, 0.0))}, element);
  auto numbers =
      llvm::map_to_vector(llvm::seq(type.getNumElements()),
                          [&](int64_t i) { return start + i * delta; });
  if (isa<FloatType>(element))
    return n.constantOf(DenseElementsAttr::get(
        type,
        ArrayRef<float>(SmallVector<float>(numbers.begin(), numbers.end()))));
  return n.constantOf(
      integersAttr(type, SmallVector<int64_t>(numbers.begin(), numbers.end())));
}

ArrayRef<Operator> importer::constantOperators() {
  static const Operator rows[] = {
      withoutGradient({"Constant", 1, constant}),
      withoutGradient({"ConstantOfShape", 9, constantOfShape}),
      withoutGradient({"Range", 11, range}),
  };
  return rows;
}
