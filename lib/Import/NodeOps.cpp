//===- NodeOps.cpp - creates ops, checked one by one ----------------------===//
//
// Also ONNX's broadcasting, which the dialect does not have.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Mnist/Evaluate.h"
#include "lib/Import/Node.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include <cmath>

using namespace mlir;
using namespace mlir::mnistc;
using namespace mlir::mnistc::importer;

ArrayRef<int64_t> importer::shapeOf(Value value) {
  return mlir::cast<RankedTensorType>(value.getType()).getShape();
}
int64_t importer::rankOf(Value value) { return shapeOf(value).size(); }
Type importer::elementOf(Value value) {
  return mlir::cast<RankedTensorType>(value.getType()).getElementType();
}
bool importer::isFloat(Value value) { return isa<FloatType>(elementOf(value)); }
int64_t importer::product(ArrayRef<int64_t> sizes) {
  int64_t result = 1;
  for (int64_t size : sizes)
    result *= size;
  return result;
}

Shape importer::broadcastShape(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  if (a.size() < b.size())
    std::swap(a, b);
  Shape result(a);
  for (size_t i = 0; i < b.size(); ++i) {
    int64_t &size = result[a.size() - 1 - i];
    int64_t other = b[b.size() - 1 - i];
    if (size != other && size != 1 && other != 1)
      fail("expected shapes that broadcast together, got " + shapeText(a) +
           " and " + shapeText(b));
    size = size == 1 ? other : size;
  }
  return result;
}

/// The op's result, if the dialect accepts the op: an inconsistent model is
/// found here at the latest. What is already known is computed.
std::string Node::inputsText() const {
  std::string text;
  for (int i = 0; i < numInputs(); ++i)
    if (hasInput(i))
      text += (text.empty() ? "" : ", ") + quoted(node.proto->input(i)) + " " +
              shapeText(inputType(i).getShape());
  return text;
}

Value Node::checked(Operation *op) {
  auto type = mlir::cast<RankedTensorType>(op->getResult(0).getType());
  tensorType(type.getShape(), type.getElementType());
  std::string message;
  ScopedDiagnosticHandler handler(context(), [&](Diagnostic &diagnostic) {
    if (message.empty())
      message = diagnostic.str();
    return success();
  });
  if (failed(verify(op))) {
    op->erase();
    fail(plainMessage(message) + "; the inputs are " + inputsText());
  }
  return evaluated(op);
}

/// Shapes are short; data is for the device.
static bool isShapeLike(Type type) {
  auto tensor = mlir::cast<RankedTensorType>(type);
  return tensor.getElementType().isInteger() && tensor.getNumElements() <= 1024;
}

/// Exporters compute shapes with nodes. With static shapes all of that is
/// known: ops on small integer constants are evaluated as they are made.
Value Node::evaluated(Operation *op) {
  Value result = op->getResult(0);
  SmallVector<ElementsAttr> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(constantValue(operand));
    if (!operands.back() || !isShapeLike(operand.getType()))
      return result;
  }
  if (operands.empty() || !isShapeLike(result.getType()))
    return result;
  auto value = dyn_cast_or_null<DenseElementsAttr>(evaluate(op, operands));
  if (!value)
    return result;
  op->erase();
  return constantOf(value);
}

Value Node::constantOf(DenseElementsAttr value) {
  return builder.create<ConstantOp>(location, value.getType(), value);
}

Value Node::splat(Value like, double number) {
  bool isWhole = number == std::trunc(number) && std::abs(number) < 0x1p63;
  if (!isFloat(like) && !isWhole)
    fail("expected an integer to go with integers, got " + numberText(number));
  return constantOf(
      splatAttr(mlir::cast<RankedTensorType>(like.getType()), number));
}

Value Node::cast(Value value, Type element) {
  if (elementOf(value) == element)
    return value;
  return create<CastOp>(RankedTensorType::get(shapeOf(value), element), value);
}

Value Node::reshape(Value value, ArrayRef<int64_t> shape) {
  if (shapeOf(value) == shape)
    return value;
  RankedTensorType type = tensorType(shape, elementOf(value));
  if (type.getNumElements() != product(shapeOf(value)))
    fail("expected a shape of as many elements as " +
         shapeText(shapeOf(value)) + ", got " + shapeText(shape));
  return create<ReshapeOp>(type, value);
}

Value Node::broadcast(Value value, ArrayRef<int64_t> shape) {
  ArrayRef<int64_t> in = shapeOf(value);
  if (in == shape)
    return value;
  if (in.size() > shape.size() || broadcastShape(in, shape) != Shape(shape))
    fail("expected a shape that broadcasts to " + shapeText(shape) + ", got " +
         shapeText(in));
  RankedTensorType type = tensorType(shape, elementOf(value));
  // New dimensions of size 1 repeat nothing.
  if (type.getNumElements() == product(in))
    return reshape(value, shape);
  Shape kept, dims;
  size_t offset = shape.size() - in.size();
  for (auto [dim, size] : llvm::enumerate(in)) {
    if (size != shape[offset + dim])
      continue;
    kept.push_back(size);
    dims.push_back(offset + dim);
  }
  return create<BroadcastOp>(type, reshape(value, kept), dims);
}

void Node::broadcastTogether(MutableArrayRef<Value> values) {
  Shape shape;
  for (Value value : values)
    shape = broadcastShape(shape, shapeOf(value));
  for (Value &value : values)
    value = broadcast(value, shape);
}
