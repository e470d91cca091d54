//===- results_csv.cpp - the results of a sweep as a table ----------------===//
//
// A row for each epoch, so that a curve is the rows of a run.
//
//===----------------------------------------------------------------------===//

#include "formats/csv.h"
#include "sweep/results.h"

namespace mn {

namespace {

/// The set that all runs are evaluated on.
DataSetNumber evaluatedOn(const std::vector<SweepRun> &runs) {
  for (const SweepRun &run : runs)
    for (const EpochResult &epoch : run.result.epochs)
      if (epoch.evaluation.done())
        return epoch.evaluation.set;
  return testSet;
}

} // namespace

std::string csvOf(const std::vector<SweepRun> &runs) {
  std::vector<const Flag *> columns;
  for (const Flag *flag : axisFlags())
    for (const SweepRun &run : runs)
      if (run.chosen.count(flag->name)) {
        columns.push_back(flag);
        break;
      }
  std::vector<std::string> cells = {"run", "state"};
  for (const Flag *flag : columns)
    cells.push_back(keyOf(*flag));
  const std::string set = nameOf(evaluatedOn(runs));
  for (const std::string &name :
       {std::string("epoch"), std::string("train_loss"),
        std::string("train_accuracy"), set + "_loss", set + "_accuracy",
        std::string("digest")})
    cells.push_back(name);
  std::string csv;
  addCsvRow(csv, cells);
  for (const SweepRun &run : runs) {
    const Json json = jsonOf(run);
    cells = {std::to_string(run.number), json.at("state").get<std::string>()};
    for (const Flag *flag : columns) {
      const auto found = run.chosen.find(flag->name);
      cells.push_back(found == run.chosen.end() ? "" : found->second);
    }
    const size_t options = cells.size();
    if (run.result.epochs.empty()) { // it failed in the first one
      cells.resize(options + 6);
      cells.back() = run.result.digest;
      addCsvRow(csv, cells);
    }
    for (const EpochResult &epoch : run.result.epochs) {
      cells.resize(options);
      cells.push_back(std::to_string(epoch.epoch));
      cells.push_back(csvNumber(epoch.trainLoss));
      cells.push_back(epoch.trainAccuracy < 0 ? ""
                                              : csvNumber(epoch.trainAccuracy));
      const Evaluation &evaluation = epoch.evaluation;
      cells.push_back(evaluation.done() ? csvNumber(evaluation.loss) : "");
      cells.push_back(evaluation.done() && evaluation.accuracy >= 0
                          ? csvNumber(evaluation.accuracy)
                          : "");
      cells.push_back(run.result.digest);
      addCsvRow(csv, cells);
    }
  }
  return csv;
}

} // namespace mn
