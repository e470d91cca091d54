//===- Names.cpp - the model's names, carried by locations ----------------===//

#include "lib/IR/Names.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

using namespace mlir;
using namespace mlir::mnistc;

Location mlir::mnistc::nameLocation(MLIRContext *context, StringRef tensor,
                                    StringRef node, StringRef operatorName) {
  auto name = [&](StringRef text, Location child) -> Location {
    return NameLoc::get(StringAttr::get(context, text), child);
  };
  return name(tensor, name(node, name(operatorName, UnknownLoc::get(context))));
}

static void collect(Location location, SmallVectorImpl<OnnxName> &names) {
  if (auto fused = dyn_cast<FusedLoc>(location)) {
    for (Location part : fused.getLocations())
      collect(part, names);
    return;
  }
  auto tensor = dyn_cast<NameLoc>(location);
  if (!tensor)
    return;
  OnnxName name{tensor.getName(), "", ""};
  if (auto node = dyn_cast<NameLoc>(tensor.getChildLoc())) {
    name.node = node.getName();
    if (auto operatorName = dyn_cast<NameLoc>(node.getChildLoc()))
      name.operatorName = operatorName.getName();
  }
  for (OnnxName &known : names)
    if (known.tensor == name.tensor && known.node == name.node)
      return;
  names.push_back(name);
}

SmallVector<OnnxName> mlir::mnistc::namesIn(Location location) {
  SmallVector<OnnxName> names;
  collect(location, names);
  return names;
}

std::string mlir::mnistc::tensorName(Operation *op) {
  if (auto name = op->getAttrOfType<StringAttr>("mnist.name"))
    return name.str();
  SmallVector<OnnxName> names = namesIn(op->getLoc());
  if (names.empty())
    return op->getName().stripDialect().str();
  return names.back().tensor.str();
}
