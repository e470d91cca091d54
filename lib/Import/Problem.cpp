//===- Problem.cpp - what is wrong with a model ---------------------------===//

#include "lib/Import/Problem.h"
#include "lib/IR/Printable.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::mnistc;

void importer::fail(const Twine &text) {
  throw Problem{ImportStatus::badModel, text.str()};
}

void importer::unsupported(const Twine &text) {
  throw Problem{ImportStatus::unsupported, text.str()};
}

std::string importer::quoted(StringRef name) {
  return "'" + printable(name) + "'";
}

std::string importer::numberText(double number) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%g", number);
  return text;
}

std::string importer::firstLine(StringRef message) {
  StringRef line = message.ltrim().split('\n').first.rtrim(" .\r");
  return printable(line.take_front(400));
}

/// "f32" as "float", "2x3" as "[2, 3]", "2x3xf32" as "float [2, 3]"; a word of
/// text as it is.
static std::string plainWord(StringRef word) {
  SmallVector<StringRef> parts;
  word.split(parts, 'x');
  StringRef element = llvm::StringSwitch<StringRef>(parts.back())
                          .Case("f32", "float")
                          .Case("f64", "double")
                          .Case("i1", "bool")
                          .Case("i32", "int32")
                          .Case("i64", "int64")
                          .Case("ui8", "uint8")
                          .Default("");
  if (!element.empty())
    parts.pop_back();
  bool isShape = llvm::all_of(parts, [](StringRef part) {
    return !part.empty() && llvm::all_of(part, llvm::isDigit);
  });
  if (!isShape || (element.empty() && parts.size() < 2))
    return word.str();
  std::string shape = "[" + llvm::join(parts, ", ") + "]";
  if (element.empty())
    return shape;
  return parts.empty() ? element.str() : (element + " " + shape).str();
}

/// A word, type, quoted text or character at the front of `message`, which
/// loses it, in words of ONNX.
static std::string plainPart(StringRef &message) {
  StringRef word = message.take_while(llvm::isAlnum);
  message = message.drop_front(word.size());
  if (word == "tensor" && message.consume_front("<")) {
    std::tie(word, message) = message.split('>');
    // A scalar has no sizes.
    return word.contains('x') ? plainWord(word) : plainWord(word) + " []";
  }
  if (!word.empty()) {
    // The rest of "model's" opens no quotes.
    StringRef rest = message.take_front(message.starts_with("'"));
    message = message.drop_front(rest.size());
    return plainWord(word) + rest.str();
  }
  size_t end =
      message.starts_with("'") ? message.find('\'', 1) : StringRef::npos;
  if (end == StringRef::npos) {
    char other = message.front();
    message = message.drop_front();
    return std::string(1, other);
  }
  // A name stays as it is, even one like a type.
  StringRef inside = message.slice(1, end);
  message = message.drop_front(end + 1);
  if (!inside.starts_with("tensor<"))
    return ("'" + inside + "'").str();
  return "'" + plainPart(inside) + "'";
}

std::string importer::plainWords(StringRef message) {
  // "'mnist.matmul' op expected ..."
  if (message.starts_with("'") && message.contains("' op "))
    message = message.split("' op ").second;
  std::string text;
  while (!message.empty())
    text += plainPart(message);
  return text;
}

std::string importer::plainMessage(StringRef message) {
  return firstLine(plainWords(message));
}

std::string importer::shapeText(ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(shape, os);
  return shape.empty() ? "a scalar" : "[" + text + "]";
}

void importer::Report::problem(const Problem &problem, const Twine &place) {
  std::string line = printable(file) + ": ";
  if (!place.isTriviallyEmpty())
    line += place.str() + ": ";
  line += problem.text;
  if (!llvm::is_contained(imported.problems, line))
    imported.problems.push_back(std::move(line));
  malformed |= problem.status == ImportStatus::badModel;
  imported.status =
      malformed ? ImportStatus::badModel : ImportStatus::unsupported;
}

std::string importer::Report::fileName() const { return printable(file); }

void importer::Report::warn(const Twine &text, const Twine &place) {
  std::string line = fileName() + ": ";
  if (!place.isTriviallyEmpty())
    line += place.str() + ": ";
  line += text.str();
  if (!llvm::is_contained(imported.warnings, line))
    imported.warnings.push_back(std::move(line));
}

void importer::Report::note(const Twine &text) {
  std::string line = text.str();
  if (!llvm::is_contained(imported.notes, line))
    imported.notes.push_back(std::move(line));
}
