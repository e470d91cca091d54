//===- terminal.h - how wide printed text may be ----------------*- C++ -*-===//

#ifndef MNISTRT_REPORTS_TERMINAL_H
#define MNISTRT_REPORTS_TERMINAL_H

#include <string>
#include <string_view>

namespace mn {

/// The columns of what `file` writes to: $COLUMNS where it is set, else the
/// terminal's. 0: no limit, since a pipe or file has none.
int columnsOf(int file);

/// How many columns a text in UTF-8 takes.
size_t textWidth(std::string_view text);

/// At most `width` columns of `text`; what is cut off is shown by "...".
std::string shortened(std::string_view text, size_t width);

/// Breaks lines at blanks so that they fit in `width` columns (0: no limit);
/// `indent` blanks begin each line but the first.
std::string wrapped(std::string_view text, int width, int indent = 0);

/// Writes all of a text to a descriptor; nothing below 0. A terminal that went
/// away is no reason to stop.
void put(int file, std::string_view text);

} // namespace mn

#endif // MNISTRT_REPORTS_TERMINAL_H
