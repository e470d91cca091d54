//===- html_report.cpp - a page that shows a program ----------------------===//

#include "reports/html_report.h"
#include "formats/atomic_file.h"
#include "mnistrt/report_page.h"
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace mn {

namespace {

/// More than the reports of networks for pictures of digits have.
constexpr uint64_t usualBytes = 1 << 20;

Status print(const std::string &page) {
  if (std::fwrite(page.data(), 1, page.size(), stdout) == page.size() &&
      std::fflush(stdout) == 0)
    return Status::success();
  return Status::error(Code::badData, std::string("cannot write the report: ") +
                                          std::strerror(errno));
}

} // namespace

Status checkReport(const Model &model, const std::string &path) {
  if (!model.report)
    return Status::error(Code::usage, "expected a program that holds what a "
                                      "report shows, got one without");
  return path == "-" ? Status::success() : checkWritable(path, usualBytes);
}

Status writeReport(const Model &model, const std::string &path,
                   const Json &profile, const Json &training) {
  const std::string compiled =
      unpackText({reinterpret_cast<const char *>(model.report),
                  static_cast<size_t>(model.reportEnd - model.report)});
  const auto textOf = [](const Json &json) {
    return json.is_null() ? std::string() : jsonText(json);
  };
  const std::string page =
      reportPage(compiled, textOf(profile), textOf(training));
  return path == "-" ? print(page) : writeAtomically(path, page);
}

} // namespace mn
