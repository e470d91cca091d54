//===- PartialFile.h - files that appear whole or not at all ----*- C++ -*-===//
//
// Written next to the target, so that renaming cannot fail for another disk,
// and gone if the compiler is stopped.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_CODEGEN_PARTIALFILE_H
#define MNISTC_CODEGEN_PARTIALFILE_H

#include "mlir/Support/LLVM.h"
#include <string>
#include <system_error>

namespace mlir::mnistc {

class PartialFile {
public:
  /// Makes an empty file next to `target` and opens it.
  std::error_code create(StringRef target, int &descriptor);
  const std::string &path() const { return partial; }
  /// Gives it the target's name.
  std::error_code commit();
  ~PartialFile();

private:
  std::string target, partial;
};

} // namespace mlir::mnistc

#endif // MNISTC_CODEGEN_PARTIALFILE_H
