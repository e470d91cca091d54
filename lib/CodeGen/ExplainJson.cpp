//===- ExplainJson.cpp - what became of a model, for programs -------------===//

#include "lib/CodeGen/EmitTables.h"
#include "lib/CodeGen/EstimatedTimes.h"
#include "lib/CodeGen/Explain.h"
#include "lib/CodeGen/ExplainWords.h"
#include "lib/IR/Mnist/FrameworkCalls.h"
#include "lib/IR/Names.h"
#include "lib/IR/Plan/Lifetimes.h"
#include "lib/IR/Plan/Parameters.h"
#include "lib/IR/Plan/Schedule.h"
#include "lib/IR/Plan/StepBody.h"
#include "lib/IR/Plan/StepOrder.h"
#include "lib/IR/Plan/Target.h"
#include "mnistrt/training.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace mlir::mnistc;

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

template <typename Names>
static void printNames(StringRef key, const Names &names,
                       llvm::json::OStream &json) {
  json.attributeArray(key, [&] {
    for (const auto &name : names)
      json.value(jsonOf(name));
  });
}

//===----------------------------------------------------------------------===//
// What frameworks would call
//===----------------------------------------------------------------------===//

/// Whether a step updates a weight, or what the optimizer remembers of it.
static bool updatesWeights(StepOp step) {
  func::FuncOp function = step->getParentOfType<func::FuncOp>();
  return llvm::any_of(step->getUses(), [&](OpOperand &use) {
    if (isa<StepOp>(use.getOwner()))
      return false;
    StringAttr name = parameterOf(function, use.getOperandNumber());
    return name && !name.getValue().starts_with(mn::names::prefix);
  });
}

/// The rows of frameworkCalls() that a step is instead of, in their order.
static llvm::SmallVector<unsigned> callsFor(StepOp step) {
  llvm::SmallSetVector<unsigned, 4> found;
  auto add = [&](StringRef operatorName, bool backward, StringRef op) {
    for (auto [row, call] : llvm::enumerate(frameworkCalls()))
      if (standsFor(call, operatorName, backward, op))
        found.insert(row);
  };
  for (Operation *op : opsIn(step)) {
    StringRef mnemonic = op->getName().stripDialect();
    for (OnnxName name : namesIn(op->getLoc())) {
      if (name.tensor == mn::names::loss)
        add("loss", false, "");
      if (!name.operatorName.empty())
        add(name.operatorName, name.tensor.ends_with(".grad"), mnemonic);
    }
  }
  if (updatesWeights(step))
    add("optimizer", true, "");
  llvm::SmallVector<unsigned> rows = found.takeVector();
  llvm::sort(rows);
  return rows;
}

static void printCalls(llvm::json::OStream &json) {
  json.attributeArray("frameworks", [&] {
    for (const FrameworkCall &call : frameworkCalls())
      json.object([&] {
        json.attribute("operator", call.operatorName);
        json.attribute("backward", call.backward);
        json.attribute("op", call.op);
        json.attribute("library", call.library);
        json.attribute("pytorch", call.pytorch);
        json.attribute("tensorflow", call.tensorflow);
        json.attribute("mxnet", call.mxnet);
      });
  });
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// A tensor in the arena: where, how long.
static void printPlace(StringRef name, Value value, int64_t offset,
                       const Lifetimes &lifetimes, llvm::json::OStream &json) {
  auto [first, last] = lifetimes.of(value);
  json.object([&] {
    json.attribute("name", jsonOf(name));
    json.attribute("type", typeOf(value.getType()));
    json.attribute("offset", offset);
    json.attribute("bytes", sizeInBytes(value.getType()));
    json.attribute("first", first + 1);
    json.attribute("last", last + 1);
  });
}

/// Steps that make what a step reads, from 1 on.
static llvm::SmallSetVector<int64_t, 4> sourcesOf(StepOp step,
                                                  const Lifetimes &lifetimes) {
  llvm::SmallSetVector<int64_t, 4> steps;
  for (Value input : step->getOperands())
    if (input.getDefiningOp<StepOp>())
      steps.insert(lifetimes.of(input).first + 1);
  return steps;
}

static void printText(StepOp step, const StepSources &sources,
                      llvm::json::OStream &json) {
  const StepSource &source = sources.at(step);
  json.attributeObject("text", [&] {
    json.attribute("host", jsonOf(source.host));
    if (!source.device.empty())
      json.attribute("device", jsonOf(source.device));
    StepOp other = source.writtenFor;
    if (!source.device.empty() || !other)
      return;
    json.attribute("kernel_of", jsonOf(other.getName()));
    json.attribute("kernel_of_plan",
                   jsonOf(other->getParentOfType<func::FuncOp>().getName()));
  });
}

/// How a step is computed.
static void printWork(StepOp step, llvm::json::OStream &json) {
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
  json.attribute("ops", opsOf(step));
  printNames("nodes", nodesIn(step), json);
}

static void printStep(StepOp step, const EstimatedTime &time,
                      const Lifetimes &lifetimes, llvm::json::OStream &json) {
  printWork(step, json);
  json.attribute("estimated_start_us", time.start);
  json.attribute("estimated_us", time.length);
  json.attribute("roof_us", machineFor(step).roof.timeOf(step));
  json.attributeArray("replaces", [&] {
    for (unsigned row : callsFor(step))
      json.value(int64_t(row));
  });
  json.attributeArray("reads", [&] {
    for (int64_t source : sourcesOf(step, lifetimes))
      json.value(source);
  });
  json.attributeArray("results", [&] {
    for (auto [i, result] : llvm::enumerate(step.getResults()))
      printPlace(i == 0 ? step.getName().str()
                        : step.getName().str() + "." + std::to_string(i + 1),
                 result, (*step.getOffsets())[i], lifetimes, json);
  });
  if (streamOf(step) != 0)
    json.attribute("stream", streamOf(step));
  if (!stepsAwaitedBy(step).empty())
    json.attributeArray("after", [&] {
      for (int64_t awaited : stepsAwaitedBy(step))
        json.value(awaited + 1);
    });
}

static void printSteps(const PlanFacts &plan, const StepSources *sources,
                       llvm::json::OStream &json) {
  Lifetimes lifetimes(plan.function);
  SmallVector<EstimatedTime> times = estimateTimes(plan.function);
  for (auto [i, step] : llvm::enumerate(plan.steps))
    json.object([&, i = i, step = step]() mutable {
      json.attribute("step", int64_t(i + 1));
      json.attribute("name", jsonOf(step.getName()));
      printStep(step, times[i], lifetimes, json);
      if (sources)
        printText(step, *sources, json);
    });
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

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

/// What the caller gives, which is in the arena too.
static void printInputs(const PlanFacts &plan, llvm::json::OStream &json) {
  func::FuncOp function = plan.function;
  Lifetimes lifetimes(function);
  for (BlockArgument argument : function.getArguments()) {
    unsigned number = argument.getArgNumber();
    auto name = function.getArgAttrOfType<StringAttr>(number, "mnist.name");
    auto offset = function.getArgAttrOfType<IntegerAttr>(number, "plan.offset");
    if (!parameterOf(argument) && offset)
      printPlace(name ? name.getValue() : "input", argument, offset.getInt(),
                 lifetimes, json);
  }
}

static void printPlan(const PlanFacts &plan, const StepSources *sources,
                      llvm::json::OStream &json) {
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
    json.attribute("streams", streamsOf(plan.function));
    json.attributeArray("inputs", [&] { printInputs(plan, json); });
    json.attributeArray("nodes", [&] { printNodes(plan, json); });
    json.attributeArray("steps", [&] { printSteps(plan, sources, json); });
  });
}

/// What a microsecond is enough for, at best.
static void printRoof(const Machine &machine, llvm::json::OStream &json) {
  const Roof &roof = machine.roof;
  json.attributeObject("roof", [&] {
    json.attribute("of", roof.of);
    json.attribute("times", machine.times ? "model" : "roof");
    json.attribute("bytes_per_us", roof.bytes);
    json.attributeObject("flops_per_us", [&] {
      for (Mma mma : {Mma::ffma, Mma::tf32x3, Mma::tf32, Mma::bf16})
        if (double flops = roof.flopsOn(mma); flops != 0)
          json.attribute(stringifyMma(mma), flops);
    });
  });
}

static void printAll(ModuleOp planned, ArrayRef<OnnxNode> nodes,
                     const StepSources *sources, llvm::json::OStream &json) {
  for (StringRef name : {"target", "libraries", "precision"})
    if (auto value = planned->getAttrOfType<StringAttr>("plan." + name.str()))
      json.attribute(name, jsonOf(value));
  for (StringRef name : {"constant_bytes", "parameter_bytes"})
    if (auto bytes = planned->getAttrOfType<IntegerAttr>("plan." + name.str()))
      json.attribute(name, bytes.getInt());
  printRoof(machineFor(planned), json);
  printCalls(json);
  printChoices(choicesOf(planned), json);
  json.attributeArray("plans", [&] {
    for (const PlanFacts &plan : plansOf(planned, nodes))
      printPlan(plan, sources, json);
  });
}

void mlir::mnistc::explainJson(ModuleOp planned, ArrayRef<OnnxNode> nodes,
                               raw_ostream &os) {
  llvm::json::OStream json(os, 2);
  json.object([&] { printAll(planned, nodes, nullptr, json); });
  os << "\n";
}

void mlir::mnistc::describeJson(ModuleOp planned, ArrayRef<OnnxNode> nodes,
                                const EmitOptions &options,
                                const StepSources &sources, raw_ostream &os) {
  llvm::json::OStream json(os);
  json.object([&] {
    json.attribute("model", jsonOf(options.model));
    json.attribute("compiler", jsonOf(options.compiler));
    json.attribute("command", jsonOf(options.command));
    printNames("archs", options.archs, json);
    printAll(planned, nodes, &sources, json);
  });
}
