//===- ChooseParameters.cpp - what training changes -----------------------===//

#include "lib/IR/Mnist/LearnedTensors.h"
#include "lib/Passes/Passes.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/GlobPattern.h"

namespace mlir::mnistc {

#define GEN_PASS_DEF_CHOOSEPARAMETERS
#include "lib/Passes/Passes.h.inc"

namespace {
/// Patterns of names that an option lists.
class Patterns {
public:
  LogicalResult read(ModuleOp module, StringRef option,
                     ArrayRef<std::string> texts);
  bool match(StringRef name);
  /// Each must name something.
  LogicalResult checkUsed(ModuleOp module) const;
  bool empty() const { return all.empty(); }

private:
  struct Pattern {
    std::string text;
    llvm::GlobPattern glob;
    bool used = false;
  };
  SmallVector<Pattern> all;
  std::string option;
};

struct ChooseParameters : impl::ChooseParametersBase<ChooseParameters> {
  using ChooseParametersBase::ChooseParametersBase;
  void runOnOperation() override;
  LogicalResult readOptions();
  void findVerdicts();
  void keepConstantsOfNodes();
  /// What a global is, and why.
  std::pair<StringRef, std::string> roleOf(ml_program::GlobalOp global);
  LogicalResult checkStatistics();
  LogicalResult checkAny(int64_t parameters);
  void warnOfMerged();

  Patterns frozen, only;
  llvm::StringSet<> statistics; ///< globals that are a mean or a variance
  llvm::StringSet<> shared;     ///< read in several places
  llvm::StringMap<LearnedTensors::Verdict> verdicts;
};
} // namespace

LogicalResult Patterns::read(ModuleOp module, StringRef given,
                             ArrayRef<std::string> texts) {
  all.clear();
  option = given.str();
  for (const std::string &text : texts) {
    llvm::Expected<llvm::GlobPattern> pattern = llvm::GlobPattern::create(text);
    if (!pattern)
      return module.emitError("expected a pattern of names of --")
             << option << ", got '" << text
             << "': " << llvm::toString(pattern.takeError());
    all.push_back({text, std::move(*pattern)});
  }
  return success();
}

bool Patterns::match(StringRef name) {
  bool found = false;
  for (Pattern &pattern : all)
    if (pattern.glob.match(name))
      found = pattern.used = true;
  return found;
}

LogicalResult Patterns::checkUsed(ModuleOp module) const {
  for (const Pattern &pattern : all)
    if (!pattern.used)
      return module.emitError("expected --")
             << option << "=" << pattern.text
             << " to name a tensor of the model, but none matches";
  return success();
}

LogicalResult ChooseParameters::readOptions() {
  ModuleOp module = getOperation();
  return success(succeeded(frozen.read(module, "freeze", freeze)) &&
                 succeeded(only.read(module, "train-only", trainOnly)));
}

static std::string globalOf(Value value) {
  auto load = value.getDefiningOp<ml_program::GlobalLoadOp>();
  return load ? load.getGlobal().getLeafReference().str() : "";
}

void ChooseParameters::findVerdicts() {
  statistics.clear();
  shared.clear();
  verdicts.clear();
  SymbolTable symbols(getOperation());
  for (auto function : getOperation().getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    LearnedTensors learned(function);
    for (Operation &op : function.getBody().front()) {
      if (auto normalization = dyn_cast<BatchNormOp>(op)) {
        statistics.insert(globalOf(normalization.getMean()));
        statistics.insert(globalOf(normalization.getVariance()));
      }
      auto load = dyn_cast<ml_program::GlobalLoadOp>(op);
      auto global = load ? symbols.lookup<ml_program::GlobalOp>(
                               load.getGlobal().getLeafReference())
                         : ml_program::GlobalOp();
      if (!global || !isa<RankedTensorType>(global.getType()))
        continue;
      auto &verdict = verdicts[global.getSymName()];
      if (!verdict.learned)
        verdict = learned.of(load, global);
      if (learned.countReaders(load) > 1)
        shared.insert(global.getSymName());
    }
  }
}

/// Exporters write all weights as Constant nodes, or none: beside weights that
/// are initializers such a node is a number of the formula.
void ChooseParameters::keepConstantsOfNodes() {
  auto isLearned = [&](ml_program::GlobalOp global) {
    return verdicts.lookup(global.getSymName()).learned;
  };
  auto globals = getOperation().getOps<ml_program::GlobalOp>();
  if (llvm::none_of(globals, [&](ml_program::GlobalOp global) {
        return !global->hasAttr("mnist.of_node") && isLearned(global);
      }))
    return;
  for (ml_program::GlobalOp global : globals)
    if (global->hasAttr("mnist.of_node") && isLearned(global))
      verdicts[global.getSymName()] = {
          false, "a Constant node beside weights that are initializers"};
}

std::pair<StringRef, std::string>
ChooseParameters::roleOf(ml_program::GlobalOp global) {
  StringRef name = global.getSymName();
  bool isFrozen = frozen.match(name), isNamed = only.match(name);
  auto type = dyn_cast<RankedTensorType>(global.getType());
  if (!global.getIsMutable() || !type || !isa<FloatType>(type.getElementType()))
    return {"constant", "not of floats"};
  if (isFrozen)
    return {"constant", "--freeze"};
  if (statistics.contains(name))
    return {"buffer", "running statistic"};
  if (!only.empty())
    return {isNamed ? "parameter" : "constant",
            isNamed ? "--train-only" : "not of --train-only"};
  if (all)
    return {type.getRank() != 0 ? "parameter" : "constant", "all"};
  auto found = verdicts.find(name);
  if (found == verdicts.end())
    return {"constant", "nothing reads it"};
  return {found->second.learned ? "parameter" : "constant",
          found->second.reason};
}

/// Exporters store equal tensors once: of a new batch normalization the scale
/// and the running variance are ones. Each would overwrite the other.
LogicalResult ChooseParameters::checkStatistics() {
  for (auto global : getOperation().getOps<ml_program::GlobalOp>()) {
    StringRef name = global.getSymName();
    if (statistics.contains(name) && verdicts.lookup(name).learned &&
        !frozen.match(name))
      return getOperation().emitError(
                 "expected a running statistic of its own, got '")
             << name << "', which is also a weight, scale or bias; where the "
             << "exporter merged equal tensors, " << exportAgain;
  }
  return success();
}

LogicalResult ChooseParameters::checkAny(int64_t parameters) {
  if (parameters != 0)
    return success();
  SmallVector<std::string> names;
  for (auto global : getOperation().getOps<ml_program::GlobalOp>())
    if (!statistics.contains(global.getSymName()))
      names.push_back(global.getSymName().str());
  InFlightDiagnostic error =
      getOperation().emitError("expected a model with tensors to train, got ");
  if (names.empty())
    return error << "one without tensors of floats";
  error << "one where none is used as weight, scale or bias or all are frozen; "
           "--train-only=NAMES chooses from ";
  constexpr size_t longest = 8;
  llvm::interleaveComma(ArrayRef(names).take_front(longest), error,
                        [&](StringRef name) { error << "'" << name << "'"; });
  if (names.size() > longest)
    error << ", ...";
  return error;
}

static bool isOneNumberRepeated(ml_program::GlobalOp global) {
  auto value = dyn_cast_or_null<DenseElementsAttr>(global.getValueAttr());
  return value && value.isSplat() && value.getNumElements() > 1;
}

/// New scales and biases are all ones or all zeros, and exporters store equal
/// tensors once: what was several parameters would be trained as one.
void ChooseParameters::warnOfMerged() {
  SmallVector<std::string> merged;
  for (auto global : getOperation().getOps<ml_program::GlobalOp>())
    if (shared.contains(global.getSymName()) && global->hasAttr("mnist.role") &&
        isOneNumberRepeated(global))
      merged.push_back("'" + global.getSymName().str() + "'");
  if (merged.empty())
    return;
  getOperation().emitWarning("several nodes train ")
      << (merged.size() == 1 ? merged[0] + " as one tensor"
                             : "each of " + std::to_string(merged.size()) +
                                   " tensors as one, " + merged[0] + " first")
      << "; where the exporter merged equal tensors, " << exportAgain;
}

void ChooseParameters::runOnOperation() {
  if (failed(readOptions()))
    return signalPassFailure();
  findVerdicts();
  keepConstantsOfNodes();
  if (failed(checkStatistics()))
    return signalPassFailure();
  int64_t found = 0;
  Builder b(&getContext());
  SmallVector<Attribute> tensors;
  for (auto global : getOperation().getOps<ml_program::GlobalOp>()) {
    auto [role, reason] = roleOf(global);
    global->removeAttr("mnist.learned");
    global->removeAttr("mnist.of_node");
    tensors.push_back(b.getDictionaryAttr(
        {b.getNamedAttr("name", global.getSymNameAttr()),
         b.getNamedAttr("type", TypeAttr::get(global.getType())),
         b.getNamedAttr("role", b.getStringAttr(role)),
         b.getNamedAttr("reason", b.getStringAttr(reason))}));
    if (role == "constant") {
      ++numFrozen;
      continue;
    }
    found += role == "parameter";
    global->setAttr("mnist.role", b.getStringAttr(role));
  }
  getOperation()->setAttr("mnist.tensors", b.getArrayAttr(tensors));
  numParameters += found;
  warnOfMerged();
  if (failed(frozen.checkUsed(getOperation())) ||
      failed(only.checkUsed(getOperation())) || failed(checkAny(found)))
    signalPassFailure();
}

} // namespace mlir::mnistc
