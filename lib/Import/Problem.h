//===- Problem.h - what is wrong with a model -------------------*- C++ -*-===//
//
// The importer reports all problems of a model at once. What reads a file or a
// node throws its problem, as ONNX's library does; the loops over tensors and
// nodes catch it, note it and continue.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_IMPORT_PROBLEM_H
#define MNISTC_IMPORT_PROBLEM_H

#include "lib/Import/Import.h"
#include "llvm/ADT/Twine.h"

namespace mlir::mnistc::importer {

struct Problem {
  ImportStatus status;
  std::string text;
};

/// Malformed, unreadable or inconsistent.
[[noreturn]] void fail(const Twine &text);

/// Well formed, but not supported.
[[noreturn]] void unsupported(const Twine &text);

/// A name from the file in quotes and on one line, whatever it holds.
std::string quoted(StringRef name);

/// A number with at most six digits.
std::string numberText(double number);

/// The first line of a library's message, without its full stop.
std::string firstLine(StringRef message);

/// A message of MLIR in ONNX's words: no names of ops, no tensor<...>.
std::string plainWords(StringRef message);

/// The first line of `plainWords`.
std::string plainMessage(StringRef message);

/// "[2, 3]", or "a scalar".
std::string shapeText(ArrayRef<int64_t> shape);

/// Where problems and notes are gathered, each once.
class Report {
public:
  Report(Imported &imported, StringRef file) : imported(imported), file(file) {}

  /// `place` is empty, or says where in the file.
  void problem(const Problem &problem, const Twine &place = "");
  void note(const Twine &text);
  /// `place`: a node.
  void warn(const Twine &text, const Twine &place = "");
  bool hasProblems() const { return !imported.problems.empty(); }
  std::string fileName() const;

private:
  Imported &imported;
  std::string file;
  bool malformed = false;
};

} // namespace mlir::mnistc::importer

#endif // MNISTC_IMPORT_PROBLEM_H
