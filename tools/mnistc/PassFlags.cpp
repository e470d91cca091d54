//===- PassFlags.cpp - the flags -O and those that turn off passes --------===//

#include "tools/mnistc/PassFlags.h"
#include "tools/mnistc/Messages.h"

using namespace mlir;
using namespace mlir::mnistc;
namespace cl = llvm::cl;

cl::OptionCategory mlir::mnistc::passCategory("Optimization");

static cl::opt<std::string>
    level("O", cl::Prefix, cl::init("2"), cl::value_desc("0|1|2"),
          cl::desc("Optimization level 0: none; 1: simplify; 2: also fuse ops "
                   "into fewer steps (default)"),
          cl::cat(passCategory));

namespace {
/// A pass that can be turned off.
struct Switch {
  Switch(StringRef flag, StringRef what, char since,
         bool (*set)(InferOptions &))
      : option(flag, cl::desc(what), cl::ValueDisallowed,
               cl::cat(passCategory)),
        since(since), set(set) {}
  cl::opt<bool> option;
  char since; ///< the lowest -O that turns it on
  bool (*set)(InferOptions &);
};
} // namespace

#define OFF(member) [](InferOptions &o) { return (o.member = false), true; }
static Switch switches[] = {
    {"no-fold-batch-norm", "Keep batch norms", '1', OFF(foldBatchNorm)},
    {"no-fold-constants", "Fold no constants", '1', OFF(foldConstants)},
    {"no-cse", "Keep equal ops", '1', OFF(cse)},
    {"no-push-transposes", "Keep all transposes", '2', OFF(pushTransposes)},
    {"no-order-parameters", "Keep the file's order", '2', OFF(orderParameters)},
    {"no-choose-layout", "Keep the model's layout", '2', OFF(chooseLayout)},
    {"no-conv-to-matmul", "Keep whole windows", '2', OFF(convToMatmul)},
    {"no-join-products", "A separate product for each weight", '2',
     OFF(joinProducts)},
    {"no-join-inputs", "A separate product for each input", '2',
     OFF(joinInputs)},
    {"no-join-terms", "A separate product for each term", '2', OFF(joinTerms)},
    {"no-fuse", "One step per op", '2', OFF(fuse)},
    {"no-draw-numbers", "Draw where numbers are read", '2', OFF(drawNumbers)},
    {"no-form-rows", "A separate step for each reduction", '2', OFF(formRows)},
    {"no-join-pools", "A separate step for each pool", '2', OFF(joinPools)},
    {"no-join-biases", "A separate step for each bias", '2', OFF(joinBiases)},
    {"no-join-maps", "A separate step for each map", '2', OFF(joinMaps)},
    {"no-join-readers", "A step for each activation", '2', OFF(joinReaders)},
    {"no-join-updates", "Separate steps for updates", '2', OFF(joinUpdates)},
    {"no-round-operands", "Keep operands in f32", '2', OFF(roundOperands)},
    {"no-round-results", "Keep large results in f32", '2', OFF(roundResults)},
    {"no-form-chains", "A launch for each small step", '2', OFF(formChains)},
    {"no-reuse-memory", "No memory reuse", '1', OFF(reuseMemory)},
    {"no-assign-streams", "No concurrent steps", '2', OFF(assignStreams)},
};
#undef OFF

bool mlir::mnistc::checkPassFlags() {
  if (level != "0" && level != "1" && level != "2")
    return error("expected -O0, -O1 or -O2, got '-O" + Twine(level) + "'");
  return true;
}

void mlir::mnistc::setPasses(InferOptions &options) {
  for (Switch &entry : switches)
    if (entry.option || level[0] < entry.since)
      entry.set(options);
}

std::string mlir::mnistc::passFlagsText() {
  std::string text = level == "2" ? "" : " -O" + level;
  for (Switch &entry : switches)
    if (entry.option)
      text += (" --" + entry.option.ArgStr).str();
  return text;
}
