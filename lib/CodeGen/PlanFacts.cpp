//===- PlanFacts.cpp - ONNX nodes and the steps that compute them ---------===//

#include "lib/CodeGen/PlanFacts.h"
#include "lib/IR/Names.h"
#include "lib/IR/Plan/Parameters.h"
#include "lib/IR/Plan/StepBody.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace mlir::mnistc;

/// The op that stands for a step: its root, or the last of a map; of a chain
/// that of its first link.
static Operation *mainOpOf(StepOp step) {
  if (SmallVector<StepOp> links = linksOf(step); !links.empty())
    return mainOpOf(links.front());
  if (Operation *root = rootOf(step))
    return root;
  Operation *last = yieldsOf(step).front().getDefiningOp();
  return last && !isa<ConstantOp>(last) ? last : nullptr;
}

PlanFacts::PlanFacts(func::FuncOp function, ArrayRef<OnnxNode> given)
    : function(function), name(function.getName()),
      steps(function.getOps<StepOp>()) {
  readOps();
  std::vector<OnnxNode> own;
  if (given.empty()) {
    own = nodesOfPlan();
    given = own;
  }
  findConstants(given);
  llvm::SmallSet<unsigned, 16> claimed;
  for (const OnnxNode &node : given) {
    nodes.push_back(factsOf(node));
    // Of several nodes in the main op's name the first has the step.
    llvm::erase_if(nodes.back().owned,
                   [&](unsigned step) { return !claimed.insert(step).second; });
  }
  for (StepOp step : steps) {
    flops += flopsOf(step);
    bytes += bytesOf(step);
  }
  addUnclaimed();
}

/// Steps that no node accounts for speak for themselves.
void PlanFacts::addUnclaimed() {
  llvm::SmallSet<unsigned, 16> claimed;
  for (const NodeFacts &facts : nodes)
    claimed.insert(facts.owned.begin(), facts.owned.end());
  for (auto [i, step] : llvm::enumerate(steps)) {
    unsigned number = i + 1;
    if (!claimed.contains(number))
      nodes.push_back({{step.getName().str(), "", {}, {step.getName().str()}},
                       Outcome::step,
                       {number},
                       {number}});
  }
}

void PlanFacts::readOps() {
  auto read = [&](Operation *op, unsigned number) {
    stepOf[op] = number;
    for (OnnxName name : namesIn(op->getLoc())) {
      byTensor[name.tensor].insert(op);
      if (!name.node.empty())
        byNode[name.node].insert(op);
    }
  };
  for (ConstantOp constant : function.getOps<ConstantOp>())
    read(constant, 0);
  for (auto [i, step] : llvm::enumerate(steps)) {
    for (Operation *op : mlir::mnistc::opsIn(step))
      read(op, i + 1);
    if (Operation *op = mainOpOf(step))
      ownerOf[op] = i + 1;
  }
}

std::vector<OnnxNode> PlanFacts::nodesOfPlan() {
  std::vector<OnnxNode> nodes;
  llvm::StringSet<> seen;
  auto add = [&](Operation *op) {
    for (OnnxName name : namesIn(op->getLoc()))
      if (!name.node.empty() && seen.insert(name.tensor).second)
        nodes.push_back({name.node.str(),
                         name.operatorName.str(),
                         {},
                         {name.tensor.str()}});
  };
  for (ConstantOp constant : function.getOps<ConstantOp>())
    add(constant);
  for (StepOp step : steps)
    for (Operation *op : mlir::mnistc::opsIn(step))
      add(op);
  return nodes;
}

/// Tensors that depend only on initializers and shapes. Shapes are static.
void PlanFacts::findConstants(ArrayRef<OnnxNode> given) {
  llvm::StringSet<> computed;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (auto name = function.getArgAttrOfType<StringAttr>(i, "mnist.name"))
      computed.insert(name);
  for (BlockArgument argument : function.getArguments())
    if (StringAttr parameter = parameterOf(argument))
      computed.insert(parameter);
  for (const OnnxNode &node : given)
    computed.insert(node.outputs.begin(), node.outputs.end());
  // The nodes of a file may stand in any order.
  size_t before;
  do {
    before = constants.size();
    for (const OnnxNode &node : given)
      if (node.type == "Shape" || node.type == "Size" ||
          llvm::all_of(node.inputs, [&](const std::string &input) {
            return constants.contains(input) || !computed.contains(input);
          }))
        constants.insert(node.outputs.begin(), node.outputs.end());
  } while (constants.size() != before);
}

/// By tensors, whose names are unique, else by the node's name; or null.
const PlanFacts::Ops *PlanFacts::opsOf(const OnnxNode &node) const {
  for (const std::string &output : node.outputs)
    if (auto it = byTensor.find(output); it != byTensor.end())
      return &it->second;
  auto it = byNode.find(node.name);
  return it != byNode.end() ? &it->second : nullptr;
}

static bool hasLoss(func::FuncOp function) {
  return function.getNumResults() != 0 &&
         function.getResultAttr(0, "mnist.loss");
}

/// Whether a loss does without a node that inference computes.
bool PlanFacts::isBehindLoss(const OnnxNode &node) const {
  if (!hasLoss(function))
    return false;
  for (auto other :
       function->getParentOfType<ModuleOp>().getOps<func::FuncOp>())
    if (!hasLoss(other) && PlanFacts(other, {}).opsOf(node))
      return true;
  return false;
}

NodeFacts PlanFacts::factsOf(const OnnxNode &node) const {
  NodeFacts facts{node, Outcome::nothing, {}, {}};
  if (!node.isNeeded) {
    facts.outcome = Outcome::unneeded;
    return facts;
  }
  bool isConstant = llvm::any_of(node.outputs, [&](const std::string &output) {
    return constants.contains(output);
  });
  const Ops *ops = opsOf(node);
  if (isConstant || ops)
    facts.outcome = Outcome::constant;
  else if (isBehindLoss(node))
    facts.outcome = Outcome::unneeded;
  if (!ops)
    return facts;
  for (Operation *op : *ops) {
    if (isa<ConstantOp>(op))
      continue;
    unsigned owned = ownerOf.lookup(op);
    if (facts.outcome != Outcome::step)
      facts.outcome =
          isa<ReshapeOp>(op) && !owned ? Outcome::inPlace : Outcome::step;
    unsigned step = stepOf.lookup(op);
    if (!llvm::is_contained(facts.steps, step))
      facts.steps.push_back(step);
    if (owned)
      facts.owned.push_back(owned);
  }
  llvm::sort(facts.steps);
  llvm::sort(facts.owned);
  return facts;
}

std::vector<PlanFacts> mlir::mnistc::plansOf(ModuleOp planned,
                                             ArrayRef<OnnxNode> nodes) {
  std::vector<PlanFacts> plans;
  for (auto function : planned.getOps<func::FuncOp>())
    if (!function.isExternal())
      plans.emplace_back(function, nodes);
  return plans;
}
