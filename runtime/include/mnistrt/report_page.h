//===- report_page.h - the page that shows a model --------------*- C++ -*-===//
//
// Shared by the compiler and its programs, and made of runtime/reports/html
// when they are built. Not for generated code.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_REPORT_PAGE_H
#define MNISTRT_REPORT_PAGE_H

#include <string>
#include <string_view>

namespace mn {

/// One HTML file that needs nothing else. `compiled`: JSON, what the compiler
/// says of a model; `profile` and `training`: JSON, or empty where there is
/// none. No text in them, however it is written, is more than text of the page.
std::string reportPage(std::string_view compiled, std::string_view profile = {},
                       std::string_view training = {});

/// Text for a program to carry, and back.
std::string packText(std::string_view text);
std::string unpackText(std::string_view packed);

} // namespace mn

#endif // MNISTRT_REPORT_PAGE_H
