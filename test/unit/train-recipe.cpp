//===- train-recipe.cpp - numbers of each step, and what they led to ------===//

#include "core/recipe_rows.h"
#include "formats/json.h"
#include "train-model.h"
#include "train/history.h"
#include "train/recipe.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

namespace {

using Column = mn::RecipeColumn;

mn::Recipe recipe(const char *optimizer, const char *form, const char *clip) {
  return {"mse", optimizer, form, clip, "values", "masked", {0.1}};
}

/// Of `mn.recipe` in the parameter block.
size_t recipeOffset() {
  const mn::Model &model = trainmodel::model();
  return std::find_if(model.parameters, model.parameters + model.parameterCount,
                      [](const mn::Parameter &each) {
                        return std::string("mn.recipe") == each.tensor.name;
                      })
      ->tensor.offset;
}

TEST(Recipe, KnowsWhichNumbersAnOptimizerHas) {
  struct {
    mn::Recipe recipe;
    std::vector<int> unused; ///< clip: both its options
  } cases[] = {
      {recipe("sgd", "torch", "none"),
       {Column::momentum, Column::dampening, Column::beta1, Column::beta2,
        Column::epsilon, Column::clip}},
      {recipe("nesterov", "keras", "norm"),
       {Column::dampening, Column::beta1, Column::beta2, Column::epsilon}},
      {recipe("momentum", "torch", "value"),
       {Column::beta1, Column::beta2, Column::epsilon}},
      {recipe("adamw", "torch", "none"),
       {Column::momentum, Column::dampening, Column::clip}},
      {recipe("rmsprop", "torch", "norm"),
       {Column::momentum, Column::dampening, Column::beta1}},
      {recipe("adagrad", "torch", "norm"),
       {Column::momentum, Column::dampening, Column::beta1, Column::beta2}}};
  for (const auto &test : cases)
    for (const mn::RecipeNumber &number : mn::recipeNumbers) {
      const std::string clipped = std::string("--clip-") + test.recipe.clip;
      const bool unused =
          std::count(test.unused.begin(), test.unused.end(), number.column) !=
              0 ||
          (number.column == Column::clip && clipped != number.flag);
      EXPECT_EQ(mn::usesNumber(test.recipe, number), !unused)
          << test.recipe.optimizer << " " << number.flag;
      mn::TrainOptions options;
      options.*number.option = 0.25;
      mn::RecipeValues values;
      EXPECT_EQ(mn::chooseRecipe(test.recipe, options, values).ok(), !unused);
    }
}

TEST(Recipe, RowsAreWhatAdamNeeds) {
  mn::RecipeValues values = {};
  values.numbers[Column::beta1] = 0.9;
  values.numbers[Column::beta2] = 0.999;
  mn::LearningRate rate;
  ASSERT_TRUE(mn::LearningRate::create({}, 0.001, 10, 5, rate).ok());
  struct {
    int64_t step;
    float correction1, correction2;
  } cases[] = {{0, 0.1f, 0.001f}, {1, 0.19f, 0.001999f}, {1 << 20, 1, 1}};
  for (const auto &test : cases) {
    float row[Column::count];
    mn::recipeRow(values, rate, test.step, row);
    // As exact as single precision can be: 1 - 0.999f is not.
    EXPECT_EQ(row[Column::beta1], 0.1f);
    EXPECT_EQ(row[Column::beta2], 0.001f);
    EXPECT_FLOAT_EQ(row[Column::correction1], test.correction1);
    EXPECT_FLOAT_EQ(row[Column::correction2], test.correction2);
    EXPECT_FLOAT_EQ(row[Column::lr], 0.001f);
  }
}

TEST(Recipe, RowsAreWrittenAheadOfTheirSteps) {
  const mn::Model &model = trainmodel::model();
  std::unique_ptr<mn::Executor> executor;
  ASSERT_TRUE(mn::Executor::open(model, {}, executor).ok());
  const size_t offset = recipeOffset();
  mn::RecipeValues values = {};
  mn::Schedule schedule;
  ASSERT_TRUE(mn::Schedule::parse("cosine", schedule).ok());
  mn::LearningRate rate;
  ASSERT_TRUE(mn::LearningRate::create(schedule, 1, 3000, 100, rate).ok());
  mn::RecipeRing ring(offset, values, rate);
  // Also where a part ends at the ring's end, or goes round.
  int64_t first = 0;
  for (const int64_t count : {1, 500, 523, 512, 513, 900, 48}) {
    ASSERT_TRUE(ring.write(*executor, first, count).ok());
    for (int64_t step = first; step < first + count; ++step) {
      float wanted[Column::count], found[Column::count];
      mn::recipeRow(values, rate, step, wanted);
      const auto row = static_cast<size_t>(step % mn::recipeRows);
      ASSERT_TRUE(
          executor
              ->readParameters(offset + row * sizeof found, found, sizeof found)
              .ok());
      ASSERT_EQ(0, std::memcmp(found, wanted, sizeof found)) << step;
    }
    first += count;
  }
}

TEST(Recipe, StepsWithoutATrainerHaveTheCompiledNumbers) {
  const mn::Model &model = trainmodel::model();
  std::unique_ptr<mn::Executor> executor;
  ASSERT_TRUE(mn::Executor::open(model, {}, executor).ok());
  ASSERT_TRUE(mn::writeCompiledRecipe(model, *executor).ok());
  const size_t offset = recipeOffset();
  for (const int64_t step : {int64_t(0), int64_t(7), mn::recipeRows - 1}) {
    float row[Column::count];
    ASSERT_TRUE(executor
                    ->readParameters(offset + size_t(step) * sizeof row, row,
                                     sizeof row)
                    .ok());
    EXPECT_EQ(row[Column::lr], float(model.recipe->numbers[Column::lr]));
    EXPECT_FLOAT_EQ(
        row[Column::correction1],
        float(1 - std::pow(model.recipe->numbers[Column::beta1], step + 1)));
  }
}

TEST(History, PointsPutTogetherKeepTheirMean) {
  mn::History history;
  double steps = 0, sum = 0;
  for (int i = 0; i < 2500; ++i) {
    const double here = 1 + i % 5, loss = 1.0 / (1 + i % 7);
    history.addPoint({i / 100.0, here, loss});
    steps += here, sum += here * loss;
  }
  const mn::Json json = mn::Json::parse(history.text());
  EXPECT_LT(json["points"].size(), 2500u);
  for (const mn::Json &point : json["points"]) {
    steps -= point[1].get<double>();
    sum -= point[1].get<double>() * point[2].get<double>();
  }
  EXPECT_NEAR(steps, 0, 1e-6);
  EXPECT_NEAR(sum, 0, 1e-6);
}

TEST(History, TheFirstOfTheBestEpochs) {
  const auto bestOf = [](std::vector<mn::Evaluation> found) {
    mn::History history;
    for (const mn::Evaluation &evaluation : found)
      history.addEpoch(
          {int64_t(history.results().size()) + 1, 1, 1, evaluation});
    const mn::EpochResult *best = history.best();
    return best ? best->epoch : 0;
  };
  const auto set = mn::validationSet;
  EXPECT_EQ(bestOf({}), 0);
  EXPECT_EQ(bestOf({{}, {}}), 0);
  EXPECT_EQ(bestOf({{set, 1, 0.5}, {set, 9, 0.7}, {set, 1, 0.7}}), 2);
  EXPECT_EQ(bestOf({{set, NAN, -1}, {set, 2, -1}, {set, 1, -1}}), 3);
}

TEST(History, ComesBackExactly) {
  mn::History history;
  for (int i = 0; i < 5000; ++i)
    history.addPoint({i / 100.0, 1, 1.0 / (i + 3)});
  history.addEpoch({1, 0.1 + 0.2, 0.5, {mn::validationSet, NAN, -1}});
  history.addEpoch({2, INFINITY, -1});
  mn::History read;
  ASSERT_TRUE(read.parse(history.text()).ok());
  EXPECT_EQ(read.text(), history.text());
  EXPECT_LT(history.text().size(), size_t(64) << 10);
  EXPECT_TRUE(read.parse(R"({"points":[],"epochs":[[1,2,3,0,4,5]]})").ok());
  for (const char *wrong :
       {"", "x", "[]", "{}", R"({"points":[]})", R"({"points":1,"epochs":[]})",
        R"({"points":[[1,2]],"epochs":[]})",
        R"({"points":[[1,0,3]],"epochs":[]})",
        R"({"points":[[1,1,"x"]],"epochs":[]})",
        R"({"points":[[1,1,[]]],"epochs":[]})",
        R"({"points":[["nan",1,1]],"epochs":[]})",
        R"({"points":[],"epochs":[[1e300,2,3,0,4,5]]})",
        R"({"points":[],"epochs":[["inf",2,3,0,4,5]]})",
        R"({"points":[],"epochs":[[0,2,3,0,4,5]]})",
        R"({"points":[],"epochs":[[1,2,3,3,4,5]]})",
        R"({"points":[],"epochs":[[1,2,3,"nan",4,5]]})",
        R"({"points":[],"epochs":[[1,2,3,0,4]]})"})
    EXPECT_FALSE(read.parse(wrong).ok()) << wrong;
}

} // namespace
