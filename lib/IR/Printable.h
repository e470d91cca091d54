//===- Printable.h - names as a terminal may be shown them ------*- C++ -*-===//

#ifndef MNISTC_IR_PRINTABLE_H
#define MNISTC_IR_PRINTABLE_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace mlir::mnistc {

/// Printable UTF-8 as it is; control characters, which may be a terminal's
/// commands, and invalid bytes as \n, \t or \x1b. Twice is as good as once.
std::string printable(llvm::StringRef text);

} // namespace mlir::mnistc

#endif // MNISTC_IR_PRINTABLE_H
