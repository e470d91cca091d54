//===- Output.cpp - writes files completely or not at all -----------------===//

#include "tools/mnistc/Output.h"
#include "lib/CodeGen/PartialFile.h"
#include "mlir/IR/AsmState.h"
#include "tools/mnistc/Messages.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::mnistc;

/// A constant of more elements is not readable.
static constexpr int64_t maxPrinted = 32;

std::string mlir::mnistc::contentsOf(StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().str() : "";
}

std::string mlir::mnistc::printModule(ModuleOp module, Detail detail) {
  OpPrintingFlags flags;
  if (detail == Detail::whole) {
    flags.enableDebugInfo();
  } else if (detail == Detail::readable) {
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

/// Writes and closes a file; a disk may be full.
static std::error_code writeAll(int descriptor, StringRef text) {
  llvm::raw_fd_ostream os(descriptor, /*shouldClose=*/true);
  os << text;
  os.close();
  std::error_code code = os.error();
  os.clear_error();
  return code;
}

static std::error_code writeFile(StringRef path, StringRef text) {
  namespace fs = llvm::sys::fs;
  int descriptor;
  // A pipe or device can only be written to.
  if (fs::exists(path) && !fs::is_regular_file(path)) {
    if (std::error_code code = fs::openFileForWrite(
            path, descriptor, fs::CD_OpenExisting, fs::OF_None))
      return code;
    return writeAll(descriptor, text);
  }
  PartialFile partial;
  if (std::error_code code = partial.create(path, descriptor))
    return code;
  if (std::error_code code = writeAll(descriptor, text))
    return code;
  return partial.commit();
}

bool mlir::mnistc::writeOutput(StringRef path, StringRef text) {
  if (path == "-")
    return writeStandardOutput(text);
  if (std::error_code code = writeFile(path, text))
    return error("cannot write " + path + ": " + code.message());
  return true;
}
