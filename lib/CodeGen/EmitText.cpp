//===- EmitText.cpp - the generated file ----------------------------------===//
//
// The frame: what the file says of itself, the functors, the steps, and the
// tables of mnistrt/model.h.
//
//===----------------------------------------------------------------------===//

#include "lib/CodeGen/CodeGen.h"
#include "lib/CodeGen/EmitStep.h"
#include "lib/CodeGen/EmitTables.h"
#include "lib/IR/Mnist/HostTensor.h"
#include "lib/IR/Names.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

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

/// Steps, their functions and tables read alike for every plan.
static void emitHead(ModuleOp module, const EmitOptions &options,
                     raw_ostream &os) {
  os << comment(commentText(options.model) + " - written by " +
                commentText(options.compiler) +
                ". Do not edit; see docs/generated-code.md.")
     << "//\n"
     << comment("  mnistc " + commentText(options.command), 5) << "//\n";
  int64_t constants = integerAttribute(module, "plan.constant_bytes");
  for (auto function : module.getOps<func::FuncOp>()) {
    auto steps = llvm::range_size(function.getOps<StepOp>());
    os << comment(("  " + identifier(function.getName()) + ": " + Twine(steps) +
                   (steps == 1 ? " step, " : " steps, ") +
                   sizeText(integerAttribute(function, "plan.arena_bytes")) +
                   " of arena, " + sizeText(constants) + " of constants")
                      .str(),
                  5);
  }
  bool large =
      module
          ->walk([](Operation *op) {
            auto isLarge = [](Type type) {
              auto shaped = dyn_cast<ShapedType>(type);
              return shaped && shaped.hasStaticShape() &&
                     shaped.getNumElements() > INT32_MAX;
            };
            bool any = llvm::any_of(op->getOperandTypes(), isLarge) ||
                       llvm::any_of(op->getResultTypes(), isLarge);
            return any ? WalkResult::interrupt() : WalkResult::advance();
          })
          .wasInterrupted();
  if (large)
    os << "\n#define MN_INDEX int64_t\n";
  os << "\n#include \"mnistrt/generated.h\"\n";
}

/// The mnemonics of a step's ops, in order.
std::string mlir::mnistc::opsOf(StepOp step) {
  SmallVector<StringRef> ops;
  for (Operation &op : step.getBody().front().without_terminator())
    if (!isa<ConstantOp>(op))
      ops.push_back(op.getName().stripDialect());
  return ops.empty() ? "copy" : llvm::join(ops, " ");
}

/// The ONNX nodes that a step computes.
std::string mlir::mnistc::nodesOf(StepOp step) {
  SmallVector<StringRef> nodes;
  auto collect = [&](Location location) {
    for (OnnxName &name : namesIn(location))
      if (!name.node.empty() && !llvm::is_contained(nodes, name.node))
        nodes.push_back(name.node);
  };
  for (Operation &op : step.getBody().front().without_terminator())
    collect(op.getLoc());
  if (nodes.empty())
    collect(step.getLoc());
  return llvm::join(nodes, ", ");
}

/// "// 2. hidden [64, 128]: broadcast add relu            /fc1/Gemm,
/// /relu1/Relu"
static std::string stepComment(unsigned number, StepOp step) {
  std::string text =
      (Twine(number) + ". " + commentText(step.getName()) + " " +
       shapeText(step.getResult(0).getType()) + ": " + opsOf(step))
          .str();
  std::string nodes = commentText(nodesOf(step));
  constexpr size_t column = 60;
  if (!nodes.empty())
    text +=
        std::string(text.size() + 2 < column ? column - text.size() : 2, ' ') +
        nodes;
  return comment(text, 3);
}

static LogicalResult emitPlan(func::FuncOp function, PlanNames &names,
                              raw_ostream &device, raw_ostream &host) {
  if (function.isExternal() || failed(names.collect(function)))
    return function.emitOpError("cannot be printed as a plan");
  std::string open = ("\nnamespace " + names.space() + " {\n").str();
  std::string close = ("\n} // namespace " + names.space() + "\n").str();

  std::string functors;
  host << open;
  unsigned number = 0;
  for (auto step : function.getOps<StepOp>()) {
    FailureOr<StepText> text = emitStep(step, names);
    if (failed(text))
      return failure();
    ++number;
    if (!text->device.empty())
      functors += "\n" +
                  comment((Twine(number) + ". " + commentText(step.getName()) +
                           ": " + opsOf(step))
                              .str(),
                          3) +
                  text->device;
    host << "\n"
         << stepComment(number, step) << text->shape << "static void step_"
         << number << "(mn::Context &ctx) {\n"
         << text->call << "}\n";
  }
  if (failed(emitPlanTables(function, names, host)))
    return failure();
  host << close;
  if (!functors.empty())
    device << open << functors << close;
  return success();
}

LogicalResult mlir::mnistc::emitCpp(ModuleOp module, const EmitOptions &options,
                                    raw_ostream &os) {
  std::string device, host;
  llvm::raw_string_ostream deviceText(device), hostText(host);
  SmallVector<PlanRow> plans;
  NameScope spaces;
  for (auto function : module.getOps<func::FuncOp>()) {
    PlanNames names;
    if (failed(emitPlan(function, names, deviceText, hostText)))
      return failure();
    if (spaces.contains(names.space()))
      return function.emitOpError("expected a name of its own, got '")
             << function.getName() << "' twice";
    spaces.reserve(names.space());
    plans.push_back({function, names.space().str()});
  }
  if (plans.empty())
    return module.emitError("expected a plan, got a module without functions");
  emitHead(module, options, os);
  os << device << "\n#if MN_HOST\n" << host;
  if (failed(emitModelTable(module, options, plans, os)))
    return failure();
  os << "\n#endif // MN_HOST\n";
  return success();
}

FailureOr<std::string> mlir::mnistc::constantBytes(ModuleOp module) {
  int64_t total = integerAttribute(module, "plan.constant_bytes");
  if (total < 0)
    return module.emitError("expected 'plan.constant_bytes' of 0 or more, got ")
           << total;
  std::string bytes(total, '\0');
  WalkResult result = module.walk([&](ConstantOp op) {
    auto offset = op->getAttrOfType<IntegerAttr>("plan.offset");
    if (!offset)
      return WalkResult::advance();
    std::optional<HostTensor> tensor = HostTensor::read(op.getValue());
    if (!tensor) {
      op.emitOpError("expected a constant with its elements");
      return WalkResult::interrupt();
    }
    HostTensor whole = tensor->expanded();
    int64_t size = dispatch(whole.getType().getElementType(),
                            [](auto zero) -> int64_t { return sizeof(zero); }) *
                   whole.size();
    if (offset.getInt() < 0 || offset.getInt() + size > total) {
      op.emitOpError("expected to end within ")
          << total << " bytes of constants, but ends at "
          << offset.getInt() + size;
      return WalkResult::interrupt();
    }
    std::copy_n(whole.data<char>(), size, bytes.begin() + offset.getInt());
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  return bytes;
}

bool mlir::mnistc::uses(ModuleOp module, Impl impl) {
  return module
      .walk([&](StepOp step) {
        return step.getImpl() == impl ? WalkResult::interrupt()
                                      : WalkResult::advance();
      })
      .wasInterrupted();
}
