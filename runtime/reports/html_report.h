//===- html_report.h - a page that shows a program --------------*- C++ -*-===//

#ifndef MNISTRT_REPORTS_HTML_REPORT_H
#define MNISTRT_REPORTS_HTML_REPORT_H

#include "core/status.h"
#include "formats/json.h"
#include "mnistrt/model.h"

namespace mn {

/// Before anything runs: that the program has what a report shows, and that a
/// file can be written to `path`, or "-": standard output.
Status checkReport(const Model &model, const std::string &path);

/// What the compiler said of the program, with what a profile measured and what
/// a training came to, each where it is not null.
Status writeReport(const Model &model, const std::string &path,
                   const Json &profile, const Json &training);

} // namespace mn

#endif // MNISTRT_REPORTS_HTML_REPORT_H
