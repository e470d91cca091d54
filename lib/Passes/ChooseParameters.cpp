//===- ChooseParameters.cpp - what training changes -----------------------===//

#include "lib/Passes/Passes.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/GlobPattern.h"

namespace mlir::mnistc {

#define GEN_PASS_DEF_CHOOSEPARAMETERS
#include "lib/Passes/Passes.h.inc"

namespace {
struct ChooseParameters : impl::ChooseParametersBase<ChooseParameters> {
  using ChooseParametersBase::ChooseParametersBase;
  void runOnOperation() override;
  LogicalResult readPatterns();
  bool isFrozen(StringRef name);

  /// A pattern, and whether it named anything.
  SmallVector<std::pair<llvm::GlobPattern, bool>> patterns;
  llvm::StringSet<> statistics; ///< globals that are a mean or a variance
};
} // namespace

LogicalResult ChooseParameters::readPatterns() {
  patterns.clear();
  for (const std::string &text : freeze) {
    llvm::Expected<llvm::GlobPattern> pattern = llvm::GlobPattern::create(text);
    if (!pattern)
      return getOperation().emitError("expected a pattern of names to freeze, "
                                      "got '")
             << text << "': " << llvm::toString(pattern.takeError());
    patterns.emplace_back(std::move(*pattern), false);
  }
  return success();
}

bool ChooseParameters::isFrozen(StringRef name) {
  bool frozen = false;
  for (auto &[pattern, used] : patterns)
    if (pattern.match(name))
      frozen = used = true;
  return frozen;
}

static std::string globalOf(Value value) {
  auto load = value.getDefiningOp<ml_program::GlobalLoadOp>();
  return load ? load.getGlobal().getLeafReference().str() : "";
}

void ChooseParameters::runOnOperation() {
  if (failed(readPatterns()))
    return signalPassFailure();
  statistics.clear();
  getOperation().walk([&](BatchNormOp op) {
    statistics.insert(globalOf(op.getMean()));
    statistics.insert(globalOf(op.getVariance()));
  });
  int64_t found = 0;
  for (auto global : getOperation().getOps<ml_program::GlobalOp>()) {
    auto type = dyn_cast<RankedTensorType>(global.getType());
    bool trains = global.getIsMutable() && type && type.getRank() != 0 &&
                  isa<FloatType>(type.getElementType());
    if (isFrozen(global.getSymName()) || !trains) {
      ++numFrozen;
      continue;
    }
    bool buffer = statistics.contains(global.getSymName());
    found += !buffer;
    global->setAttr(
        "mnist.role",
        StringAttr::get(&getContext(), buffer ? "buffer" : "parameter"));
  }
  for (auto [text, entry] : llvm::zip_equal(freeze, patterns))
    if (!entry.second) {
      getOperation().emitError("expected '")
          << text << "' to name a parameter to freeze, but none matches";
      return signalPassFailure();
    }
  numParameters += found;
  if (found == 0) {
    getOperation().emitError("expected a model with parameters to train, but "
                             "it has none");
    signalPassFailure();
  }
}

} // namespace mlir::mnistc
