//===- MnistDialect.cpp - registration of the model dialect ---------------===//

#include "lib/IR/Mnist/MnistOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::mnistc;

#include "lib/IR/Mnist/MnistDialect.cpp.inc"
#include "lib/IR/Mnist/MnistEnums.cpp.inc"
#include "lib/IR/Mnist/MnistInterfaces.cpp.inc"

/// Whether a step knows what to do with ops of this kind.
template <typename Op> static constexpr bool hasKind() {
  return Op::template hasTrait<Elementwise>() ||
         Op::template hasTrait<Indexing>() ||
         Op::template hasTrait<Expanded>() ||
         Op::template hasTrait<OpTrait::ConstantLike>() ||
         Op::template hasTrait<RootOpInterface::Trait>();
}

template <typename... Ops> static constexpr bool haveKinds() {
  return (hasKind<Ops>() && ...);
}

static_assert(haveKinds<
#define GET_OP_LIST
#include "lib/IR/Mnist/MnistOps.cpp.inc"
                  >(),
              "an op is elementwise, indexing, a constant, a root, or expanded "
              "into such");

void MnistDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "lib/IR/Mnist/MnistOps.cpp.inc"
      >();
}

Operation *MnistDialect::materializeConstant(OpBuilder &builder,
                                             Attribute value, Type type,
                                             Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getShapedType() != type)
    return nullptr;
  return builder.create<ConstantOp>(loc, type, elements);
}
