//===- report.cpp - what commands print -----------------------------------===//

#include "reports/report.h"
#include "core/array.h"
#include "core/printable.h"
#include <algorithm>

namespace mn {

std::string table(std::vector<std::vector<std::string>> rows) {
  for (std::vector<std::string> &row : rows)
    for (std::string &cell : row)
      cell = printable(cell);
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
  return text("%s (%s, %s %s)", printable(model.name).c_str(), model.compiler,
              model.target, model.arch);
}

} // namespace mn
