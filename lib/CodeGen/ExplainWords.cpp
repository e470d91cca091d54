//===- ExplainWords.cpp - what became of a model, in words ----------------===//

#include "lib/CodeGen/ExplainWords.h"
#include "lib/IR/Mnist/Permutation.h"
#include "lib/IR/Plan/PoolBody.h"
#include "lib/IR/Plan/Schedule.h"
#include "lib/IR/Plan/StepBody.h"
#include "lib/IR/Plan/StepOrder.h"
#include "lib/IR/Plan/Target.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::mnistc;

/// "conv + bias + relu"
static std::string describeRoot(StringRef root,
                                const LibraryEpilogue &epilogue) {
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
  std::string text = describeRoot(rowNameOf(step), prefix.epilogue) + " + " +
                     body->pool->getName().stripDialect().str();
  return body->indices ? text + " + indices" : text;
}

/// "cudnn conv + bias + relu"
std::string mlir::mnistc::describe(StepOp step) {
  std::string text = stringifyImpl(step.getImpl()).str() + " ";
  if (Mma mma = mmaOf(step); mma != Mma::ffma)
    text += stringifyMma(mma).str() + " ";
  Operation *root = rootOf(step);
  if (std::optional<LibraryEpilogue> epilogue = root && isContraction(root)
                                                    ? matchLibraryEpilogue(step)
                                                    : std::nullopt)
    return text + describeRoot(rowNameOf(step), *epilogue);
  if (std::optional<std::string> pools = describePools(step))
    return text + *pools;
  // Repetition and shape are no work, unless there is nothing else.
  SmallVector<StringRef> work, rest;
  for (Operation *op : opsIn(step))
    if (isa<BroadcastOp, ReshapeOp, IotaOp>(op))
      rest.push_back(op->getName().stripDialect());
    else if (!isa<ConstantOp>(op))
      work.push_back(op->getName().stripDialect());
  if (work.empty())
    work = rest;
  return text + (work.empty() ? "copy" : llvm::join(work, " + "));
}

std::string mlir::mnistc::layoutOf(StepOp step) {
  auto op = dyn_cast_or_null<LayoutOpInterface>(rootOf(step));
  return op ? stringifyLayout(op.getLayout()).str() : "";
}

std::string mlir::mnistc::typeOf(Type type) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (int64_t size : cast<ShapedType>(type).getShape())
    os << size << "x";
  os << cast<ShapedType>(type).getElementType();
  return text;
}

/// Why images have the layout that they have; empty where there are none.
StringRef mlir::mnistc::layoutReason(const PlanFacts &plan) {
  auto reason = plan.function->getAttrOfType<StringAttr>("plan.layout_reason");
  return reason ? reason.getValue() : "";
}

/// What a function makes small; empty where it only infers.
StringRef mlir::mnistc::lossOf(const PlanFacts &plan) {
  func::FuncOp function = plan.function;
  if (function.getNumResults() == 0)
    return "";
  auto loss = function.getResultAttrOfType<StringAttr>(0, "mnist.loss");
  return loss ? loss.getValue() : "";
}

StringRef mlir::mnistc::wordFor(Outcome outcome) {
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
StringRef mlir::mnistc::whyOf(const NodeFacts &facts) {
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
std::string mlir::mnistc::whyOf(StepOp step) {
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

/// "; kept as 64x32x13x13" of a parameter that the device has in another order.
static std::string keptAs(ModuleOp module, StringRef name) {
  Operation *global = module.lookupSymbol(name);
  auto perm = global ? global->getAttrOfType<DenseI64ArrayAttr>("mnist.order")
                     : DenseI64ArrayAttr();
  if (!perm)
    return "";
  auto shape = global->getAttrOfType<DenseI64ArrayAttr>("mnist.order_shape");
  std::string text = "; kept as ";
  llvm::raw_string_ostream os(text);
  llvm::interleave(permute(shape.asArrayRef(), perm.asArrayRef()), os, "x");
  return text;
}

SmallVector<TensorChoice> mlir::mnistc::choicesOf(ModuleOp module) {
  SmallVector<TensorChoice> choices;
  if (auto tensors = module->getAttrOfType<ArrayAttr>("mnist.tensors"))
    for (auto entry : tensors.getAsRange<DictionaryAttr>()) {
      auto text = [&](StringRef key) {
        return entry.getAs<StringAttr>(key).getValue();
      };
      choices.push_back(
          {text("name"), text("role"),
           text("reason").str() + keptAs(module, text("name")),
           cast<RankedTensorType>(entry.getAs<TypeAttr>("type").getValue())});
    }
  return choices;
}
