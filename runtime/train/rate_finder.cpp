//===- rate_finder.cpp - a learning rate to begin with --------------------===//

#include "train/rate_finder.h"
#include "formats/json.h"
#include "reports/report.h"
#include "reports/terminal.h"
#include "train/class_weights.h"
#include "train/initialize.h"
#include <algorithm>
#include <cmath>
#include <unistd.h>

namespace mn {

namespace {

constexpr int64_t rateSteps = 100;
constexpr double lowestRate = 1e-7, highestRate = 10;
constexpr double keptPart = 0.9; ///< of the mean, from step to step
/// So much more than the smallest loss is of a rate that is too high.
constexpr double tooLarge = 4;
constexpr size_t firstPoints = 10;
constexpr double leastFall = 0.01, margin = 0.1;
/// Lines of the table: each so many steps.
constexpr size_t linesEvery = 5;

class RateFinder {
public:
  RateFinder(const Model &tables, const Options &options)
      : tables(tables), options(options) {}

  Status setUp(const Trainer::Open &open);
  Status search();
  Status print() const;

private:
  Status step(int64_t number, double &loss, bool &finite);
  void add(double rate, double loss);

  const Model &tables;
  const Options &options;
  TrainModel model;
  TrainSets data;
  LearningRate rate;
  std::unique_ptr<Executor> executor;
  std::unique_ptr<Feeder> feeder;
  std::unique_ptr<RecipeRing> ring;
  std::vector<RatePoint> points;
  Metrics before; ///< of the epoch
  double mean = 0;
};

Status RateFinder::setUp(const Trainer::Open &open) {
  const TrainOptions &train = options.train;
  MN_TRY(TrainModel::create(tables, options.batch, model));
  RecipeValues recipe;
  MN_TRY(chooseRecipe(*tables.recipe, train, recipe));
  MN_TRY(data.read(options, model, /*tests=*/false));
  std::vector<float> weights;
  MN_TRY(readClassWeights(train.classWeights, model, data[trainSet], weights));
  // A factor of each step: one that is an epoch.
  Schedule growing;
  growing.kind = Schedule::Kind::step;
  growing.gamma = std::pow(highestRate / lowestRate,
                           1.0 / static_cast<double>(rateSteps - 1));
  MN_TRY(LearningRate::create(growing, lowestRate, rateSteps, 1, rate));
  MN_TRY(open(executor));
  MN_TRY(executor->prepare(model.trainPlan));
  int64_t freeBytes = 0;
  MN_TRY(executor->freeBytes(freeBytes));
  feeder = std::make_unique<Feeder>(model, *executor,
                                    roomForData(train.deviceData, freeBytes));
  MN_TRY(feeder->load(trainSet, data[trainSet]));
  ring = std::make_unique<RecipeRing>(model.find(names::recipe)->tensor.offset,
                                      recipe, rate);

  Initialization kind;
  MN_TRY(parseInitialization(train.init, kind));
  std::vector<char> block = model.initialBlock();
  MN_TRY(initialize(model, kind, train.seed, block));
  model.setFloats(block, names::classWeights, weights);
  model.setWhole(block, names::badStep, -1);
  model.setWhole(block, names::seed, train.seed);
  model.setWhole(block, names::ranks, 1);
  return executor->writeParameters(0, block.data(), block.size());
}

Status RateFinder::step(int64_t number, double &loss, bool &finite) {
  const int64_t rows = data.rows(trainSet);
  const int64_t perEpoch = std::max<int64_t>(rows / model.rowsOfStep(), 1);
  const int64_t epoch = number / perEpoch;
  const int64_t batch = number % perEpoch * model.batchesOfStep;
  const int64_t batches = (rows + model.batch - 1) / model.batch;
  if (batch == 0) {
    MN_TRY(model.writeStart(*executor, epoch));
    before = {};
  }
  MN_TRY(ring->write(*executor, number, 1));
  MN_TRY(feeder->run({model.trainPlan, trainSet, !options.train.noShuffle,
                      options.train.seed, epoch, batch,
                      std::min(model.batchesOfStep, batches - batch)}));
  Metrics now;
  MN_TRY(model.readMetrics(*executor, now));
  finite = now.badStep < 0;
  loss = (now.lossSum - before.lossSum) /
         static_cast<double>(std::max<int64_t>(now.seen - before.seen, 1));
  before = now;
  return Status::success();
}

void RateFinder::add(double rate, double loss) {
  mean = keptPart * mean + (1 - keptPart) * loss;
  const double known =
      1 - std::pow(keptPart, static_cast<double>(points.size() + 1));
  points.push_back({rate, loss, mean / known});
}

Status RateFinder::search() {
  double least = HUGE_VAL;
  for (int64_t number = 0; number < rateSteps; ++number) {
    double loss;
    bool finite;
    MN_TRY(step(number, loss, finite));
    if (!finite)
      break;
    add(rate.at(number), loss);
    least = std::min(least, points.back().smooth);
    if (points.back().smooth > tooLarge * least)
      break;
  }
  MN_TRY(feeder->check());
  return executor->finish();
}

Status RateFinder::print() const {
  const double found = suggestedRate(points);
  if (options.json) {
    Json curve = Json::array();
    for (const RatePoint &point : points)
      curve.push_back({{"lr", point.rate},
                       {"loss", point.loss},
                       {"smooth_loss", point.smooth}});
    printJson({{"model", tables.name},
               {"steps", points.size()},
               {"points", curve},
               {"lr", found > 0 ? Json(found) : Json()}});
  } else {
    std::vector<std::vector<std::string>> rows = {{">lr", ">loss", ">smooth"}};
    for (size_t i = 0; i < points.size(); i += linesEvery)
      rows.push_back({text("%.3g", points[i].rate),
                      text("%.4f", points[i].loss),
                      text("%.4f", points[i].smooth)});
    std::fputs(table(rows, columnsOf(STDOUT_FILENO)).c_str(), stdout);
  }
  if (!(found > 0))
    return Status::error(Code::numeric,
                         text("expected a loss that falls at some rate from "
                              "%g to %g, got none; see '--init' and '--scale'",
                              lowestRate, highestRate));
  if (!options.json)
    std::printf("the loss is smallest at %.2g: try --lr=%.2g\n", found / margin,
                found);
  return Status::success();
}

} // namespace

double suggestedRate(const std::vector<RatePoint> &points) {
  if (points.size() <= firstPoints)
    return 0;
  const auto least = std::min_element(
      points.begin(), points.end(), [](const RatePoint &a, const RatePoint &b) {
        return a.smooth < b.smooth;
      });
  const double first = points[firstPoints - 1].smooth;
  return least->smooth < first - leastFall * std::fabs(first)
             ? margin * least->rate
             : 0;
}

Status findRate(const Model &model, const Options &options,
                const Trainer::Open &open) {
  const std::pair<const char *, const std::string &> others[] = {
      {"--save", options.train.save},
      {"--best", options.train.best},
      {"--checkpoint", options.train.checkpoint},
      {"--log", options.train.log},
      {"--tensorboard", options.train.tensorboard},
      {"--plot", options.train.plot},
      {"--csv", options.train.csv}};
  for (const auto &[name, value] : others)
    if (!value.empty())
      return Status::error(Code::usage,
                           text("expected '--lr-find' without '%s', since it "
                                "keeps nothing, got both",
                                name));
  if (options.data.empty())
    return Status::error(Code::usage,
                         "expected '--data=DIR' or '--data=digits', got none");
  RateFinder finder(model, options);
  MN_TRY(finder.setUp(open));
  MN_TRY(finder.search());
  return finder.print();
}

} // namespace mn
