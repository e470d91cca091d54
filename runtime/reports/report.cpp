//===- report.cpp - what commands print -----------------------------------===//

#include "reports/report.h"
#include "core/array.h"
#include <algorithm>
#include <cmath>

namespace mn {

namespace {

/// The length of the UTF-8 character at `at`, or 0 where there is none.
size_t utf8Length(const std::string &text, size_t at) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(at);
  const size_t length = first < 0x80                    ? 1
                        : first >= 0xc2 && first < 0xe0 ? 2
                        : first >= 0xe0 && first < 0xf0 ? 3
                        : first >= 0xf0 && first < 0xf5 ? 4
                                                        : 0;
  if (length == 0 || at + length > text.size())
    return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(at + i) & 0xc0) != 0x80)
      return 0;
  return length;
}

} // namespace

std::string quoted(const std::string &string) {
  std::string result = "\"";
  for (size_t i = 0; i < string.size();) {
    const char c = string[i];
    const size_t length = utf8Length(string, i);
    if (length == 0)
      result += "\\ufffd";
    else if (c == '"' || c == '\\')
      result += {'\\', c};
    else if (static_cast<uint8_t>(c) < 0x20 || c == 0x7f)
      result += text("\\u%04x", c);
    else
      result.append(string, i, length);
    i += std::max<size_t>(length, 1);
  }
  return result + "\"";
}

std::string jsonNumber(double number) {
  return std::isfinite(number) ? text("%.9g", number) : "null";
}

std::string table(const std::vector<std::vector<std::string>> &rows) {
  std::vector<size_t> widths;
  std::vector<bool> right;
  for (const std::vector<std::string> &row : rows)
    for (size_t c = 0; c < row.size(); ++c) {
      if (c == widths.size()) {
        widths.push_back(0);
        right.push_back(!row[c].empty() && row[c][0] == '>');
      }
      const bool head = &row == &rows.front() && right[c];
      widths[c] = std::max(widths[c], row[c].size() - head);
    }
  std::string result;
  for (const std::vector<std::string> &row : rows) {
    for (size_t c = 0; c < row.size(); ++c) {
      const bool head = &row == &rows.front() && right[c];
      const std::string cell = row[c].substr(head);
      const std::string blanks(widths[c] - cell.size(), ' ');
      result += c ? "  " : "";
      result += right[c] ? blanks + cell : cell;
      if (!right[c] && c + 1 < row.size())
        result += blanks;
    }
    result += '\n';
  }
  return result;
}

std::string bytesText(double bytes) {
  const char *units[] = {"bytes", "kB", "MB", "GB", "TB"};
  int unit = 0;
  for (; bytes >= 1000 && unit < 4; ++unit)
    bytes /= 1000;
  return text(unit ? "%.3g %s" : "%.0f %s", bytes, units[unit]);
}

double quantile(std::vector<double> numbers, double part) {
  if (numbers.empty())
    return 0;
  const auto at = numbers.begin() +
                  static_cast<ptrdiff_t>(
                      part * static_cast<double>(numbers.size() - 1) + 0.5);
  std::nth_element(numbers.begin(), at, numbers.end());
  return *at;
}

std::string modelText(const Model &model) {
  return text("%s (%s, %s %s)", model.name, model.compiler, model.target,
              model.arch);
}

} // namespace mn
