//===- Explain.cpp - what became of every ONNX node -----------------------===//

#include "lib/CodeGen/Explain.h"
#include "lib/CodeGen/PlanFacts.h"
#include "lib/CodeGen/Table.h"
#include "lib/IR/Plan/PoolBody.h"
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

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

/// "conv + bias + relu"
static std::string describe(StringRef root, const LibraryEpilogue &epilogue) {
  std::string text = root.str();
  text += epilogue.bias ? " + bias" : "";
  text += epilogue.residual ? " + residual" : "";
  text += epilogue.relu ? " + relu" : "";
  return text;
}

/// "conv + bias + relu + max_pool", where nothing else is in the step.
static std::optional<std::string> describePools(StepOp step) {
  if (!isPoolStep(step) || !hasContraction(step))
    return std::nullopt;
  FailureOr<PoolBody> body = readPoolBody(step);
  EpiloguePrefix prefix = matchEpiloguePrefix(step, {});
  if (failed(body) || prefix.end != body->pooled ||
      !llvm::is_contained(yieldsOf(step), body->pool->getResult(0)))
    return std::nullopt;
  std::string text = describe(rowNameOf(step), prefix.epilogue) + " + " +
                     body->pool->getName().stripDialect().str();
  return body->indices ? text + " + indices" : text;
}

/// "cudnn conv + bias + relu"
static std::string describe(StepOp step) {
  std::string text = stringifyImpl(step.getImpl()).str() + " ";
  if (Mma mma = mmaOf(step); mma != Mma::ffma)
    text += stringifyMma(mma).str() + " ";
  Operation *root = rootOf(step);
  if (std::optional<LibraryEpilogue> epilogue = root && isContraction(root)
                                                    ? matchLibraryEpilogue(step)
                                                    : std::nullopt)
    return text + describe(rowNameOf(step), *epilogue);
  if (std::optional<std::string> pools = describePools(step))
    return text + *pools;
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

/// Why images have the layout that they have; empty where there are none.
static StringRef layoutReason(const PlanFacts &plan) {
  auto reason = plan.function->getAttrOfType<StringAttr>("plan.layout_reason");
  return reason ? reason.getValue() : "";
}

/// What a function makes small; empty where it only infers.
static StringRef lossOf(const PlanFacts &plan) {
  func::FuncOp function = plan.function;
  if (function.getNumResults() == 0)
    return "";
  auto loss = function.getResultAttrOfType<StringAttr>(0, "mnist.loss");
  return loss ? loss.getValue() : "";
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

static StringRef wordFor(Outcome outcome) {
  switch (outcome) {
  case Outcome::step:
    return "step";
  case Outcome::inPlace:
  case Outcome::nothing:
    return "no operation";
  case Outcome::constant:
    return "folded into constants";
  case Outcome::unneeded:
    return "left out";
  }
  llvm_unreachable("all fates are named");
}

/// Why a node needs no separate step.
static StringRef whyOf(const NodeFacts &facts) {
  switch (facts.outcome) {
  case Outcome::step:
    return facts.owned.empty() ? "fused with its neighbours" : "";
  case Outcome::inPlace:
    return "same bytes, other shape";
  case Outcome::nothing:
    return "nothing is left to compute";
  case Outcome::constant:
    return "known at compile time";
  case Outcome::unneeded:
    return "no output depends on it";
  }
  llvm_unreachable("all fates have a reason");
}

/// Why a step runs on what it runs on, by the options that the module was
/// planned with.
static std::string whyOf(StepOp step) {
  auto module = step->getParentOfType<ModuleOp>();
  auto target = module->getAttrOfType<StringAttr>("plan.target");
  auto libraries = module->getAttrOfType<StringAttr>("plan.libraries");
  if (!target || !libraries)
    return "requested explicitly";
  if (step->hasAttr(tunedAttribute)) {
    auto gpu = module->getAttrOfType<StringAttr>("plan.tuned_on");
    return ("the fastest when measured" +
            (gpu ? " on " + gpu.getValue() : Twine()))
        .str();
  }
  llvm::Expected<const Target *> found = Target::get(target);
  llvm::Expected<Libraries> allowed = Libraries::parse(libraries);
  auto preferred = module->getAttrOfType<StringAttr>("plan.prefer");
  if (found && allowed && preferred && rootOf(step))
    return ("--prefer=" + preferred.getValue() + " where it can").str();
  if (found && allowed)
    return reasonFor(step, **found, *allowed, precisionOf(module));
  if (!found)
    llvm::consumeError(found.takeError());
  if (!allowed)
    llvm::consumeError(allowed.takeError());
  return "planned for an unknown target";
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

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

/// What training chose, of an entry of `mnist.tensors`.
namespace {
struct TensorChoice {
  StringRef name, role, reason;
  RankedTensorType type;
};
} // namespace

static SmallVector<TensorChoice> choicesOf(ModuleOp module) {
  SmallVector<TensorChoice> choices;
  if (auto tensors = module->getAttrOfType<ArrayAttr>("mnist.tensors"))
    for (auto entry : tensors.getAsRange<DictionaryAttr>()) {
      auto text = [&](StringRef key) {
        return entry.getAs<StringAttr>(key).getValue();
      };
      choices.push_back(
          {text("name"), text("role"), text("reason"),
           cast<RankedTensorType>(entry.getAs<TypeAttr>("type").getValue())});
    }
  return choices;
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
               choice.reason.str()});
  }
  os << "\n"
     << trained << " of " << choices.size() << " tensors are trained, "
     << grouped(elements) << " numbers\n\n";
  table.print(os);
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

static llvm::json::Value jsonOf(StringRef text) {
  return llvm::json::fixUTF8(text);
}

static void printChoices(ArrayRef<TensorChoice> choices,
                         llvm::json::OStream &json) {
  if (choices.empty())
    return;
  json.attributeArray("tensors", [&] {
    for (const TensorChoice &choice : choices)
      json.object([&] {
        json.attribute("name", jsonOf(choice.name));
        json.attribute("type", typeOf(choice.type));
        json.attribute("role", choice.role);
        json.attribute("why", jsonOf(choice.reason));
      });
  });
}

static void printSteps(const PlanFacts &plan, llvm::json::OStream &json) {
  for (auto [i, step] : llvm::enumerate(plan.steps))
    json.object([&, i = i, step = step]() mutable {
      json.attribute("step", int64_t(i + 1));
      json.attribute("name", jsonOf(step.getName()));
      json.attribute("implementation", stringifyImpl(step.getImpl()));
      if (Mma mma = mmaOf(step); mma != Mma::ffma)
        json.attribute("mma", stringifyMma(mma));
      if (std::string schedule = scheduleText(step); !schedule.empty())
        json.attribute("schedule", schedule);
      json.attribute("runs_as", describe(step));
      json.attribute("why", whyOf(step));
      json.attribute("result", typeOf(step.getResult(0).getType()));
      if (std::string layout = layoutOf(step); !layout.empty())
        json.attribute("layout", layout);
      json.attribute("flops", int64_t(flopsOf(step)));
      json.attribute("bytes", int64_t(bytesOf(step)));
      if (streamOf(step) != 0)
        json.attribute("stream", streamOf(step));
      if (!stepsAwaitedBy(step).empty())
        json.attributeArray("after", [&] {
          for (int64_t awaited : stepsAwaitedBy(step))
            json.value(awaited + 1);
        });
    });
}

static void printNames(StringRef key, ArrayRef<std::string> names,
                       llvm::json::OStream &json) {
  json.attributeArray(key, [&] {
    for (const std::string &name : names)
      json.value(jsonOf(name));
  });
}

static void printNodes(const PlanFacts &plan, llvm::json::OStream &json) {
  for (const NodeFacts &facts : plan.nodes)
    json.object([&] {
      json.attribute("node", jsonOf(facts.node.name));
      json.attribute("operator", jsonOf(facts.node.type));
      printNames("inputs", facts.node.inputs, json);
      printNames("outputs", facts.node.outputs, json);
      json.attribute("became", wordFor(facts.outcome));
      if (StringRef why = whyOf(facts); !why.empty())
        json.attribute("why", why);
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
    if (StringRef reason = layoutReason(plan); !reason.empty())
      json.attribute("layout_reason", jsonOf(reason));
    if (StringRef loss = lossOf(plan); !loss.empty())
      json.attribute("loss", jsonOf(loss));
    json.attribute("arena_bytes", plan.number("plan.arena_bytes"));
    json.attribute("workspace_bytes", plan.number("plan.workspace_bytes"));
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
    printChoices(choicesOf(planned), os);
    return;
  }
  llvm::json::OStream stream(os, 2);
  stream.object([&] {
    for (StringRef name : {"target", "libraries", "precision"})
      if (auto value = planned->getAttrOfType<StringAttr>("plan." + name.str()))
        stream.attribute(name, jsonOf(value));
    if (auto bytes = planned->getAttrOfType<IntegerAttr>("plan.constant_bytes"))
      stream.attribute("constant_bytes", bytes.getInt());
    if (auto bytes =
            planned->getAttrOfType<IntegerAttr>("plan.parameter_bytes"))
      stream.attribute("parameter_bytes", bytes.getInt());
    printChoices(choicesOf(planned), stream);
    stream.attributeArray("plans", [&] {
      for (const PlanFacts &plan : plans)
        printPlan(plan, stream);
    });
  });
  os << "\n";
}
