//===- Names.cpp - a model's names in C++ text ----------------------------===//

#include "lib/CodeGen/Names.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::mnistc;

/// A longer name tells no more.
static constexpr size_t maxLength = 48;

/// Words of C++, of CUDA, of generated code, and macros in small letters.
static bool isReserved(StringRef name) {
  static const llvm::StringSet<> words = {
      "alignas",
      "alignof",
      "and",
      "and_eq",
      "asm",
      "auto",
      "bitand",
      "bitor",
      "bool",
      "break",
      "case",
      "catch",
      "char",
      "char16_t",
      "char32_t",
      "char8_t",
      "class",
      "co_await",
      "co_return",
      "co_yield",
      "compl",
      "concept",
      "const",
      "const_cast",
      "consteval",
      "constexpr",
      "constinit",
      "continue",
      "decltype",
      "default",
      "delete",
      "do",
      "double",
      "dynamic_cast",
      "else",
      "enum",
      "explicit",
      "export",
      "extern",
      "false",
      "final",
      "float",
      "for",
      "friend",
      "goto",
      "if",
      "import",
      "inline",
      "int",
      "long",
      "module",
      "mutable",
      "namespace",
      "new",
      "noexcept",
      "not",
      "not_eq",
      "nullptr",
      "operator",
      "or",
      "or_eq",
      "override",
      "private",
      "protected",
      "public",
      "register",
      "requires",
      "return",
      "short",
      "signed",
      "sizeof",
      "static",
      "static_assert",
      "static_cast",
      "struct",
      "switch",
      "template",
      "this",
      "thread_local",
      "throw",
      "true",
      "try",
      "typedef",
      "typeid",
      "typename",
      "typeof",
      "union",
      "unsigned",
      "using",
      "virtual",
      "void",
      "volatile",
      "wchar_t",
      "while",
      "xor",
      "xor_eq",
      // types and names that generated code uses
      "ctx",
      "e",
      "elementValues",
      "first",
      "functor",
      "i",
      "int32_t",
      "int64_t",
      "load",
      "loadA",
      "loadB",
      "loadFilter",
      "loadInput",
      "loadOutputGrad",
      "main",
      "mn",
      "mn_constants",
      "mn_model",
      "mn_onnx",
      "mn_parameters",
      "o",
      "phases",
      "place",
      "placeOf",
      "r",
      "reinterpret_cast",
      "results",
      "row",
      "rowValues",
      "size_t",
      "std",
      "store",
      "storedValues",
      "uint32_t",
      "uint64_t",
      "uint8_t",
      "v",
      // CUDA
      "blockDim",
      "blockIdx",
      "gridDim",
      "threadIdx",
      "warpSize",
      // macros of some system or other
      "alloca",
      "assert",
      "errno",
      "i386",
      "linux",
      "major",
      "makedev",
      "minor",
      "offsetof",
      "stderr",
      "stdin",
      "stdout",
      "unix",
  };
  return words.contains(name) || name.starts_with("step_") ||
         name.starts_with("mn_code_");
}

std::string mlir::mnistc::identifier(StringRef name) {
  // Neither leading nor double underscores: those belong to the compiler.
  std::string result;
  for (char c : name.take_front(4 * maxLength)) {
    if (llvm::isAlnum(c))
      result += c;
    else if (!result.empty() && result.back() != '_')
      result += '_';
  }
  result.resize(std::min(result.size(), maxLength));
  while (!result.empty() && result.back() == '_')
    result.pop_back();
  if (result.empty())
    result = "t";
  if (llvm::isDigit(result.front()))
    result.insert(0, "t");
  // All in capitals it may be a macro.
  bool small = llvm::any_of(StringRef(result).drop_front(),
                            [](char c) { return llvm::isLower(c); });
  if (!small)
    result = StringRef(result).lower();
  result.front() = llvm::toLower(result.front());
  return isReserved(result) ? result + "_t" : result;
}

std::string mlir::mnistc::capitalized(StringRef identifier) {
  std::string result = identifier.str();
  result.front() = llvm::toUpper(result.front());
  return result;
}

bool NameScope::contains(StringRef identifier) const {
  return used.contains(identifier) || (outer && outer->contains(identifier));
}

/// Below it all numbers of `base` are taken, here or around.
int NameScope::firstFree(StringRef base) const {
  int around = outer ? outer->firstFree(base) : 2;
  return std::max(around, next.lookup(base));
}

void NameScope::release(StringRef identifier) {
  used.erase(identifier);
  auto [base, digits] = identifier.rsplit('_');
  int number;
  if (auto known = next.find(base);
      known != next.end() && !digits.getAsInteger(10, number))
    known->second = std::min(known->second, number);
}

std::string NameScope::add(StringRef name) {
  std::string base = identifier(name), result = base;
  int &number = next[base];
  for (number = firstFree(base); contains(result); ++number)
    result = base + "_" + std::to_string(number);
  used.insert(result);
  return result;
}

std::string mlir::mnistc::commentText(StringRef text) {
  std::string result;
  for (char c : text) {
    // A backslash at the end would take the next line into the comment; so
    // would the trigraph of one.
    bool plain = llvm::isPrint(c) && c != '\\';
    bool trigraph = c == '?' && !result.empty() && result.back() == '?';
    result += plain && !trigraph ? c : '.';
  }
  return result;
}

std::string mlir::mnistc::stringLiteral(StringRef text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\' || c == '?') {
      result += '\\';
      result += c;
    } else if (llvm::isPrint(c)) {
      result += c;
    } else { // three octal digits, which no digit after them can lengthen
      unsigned char byte = c;
      result += '\\';
      for (int shift : {6, 3, 0})
        result += static_cast<char>('0' + (byte >> shift & 7));
    }
  }
  return result + "\"";
}

std::string mlir::mnistc::shapeText(Type tensor) {
  std::string text = "[";
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(cast<ShapedType>(tensor).getShape(), os);
  os << "]";
  return text;
}

StringRef mlir::mnistc::elementTypeName(Type element) {
  if (element.isF32())
    return "float";
  if (element.isF64())
    return "double";
  if (element.isBF16())
    return "mn::Bf16";
  if (element.isInteger(1))
    return "bool";
  if (element.isInteger(8))
    return "uint8_t";
  return element.isInteger(32) ? "int32_t" : "int64_t";
}
