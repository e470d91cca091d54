//===- report.h - what commands print ---------------------------*- C++ -*-===//

#ifndef MNISTRT_REPORTS_REPORT_H
#define MNISTRT_REPORTS_REPORT_H

#include "mnistrt/model.h"
#include <string>
#include <vector>

namespace mn {

/// Rows of cells as columns, two blanks apart; the first row is a head. Columns
/// whose head begins with '>' are flushed right. `width`: how many columns of a
/// terminal there are, 0 for no limit. Where there are too few, long text is
/// shortened, then the last columns of text are left out, and a line says so;
/// numbers always stay.
std::string table(std::vector<std::vector<std::string>> rows, int width);

/// "1.44 MB".
std::string bytesText(double bytes);

/// The value below which `part` (0 to 1) of some numbers are.
double quantile(std::vector<double> numbers, double part);

/// What computes a step: "cudnn", or "kernel tf32x3".
std::string wayOf(const Step &step);

/// What the model was made from: "lenet (mnistc 0.1.0, cpu x86-64-v3)".
std::string modelText(const Model &model);

} // namespace mn

#endif // MNISTRT_REPORTS_REPORT_H
