//===- OrderParameters.cpp - parameters in the order of images ------------===//

#include "lib/IR/Mnist/TransposeRegions.h"
#include "lib/Passes/Passes.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::mnistc {

#define GEN_PASS_DEF_ORDERPARAMETERS
#include "lib/Passes/Passes.h.inc"

namespace {
struct OrderParameters : impl::OrderParametersBase<OrderParameters> {
  void runOnOperation() override;
};

/// Where a parameter is read, in all functions.
using Loads = SmallVector<ml_program::GlobalLoadOp>;
} // namespace

static bool trains(ml_program::GlobalOp global) {
  auto role = global->getAttrOfType<StringAttr>("mnist.role");
  return role && role.getValue() == "parameter";
}

/// The order that a use of a parameter asks for, of its right operand.
static std::optional<ElementOrder> orderFor(OpOperand &use) {
  auto matmul = dyn_cast<MatmulOp>(use.getOwner());
  if (!matmul || &use != &matmul.getRhsMutable())
    return std::nullopt;
  std::optional<FlattenedProduct> product = flattenedProduct(matmul);
  return product ? std::optional(product->right) : std::nullopt;
}

/// The one that all uses ask for.
static std::optional<ElementOrder> orderFor(const Loads &loads) {
  std::optional<ElementOrder> order;
  for (ml_program::GlobalLoadOp load : loads)
    for (OpOperand &use : load->getUses()) {
      std::optional<ElementOrder> wanted = orderFor(use);
      if (!wanted || (order && !(*order == *wanted)))
        return std::nullopt;
      order = wanted;
    }
  return order;
}

/// reshape(transpose(x)) w becomes reshape(x) w.
static void flattenAsComputed(MatmulOp matmul) {
  FlattenedProduct product = *flattenedProduct(matmul);
  OpBuilder builder(matmul);
  matmul.getLhsMutable().assign(builder.create<ReshapeOp>(
      product.reshape.getLoc(), product.reshape.getType(),
      product.transpose.getInput()));
  for (Operation *op :
       {product.reshape.getOperation(), product.transpose.getOperation()})
    if (op->use_empty())
      op->erase();
}

void OrderParameters::runOnOperation() {
  llvm::MapVector<StringAttr, Loads> loads;
  getOperation().walk([&](ml_program::GlobalLoadOp load) {
    loads[load.getGlobal().getLeafReference()].push_back(load);
  });
  Builder builder(&getContext());
  for (auto &[name, each] : loads) {
    auto global = getOperation().lookupSymbol<ml_program::GlobalOp>(name);
    if (!global || !trains(global))
      continue;
    std::optional<ElementOrder> order = orderFor(each);
    if (!order)
      continue;
    for (ml_program::GlobalLoadOp load : each)
      for (Operation *user : llvm::to_vector(load->getUsers()))
        flattenAsComputed(cast<MatmulOp>(user));
    global->setAttr("mnist.order_shape",
                    builder.getDenseI64ArrayAttr(order->shape));
    global->setAttr("mnist.order", builder.getDenseI64ArrayAttr(order->perm));
    ++numOrdered;
  }
}

} // namespace mlir::mnistc
