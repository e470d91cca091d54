//===- Node.cpp - an ONNX node, as its importer sees it -------------------===//

#include "lib/Import/Node.h"
#include "lib/IR/Mnist/Evaluate.h"
#include "lib/IR/Mnist/TensorShape.h"
#include "lib/IR/Names.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include <charconv>

using namespace mlir;
using namespace mlir::mnistc;
using namespace mlir::mnistc::importer;
using onnx::AttributeProto;

static StringRef firstOutput(const onnx::NodeProto &node) {
  for (const std::string &output : node.output())
    if (!output.empty())
      return output;
  return "";
}

Node::Node(const GraphNode &node, Scope scope, OpBuilder &builder)
    : node(node), scope(scope), builder(builder),
      location(nameLocation(builder.getContext(), firstOutput(*node.proto),
                            node.name, node.proto->op_type())) {
  outputs.resize(node.proto->output_size());
}

void Node::note(const Twine &text) {
  scope.report.note(node.place() + ": " + text);
}

void Node::warn(const Twine &text) { scope.report.warn(text, node.place()); }

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

bool Node::hasInput(int i) const {
  return i < numInputs() && !node.proto->input(i).empty();
}

const Tensor &Node::anyInput(int i) const {
  if (!hasInput(i))
    fail("expected an input number " + Twine(i + 1) + ", got none");
  return *scope.tensors.find(node.proto->input(i));
}

const Tensor &Node::tensor(int i) const {
  const Tensor &found = anyInput(i);
  if (found.sequence)
    fail("expected a tensor as input " + quoted(node.proto->input(i)) +
         ", got a sequence");
  return found;
}

const Parts &Node::parts(int i) const {
  const std::optional<Parts> &found = anyInput(i).sequence;
  if (!found)
    fail("expected a sequence as input " + quoted(node.proto->input(i)) +
         ", got a tensor");
  return *found;
}

Value Node::sequence(int i) {
  parts(i);
  return scope.tensors.value(node.proto->input(i));
}

Value Node::input(int i) {
  tensor(i);
  return scope.tensors.value(node.proto->input(i));
}

Value Node::floatInput(int i) {
  RankedTensorType type = inputType(i);
  if (!isa<FloatType>(type.getElementType()))
    unsupported("input " + quoted(node.proto->input(i)) + " of " +
                typeName(type.getElementType()) +
                " is not supported, only of float");
  return input(i);
}

Value Node::learnedInput(int i) {
  Value value = floatInput(i), source = value;
  while (isa_and_nonnull<ReshapeOp, TransposeOp>(source.getDefiningOp()))
    source = source.getDefiningOp()->getOperand(0);
  if (auto load = source.getDefiningOp<ml_program::GlobalLoadOp>())
    SymbolTable::lookupNearestSymbolFrom(load, load.getGlobal())
        ->setAttr("mnist.learned", builder.getUnitAttr());
  return value;
}

RankedTensorType Node::inputType(int i) const { return tensor(i).type; }

bool Node::isBatched(int i) const { return anyInput(i).isBatched; }

void Node::limitInput(Value value, int64_t lowest, int64_t highest,
                      std::optional<int64_t> ignored) {
  while (isa_and_nonnull<BroadcastOp, CastOp, ReshapeOp, TransposeOp>(
      value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || !elementOf(value).isSignlessInteger() ||
      elementOf(value).isInteger(1))
    return;
  auto function = mlir::cast<func::FuncOp>(argument.getOwner()->getParentOp());
  unsigned number = argument.getArgNumber();
  SmallVector<int64_t> range = {lowest, highest};
  if (ignored)
    range.push_back(*ignored);
  if (auto other =
          function.getArgAttrOfType<DenseI64ArrayAttr>(number, "mnist.range")) {
    // Of two readers: what both accept.
    ArrayRef<int64_t> old = other.asArrayRef();
    bool bothIgnore = ignored && old.size() == 3 && old[2] == *ignored;
    range = {std::max(lowest, old[0]), std::min(highest, old[1])};
    if (bothIgnore)
      range.push_back(*ignored);
  }
  function.setArgAttr(number, "mnist.range",
                      builder.getDenseI64ArrayAttr(range));
}

bool Node::anyBatched() const {
  for (int i = 0; i < numInputs(); ++i)
    if (hasInput(i) && isBatched(i))
      return true;
  return false;
}

DenseElementsAttr Node::knownConstant(int i) const {
  tensor(i);
  return scope.tensors.constant(node.proto->input(i));
}

/// The graph inputs that a value is computed from, in their order.
static SmallVector<std::string> graphInputsOf(Value value) {
  llvm::SetVector<Value> values;
  values.insert(value);
  SmallVector<BlockArgument> inputs;
  for (size_t next = 0; next < values.size(); ++next) {
    if (Operation *op = values[next].getDefiningOp())
      values.insert(op->operand_begin(), op->operand_end());
    else
      inputs.push_back(cast<BlockArgument>(values[next]));
  }
  llvm::sort(inputs, [](BlockArgument a, BlockArgument b) {
    return a.getArgNumber() < b.getArgNumber();
  });
  return llvm::map_to_vector(inputs, [](BlockArgument input) {
    return namesIn(input.getLoc()).front().tensor.str();
  });
}

namespace {
/// What follows from few constants, of whatever type: exporters compute factors
/// with nodes. Those of shapes are known when they are made.
class FewNumbers {
public:
  ElementsAttr valueOf(Value value, int depth = 0);

private:
  ElementsAttr compute(Value value, int depth);

  static constexpr int64_t maxElements = 1024;
  static constexpr int maxDepth = 256;
  DenseMap<Value, ElementsAttr> known;
};
} // namespace

ElementsAttr FewNumbers::compute(Value value, int depth) {
  if (ElementsAttr constant = constantValue(value))
    return constant;
  Operation *op = value.getDefiningOp();
  if (auto load = dyn_cast_or_null<ml_program::GlobalLoadOp>(op))
    return dyn_cast_or_null<ElementsAttr>(
        SymbolTable::lookupNearestSymbolFrom<ml_program::GlobalOp>(
            load, load.getGlobalAttr())
            .getValueAttr());
  if (!op || depth > maxDepth)
    return {};
  SmallVector<ElementsAttr> operands;
  for (Value operand : op->getOperands())
    if (operands.emplace_back(valueOf(operand, depth + 1)); !operands.back())
      return {};
  return evaluate(op, operands);
}

ElementsAttr FewNumbers::valueOf(Value value, int depth) {
  if (countOf(value) > maxElements)
    return {};
  auto [it, isNew] = known.try_emplace(value);
  if (!isNew)
    return it->second;
  ElementsAttr result = compute(value, depth);
  return known[value] = result;
}

DenseElementsAttr Node::constant(int i, StringRef what) {
  if (DenseElementsAttr value = knownConstant(i))
    return value;
  if (auto value = dyn_cast_or_null<DenseElementsAttr>(
          FewNumbers().valueOf(tensor(i).value)))
    return value;
  SmallVector<std::string> names, flags;
  for (const std::string &name : graphInputsOf(tensor(i).value)) {
    names.push_back(quoted(name));
    flags.push_back(
        ("--bind=" + StringRef(names.back()).drop_front().drop_back() +
         "=FILE.pb")
            .str());
  }
  if (names.empty())
    unsupported("needs '" + what + "' at compile time, got " +
                quoted(node.proto->input(i)) + ", which takes more than " +
                "arithmetic with few constants; fold the model's constants");
  std::string found =
      "graph input" + std::string(names.size() > 1 ? "s " : " ") +
      llvm::join(names, ", ") + "; bind " + (names.size() > 1 ? "them" : "it") +
      " with " + llvm::join(flags, " ");
  if (!tensor(i).isGraphInput)
    found = quoted(node.proto->input(i)) + ", which depends on " + found;
  unsupported("needs '" + what + "' at compile time, got " + found);
}

Shape Node::constantInts(int i, StringRef what) {
  DenseElementsAttr value = constant(i, what);
  if (!value.getElementType().isInteger(64) &&
      !value.getElementType().isInteger(32))
    fail("expected integers as '" + what + "'");
  if (value.getType().getRank() > 1 || value.getNumElements() > 1024)
    fail("expected a list as '" + what + "', got the shape " +
         shapeText(value.getType().getShape()));
  return integersOf(value);
}

double Node::constantNumber(int i, StringRef what) {
  DenseElementsAttr value = constant(i, what);
  if (value.getNumElements() != 1)
    fail("expected one number as '" + what + "', got the shape " +
         shapeText(value.getType().getShape()));
  if (isa<FloatType>(value.getElementType()))
    return (*value.getValues<APFloat>().begin()).convertToDouble();
  return static_cast<double>(integersOf(value).front());
}

Numbers Node::constantNumbers(int i, StringRef what) {
  DenseElementsAttr value = constant(i, what);
  Numbers numbers;
  if (isa<FloatType>(value.getElementType()))
    for (const APFloat &number : value.getValues<APFloat>())
      numbers.push_back(number.convertToDouble());
  else
    for (int64_t number : integersOf(value))
      numbers.push_back(static_cast<double>(number));
  return numbers;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

const AttributeProto *Node::find(StringRef name) const {
  for (const AttributeProto &attribute : node.proto->attribute())
    if (StringRef(attribute.name()) == name)
      return &attribute;
  return nullptr;
}

const AttributeProto *Node::rawAttribute(StringRef name) {
  asked.insert(name);
  return find(name);
}

const AttributeProto *Node::typed(StringRef name,
                                  AttributeProto::AttributeType type) {
  const AttributeProto *attribute = rawAttribute(name);
  if (attribute && attribute->type() != type)
    fail("expected attribute '" + name + "' of the kind " +
         AttributeProto::AttributeType_Name(type) + ", got " +
         AttributeProto::AttributeType_Name(attribute->type()));
  return attribute;
}

int64_t Node::attribute(StringRef name, int64_t otherwise) {
  const AttributeProto *found = typed(name, AttributeProto::INT);
  return found ? found->i() : otherwise;
}

bool Node::flag(StringRef name, bool otherwise) {
  return attribute(name, int64_t(otherwise)) != 0;
}

/// The decimal number that the file's author wrote: 0.1, not
/// 0.100000001490116. As a float it is the same.
static double decimal(float number) {
  char text[32];
  auto end = std::to_chars(text, std::end(text), number);
  double result = number;
  if (std::isfinite(number))
    std::from_chars(text, end.ptr, result);
  return result;
}

double Node::attribute(StringRef name, double otherwise) {
  const AttributeProto *found = typed(name, AttributeProto::FLOAT);
  return found ? decimal(found->f()) : otherwise;
}

StringRef Node::attribute(StringRef name, const char *otherwise) {
  const AttributeProto *found = typed(name, AttributeProto::STRING);
  return found ? StringRef(found->s()) : StringRef(otherwise);
}

Shape Node::attribute(StringRef name, const Shape &otherwise) {
  const AttributeProto *found = typed(name, AttributeProto::INTS);
  return found ? Shape(found->ints().begin(), found->ints().end()) : otherwise;
}

Numbers Node::attribute(StringRef name, const Numbers &otherwise) {
  const AttributeProto *found = typed(name, AttributeProto::FLOATS);
  return found ? Numbers(found->floats().begin(), found->floats().end())
               : otherwise;
}

DenseElementsAttr Node::decode(const onnx::TensorProto &tensor) {
  if (changesPrecision(tensor.data_type()))
    note(typeName(tensor.data_type()) + " becomes float");
  return decodeTensor(context(), tensor, scope.external);
}

int64_t Node::axis(int64_t axis, int64_t rank, bool endIncluded) const {
  int64_t end = rank + (endIncluded ? 1 : 0);
  if (axis < -rank || axis >= end)
    fail("expected an axis from " + Twine(-rank) + " to " + Twine(end - 1) +
         ", got " + Twine(axis));
  return axis < 0 ? axis + rank : axis;
}

Shape Node::axes(ArrayRef<int64_t> axes, int64_t rank) const {
  Shape result;
  for (int64_t number : axes)
    result.push_back(axis(number, rank));
  llvm::sort(result);
  if (std::adjacent_find(result.begin(), result.end()) != result.end())
    fail("expected distinct axes, got " + shapeText(axes));
  return result;
}

//===----------------------------------------------------------------------===//
// Outputs
//===----------------------------------------------------------------------===//

bool Node::hasOutput(int i) const {
  return i < numOutputs() && !node.proto->output(i).empty();
}

bool Node::isUsed(int i) const {
  return hasOutput(i) && scope.used.contains(node.proto->output(i));
}

void Node::setOutput(int i, Value value) {
  if (i < numOutputs())
    outputs[i] = value;
}

void Node::finish(Value first) {
  setOutput(0, first);
  for (const AttributeProto &attribute : node.proto->attribute())
    if (!asked.contains(attribute.name()))
      unsupported("attribute " + quoted(attribute.name()) +
                  " is not supported");
  for (int i = 0; i < numOutputs(); ++i)
    if (isUsed(i) && !outputs[i])
      unsupported("output " + quoted(node.proto->output(i)) + ", number " +
                  Twine(i + 1) + ", is not supported");
}
