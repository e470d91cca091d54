//===- printable.h - text as a terminal may be shown it ---------*- C++ -*-===//

#ifndef MNISTRT_CORE_PRINTABLE_H
#define MNISTRT_CORE_PRINTABLE_H

#include <string>
#include <string_view>

namespace mn {

/// `text` with control characters and bytes that are not UTF-8 as \n, \r, \t or
/// \x1b, so that no name of a model or file can move a cursor or end a line.
/// Everything that a program prints goes through it; the compiler does the
/// same.
std::string printable(std::string_view text);

} // namespace mn

#endif // MNISTRT_CORE_PRINTABLE_H
