//===- EmitText.cpp - the generated file ----------------------------------===//
//
// The frame: what the file says of itself, the functors, the steps, and the
// tables of mnistrt/model.h.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/CodeGen.h"
#include "lib/CodeGen/EmitStep.h"
#include "lib/CodeGen/EmitTables.h"
#include "lib/IR/Names.h"
#include "lib/IR/Plan/Batches.h"
#include "lib/IR/Plan/RowBody.h"
#include "lib/IR/Plan/StepBody.h"
#include "mnistrt/training.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/thread.h"

using namespace mlir;
using namespace mlir::mnistc;

/// "3.1 MiB"
static std::string sizeText(int64_t bytes) {
  if (bytes < 1024)
    return std::to_string(bytes) + " bytes";
  if (bytes < 1024 * 1024)
    return llvm::formatv("{0:F1} KiB", bytes / 1024.0);
  return llvm::formatv("{0:F1} MiB", bytes / 1048576.0);
}

int64_t mlir::mnistc::integerAttribute(Operation *op, StringRef name) {
  auto value = op->getAttrOfType<IntegerAttr>(name);
  return value ? value.getInt() : 0;
}

/// Whether a tensor, or what one map goes through, has 2^31 elements or more.
static bool needsLargeIndex(ModuleOp module) {
  auto elements = [](Type type) {
    auto shaped = dyn_cast<ShapedType>(type);
    return shaped && shaped.hasStaticShape() ? shaped.getNumElements() : 0;
  };
  auto isLarge = [&](Type type) { return elements(type) > INT32_MAX; };
  return module
      ->walk([&](Operation *op) {
        int64_t all = 0;
        if (isa<StepOp>(op))
          for (Type type : op->getResultTypes())
            all += elements(type);
        return all > INT32_MAX ||
                       llvm::any_of(op->getOperandTypes(), isLarge) ||
                       llvm::any_of(op->getResultTypes(), isLarge)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Steps, their functions and tables read alike for every plan.
static void emitHead(ModuleOp module, const EmitOptions &options,
                     raw_ostream &os) {
  os << comment(commentText(options.model) + " - written by " +
                commentText(options.compiler) +
                ". Do not edit; see docs/generated-code.md.")
     << "//\n"
     << comment("  mnistc " + commentText(options.command), 5) << "//\n";
  int64_t constants = integerAttribute(module, "plan.constant_bytes");
  int64_t parameters = integerAttribute(module, "plan.parameter_bytes");
  for (auto function : module.getOps<func::FuncOp>()) {
    auto steps = llvm::range_size(function.getOps<StepOp>());
    os << comment(
        ("  " + identifier(function.getName()) + ": " + Twine(steps) +
         (steps == 1 ? " step, " : " steps, ") +
         sizeText(integerAttribute(function, "plan.arena_bytes")) +
         " of arena" +
         (parameters ? ", " + sizeText(parameters) + " of parameters" : "") +
         ", " + sizeText(constants) + " of constants")
            .str(),
        5);
  }
  if (needsLargeIndex(module))
    os << "\n#define MN_INDEX int64_t\n";
  if (options.timestamps)
    os << "\n#define MN_TIMESTAMPS\n";
  os << "\n#include \"mnistrt/generated.h\"\n";
}

/// The mnemonics of a step's ops, in order; each once where the step is made of
/// several that do alike.
std::string mlir::mnistc::opsOf(StepOp step) {
  bool several = segmentsOf(step).size() > 1;
  SmallVector<StringRef> ops;
  for (Operation *op : opsIn(step)) {
    StringRef name = op->getName().stripDialect();
    if (!isa<ConstantOp>(op) && !(several && llvm::is_contained(ops, name)))
      ops.push_back(name);
  }
  return ops.empty() ? "copy" : llvm::join(ops, " ");
}

std::string mlir::mnistc::resultShape(StepOp step) {
  SmallVector<Segment> segments = segmentsOf(step);
  if (segments.size() == 1)
    return shapeText(step.getResult(0).getType());
  int64_t elements = 0;
  for (const Segment &segment : segments)
    elements += segment.elements;
  return std::to_string(elements) + " elements";
}

SmallVector<StringRef> mlir::mnistc::nodesIn(StepOp step) {
  SmallVector<StringRef> nodes;
  auto collect = [&](Location location) {
    for (OnnxName &name : namesIn(location))
      if (!name.node.empty() && !llvm::is_contained(nodes, name.node))
        nodes.push_back(name.node);
  };
  for (Operation *op : opsIn(step))
    collect(op->getLoc());
  if (nodes.empty())
    collect(step.getLoc());
  return nodes;
}

std::string mlir::mnistc::nodesOf(StepOp step) {
  return llvm::join(nodesIn(step), ", ");
}

/// "// 2. hidden [64, 128]: broadcast add relu            /fc1/Gemm,
/// /relu1/Relu"
static std::string stepComment(unsigned number, StepOp step) {
  std::string text = (Twine(number) + ". " + commentText(step.getName()) + " " +
                      resultShape(step) + ": " + opsOf(step))
                         .str();
  std::string nodes = commentText(nodesOf(step));
  constexpr size_t column = 60;
  if (!nodes.empty())
    text +=
        std::string(text.size() + 2 < column ? column - text.size() : 2, ' ') +
        nodes;
  return comment(text, 3);
}

namespace {
/// The text of a plan before its steps are divided among parts.
struct PlanText {
  std::string space;
  std::vector<StepOp> steps;
  std::vector<StepText> texts;
  std::string tables;
};
} // namespace

static FailureOr<PlanText> emitPlan(func::FuncOp function, PlanNames &names,
                                    KernelTable &kernels) {
  names.collect(function);
  PlanText plan;
  plan.space = names.space();
  for (auto step : function.getOps<StepOp>()) {
    FailureOr<StepText> text = emitStep(step, names, kernels);
    if (failed(text))
      return failure();
    plan.steps.push_back(step);
    plan.texts.push_back(std::move(*text));
  }
  llvm::raw_string_ostream tables(plan.tables);
  emitPlanTables(function, names, tables);
  return plan;
}

namespace {
/// What a compiler takes, as StepCost says it; measured.
struct Costs {
  unsigned elementwise, reduction, rows, other;
  unsigned call;    ///< of a library
  unsigned least;   ///< of a part: each reads all headers again
  unsigned runtime; ///< the kernels that every program has

  unsigned of(StepOp step) const {
    Operation *root = rootOf(step);
    return step.getImpl() != Impl::kernel     ? call
           : isRowStep(step)                  ? rows
           : !root                            ? elementwise
           : isa<ReductionOpInterface>(*root) ? reduction
                                              : other;
  }
};
} // namespace

static constexpr Costs hostCosts = {4, 12, 45, 40, 2, 50, 0},
                       deviceCosts = {5, 12, 20, 50, 0, 100, 65};

/// A GPU's kernels are divided, a CPU's steps. The first is of what every
/// program has.
static Parts divide(ArrayRef<PlanText> plans, const EmitOptions &options) {
  constexpr unsigned most = 2;
  bool ofKernels = options.embedsKernels;
  const Costs &costs = ofKernels ? deviceCosts : hostCosts;
  std::vector<StepCost> all = {{costs.runtime, {}}};
  for (const PlanText &plan : plans)
    for (auto [step, text] : llvm::zip_equal(plan.steps, plan.texts)) {
      if (ofKernels)
        all.push_back({text.kernel.empty() ? 0 : costs.of(step), {}});
      else
        all.push_back({costs.of(step), text.functors});
    }
  return divide(all, most, costs.least);
}

/// Kernels, for the compiler of their part.
static std::string inPart(const std::string &kernels, const Parts &parts,
                          size_t number) {
  if (parts.count == 1 || kernels.empty())
    return kernels;
  return ("#if MN_IN_PART(" + Twine(parts.ofStep[number]) + ")\n" + kernels +
          "#endif\n")
      .str();
}

/// The functors of a plan's steps, each with what makes it a kernel.
static void emitDevice(const PlanText &plan, const Parts &parts, size_t first,
                       raw_ostream &os) {
  std::string functors;
  for (auto [i, text] : llvm::enumerate(plan.texts)) {
    StepOp step = plan.steps[i];
    if (!text.device.empty() || !text.kernel.empty())
      functors += "\n" +
                  comment((Twine(i + 1) + ". " + commentText(step.getName()) +
                           ": " + opsOf(step))
                              .str(),
                          3) +
                  text.device + inPart(text.kernel, parts, first + i);
  }
  if (!functors.empty())
    os << "\nnamespace " << plan.space << " {\n"
       << functors << "\n} // namespace " << plan.space << "\n";
}

/// "static void step_1(mn::Context &ctx) {...}"
static std::string stepFunction(StringRef linkage, size_t number,
                                const StepText &text) {
  return (linkage + " void step_" + Twine(number) + "(mn::Context &ctx) {\n" +
          text.call + "}\n")
      .str();
}

/// The functions of a plan's steps, the first of which is the `first` of all,
/// and its tables.
static void emitHost(const PlanText &plan, const Parts &parts, size_t first,
                     raw_ostream &os) {
  os << "\nnamespace " << plan.space << " {\n";
  for (auto [i, text] : llvm::enumerate(plan.texts)) {
    StepOp step = plan.steps[i];
    std::string linkage = "static";
    if (parts.count != 1)
      linkage = "MN_STEP(" + std::to_string(parts.ofStep[first + i]) + ")";
    os << "\n"
       << stepComment(i + 1, step) << text.shape
       << stepFunction(linkage, i + 1, text);
  }
  os << plan.tables << "\n} // namespace " << plan.space << "\n";
}

/// What was printed for each step, for those who show it.
static void keepSources(const PlanText &plan, StepSources &sources) {
  for (auto [i, text] : llvm::enumerate(plan.texts))
    sources[plan.steps[i]] = {text.device + text.kernel, text.writtenFor,
                              text.shape + stepFunction("static", i + 1, text)};
}

/// The kernels that the runtime launches before and after plans, and before
/// those that take labels or beside them.
static std::string runtimeKernels(ModuleOp module) {
  bool takesLabels = llvm::any_of(module.getOps<func::FuncOp>(), takesBatches);
  return std::string("MN_TRANSFER_KERNEL\n") +
         (takesLabels ? "MN_NEXT_BATCH_KERNEL\n" : "");
}

/// The steps of all plans: functors and kernels, then the host's functions.
static void emitSteps(ArrayRef<PlanText> plans, const Parts &ofKernels,
                      const Parts &ofHost, raw_ostream &os) {
  size_t first = 1;
  for (const PlanText &plan : plans) {
    emitDevice(plan, ofKernels, first, os);
    first += plan.steps.size();
  }
  os << "\n#if MN_HOST\n";
  first = 1;
  for (const PlanText &plan : plans) {
    emitHost(plan, ofHost, first, os);
    first += plan.steps.size();
  }
}

static FailureOr<unsigned> emit(ModuleOp module, const EmitOptions &options,
                                raw_ostream &os, StepSources *sources) {
  std::vector<PlanText> texts;
  SmallVector<PlanRow> plans;
  NameScope spaces;
  KernelTable kernels;
  for (auto function : module.getOps<func::FuncOp>()) {
    PlanNames names;
    FailureOr<PlanText> text = emitPlan(function, names, kernels);
    if (failed(text))
      return failure();
    if (spaces.contains(names.space()))
      return function.emitOpError("expected a unique name, got '")
             << function.getName() << "' twice";
    spaces.reserve(names.space());
    plans.push_back({function, names.space().str()});
    if (sources)
      keepSources(*text, *sources);
    texts.push_back(std::move(*text));
  }
  Parts parts = divide(texts, options);
  emitHead(module, options, os);
  Parts ofKernels = options.embedsKernels ? parts : Parts();
  Parts ofHost = options.embedsKernels ? Parts() : parts;
  os << "\n" << inPart(runtimeKernels(module), ofKernels, 0);
  emitSteps(texts, ofKernels, ofHost, os);
  if (ofHost.count != 1)
    os << "\n#if MN_PART <= 1\n";
  emitModelTable(module, options, plans, ofKernels.count, os);
  if (ofHost.count != 1)
    os << "\n#endif // MN_PART <= 1\n";
  os << "\n#endif // MN_HOST\n";
  return parts.count;
}

/// An element is printed by as many calls, one in the other, as it takes ops.
static constexpr std::optional<unsigned> stackBytes = 256 << 20;

FailureOr<unsigned> mlir::mnistc::emitCpp(ModuleOp module,
                                          const EmitOptions &options,
                                          raw_ostream &os,
                                          StepSources *sources) {
  FailureOr<unsigned> result = failure();
  llvm::thread thread(stackBytes,
                      [&] { result = emit(module, options, os, sources); });
  thread.join();
  return result;
}

bool mlir::mnistc::uses(ModuleOp module, Impl impl) {
  return module
      .walk([&](StepOp step) {
        return step.getImpl() == impl ? WalkResult::interrupt()
                                      : WalkResult::advance();
      })
      .wasInterrupted();
}
