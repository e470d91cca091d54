//===- Messages.h - what mnistc says on standard error ----------*- C++ -*-===//
//
// One line each: "error: FILE: place: what is wrong".
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_TOOLS_MNISTC_MESSAGES_H
#define MNISTC_TOOLS_MNISTC_MESSAGES_H

#include "mlir/IR/Diagnostics.h"
#include <chrono>

namespace mlir::mnistc {

/// Prints an error and returns false.
bool error(const Twine &text);
void note(const Twine &text);

/// Prints the diagnostics of a context while it lives. `file` stands for the
/// model where a location has only the names of its nodes.
class DiagnosticPrinter {
public:
  DiagnosticPrinter(MLIRContext &context, StringRef file);

private:
  ScopedDiagnosticHandler handler;
};

/// With `verbose`, says what each stage took.
class Stopwatch {
public:
  explicit Stopwatch(bool verbose) : verbose(verbose) {}
  void lap(StringRef stage);

private:
  using Clock = std::chrono::steady_clock;
  bool verbose;
  Clock::time_point last = Clock::now();
};

} // namespace mlir::mnistc

#endif // MNISTC_TOOLS_MNISTC_MESSAGES_H
