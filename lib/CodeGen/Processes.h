//===- Processes.h - what must not outlive the compiler ---------*- C++ -*-===//
//
// Temporary folders, which hold a model's weights, and the compilers that write
// to them: an interrupted compile leaves neither.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_CODEGEN_PROCESSES_H
#define MNISTC_CODEGEN_PROCESSES_H

#include "mlir/Support/LLVM.h"
#include <string>
#include <system_error>

namespace mlir::mnistc {

/// From now on SIGINT, SIGTERM and SIGHUP, where they are not ignored, end the
/// process as they would, once its children are dead and its temporary folders
/// and partial files gone. Writing to a closed pipe or beyond a limit of size
/// is an error of that write. To be called first of all: before LLVM has
/// its own handlers, and before there is a second thread.
void handleInterrupts();

/// A folder that is gone with this object.
class TemporaryFolder {
public:
  TemporaryFolder() = default;
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;
  ~TemporaryFolder();

  /// Makes one that only its owner may read.
  std::error_code create();
  const std::string &path() const { return folder; }
  /// From now on it stays.
  void keep();

private:
  std::string folder;
};

/// Runs a program, with what it prints in files and its own temporary files in
/// the folder of `out`, and waits for it. Returns its exit code, or below 0 why
/// it has none in `message`.
int runProgram(ArrayRef<std::string> command, const std::string &out,
               const std::string &err, std::string &message);

} // namespace mlir::mnistc

#endif // MNISTC_CODEGEN_PROCESSES_H
