//===- recipe.h - the numbers of every step ---------------------*- C++ -*-===//
//
// The numbers that a run uses, the compiler's or the user's, and the rows of
// `mn.recipe`, from which the steps read them.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_TRAIN_RECIPE_H
#define MNISTRT_TRAIN_RECIPE_H

#include "core/executor.h"
#include "train/schedule.h"
#include "train/train_options.h"

namespace mn {

/// A number of the recipe as the user knows it: "--weight-decay".
struct RecipeNumber {
  int column;
  const char *flag;
  std::optional<double> TrainOptions::*option;
};
extern const RecipeNumber recipeNumbers[9];

struct RecipeValues {
  double numbers[RecipeColumn::count];
};

/// Errors (Code::usage): a number that the optimizer does not have, or out of
/// its range.
Status chooseRecipe(const Recipe &recipe, const TrainOptions &options,
                    RecipeValues &values);

/// Whether a compiled recipe reads a number.
bool usesNumber(const Recipe &recipe, const RecipeNumber &number);

/// Whether a batch that is not full would change what training keeps, as the
/// statistics of a batch do: then it is left out.
bool dropsPartial(const Recipe &recipe);

/// Row `step` mod recipeRows of `mn.recipe`.
void recipeRow(const RecipeValues &values, const LearningRate &rate,
               int64_t step, float (&row)[RecipeColumn::count]);

/// Keeps the rows on the device ahead of the steps; writes only those that
/// change.
class RecipeRing {
public:
  /// `offset`: of `mn.recipe` in the parameter block.
  RecipeRing(size_t offset, const RecipeValues &values,
             const LearningRate &rate)
      : offset(offset), values(values), rate(rate),
        rows(static_cast<size_t>(recipeRows) * RecipeColumn::count),
        known(static_cast<size_t>(recipeRows), false) {}

  /// Rows of steps [first, first + count); `count` is at most recipeRows.
  Status write(Executor &executor, int64_t first, int64_t count);

private:
  Status writeRange(Executor &executor, int64_t first, int64_t row,
                    int64_t count);

  size_t offset;
  RecipeValues values;
  LearningRate rate;
  std::vector<float> rows;
  std::vector<bool> known;
};

} // namespace mn

#endif // MNISTRT_TRAIN_RECIPE_H
