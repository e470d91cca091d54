//===- CppText.h - expressions and lines of C++ -----------------*- C++ -*-===//
//
// Pieces of text that know how they may be joined: expressions their
// precedence, lines their width. Knows nothing of tensors.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_CODEGEN_CPPTEXT_H
#define MNISTC_CODEGEN_CPPTEXT_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/Twine.h"
#include <string>

namespace mlir::mnistc {

/// How tightly the outermost operator of an expression binds.
enum class Precedence {
  conditional,
  logicalOr,
  logicalAnd,
  equality,
  relational,
  additive,
  multiplicative,
  unary,
  primary,
};

class Divisors;

/// What text calls an element's four, by its first element, a multiple of 4,
/// and its number in it; and the element's number where that is divided.
struct NamesInFour {
  std::string first, number, divided;
};

struct Expr {
  std::string text;
  Precedence precedence = Precedence::primary;
  Divisors *divisors = nullptr; ///< by which text divides it, where asked for
  /// Of an element's number: what four neighbours have in common is printed
  /// alike for all.
  const NamesInFour *four = nullptr;

  /// The text, in parentheses unless it binds at least as tightly as `least`.
  std::string as(Precedence least) const {
    return precedence >= least ? text : "(" + text + ")";
  }
};

/// "a + b" and the like, of operators that group from the left.
Expr infix(const Expr &lhs, StringRef op, const Expr &rhs,
           Precedence precedence);
/// "f(a, b)"
Expr call(const Twine &function, ArrayRef<Expr> arguments);
Expr conditional(const Expr &condition, const Expr &then,
                 const Expr &otherwise);
Expr number(int64_t value);

/// A statement or declaration at an indentation, without the newline at its
/// end; one that is too long is broken.
std::string line(const Twine &text, unsigned indent);

/// `head` and its arguments between `open` and `close`, as many in a line as
/// fit, the others under the first.
std::string argumentLines(StringRef head, StringRef open,
                          ArrayRef<std::string> arguments, StringRef close,
                          unsigned indent);

/// "// " and words, on as many lines as they need; `hang` spaces before all
/// but the first.
std::string comment(StringRef words, unsigned hang = 0);

} // namespace mlir::mnistc

#endif // MNISTC_CODEGEN_CPPTEXT_H
