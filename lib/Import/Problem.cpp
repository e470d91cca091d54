//===- Problem.cpp - what is wrong with a model ---------------------------===//

#include "lib/Import/Problem.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::mnistc;

void importer::fail(const Twine &text) {
  throw Problem{ImportStatus::badModel, text.str()};
}

void importer::unsupported(const Twine &text) {
  throw Problem{ImportStatus::unsupported, text.str()};
}

/// Printable text as it is, everything else as \XX.
static std::string escaped(StringRef text) {
  bool utf8 = llvm::json::isUTF8(text);
  std::string result;
  for (unsigned char c : text) {
    bool printable = c >= 0x80 ? utf8 : c >= 0x20 && c != 0x7f;
    if (printable)
      result += static_cast<char>(c);
    else
      result += "\\" + llvm::utohexstr(c, /*LowerCase=*/false, /*Width=*/2);
  }
  return result;
}

std::string importer::quoted(StringRef name) {
  return "'" + escaped(name) + "'";
}

std::string importer::firstLine(StringRef message) {
  StringRef line = message.ltrim().split('\n').first.rtrim(" .\r");
  return escaped(line.take_front(400));
}

std::string importer::shapeText(ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleave(shape, os, "x");
  return shape.empty() ? "a scalar" : text;
}

void importer::Report::problem(const Problem &problem, const Twine &place) {
  std::string line = escaped(file) + ": ";
  if (!place.isTriviallyEmpty())
    line += place.str() + ": ";
  line += problem.text;
  if (!llvm::is_contained(imported.problems, line))
    imported.problems.push_back(std::move(line));
  malformed |= problem.status == ImportStatus::badModel;
  imported.status =
      malformed ? ImportStatus::badModel : ImportStatus::unsupported;
}

void importer::Report::note(const Twine &text) {
  std::string line = text.str();
  if (!llvm::is_contained(imported.notes, line))
    imported.notes.push_back(std::move(line));
}
