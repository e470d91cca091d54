//===- Messages.cpp - what mnistc says on standard error ------------------===//

#include "tools/mnistc/Messages.h"
#include "lib/IR/Names.h"
#include "lib/IR/Printable.h"
#include "lib/Import/Problem.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::mnistc;

/// On one line, whatever a name holds.
static void printLine(StringRef kind, const Twine &text) {
  llvm::errs() << kind << ": " << printable(text.str()) << "\n";
}

std::string mlir::mnistc::nearest(StringRef word, ArrayRef<StringRef> words) {
  StringRef best;
  unsigned bestDistance = static_cast<unsigned>(word.size()) / 3 + 2;
  for (StringRef candidate : words)
    if (unsigned distance = word.edit_distance(candidate);
        distance < bestDistance) {
      bestDistance = distance;
      best = candidate;
    }
  return best.empty() ? "" : ("; did you mean '" + best + "'?").str();
}

bool mlir::mnistc::error(const Twine &text) {
  printLine("error", text);
  return false;
}

void mlir::mnistc::warning(const Twine &text) { printLine("warning", text); }

void mlir::mnistc::note(const Twine &text) { printLine("note", text); }

/// Only MLIR files have lines.
static FileLineColLoc lineOf(Location location) {
  return location->findInstanceOf<FileLineColLoc>();
}

/// "model.onnx: conv1: ", "file.mlir:2:8: " or "model.onnx: ".
static std::string placeOf(Location location, StringRef file) {
  SmallVector<OnnxName> names = namesIn(location);
  if (!names.empty()) {
    OnnxName &name = names.back();
    return (file + ": " + (name.node.empty() ? name.tensor : name.node) + ": ")
        .str();
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  if (FileLineColLoc place = lineOf(location))
    os << place.getFilename().getValue() << ":" << place.getLine() << ":"
       << place.getColumn() << ": ";
  else
    os << file << ": ";
  return text;
}

DiagnosticPrinter::DiagnosticPrinter(MLIRContext &context, StringRef file)
    : handler(&context, [file = file.str()](Diagnostic &diagnostic) {
        auto print = [&](Diagnostic &part) {
          StringRef kind =
              part.getSeverity() == DiagnosticSeverity::Error     ? "error"
              : part.getSeverity() == DiagnosticSeverity::Warning ? "warning"
                                                                  : "note";
          std::string text = part.str();
          if (!lineOf(part.getLocation()))
            text = importer::plainWords(text);
          printLine(kind, placeOf(part.getLocation(), file) + text);
        };
        print(diagnostic);
        for (Diagnostic &attached : diagnostic.getNotes())
          print(attached);
        return success();
      }) {}

double Stopwatch::seconds() const {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

void Stopwatch::lap(StringRef stage) {
  Clock::time_point now = Clock::now();
  std::chrono::duration<double, std::milli> took = now - last;
  last = now;
  if (!verbose)
    return;
  llvm::errs() << "time: " << stage << ": "
               << llvm::format("%.1f", took.count()) << " ms\n";
}
