//===- AddProbes.cpp - the gradient of every value ------------------------===//
//
// A parameter of zeros is added wherever an op reads a value that depends on a
// parameter.
//
//===----------------------------------------------------------------------===//

#include "lib/IR/Names.h"
#include "lib/IR/PlanKind.h"
#include "lib/Passes/Activity.h"
#include "lib/Passes/Passes.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::mnistc {

#define GEN_PASS_DEF_ADDPROBES
#include "lib/Passes/Passes.h.inc"

namespace {
/// An operand whose gradient its op's derivative gives, and the global that
/// shows it.
struct Probe {
  OpOperand *operand;
  StringAttr name;
};

struct AddProbes : impl::AddProbesBase<AddProbes> {
  void runOnOperation() override;
  void addTo(func::FuncOp function);
  StringAttr takeName(Value value);
  void insert(const Probe &probe);

  llvm::StringSet<> names; ///< of globals
};
} // namespace

/// "relu of node 'relu1' (Relu)".
static std::string describe(Operation &op) {
  std::string text = op.getName().stripDialect().str();
  for (const OnnxName &name : namesIn(op.getLoc()))
    if (!name.node.empty())
      return text + " of node '" + name.node.str() + "' (" +
             name.operatorName.str() + ")";
  return tensorName(&op) == mn::names::loss ? text + " of the loss" : text;
}

/// The ops that `loss` depends on.
static DenseSet<Operation *> opsBefore(Value loss) {
  DenseSet<Operation *> found;
  SmallVector<Value> values{loss};
  while (!values.empty())
    if (Operation *op = values.pop_back_val().getDefiningOp())
      if (found.insert(op).second)
        llvm::append_range(values, op->getOperands());
  return found;
}

/// "probe.hidden", and where this is taken "probe.hidden.2".
StringAttr AddProbes::takeName(Value value) {
  Operation *op = value.getDefiningOp();
  std::string stem = "probe.";
  if (auto load = dyn_cast<ml_program::GlobalLoadOp>(op))
    stem += load.getGlobal().getLeafReference().getValue();
  else
    stem += tensorName(op);
  std::string name = stem;
  for (int number = 2; !names.insert(name).second; ++number)
    name = stem + "." + std::to_string(number);
  return StringAttr::get(&getContext(), name);
}

void AddProbes::insert(const Probe &probe) {
  OpBuilder builder(&getContext());
  Value value = probe.operand->get();
  auto type = cast<RankedTensorType>(value.getType());
  builder.setInsertionPoint(probe.operand->getOwner()->getParentOp());
  auto global = builder.create<ml_program::GlobalOp>(
      value.getLoc(), probe.name, type, /*is_mutable=*/true,
      DenseElementsAttr::get(type,
                             builder.getFloatAttr(type.getElementType(), 0)),
      builder.getStringAttr("private"));
  global->setAttr("mnist.role", builder.getStringAttr("parameter"));
  Operation *reader = probe.operand->getOwner();
  builder.setInsertionPoint(reader);
  Location loc = NameLoc::get(probe.name);
  Value zeros = builder.create<ml_program::GlobalLoadOp>(
      loc, type, SymbolRefAttr::get(probe.name));
  probe.operand->set(builder.create<AddOp>(loc, value, zeros));
  ++numProbes;
}

void AddProbes::addTo(func::FuncOp function) {
  Activity activity(function);
  Block &body = function.getBody().front();
  DenseSet<Operation *> needed = opsBefore(body.getTerminator()->getOperand(0));

  // All operands first: probes are ops with operands too.
  SmallVector<OpOperand *> operands;
  llvm::MapVector<Attribute, int> uses; // of parameters
  auto parameterOf = [](Value value) -> StringAttr {
    auto load = value.getDefiningOp<ml_program::GlobalLoadOp>();
    return load ? load.getGlobal().getLeafReference() : StringAttr();
  };
  for (Operation &op : body.without_terminator()) {
    if (!needed.contains(&op) || op.getNumResults() != 1 ||
        !activity.active.contains(op.getResult(0)))
      continue;
    for (OpOperand &operand : op.getOpOperands())
      if (activity.active.contains(operand.get())) {
        operands.push_back(&operand);
        if (StringAttr name = parameterOf(operand.get()))
          ++uses[name];
      }
  }

  DenseMap<Value, SmallVector<Attribute>> probesOf;
  SmallVector<std::pair<StringAttr, Operation *>> readers;
  SmallVector<Probe> probes;
  for (OpOperand *operand : operands) {
    StringAttr name = parameterOf(operand->get());
    if (!name || uses[name] != 1)
      probes.push_back({operand, name = takeName(operand->get())});
    probesOf[operand->get()].push_back(name);
    readers.emplace_back(name, operand->getOwner());
  }
  for (const Probe &probe : probes)
    insert(probe);
  SymbolTable symbols(getOperation());
  Builder builder(&getContext());
  for (auto [name, reader] : readers) {
    Operation *global = symbols.lookup(name);
    global->setAttr("mnist.reader", builder.getStringAttr(describe(*reader)));
    global->setAttr("mnist.downstream", builder.getArrayAttr(probesOf.lookup(
                                            reader->getResult(0))));
  }
}

void AddProbes::runOnOperation() {
  names.clear();
  for (auto global : getOperation().getOps<ml_program::GlobalOp>())
    names.insert(global.getSymName());
  for (auto function : getOperation().getOps<func::FuncOp>())
    if (trains(function))
      addTo(function);
}

} // namespace mlir::mnistc
