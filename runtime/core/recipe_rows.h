//===- recipe_rows.h - what a step of training reads of its numbers -------===//

#ifndef MNISTRT_CORE_RECIPE_ROWS_H
#define MNISTRT_CORE_RECIPE_ROWS_H

#include "core/executor.h"

namespace mn {

/// Row `step` mod recipeRows of `mn.recipe`, with a learning rate of `rate`.
void recipeRow(const double (&numbers)[RecipeColumn::count], double rate,
               int64_t step, float (&row)[RecipeColumn::count]);

/// All rows by the compiled numbers: for who runs steps without a trainer.
/// Until then they are zeros, which Adam divides by.
Status writeCompiledRecipe(const Model &model, Executor &executor);

} // namespace mn

#endif // MNISTRT_CORE_RECIPE_ROWS_H
