//===- recipe.cpp - the numbers of every step -----------------------------===//

#include "train/recipe.h"
#include "core/array.h"
#include "core/recipe_rows.h"
#include <algorithm>
#include <string_view>

namespace mn {

using Column = RecipeColumn;

const RecipeNumber recipeNumbers[9] = {
    {Column::lr, "--lr", &TrainOptions::lr},
    {Column::momentum, "--momentum", &TrainOptions::momentum},
    {Column::weightDecay, "--weight-decay", &TrainOptions::weightDecay},
    {Column::beta1, "--beta1", &TrainOptions::beta1},
    {Column::beta2, "--beta2", &TrainOptions::beta2},
    {Column::epsilon, "--epsilon", &TrainOptions::epsilon},
    {Column::dampening, "--dampening", &TrainOptions::dampening},
    {Column::clip, "--clip-norm", &TrainOptions::clipNorm},
    {Column::clip, "--clip-value", &TrainOptions::clipValue}};

bool usesNumber(const Recipe &recipe, const RecipeNumber &number) {
  const std::string_view name = recipe.optimizer;
  const bool adam = name == "adam" || name == "adamw";
  const bool heavy = name == "momentum" || name == "nesterov";
  switch (number.column) {
  case Column::momentum:
    return heavy;
  case Column::dampening:
    return heavy && std::string_view(recipe.convention) == "torch";
  case Column::beta1:
    return adam;
  case Column::beta2:
    return adam || name == "rmsprop";
  case Column::epsilon:
    return adam || name == "rmsprop" || name == "adagrad";
  case Column::clip:
    return std::string(number.flag) == std::string("--clip-") + recipe.clip;
  default:
    return true;
  }
}

bool dropsPartial(const Recipe &recipe) {
  return std::string_view(recipe.partial) == "dropped";
}

Status chooseRecipe(const Recipe &recipe, const TrainOptions &options,
                    RecipeValues &values) {
  std::copy(std::begin(recipe.numbers), std::end(recipe.numbers),
            values.numbers);
  for (const RecipeNumber &number : recipeNumbers) {
    const std::optional<double> &option = options.*number.option;
    if (!option)
      continue;
    if (!usesNumber(recipe, number))
      return Status::error(Code::usage,
                           text("expected options of optimizer '%s' (form "
                                "'%s', clip '%s'), got '%s'",
                                recipe.optimizer, recipe.convention,
                                recipe.clip, number.flag));
    const bool beta =
        number.column == Column::beta1 || number.column == Column::beta2;
    if (beta && *option >= 1)
      return Status::error(Code::usage, text("expected '%s' below 1, got %.17g",
                                             number.flag, *option));
    values.numbers[number.column] = *option;
  }
  return Status::success();
}

void recipeRow(const RecipeValues &values, const LearningRate &rate,
               int64_t step, float (&row)[RecipeColumn::count]) {
  recipeRow(values.numbers, rate.at(step), step, row);
}

Status RecipeRing::write(Executor &executor, int64_t first, int64_t count) {
  const int64_t row = first % recipeRows;
  const int64_t before = std::min(count, recipeRows - row);
  MN_TRY(writeRange(executor, first, row, before));
  return writeRange(executor, first + before, 0, count - before);
}

Status RecipeRing::writeRange(Executor &executor, int64_t first, int64_t row,
                              int64_t count) {
  constexpr auto columns = static_cast<size_t>(Column::count);
  bool changed = false;
  for (int64_t i = 0; i < count; ++i) {
    float next[Column::count];
    recipeRow(values, rate, first + i, next);
    float *old = rows.data() + static_cast<size_t>(row + i) * columns;
    const auto number = static_cast<size_t>(row + i);
    if (known[number] && std::equal(next, next + columns, old))
      continue;
    std::copy(next, next + columns, old);
    known[number] = changed = true;
  }
  if (!changed)
    return Status::success();
  const size_t begin = static_cast<size_t>(row) * columns;
  return executor.writeParameters(
      offset + begin * sizeof(float), rows.data() + begin,
      static_cast<size_t>(count) * columns * sizeof(float));
}

} // namespace mn
