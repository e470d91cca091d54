//===- Output.cpp - files, whole or not at all ----------------------------===//

#include "tools/mnistc/Output.h"
#include "mlir/IR/AsmState.h"
#include "tools/mnistc/Messages.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::mnistc;

/// A constant of more elements is not for reading.
static constexpr int64_t maxPrinted = 32;

std::string mlir::mnistc::printModule(ModuleOp module, bool whole) {
  OpPrintingFlags flags;
  if (whole) {
    flags.enableDebugInfo();
  } else {
    flags.elideLargeElementsAttrs(maxPrinted);
    flags.elideLargeResourceString(maxPrinted);
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os, flags);
  return text;
}

static bool writeStandardOutput(StringRef text) {
  llvm::raw_fd_ostream &os = llvm::outs();
  os << text;
  os.flush();
  if (!os.has_error())
    return true;
  std::string reason = os.error().message();
  os.clear_error();
  return error("cannot write to standard output: " + reason);
}

bool mlir::mnistc::writeOutput(StringRef path, StringRef text) {
  if (path == "-")
    return writeStandardOutput(text);
  llvm::Error failed =
      llvm::writeToOutput(path, [&](llvm::raw_ostream &os) -> llvm::Error {
        os << text;
        return llvm::Error::success();
      });
  if (!failed)
    return true;
  return error("cannot write " + path + ": " +
               llvm::toString(std::move(failed)));
}
