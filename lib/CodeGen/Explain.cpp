//===- Explain.cpp - what became of every ONNX node -----------------------===//

#include "lib/CodeGen/Explain.h"
#include "lib/CodeGen/ExplainWords.h"
#include "lib/CodeGen/Table.h"
#include "lib/IR/Plan/Schedule.h"
#include "lib/IR/Plan/StepBody.h"
#include "lib/IR/Plan/StepOrder.h"
#include "lib/IR/Plan/Target.h"
#include "lib/IR/Printable.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Locale.h"

using namespace mlir;
using namespace mlir::mnistc;

/// 14,745,600
static std::string grouped(double number) {
  std::string digits = std::to_string(static_cast<uint64_t>(number));
  for (size_t at = digits.size(); at > 3;)
    digits.insert(at -= 3, ",");
  return digits;
}

/// "1, 3-5, 7": steps in order.
static std::string listOf(ArrayRef<unsigned> steps) {
  std::string text;
  for (size_t i = 0, end; i < steps.size(); i = end) {
    for (end = i + 1; end < steps.size() && steps[end] == steps[end - 1] + 1;)
      ++end;
    text += (i ? ", " : "") + std::to_string(steps[i]);
    if (end - i > 1)
      text += (end - i > 2 ? "-" : ", ") + std::to_string(steps[end - 1]);
  }
  return text;
}

/// At most `width` letters.
static std::string shortened(std::string text, int width) {
  if (llvm::sys::locale::columnWidth(text) <= width)
    return text;
  text.resize(width - 3);
  while (!llvm::json::isUTF8(text))
    text.pop_back();
  return text + "...";
}

/// The table's widest cells.
static constexpr int maxName = 26, maxOperator = 18, maxWork = 34;

/// "64x26x26x32", and the element type where it is not the usual one; of
/// several results that differ how many elements a launch goes through.
static std::string shapeOf(StepOp step) {
  SmallVector<Segment> segments = segmentsOf(step);
  if (segments.size() > 1 || !llvm::all_equal(step.getResultTypes())) {
    int64_t elements = 0;
    for (const Segment &segment : segments)
      elements += segment.elements;
    return grouped(elements) + (elements == 1 ? " element" : " elements");
  }
  std::string text = typeOf(step.getResult(0).getType());
  StringRef shape = text;
  return shape.consume_back("xf32") ? shape.str() : text;
}

static std::vector<std::string> lineFor(std::string name, std::string type,
                                        unsigned number, StepOp step) {
  return {shortened(std::move(name), maxName),
          shortened(std::move(type), maxOperator),
          std::to_string(number),
          shortened(describe(step), maxWork),
          shapeOf(step),
          layoutOf(step),
          grouped(flopsOf(step)),
          grouped(bytesOf(step))};
}

static void addLines(Table &table, const NodeFacts &facts,
                     const PlanFacts &plan) {
  const OnnxNode &node = facts.node;
  std::string name = printable(
      node.name.empty() && !node.outputs.empty() ? node.outputs[0] : node.name);
  std::string type = printable(node.type);
  for (unsigned number : facts.owned) {
    table.add(lineFor(name, type, number, plan.steps[number - 1]));
    name = type = "";
  }
  if (!facts.owned.empty())
    return;
  std::string what = "fused into it";
  if (facts.outcome != Outcome::step)
    what = (wordFor(facts.outcome) + ": " + whyOf(facts)).str();
  else if (facts.steps.size() > 1)
    what = "fused into them";
  table.add({shortened(std::move(name), maxName),
             shortened(std::move(type), maxOperator), listOf(facts.steps), what,
             "", "", "", ""});
}

namespace {
/// Steps that have a text in common, in the order of the first of each.
class Groups {
public:
  void add(std::string text, unsigned step) {
    auto group = llvm::find_if(
        groups, [&](const auto &entry) { return entry.first == text; });
    if (group == groups.end())
      group = groups.insert(groups.end(), {std::move(text), {}});
    group->second.push_back(step);
  }
  /// "steps 1-3 on cudnn: ...", one objection a line.
  void print(StringRef word, raw_ostream &os) const {
    for (const auto &[text, steps] : groups) {
      os << "step" << (steps.size() > 1 ? "s " : " ") << listOf(steps) << word;
      SmallVector<StringRef> parts;
      StringRef(text).split(parts, "; ");
      llvm::interleave(parts, os, ";\n    ");
      os << "\n";
    }
  }

private:
  std::vector<std::pair<std::string, SmallVector<unsigned>>> groups;
};
} // namespace

/// How steps are computed, then why they run on what they run on.
static void printReasons(const PlanFacts &plan, raw_ostream &os) {
  Groups schedules, reasons;
  for (auto [i, each] : llvm::enumerate(plan.steps)) {
    StepOp step = each;
    if (std::string text = scheduleText(step); !text.empty())
      schedules.add(text, i + 1);
    reasons.add((stringifyImpl(step.getImpl()) + ": " + whyOf(step)).str(),
                i + 1);
  }
  schedules.print(" computed as ", os);
  reasons.print(" on ", os);
}

/// Which steps run on other streams than the first: streams count from 1 here.
static void printStreams(const PlanFacts &plan, raw_ostream &os) {
  SmallVector<SmallVector<unsigned>> streams(streamsOf(plan.function));
  for (auto [i, step] : llvm::enumerate(plan.steps))
    streams[streamOf(step)].push_back(i + 1);
  for (auto [i, steps] : llvm::enumerate(ArrayRef(streams).drop_front())) {
    os << (i ? "; " : "streams: in addition to the first, ")
       << (steps.size() > 1 ? "steps " : "step ") << listOf(steps) << " on "
       << i + 2;
  }
  if (streams.size() > 1)
    os << "\n";
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
  table.addRule();
  for (const NodeFacts &facts : plan.nodes)
    addLines(table, facts, plan);
  table.addRule();
  table.add({"total", "", std::to_string(plan.steps.size()), "", "", "",
             grouped(plan.flops), grouped(plan.bytes)});
  table.print(os);

  auto constants = module->getAttrOfType<IntegerAttr>("plan.constant_bytes");
  os << "\nmemory: " << grouped(plan.number("plan.arena_bytes"))
     << " bytes of arena, ";
  if (auto bytes = module->getAttrOfType<IntegerAttr>("plan.parameter_bytes"))
    os << grouped(bytes.getInt()) << " of them for parameters, ";
  os << grouped(constants ? constants.getInt() : 0) << " of constants, "
     << grouped(plan.number("plan.workspace_bytes")) << " for libraries"
     << (streamsOf(plan.function) > 1 ? ", on each stream that calls them\n"
                                      : "\n");
  if (StringRef loss = lossOf(plan); !loss.empty())
    os << "loss: " << loss << "\n";
  if (StringRef reason = layoutReason(plan); !reason.empty())
    os << "layout: " << reason << "\n";
  printStreams(plan, os);
  printReasons(plan, os);
}

static void printChoices(ArrayRef<TensorChoice> choices, raw_ostream &os) {
  if (choices.empty())
    return;
  int64_t trained = 0, elements = 0;
  Table table({"tensor", "type", "in training", "why"},
              {false, false, false, false});
  table.addRule();
  for (const TensorChoice &choice : choices) {
    bool trains = choice.role == "parameter";
    trained += trains;
    elements += trains ? choice.type.getNumElements() : 0;
    table.add({shortened(printable(choice.name), 2 * maxName),
               typeOf(choice.type), trains ? "trained" : choice.role.str(),
               choice.reason});
  }
  os << "\n"
     << trained << " of " << choices.size() << " tensors are trained, "
     << grouped(elements) << " numbers\n\n";
  table.print(os);
}

void mlir::mnistc::explain(ModuleOp planned, ArrayRef<OnnxNode> nodes,
                           raw_ostream &os) {
  std::vector<PlanFacts> plans = plansOf(planned, nodes);
  for (auto [i, plan] : llvm::enumerate(plans)) {
    os << (i ? "\n" : "");
    printTable(plan, os);
  }
  printChoices(choicesOf(planned), os);
}
