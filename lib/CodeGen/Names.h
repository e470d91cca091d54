//===- Names.h - a model's names in C++ text --------------------*- C++ -*-===//
//
// The one place where text of a model becomes text of a program: nothing that a
// name holds (quotes, newlines, comment ends) may become code.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_CODEGEN_NAMES_H
#define MNISTC_CODEGEN_NAMES_H

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringSet.h"
#include <string>

namespace mlir::mnistc {

/// "/conv1/Conv_output_0" -> "conv1_Conv_output_0": a C++ identifier that
/// begins with a small letter and is no word of the language, of generated code
/// or of a macro.
std::string identifier(StringRef name);

/// The name of the functor that computes `identifier`.
std::string capitalized(StringRef identifier);

/// Names of one scope, each different from the others and from those around.
class NameScope {
public:
  explicit NameScope(const NameScope *outer = nullptr) : outer(outer) {}

  /// A new identifier that tells `name`.
  std::string add(StringRef name);
  bool contains(StringRef identifier) const;
  void reserve(StringRef identifier) { used.insert(identifier); }
  void release(StringRef identifier);

private:
  int firstFree(StringRef base) const;

  const NameScope *outer;
  llvm::StringSet<> used;
  llvm::StringMap<int> next; ///< below it all numbers of a name are taken here
};

/// Text that stays inside a comment of one line.
std::string commentText(StringRef text);

/// A string literal, with its quotes.
std::string stringLiteral(StringRef text);

/// "[64, 128]"
std::string shapeText(Type tensor);

/// "float", "int64_t", ... for an element type.
StringRef elementTypeName(Type element);

} // namespace mlir::mnistc

#endif // MNISTC_CODEGEN_NAMES_H
