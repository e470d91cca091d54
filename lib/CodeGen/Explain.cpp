//===- Explain.cpp - what became of every ONNX node -----------------------===//

#include "lib/CodeGen/Explain.h"
#include "lib/IR/Names.h"
#include "lib/IR/Plan/StepBody.h"
#include "lib/IR/Plan/Target.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Locale.h"

using namespace mlir;
using namespace mlir::mnistc;

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

namespace {
enum class Fate { step, inPlace, constant, nothing };

/// What became of a node: numbers of steps, from 1. The last step whose numbers
/// are the node's own is `owned`, or 0.
struct NodeFacts {
  OnnxNode node;
  Fate fate = Fate::nothing;
  SmallVector<unsigned> steps;
  unsigned owned = 0;
};

/// One function of the plan.
class PlanFacts {
public:
  PlanFacts(func::FuncOp function, ArrayRef<OnnxNode> given);

  func::FuncOp function;
  std::string name;
  SmallVector<StepOp> steps;
  std::vector<NodeFacts> nodes;
  double flops = 0, bytes = 0;

  int64_t number(StringRef attribute) const {
    auto value = function->getAttrOfType<IntegerAttr>(attribute);
    return value ? value.getInt() : 0;
  }

private:
  void readOps();
  std::vector<OnnxNode> nodesOfPlan();
  void findConstants(ArrayRef<OnnxNode> given);
  NodeFacts factsOf(const OnnxNode &node) const;

  /// Ops by the tensor and by the node that they come from.
  llvm::StringMap<llvm::SetVector<Operation *>> byTensor, byNode;
  DenseMap<Operation *, unsigned> stepOf; // 0: outside of steps
  DenseMap<Operation *, unsigned> ownerOf;
  llvm::StringSet<> constants; // tensors known at compile time
};
} // namespace

/// The op that stands for a step: its root, or the last of a map.
static Operation *mainOpOf(StepOp step) {
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
  llvm::SmallSet<unsigned, 16> owned;
  for (const OnnxNode &node : given) {
    nodes.push_back(factsOf(node));
    if (unsigned step = nodes.back().owned; step && !owned.insert(step).second)
      nodes.back().owned = 0;
  }
  // Steps that no node accounts for speak for themselves.
  for (auto [i, step] : llvm::enumerate(steps)) {
    flops += flopsOf(step);
    bytes += bytesOf(step);
    unsigned number = i + 1;
    if (!owned.contains(number))
      nodes.push_back({{step.getName().str(), "", step.getName().str(), {}},
                       Fate::step,
                       {number},
                       number});
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
    for (Operation &op : step.getBody().front().without_terminator())
      read(&op, i + 1);
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
        nodes.push_back(
            {name.node.str(), name.operatorName.str(), name.tensor.str(), {}});
  };
  for (ConstantOp constant : function.getOps<ConstantOp>())
    add(constant);
  for (StepOp step : steps)
    for (Operation &op : step.getBody().front().without_terminator())
      add(&op);
  return nodes;
}

/// Tensors that depend on initializers and shapes alone. Shapes are static.
void PlanFacts::findConstants(ArrayRef<OnnxNode> given) {
  llvm::StringSet<> computed;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (auto name = function.getArgAttrOfType<StringAttr>(i, "mnist.name"))
      computed.insert(name);
  for (const OnnxNode &node : given)
    computed.insert(node.output);
  for (const OnnxNode &node : given)
    if (node.type == "Shape" || node.type == "Size" ||
        llvm::all_of(node.inputs, [&](const std::string &input) {
          return constants.contains(input) || !computed.contains(input);
        }))
      constants.insert(node.output);
}

NodeFacts PlanFacts::factsOf(const OnnxNode &node) const {
  NodeFacts facts{node, Fate::nothing, {}, 0};
  // A tensor's name is unique, a node's may be missing.
  auto it = byTensor.find(node.output);
  if (it == byTensor.end() && !node.name.empty()) {
    it = byNode.find(node.name);
    if (it == byNode.end())
      it = byTensor.end();
  }
  if (it == byTensor.end()) {
    facts.fate =
        constants.contains(node.output) ? Fate::constant : Fate::nothing;
    return facts;
  }
  facts.fate = Fate::constant;
  for (Operation *op : it->second) {
    if (isa<ConstantOp>(op))
      continue;
    if (facts.fate != Fate::step)
      facts.fate = isa<ReshapeOp>(op) && !ownerOf.contains(op) ? Fate::inPlace
                                                               : Fate::step;
    unsigned step = stepOf.lookup(op);
    if (!llvm::is_contained(facts.steps, step))
      facts.steps.push_back(step);
    // A root says more than the arithmetic of the same node after it.
    unsigned owned = ownerOf.lookup(op);
    if (owned && (!facts.owned || isRoot(op)))
      facts.owned = owned;
  }
  return facts;
}

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

/// "cudnn conv + bias + relu"
static std::string describe(StepOp step) {
  std::string text = stringifyImpl(step.getImpl()).str() + " ";
  if (std::optional<LibraryEpilogue> epilogue =
          rootOf(step) ? matchLibraryEpilogue(step) : std::nullopt) {
    text += rowNameOf(step);
    text += epilogue->bias ? " + bias" : "";
    text += epilogue->residual ? " + residual" : "";
    text += epilogue->relu ? " + relu" : "";
    return text;
  }
  // Repetition and shape are no work, unless there is nothing else.
  SmallVector<StringRef> work, rest;
  for (Operation &op : step.getBody().front().without_terminator())
    if (isa<BroadcastOp, ReshapeOp, IotaOp>(op))
      rest.push_back(op.getName().stripDialect());
    else if (!isa<ConstantOp>(op))
      work.push_back(op.getName().stripDialect());
  if (work.empty())
    work = rest;
  return text + (work.empty() ? "copy" : llvm::join(work, " + "));
}

static std::string layoutOf(StepOp step) {
  auto op = dyn_cast_or_null<LayoutOpInterface>(rootOf(step));
  return op ? stringifyLayout(op.getLayout()).str() : "";
}

static std::string typeOf(Type type) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (int64_t size : cast<ShapedType>(type).getShape())
    os << size << "x";
  os << cast<ShapedType>(type).getElementType();
  return text;
}

/// 14,745,600
static std::string grouped(double number) {
  std::string digits = std::to_string(static_cast<uint64_t>(number));
  for (size_t at = digits.size(); at > 3;)
    digits.insert(at -= 3, ",");
  return digits;
}

/// A name as a terminal may be shown it.
static std::string printable(StringRef name) {
  std::string text = llvm::json::fixUTF8(name);
  for (char &c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      c = '?';
  return text;
}

static std::string listOf(ArrayRef<unsigned> steps) {
  return llvm::join(
      llvm::map_range(steps,
                      [](unsigned step) { return std::to_string(step); }),
      ", ");
}

static StringRef wordFor(Fate fate) {
  switch (fate) {
  case Fate::step:
    return "step";
  case Fate::inPlace:
  case Fate::nothing:
    return "no operation";
  case Fate::constant:
    return "folded into constants";
  }
  llvm_unreachable("all fates are named");
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

namespace {
/// Lines of cells, each column as wide as its widest cell.
class Table {
public:
  explicit Table(std::vector<std::string> header, std::vector<bool> right)
      : right(std::move(right)) {
    lines.push_back(std::move(header));
  }

  void add(std::vector<std::string> cells) {
    lines.push_back(std::move(cells));
  }

  void print(raw_ostream &os) const {
    std::vector<int> widths(right.size(), 0);
    for (const auto &line : lines)
      for (auto [width, cell] : llvm::zip_equal(widths, line))
        width = std::max(width, llvm::sys::locale::columnWidth(cell));
    for (const auto &line : lines) {
      std::string text;
      for (size_t i = 0; i < line.size(); ++i) {
        std::string space(widths[i] - llvm::sys::locale::columnWidth(line[i]),
                          ' ');
        text += right[i] ? space + line[i] : line[i] + space;
        text += "  ";
      }
      os << StringRef(text).rtrim() << "\n";
    }
  }

private:
  std::vector<bool> right;
  std::vector<std::vector<std::string>> lines;
};
} // namespace

static std::vector<std::string> lineFor(const NodeFacts &facts,
                                        const PlanFacts &plan) {
  const OnnxNode &node = facts.node;
  std::string name = printable(node.name.empty() ? node.output : node.name);
  std::string what;
  if (facts.fate != Fate::step)
    what = wordFor(facts.fate);
  else if (!facts.owned)
    what = facts.steps.size() == 1 ? "part of it" : "parts of them";
  std::vector<std::string> line = {name, printable(node.type),
                                   listOf(facts.steps), what};
  if (facts.owned) {
    StepOp step = plan.steps[facts.owned - 1];
    line[3] = describe(step);
    line.insert(line.end(),
                {typeOf(step.getResult(0).getType()), layoutOf(step),
                 grouped(flopsOf(step)), grouped(bytesOf(step))});
  }
  line.resize(8);
  return line;
}

static void printTable(const PlanFacts &plan, raw_ostream &os) {
  auto module = plan.function->getParentOfType<ModuleOp>();
  os << plan.name;
  if (auto target = module->getAttrOfType<StringAttr>("plan.target"))
    os << " for " << target.getValue();
  os << "\n\n";
  Table table({"node", "operator", "step", "runs as", "result", "layout",
               "FLOPs", "bytes"},
              {false, false, true, false, false, false, true, true});
  for (const NodeFacts &facts : plan.nodes)
    table.add(lineFor(facts, plan));
  table.print(os);

  auto constants = module->getAttrOfType<IntegerAttr>("plan.constant_bytes");
  Table totals({"steps", grouped(plan.steps.size())}, {false, true});
  totals.add({"FLOPs", grouped(plan.flops)});
  totals.add({"bytes read and written", grouped(plan.bytes)});
  totals.add({"bytes of the arena", grouped(plan.number("plan.arena_bytes"))});
  totals.add(
      {"bytes of constants", grouped(constants ? constants.getInt() : 0)});
  totals.add(
      {"bytes for libraries", grouped(plan.number("plan.workspace_bytes"))});
  os << "\n";
  totals.print(os);
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static llvm::json::Value jsonOf(StringRef text) {
  return llvm::json::fixUTF8(text);
}

/// Why a step runs on what it runs on, by the options that the module was
/// planned with.
static std::string whyOf(StepOp step) {
  auto module = step->getParentOfType<ModuleOp>();
  auto target = module->getAttrOfType<StringAttr>("plan.target");
  auto libraries = module->getAttrOfType<StringAttr>("plan.libraries");
  if (!target || !libraries)
    return "asked for by hand";
  llvm::Expected<const Target *> found = Target::get(target);
  llvm::Expected<Libraries> allowed = Libraries::parse(libraries);
  if (found && allowed)
    return reasonFor(step, **found, *allowed);
  if (!found)
    llvm::consumeError(found.takeError());
  if (!allowed)
    llvm::consumeError(allowed.takeError());
  return "planned for an unknown target";
}

static void printSteps(const PlanFacts &plan, llvm::json::OStream &json) {
  for (auto [i, step] : llvm::enumerate(plan.steps))
    json.object([&, i = i, step = step]() mutable {
      json.attribute("step", int64_t(i + 1));
      json.attribute("name", jsonOf(step.getName()));
      json.attribute("implementation", stringifyImpl(step.getImpl()));
      json.attribute("runsAs", describe(step));
      json.attribute("why", whyOf(step));
      json.attribute("result", typeOf(step.getResult(0).getType()));
      if (std::string layout = layoutOf(step); !layout.empty())
        json.attribute("layout", layout);
      json.attribute("flops", int64_t(flopsOf(step)));
      json.attribute("bytes", int64_t(bytesOf(step)));
    });
}

static void printNodes(const PlanFacts &plan, llvm::json::OStream &json) {
  for (const NodeFacts &facts : plan.nodes)
    json.object([&] {
      json.attribute("node", jsonOf(facts.node.name));
      json.attribute("operator", jsonOf(facts.node.type));
      json.attribute("output", jsonOf(facts.node.output));
      json.attribute("became", wordFor(facts.fate));
      json.attributeArray("steps", [&] {
        for (unsigned step : facts.steps)
          json.value(int64_t(step));
      });
    });
}

static void printPlan(const PlanFacts &plan, llvm::json::OStream &json) {
  json.object([&] {
    json.attribute("name", jsonOf(plan.name));
    json.attribute("flops", int64_t(plan.flops));
    json.attribute("bytes", int64_t(plan.bytes));
    json.attribute("arenaBytes", plan.number("plan.arena_bytes"));
    json.attribute("workspaceBytes", plan.number("plan.workspace_bytes"));
    json.attributeArray("nodes", [&] { printNodes(plan, json); });
    json.attributeArray("steps", [&] { printSteps(plan, json); });
  });
}

void mlir::mnistc::explain(ModuleOp planned, ArrayRef<OnnxNode> nodes,
                           raw_ostream &os, bool json) {
  std::vector<PlanFacts> plans;
  for (auto function : planned.getOps<func::FuncOp>())
    if (!function.isExternal())
      plans.emplace_back(function, nodes);
  if (!json) {
    for (auto [i, plan] : llvm::enumerate(plans)) {
      os << (i ? "\n" : "");
      printTable(plan, os);
    }
    return;
  }
  llvm::json::OStream stream(os, 2);
  stream.object([&] {
    for (StringRef name : {"target", "libraries"})
      if (auto value = planned->getAttrOfType<StringAttr>("plan." + name.str()))
        stream.attribute(name, jsonOf(value));
    if (auto bytes = planned->getAttrOfType<IntegerAttr>("plan.constant_bytes"))
      stream.attribute("constantBytes", bytes.getInt());
    stream.attributeArray("plans", [&] {
      for (const PlanFacts &plan : plans)
        printPlan(plan, stream);
    });
  });
  os << "\n";
}
