//===- printable.h - text as a terminal may be shown it ---------*- C++ -*-===//
//
// Shared by the compiler and its programs. Not for generated code.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_PRINTABLE_H
#define MNISTRT_PRINTABLE_H

#include <cstddef>
#include <string>
#include <string_view>

namespace mn {

/// The bytes of the UTF-8 character at the front of `text`; 0 where there is
/// none (Unicode 15, table 3-7: neither overlong forms nor surrogates).
inline size_t characterBytes(std::string_view text) {
  const auto at = [&](size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const auto follows = [&](size_t i) { return (at(i) & 0xc0) == 0x80; };
  const unsigned a = at(0), b = at(1);
  if (a < 0x80)
    return 1;
  if (a >= 0xc2 && a <= 0xdf)
    return follows(1) ? 2 : 0;
  if (a >= 0xe0 && a <= 0xef) {
    const bool good = !(a == 0xe0 && b < 0xa0) && !(a == 0xed && b > 0x9f);
    return good && follows(1) && follows(2) ? 3 : 0;
  }
  if (a >= 0xf0 && a <= 0xf4) {
    const bool good = !(a == 0xf0 && b < 0x90) && !(a == 0xf4 && b > 0x8f);
    return good && follows(1) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

/// \n, \r, \t or \x1b.
inline std::string escapedByte(unsigned char byte) {
  constexpr char digits[] = "0123456789abcdef";
  switch (byte) {
  case '\n':
    return "\\n";
  case '\r':
    return "\\r";
  case '\t':
    return "\\t";
  default:
    return {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
  }
}

/// `text` with control characters and bytes that are not UTF-8 as \n, \r, \t or
/// \x1b, so that no name of a model or file can move a cursor or end a line.
/// Everything that is printed goes through it; text that has been through it
/// stays as it is.
inline std::string printable(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const size_t bytes = characterBytes(text);
    const auto first = static_cast<unsigned char>(text[0]);
    // U+0080 to U+009F are commands of terminals too.
    const bool control = first < 0x20 || first == 0x7f ||
                         (bytes == 2 && first == 0xc2 &&
                          static_cast<unsigned char>(text[1]) < 0xa0);
    const size_t taken = bytes == 0 ? 1 : bytes;
    if (bytes > 0 && !control)
      result += text.substr(0, taken);
    else
      for (const char byte : text.substr(0, taken))
        result += escapedByte(static_cast<unsigned char>(byte));
    text.remove_prefix(taken);
  }
  return result;
}

} // namespace mn

#endif // MNISTRT_PRINTABLE_H
