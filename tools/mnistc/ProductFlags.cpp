//===- ProductFlags.cpp - the flags --precision and --prefer --------------===//

#include "tools/mnistc/ProductFlags.h"
#include "lib/IR/Plan/PlanOps.h"
#include "lib/IR/Plan/Target.h"
#include "tools/mnistc/Messages.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::mnistc;
namespace cl = llvm::cl;

static cl::opt<std::string>
    precision("precision", cl::init(defaultPrecision.str()),
              cl::value_desc("name"),
              cl::desc("How exact products of f32 are on a GPU: strict, fp32 "
                       "(default), tf32 or bf16"),
              cl::cat(targetCategory));
static cl::opt<std::string>
    prefer("prefer", cl::value_desc("name"),
           cl::desc("What computes products and convolutions wherever it can, "
                    "whether it is fast or not: libraries, tensor-cores or fma "
                    "(default: what should be fastest)"),
           cl::cat(targetCategory));

static cl::opt<std::string>
    tuned("tuned", cl::value_desc("file"),
          cl::desc("Choices that --tune has measured, or none (default: those "
                   "that mnistc has for the architecture)"),
          cl::cat(targetCategory));
static cl::opt<std::string> tune(
    "tune", cl::value_desc("file"),
    cl::desc("Measure on this machine's GPU what computes each product and "
             "convolution fastest, and write it to a file"),
    cl::cat(targetCategory));

/// Tensor cores know tf32 and bf16 from sm_80 on.
static bool hasCores(StringRef arch) {
  unsigned number;
  return !arch.consume_front("sm_") ||
         arch.take_while(llvm::isDigit).getAsInteger(10, number) ||
         number >= 80;
}

static bool readPrecision(ArrayRef<std::string> archs) {
  if (!symbolizePrecision(precision))
    return error("expected --precision=strict, fp32, tf32 or bf16, got '" +
                 precision + "'" +
                 nearest(precision, {"strict", "fp32", "tf32", "bf16"}));
  for (StringRef arch : archs) {
    if (hasCores(arch) || precision == "strict")
      continue;
    if (precision.getNumOccurrences() != 0)
      return error("expected --precision=strict for --arch=" + arch +
                   ", which has no tensor cores for tf32, got '" + precision +
                   "'");
    precision = "strict";
  }
  return true;
}

bool mlir::mnistc::readProductFlags(ArrayRef<std::string> archs) {
  if (prefer.getNumOccurrences() != 0 && !symbolizeWay(prefer))
    return error("expected --prefer=libraries, tensor-cores or fma, got '" +
                 prefer + "'" +
                 nearest(prefer, {"libraries", "tensor-cores", "fma"}));
  return readPrecision(archs);
}

bool mlir::mnistc::checkTuneFlags(StringRef target) {
  for (cl::opt<std::string> *flag : {&tuned, &tune})
    if (flag->getNumOccurrences() != 0) {
      if (flag->getValue().empty())
        return error("expected a file with --" + flag->ArgStr +
                     ", got nothing");
      if (target != "cuda" && *flag != "none")
        return error("expected --target=cuda with --" + flag->ArgStr +
                     ", got '" + target + "'");
    }
  if (!tune.empty() && !tuned.empty())
    return error("expected one of --tune and --tuned, got both");
  if (!tune.empty() && !prefer.empty())
    return error("expected --tune without --prefer, got both");
  return true;
}

std::string mlir::mnistc::productFlagsText() {
  std::string text;
  if (precision != defaultPrecision)
    text += " --precision=" + precision;
  if (!prefer.empty())
    text += " --prefer=" + prefer;
  if (tuned == "none")
    text += " --tuned=none";
  return text;
}

StringRef mlir::mnistc::tunedFlag() { return tuned; }

StringRef mlir::mnistc::tuneFlag() { return tune; }

StringRef mlir::mnistc::precisionFlag() { return precision; }

StringRef mlir::mnistc::preferFlag() { return prefer; }
