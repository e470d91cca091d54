//===- recipe_rows.cpp - what a step of training reads of its numbers -----===//

#include "core/recipe_rows.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

namespace mn {

using Column = RecipeColumn;

void recipeRow(const double (&numbers)[RecipeColumn::count], double rate,
               int64_t step, float (&row)[RecipeColumn::count]) {
  for (int column = 0; column < Column::count; ++column)
    row[column] = static_cast<float>(numbers[column]);
  const auto t = static_cast<double>(step + 1);
  row[Column::lr] = static_cast<float>(rate);
  const double beta1 = numbers[Column::beta1], beta2 = numbers[Column::beta2];
  row[Column::beta1] = static_cast<float>(1 - beta1);
  row[Column::beta2] = static_cast<float>(1 - beta2);
  row[Column::correction1] = static_cast<float>(1 - std::pow(beta1, t));
  row[Column::correction2] = static_cast<float>(1 - std::pow(beta2, t));
}

Status writeCompiledRecipe(const Model &model, Executor &executor) {
  const Parameter *end = model.parameters + model.parameterCount;
  const Parameter *found =
      std::find_if(model.parameters, end, [](const Parameter &each) {
        return std::strcmp(each.tensor.name, names::recipe) == 0;
      });
  if (!model.recipe || found == end)
    return Status::success();
  std::vector<float> rows(static_cast<size_t>(recipeRows) * Column::count);
  for (int64_t step = 0; step < recipeRows; ++step) {
    float row[Column::count];
    recipeRow(model.recipe->numbers, model.recipe->numbers[Column::lr], step,
              row);
    std::copy(std::begin(row), std::end(row),
              rows.begin() + step * Column::count);
  }
  return executor.writeParameters(found->tensor.offset, rows.data(),
                                  rows.size() * sizeof(float));
}

} // namespace mn
