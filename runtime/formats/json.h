//===- json.h - JSON for other programs to read -----------------*- C++ -*-===//

#ifndef MNISTRT_FORMATS_JSON_H
#define MNISTRT_FORMATS_JSON_H

#include <nlohmann/json.hpp>
#include <string>

namespace mn {

/// A value; objects keep their keys in the order in which they are added.
using Json = nlohmann::ordered_json;

/// `json` in one line, without its end. Numbers read back as the same bits;
/// JSON has no infinity: "inf", "-inf" and "nan" are strings. In strings,
/// control characters are escaped and bytes that are not UTF-8 become U+FFFD.
std::string jsonText(const Json &json);

/// The text and an end of line, to standard output.
void printJson(const Json &json);

} // namespace mn

#endif // MNISTRT_FORMATS_JSON_H
