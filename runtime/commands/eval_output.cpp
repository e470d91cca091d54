//===- eval_output.cpp - what 'app eval' says of a classifier -------------===//

#include "commands/eval_output.h"
#include "reports/report.h"

namespace mn {

namespace {

/// A larger matrix is no longer read.
constexpr size_t maxMatrix = 20;
/// Nor is a larger one written as JSON.
constexpr size_t maxJsonMatrix = 100;
constexpr size_t maxMistakes = 10;

std::string percent(double part) {
  return part < 0 ? "-" : text("%.2f %%", 100 * part);
}

class Details {
public:
  Details(const ClassStatistics &statistics,
          const std::vector<std::string> &names, int width)
      : statistics(statistics), names(names), width(width) {}

  std::string classes() const;
  std::string mistakes() const;
  std::string matrix() const;

private:
  std::string nameOf(size_t label) const {
    return label < names.size() ? names[label] : std::to_string(label);
  }

  const ClassStatistics &statistics;
  const std::vector<std::string> &names;
  int width;
};

std::string Details::classes() const {
  std::vector<std::vector<std::string>> rows = {
      {"class", ">rows", ">recall", ">precision", ">F1"}};
  for (size_t i = 0; i < statistics.classes(); ++i)
    rows.push_back({nameOf(i), std::to_string(statistics.rowsOf(i)),
                    percent(statistics.recall(i)),
                    percent(statistics.precision(i)),
                    percent(statistics.f1(i))});
  return table(rows, width);
}

std::string Details::mistakes() const {
  std::vector<std::vector<std::string>> rows = {
      {"class", "taken for", ">rows", ">of the class"}};
  for (const Confusion &one : statistics.mistakes()) {
    if (rows.size() > maxMistakes)
      break;
    rows.push_back(
        {nameOf(one.label), nameOf(one.guess), std::to_string(one.rows),
         percent(static_cast<double>(one.rows) /
                 static_cast<double>(statistics.rowsOf(one.label)))});
  }
  return rows.size() == 1 ? ""
                          : "\nmost frequent mistakes\n" + table(rows, width);
}

std::string Details::matrix() const {
  if (statistics.classes() > maxMatrix)
    return "";
  std::vector<std::vector<std::string>> rows = {{"class"}};
  for (size_t guess = 0; guess < statistics.classes(); ++guess)
    rows.front().push_back(">" + nameOf(guess));
  for (size_t label = 0; label < statistics.classes(); ++label) {
    std::vector<std::string> &row = rows.emplace_back();
    row.push_back(nameOf(label));
    for (size_t guess = 0; guess < statistics.classes(); ++guess)
      row.push_back(std::to_string(statistics.confused(label, guess)));
  }
  return "\nrows by class, columns by what they are taken for\n" +
         table(rows, width);
}

} // namespace

std::string detailsText(const ClassStatistics &statistics, int64_t top,
                        const std::vector<std::string> &names, int width) {
  const auto rows = static_cast<double>(statistics.rows());
  const Details details(statistics, names, width);
  return text(
             "among the %lld most probable: %s   calibration error %s\n\n",
             static_cast<long long>(top),
             percent(static_cast<double>(statistics.topRight()) / rows).c_str(),
             percent(statistics.calibrationError()).c_str()) +
         details.classes() + details.matrix() + details.mistakes();
}

void addDetails(Json &json, const ClassStatistics &statistics, int64_t top) {
  const size_t classes = statistics.classes();
  const auto known = [](double part) { return part < 0 ? Json() : Json(part); };
  json["top"] = {{"classes", top},
                 {"correct", statistics.topRight()},
                 {"accuracy", static_cast<double>(statistics.topRight()) /
                                  static_cast<double>(statistics.rows())}};
  json["calibration_error"] = statistics.calibrationError();
  Json &byClass = json["by_class"] = Json::array();
  for (size_t i = 0; i < classes; ++i)
    byClass.push_back({{"class", i},
                       {"rows", statistics.rowsOf(i)},
                       {"recall", known(statistics.recall(i))},
                       {"precision", known(statistics.precision(i))},
                       {"f1", known(statistics.f1(i))}});
  Json &mistakes = json["mistakes"] = Json::array();
  for (const Confusion &one : statistics.mistakes())
    if (mistakes.size() < maxMistakes)
      mistakes.push_back(
          {{"class", one.label}, {"taken_for", one.guess}, {"rows", one.rows}});
  if (classes > maxJsonMatrix)
    return;
  Json &matrix = json["confusion"] = Json::array();
  for (size_t label = 0; label < classes; ++label) {
    Json row = Json::array();
    for (size_t guess = 0; guess < classes; ++guess)
      row.push_back(statistics.confused(label, guess));
    matrix.push_back(row);
  }
}

} // namespace mn
