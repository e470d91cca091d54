//===- NumberParser.h - numbers on the command line -------------*- C++ -*-===//

#ifndef MNISTC_TOOLS_MNISTC_NUMBERPARSER_H
#define MNISTC_TOOLS_MNISTC_NUMBERPARSER_H

#include "tools/mnistc/Messages.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"

namespace mlir::mnistc {

/// As LLVM's, with our words for what is no number: those of LLVM go to
/// standard error without a way to change them.
template <typename T> class NumberParser : public llvm::cl::parser<T> {
public:
  using llvm::cl::parser<T>::parser;

  /// True: an error was printed.
  bool parse(llvm::cl::Option &option, StringRef, StringRef text, T &number) {
    bool isNumber = false;
    if constexpr (std::is_floating_point_v<T>)
      isNumber = llvm::to_float(text, number);
    else
      isNumber = llvm::to_integer(text, number);
    return !isNumber &&
           !error(Twine("expected --") + option.ArgStr + " to be " +
                  (std::is_floating_point_v<T> ? "a number"
                                               : "a whole number from 0") +
                  ", got '" + text + "'");
  }
};

template <typename T>
using NumberOption = llvm::cl::opt<T, false, NumberParser<T>>;

} // namespace mlir::mnistc

#endif // MNISTC_TOOLS_MNISTC_NUMBERPARSER_H
