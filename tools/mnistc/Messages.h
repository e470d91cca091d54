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
/// For assumptions that may be wrong.
void warning(const Twine &text);
void note(const Twine &text);

/// "; did you mean 'cuda'?" where one of the words is near, else nothing.
std::string nearest(StringRef word, ArrayRef<StringRef> words);

/// Prints the diagnostics of a context while it lives. `file` stands for the
/// model where a location has only the names of its nodes.
class DiagnosticPrinter {
public:
  DiagnosticPrinter(MLIRContext &context, StringRef file);

private:
  ScopedDiagnosticHandler handler;
};

/// With `verbose`, prints how long each stage took.
class Stopwatch {
public:
  explicit Stopwatch(bool verbose) : verbose(verbose) {}
  void lap(StringRef stage);
  /// Since the beginning.
  double seconds() const;

private:
  using Clock = std::chrono::steady_clock;
  bool verbose;
  const Clock::time_point begin = Clock::now();
  Clock::time_point last = begin;
};

} // namespace mlir::mnistc

#endif // MNISTC_TOOLS_MNISTC_MESSAGES_H
