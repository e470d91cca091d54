//===- PartialFile.cpp - files that appear whole or not at all ------------===//

#include "lib/CodeGen/PartialFile.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Signals.h"

using namespace mlir;
using namespace mlir::mnistc;

std::error_code PartialFile::create(StringRef path, int &descriptor) {
  target = path.str();
  for (int attempt = 0;; ++attempt) {
    // Apart from the target's name, whose own '%' must stay as they are.
    llvm::SmallString<16> digits;
    llvm::sys::fs::createUniquePath("%%%%%%%%", digits, /*MakeAbsolute=*/false);
    std::string name = (path + "-" + digits + ".part").str();
    std::error_code code = llvm::sys::fs::openFileForWrite(
        name, descriptor, llvm::sys::fs::CD_CreateNew, llvm::sys::fs::OF_None);
    if (code == std::errc::file_exists && attempt < 16)
      continue;
    if (code)
      return code;
    partial = std::move(name);
    llvm::sys::RemoveFileOnSignal(partial);
    return {};
  }
}

std::error_code PartialFile::commit() {
  std::error_code code = llvm::sys::fs::rename(partial, target);
  if (code)
    return code;
  llvm::sys::DontRemoveFileOnSignal(partial);
  partial.clear();
  return {};
}

PartialFile::~PartialFile() {
  if (partial.empty())
    return;
  llvm::sys::fs::remove(partial);
  llvm::sys::DontRemoveFileOnSignal(partial);
}
