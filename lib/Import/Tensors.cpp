//===- Tensors.cpp - what the names of a graph stand for ------------------===//

#include "lib/Import/Tensors.h"
#include "lib/IR/Mnist/MnistOps.h"
#include "lib/IR/Names.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::mnistc;
using namespace mlir::mnistc::importer;

void Tensors::define(StringRef name, Tensor tensor) {
  if (tensor.value)
    tensor.type = cast<RankedTensorType>(tensor.value.getType());
  else
    tensor.type = cast<RankedTensorType>(tensor.constant.getType());
  tensors[name] = std::move(tensor);
}

const Tensor *Tensors::find(StringRef name) const {
  auto entry = tensors.find(name);
  return entry == tensors.end() ? nullptr : &entry->second;
}

void Tensors::declareGlobal(StringRef name, const Tensor &tensor,
                            Location location) {
  if (!globals.names.insert(name).second)
    return;
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  if (globals.last)
    builder.setInsertionPointAfter(globals.last);
  globals.last = builder.create<ml_program::GlobalOp>(
      location, name, tensor.constant.getType(),
      /*is_mutable=*/true, tensor.constant, builder.getStringAttr("private"));
  if (tensor.isOfNode)
    globals.last->setAttr("mnist.of_node", builder.getUnitAttr());
}

Value Tensors::load(StringRef name, const Tensor &tensor) {
  OpBuilder builder = OpBuilder::atBlockBegin(body);
  if (lastSource)
    builder.setInsertionPointAfter(lastSource);
  Location location = nameLocation(builder.getContext(), name, "", "");
  Operation *source;
  if (tensor.isParameter) {
    declareGlobal(name, tensor, location);
    source = builder.create<ml_program::GlobalLoadOp>(
        location, tensor.type, SymbolRefAttr::get(builder.getContext(), name));
  } else {
    source = builder.create<ConstantOp>(location, tensor.type, tensor.constant);
    source->setDiscardableAttr("mnist.name", builder.getStringAttr(name));
  }
  lastSource = source;
  return source->getResult(0);
}

Value Tensors::value(StringRef name) {
  Tensor &tensor = tensors[name];
  if (!tensor.value)
    tensor.value = load(name, tensor);
  return tensor.value;
}

DenseElementsAttr Tensors::constant(StringRef name) const {
  const Tensor *tensor = find(name);
  DenseElementsAttr value;
  if (!tensor)
    return {};
  if (tensor->constant)
    return tensor->constant;
  return matchPattern(tensor->value, m_Constant(&value)) ? value
                                                         : DenseElementsAttr();
}
