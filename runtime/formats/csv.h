//===- csv.h - tables for spreadsheets --------------------------*- C++ -*-===//
//
// As RFC 4180 has it, with LF.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_FORMATS_CSV_H
#define MNISTRT_FORMATS_CSV_H

#include <string>
#include <vector>

namespace mn {

/// Adds a line; cells with commas, quotes or ends of lines are quoted.
void addCsvRow(std::string &csv, const std::vector<std::string> &cells);

/// The shortest text that reads as the same number; "nan", "inf".
std::string csvNumber(double number);

} // namespace mn

#endif // MNISTRT_FORMATS_CSV_H
