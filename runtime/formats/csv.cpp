//===- csv.cpp - tables for spreadsheets ----------------------------------===//

#include "formats/csv.h"
#include "formats/json.h"

namespace mn {

static std::string quoted(const std::string &cell) {
  if (cell.find_first_of(",\"\r\n") == std::string::npos)
    return cell;
  std::string result = "\"";
  for (const char c : cell)
    result += c == '"' ? "\"\"" : std::string(1, c);
  return result + "\"";
}

void addCsvRow(std::string &csv, const std::vector<std::string> &cells) {
  for (size_t i = 0; i < cells.size(); ++i)
    csv += (i ? "," : "") + quoted(cells[i]);
  csv += "\n";
}

std::string csvNumber(double number) {
  const Json json = number;
  const std::string text = jsonText(json);
  return text.front() == '"' ? text.substr(1, text.size() - 2) : text;
}

} // namespace mn
