//===- report.cpp - what commands print -----------------------------------===//

#include "reports/report.h"
#include "core/array.h"
#include "mnistrt/printable.h"
#include "reports/terminal.h"
#include <algorithm>
#include <numeric>

namespace mn {

namespace {

using Cells = std::vector<std::vector<std::string>>;

/// Text is not shortened to less.
constexpr size_t minColumn = 12;

struct Columns {
  explicit Columns(const Cells &rows);
  size_t total() const;
  /// Shortens texts, the longest first; false where that is not enough.
  bool shrink(size_t width);

  std::vector<size_t> widths;
  std::vector<bool> right;
};

Columns::Columns(const Cells &rows) {
  for (const std::string &head : rows.front()) {
    right.push_back(head.starts_with('>'));
    widths.push_back(textWidth(head) - right.back());
  }
  for (size_t r = 1; r < rows.size(); ++r)
    for (size_t c = 0; c < rows[r].size(); ++c)
      widths[c] = std::max(widths[c], textWidth(rows[r][c]));
}

size_t Columns::total() const {
  return std::accumulate(widths.begin(), widths.end(), 2 * (widths.size() - 1));
}

bool Columns::shrink(size_t width) {
  while (total() > width) {
    size_t longest = widths.size();
    for (size_t c = 0; c < widths.size(); ++c)
      if (!right[c] && widths[c] > minColumn &&
          (longest == widths.size() || widths[c] > widths[longest]))
        longest = c;
    if (longest == widths.size())
      return false;
    --widths[longest];
  }
  return true;
}

/// Leaves columns of text out, the last first; their heads.
std::string fit(Cells &rows, size_t width) {
  std::string left;
  for (;;) {
    Columns columns(rows);
    size_t last = columns.right.size();
    while (last > 1 && columns.right[last - 1])
      --last;
    // The first column of text says what a row is of.
    const auto first =
        std::find(columns.right.begin(), columns.right.end(), false) -
        columns.right.begin();
    if (columns.shrink(width) || last <= static_cast<size_t>(first) + 1)
      return left;
    left = rows.front()[last - 1] + (left.empty() ? "" : ", ") + left;
    for (std::vector<std::string> &row : rows)
      row.erase(row.begin() + static_cast<ptrdiff_t>(last) - 1);
  }
}

} // namespace

std::string table(Cells rows, int width) {
  for (std::vector<std::string> &row : rows)
    for (std::string &cell : row)
      cell = printable(cell);
  const auto limit = static_cast<size_t>(std::max(width, 0));
  const std::string left = limit ? fit(rows, limit) : "";
  Columns columns(rows);
  if (limit)
    columns.shrink(limit);
  std::string result;
  for (const std::vector<std::string> &row : rows) {
    for (size_t c = 0; c < row.size(); ++c) {
      const bool right = columns.right[c];
      const std::string cell = shortened(
          row[c].substr(&row == &rows.front() && right), columns.widths[c]);
      const std::string blanks(columns.widths[c] - textWidth(cell), ' ');
      result += c ? "  " : "";
      result += right ? blanks + cell : cell;
      if (!right && c + 1 < row.size())
        result += blanks;
    }
    result += '\n';
  }
  if (!left.empty())
    result +=
        wrapped("columns left out for lack of room: " + left, width) + '\n';
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

std::string wayOf(const Step &step) {
  return step.implementation + (*step.mma ? " " + std::string(step.mma) : "");
}

std::string modelText(const Model &model) {
  return text("%s (%s, %s %s)", printable(model.name).c_str(), model.compiler,
              model.target, model.arch);
}

} // namespace mn
