//===- Table.h - columns of text --------------------------------*- C++ -*-===//

#ifndef MNISTC_CODEGEN_TABLE_H
#define MNISTC_CODEGEN_TABLE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Locale.h"
#include "llvm/Support/raw_ostream.h"
#include <string>
#include <vector>

namespace mlir::mnistc {

/// Lines of cells, each column as wide as its widest cell. A line whose cells
/// end early may run on.
class Table {
public:
  explicit Table(std::vector<std::string> header, std::vector<bool> right)
      : right(std::move(right)) {
    lines.push_back(std::move(header));
  }

  void add(std::vector<std::string> cells) {
    lines.push_back(std::move(cells));
  }
  void addRule() { lines.emplace_back(); }

  void print(llvm::raw_ostream &os) const {
    std::vector<int> widths = widthsOfColumns();
    int all = 2 * (widths.size() - 1);
    for (int width : widths)
      all += width;
    for (const auto &line : lines) {
      std::string text;
      for (size_t i = 0; i < line.size(); ++i) {
        int missing = widths[i] - llvm::sys::locale::columnWidth(line[i]);
        std::string space(std::max(missing, 0), ' ');
        text += right[i] ? space + line[i] : line[i] + space;
        text += "  ";
      }
      if (line.empty())
        text.assign(all, '-');
      os << llvm::StringRef(text).rtrim() << "\n";
    }
  }

private:
  /// A cell with nothing after it makes no column wide.
  std::vector<int> widthsOfColumns() const {
    std::vector<int> widths(right.size(), 0);
    for (const auto &line : lines) {
      size_t end = line.size();
      while (end > 0 && line[end - 1].empty())
        --end;
      if (end < line.size())
        --end;
      for (size_t i = 0; i < end; ++i)
        widths[i] =
            std::max(widths[i], llvm::sys::locale::columnWidth(line[i]));
    }
    return widths;
  }

  std::vector<bool> right;
  std::vector<std::vector<std::string>> lines;
};

} // namespace mlir::mnistc

#endif // MNISTC_CODEGEN_TABLE_H
