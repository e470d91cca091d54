//===- PrecisionFlag.h - the flag --precision -------------------*- C++ -*-===//

#ifndef MNISTC_TOOLS_MNISTC_PRECISIONFLAG_H
#define MNISTC_TOOLS_MNISTC_PRECISIONFLAG_H

#include "mlir/Support/LLVM.h"
#include "llvm/Support/CommandLine.h"
#include <string>

namespace mlir::mnistc {

extern llvm::cl::OptionCategory targetCategory;

/// Checks it against the architectures that were given, of which it may say
/// less; prints what is wrong and returns false.
bool readPrecision(ArrayRef<std::string> archs);

/// strict, fp32, tf32 or bf16.
StringRef precisionFlag();

} // namespace mlir::mnistc

#endif // MNISTC_TOOLS_MNISTC_PRECISIONFLAG_H
