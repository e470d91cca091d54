//===- history.cpp - what a run has reported so far -----------------------===//

#include "train/history.h"
#include "core/array.h"
#include <charconv>

namespace mn {

namespace {

constexpr size_t mostPoints = 1024;

void put(std::string &to, std::initializer_list<double> numbers) {
  for (double number : numbers) {
    char digits[32];
    to += ' ';
    to.append(digits, std::to_chars(digits, digits + 32, number).ptr);
  }
  to += '\n';
}

/// "p 0.5 16 2.25": the numbers behind the letter.
bool readLine(std::string_view line, std::vector<double> &numbers) {
  numbers.clear();
  while (!line.empty()) {
    double number;
    const char *end = line.data() + line.size();
    const auto result = std::from_chars(line.data() + 1, end, number);
    if (line[0] != ' ' || result.ec != std::errc())
      return false;
    numbers.push_back(number);
    line.remove_prefix(static_cast<size_t>(result.ptr - line.data()));
  }
  return true;
}

} // namespace

void History::addPoint(const HistoryPoint &point) {
  if (points.size() >= mostPoints) {
    std::vector<HistoryPoint> half;
    for (size_t i = 0; i + 1 < points.size(); i += 2) {
      const HistoryPoint &a = points[i], &b = points[i + 1];
      const double steps = a.steps + b.steps;
      half.push_back(
          {b.epoch, steps, (a.loss * a.steps + b.loss * b.steps) / steps});
    }
    points = std::move(half);
  }
  points.push_back(point);
}

std::string History::text() const {
  std::string result;
  for (const HistoryPoint &point : points) {
    result += 'p';
    put(result, {point.epoch, point.steps, point.loss});
  }
  for (const EpochResult &epoch : epochs) {
    result += 'e';
    put(result,
        {static_cast<double>(epoch.epoch), epoch.trainLoss, epoch.trainAccuracy,
         double(epoch.tested), epoch.testLoss, epoch.testAccuracy});
  }
  return result;
}

Status History::parse(std::string_view text) {
  History read;
  std::vector<double> numbers;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    const bool good = end != std::string_view::npos && !line.empty() &&
                      readLine(line.substr(1), numbers);
    if (good && line[0] == 'p' && numbers.size() == 3)
      read.points.push_back({numbers[0], numbers[1], numbers[2]});
    else if (good && line[0] == 'e' && numbers.size() == 6)
      read.epochs.push_back({static_cast<int64_t>(numbers[0]), numbers[1],
                             numbers[2], numbers[3] != 0, numbers[4],
                             numbers[5]});
    else
      return badData("expected the history of a run, got '%s'",
                     std::string(line).c_str());
    text.remove_prefix(end + 1);
  }
  *this = std::move(read);
  return Status::success();
}

Plot History::plot(const std::string &title) const {
  Plot plot;
  plot.title = title;
  PlotSeries steps{"train loss", false, {}}, testLoss{"test loss", false, {}};
  PlotSeries train{"train accuracy", true, {}}, test{"test accuracy", true, {}};
  for (const HistoryPoint &point : points)
    steps.points.push_back({point.epoch, point.loss});
  for (const EpochResult &epoch : epochs) {
    const auto x = static_cast<double>(epoch.epoch);
    if (epoch.trainAccuracy >= 0)
      train.points.push_back({x, 100 * epoch.trainAccuracy});
    if (epoch.tested)
      testLoss.points.push_back({x, epoch.testLoss});
    if (epoch.tested && epoch.testAccuracy >= 0)
      test.points.push_back({x, 100 * epoch.testAccuracy});
  }
  for (PlotSeries *series : {&steps, &testLoss, &train, &test})
    if (!series->points.empty())
      plot.series.push_back(std::move(*series));
  return plot;
}

} // namespace mn
