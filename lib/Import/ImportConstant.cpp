//===- ImportConstant.cpp - tensors that the graph itself holds -----------===//

#include "lib/Import/Operators.h"

using namespace mlir;
using namespace mlir::mnistc;
using namespace mlir::mnistc::importer;

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

ArrayRef<Operator> importer::constantOperators() {
  static const Operator rows[] = {
      withoutGradient({"Constant", 1, constant}),
      withoutGradient({"ConstantOfShape", 9, constantOfShape}),
  };
  return rows;
}
