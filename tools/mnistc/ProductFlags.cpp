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

StringRef mlir::mnistc::precisionFlag() { return precision; }

StringRef mlir::mnistc::preferFlag() { return prefer; }
