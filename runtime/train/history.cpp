//===- history.cpp - what a run has reported so far -----------------------===//

#include "train/history.h"
#include "core/array.h"
#include "formats/csv.h"
#include "formats/json.h"
#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace mn {

namespace {

constexpr size_t maxPoints = 1024;

/// More epochs than any training has; a double counts them exactly.
constexpr double maxEpochs = 1e15;

/// A number as jsonText writes it.
bool isNumber(const Json &json) {
  return json.is_number() || json == "nan" || json == "inf" || json == "-inf";
}

double numberOf(const Json &json) {
  return json.is_number()
             ? json.get<double>()
             : std::strtod(json.get<std::string>().c_str(), nullptr);
}

/// Arrays of `columns` numbers each, the first of them from `min` on.
bool readRows(const Json &json, size_t columns, double min,
              std::vector<std::vector<double>> &rows) {
  rows.clear();
  if (!json.is_array())
    return false;
  for (const Json &row : json) {
    if (!row.is_array() || row.size() != columns ||
        !std::all_of(row.begin(), row.end(), isNumber))
      return false;
    std::vector<double> &numbers = rows.emplace_back();
    for (const Json &number : row)
      numbers.push_back(numberOf(number));
    if (!(numbers[0] >= min && numbers[0] <= maxEpochs))
      return false;
  }
  return true;
}

} // namespace

bool isBetter(const Evaluation &a, const Evaluation &b) {
  const auto number = [](const Evaluation &evaluation) {
    const double value =
        evaluation.accuracy < 0 ? -evaluation.loss : evaluation.accuracy;
    return std::isnan(value) ? -HUGE_VAL : value;
  };
  return number(a) > number(b);
}

const EpochResult *History::best() const {
  const EpochResult *best = nullptr;
  for (const EpochResult &epoch : epochs)
    if (epoch.evaluation.done() &&
        (!best || isBetter(epoch.evaluation, best->evaluation)))
      best = &epoch;
  return best;
}

void History::addPoint(const HistoryPoint &point) {
  if (points.size() >= maxPoints) {
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
  Json steps = Json::array(), results = Json::array();
  for (const HistoryPoint &point : points)
    steps.push_back({point.epoch, point.steps, point.loss});
  for (const EpochResult &epoch : epochs)
    results.push_back({epoch.epoch, epoch.trainLoss, epoch.trainAccuracy,
                       int(epoch.evaluation.set), epoch.evaluation.loss,
                       epoch.evaluation.accuracy});
  return jsonText({{"points", steps}, {"epochs", results}});
}

Status History::parse(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  History read;
  std::vector<std::vector<double>> rows;
  bool good = json.is_object() && json.contains("points") &&
              json.contains("epochs") && json["points"].size() <= maxPoints &&
              readRows(json["points"], 3, 0, rows);
  for (size_t i = 0; good && i < rows.size(); ++i) {
    good = rows[i][1] >= 1 && rows[i][1] <= maxEpochs;
    read.points.push_back({rows[i][0], rows[i][1], rows[i][2]});
  }
  good = good && readRows(json["epochs"], 6, 1, rows);
  for (size_t i = 0; good && i < rows.size(); ++i) {
    int set = trainSet;
    while (set < dataSets && rows[i][3] != set)
      ++set;
    good = set < dataSets;
    read.epochs.push_back(
        {static_cast<int64_t>(rows[i][0]),
         rows[i][1],
         rows[i][2],
         {static_cast<DataSetNumber>(set), rows[i][4], rows[i][5]}});
  }
  if (!good)
    return badData("expected the history of a run, got '%s'",
                   std::string(text.substr(0, 60)).c_str());
  *this = std::move(read);
  return Status::success();
}

std::string History::csv() const {
  const std::string set =
      epochs.empty() ? "test" : nameOf(epochs.back().evaluation.set);
  const bool evaluated = !epochs.empty() && epochs.back().evaluation.done();
  std::vector<std::string> cells = {"epoch", "train_loss", "train_accuracy"};
  if (evaluated)
    cells.insert(cells.end(), {set + "_loss", set + "_accuracy"});
  std::string csv;
  addCsvRow(csv, cells);
  const auto accuracy = [](double part) {
    return part < 0 ? "" : csvNumber(part);
  };
  for (const EpochResult &epoch : epochs) {
    cells = {std::to_string(epoch.epoch), csvNumber(epoch.trainLoss),
             accuracy(epoch.trainAccuracy)};
    if (evaluated)
      cells.insert(cells.end(), {csvNumber(epoch.evaluation.loss),
                                 accuracy(epoch.evaluation.accuracy)});
    addCsvRow(csv, cells);
  }
  return csv;
}

Plot History::plot(const std::string &title) const {
  Plot plot;
  plot.title = title;
  const std::string set =
      epochs.empty() ? "test" : nameOf(epochs.back().evaluation.set);
  PlotSeries steps{"train loss", false, {}}, loss{set + " loss", false, {}};
  PlotSeries train{"train accuracy", true, {}},
      accuracy{set + " accuracy", true, {}};
  for (const HistoryPoint &point : points)
    steps.points.push_back({point.epoch, point.loss});
  for (const EpochResult &epoch : epochs) {
    const auto x = static_cast<double>(epoch.epoch);
    if (epoch.trainAccuracy >= 0)
      train.points.push_back({x, 100 * epoch.trainAccuracy});
    if (epoch.evaluation.done())
      loss.points.push_back({x, epoch.evaluation.loss});
    if (epoch.evaluation.done() && epoch.evaluation.accuracy >= 0)
      accuracy.points.push_back({x, 100 * epoch.evaluation.accuracy});
  }
  for (PlotSeries *series : {&steps, &loss, &train, &accuracy})
    if (!series->points.empty())
      plot.series.push_back(std::move(*series));
  return plot;
}

} // namespace mn
