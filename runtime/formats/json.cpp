//===- json.cpp - JSON for other programs to read -------------------------===//

#include "formats/json.h"
#include "core/array.h"
#include <cmath>
#include <cstdio>

namespace mn {

namespace {

/// The library would write null for all of them.
void nameSpecialNumbers(Json &json) {
  if (json.is_structured()) {
    for (Json &element : json)
      nameSpecialNumbers(element);
    return;
  }
  if (!json.is_number_float())
    return;
  const auto number = json.get<double>();
  if (!std::isfinite(number))
    json = std::isnan(number) ? "nan" : number > 0 ? "inf" : "-inf";
}

} // namespace

std::string jsonText(const Json &json) {
  Json named = json;
  nameSpecialNumbers(named);
  const std::string dumped = named.dump(-1, ' ', /*ensure_ascii=*/false,
                                        Json::error_handler_t::replace);
  // The library escapes what JSON forbids; DEL and U+0080 to U+009F move a
  // terminal's cursor all the same.
  std::string result;
  for (size_t i = 0; i < dumped.size(); ++i) {
    const auto byte = [&](size_t at) {
      return static_cast<uint8_t>(dumped[at]);
    };
    if (byte(i) == 0x7f)
      result += "\\u007f";
    else if (byte(i) == 0xc2 && byte(i + 1) < 0xa0)
      result += text("\\u%04x", byte(++i));
    else
      result += dumped[i];
  }
  return result;
}

void printJson(const Json &json) {
  std::printf("%s\n", jsonText(json).c_str());
}

} // namespace mn
