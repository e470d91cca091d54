//===- RecipeNumbers.h - the numbers of an optimizer ------------*- C++ -*-===//

#ifndef MNISTC_PASSES_RECIPENUMBERS_H
#define MNISTC_PASSES_RECIPENUMBERS_H

#include "mlir/IR/Value.h"
#include "mnistrt/training.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/ErrorHandling.h"

namespace mlir::mnistc {

/// The numbers of a recipe: the columns of `mn.recipe`.
struct Numbers {
  Value lr, momentum, weightDecay, epsilon, dampening, clip;
  Value rest1, rest2; ///< 1 - beta1, 1 - beta2
  Value correction1, correction2;
  Value step; ///< of this step, from 0

  Value &at(int column) {
    switch (column) {
    case mn::RecipeColumn::lr:
      return lr;
    case mn::RecipeColumn::momentum:
      return momentum;
    case mn::RecipeColumn::weightDecay:
      return weightDecay;
    case mn::RecipeColumn::beta1:
      return rest1;
    case mn::RecipeColumn::beta2:
      return rest2;
    case mn::RecipeColumn::epsilon:
      return epsilon;
    case mn::RecipeColumn::dampening:
      return dampening;
    case mn::RecipeColumn::clip:
      return clip;
    case mn::RecipeColumn::correction1:
      return correction1;
    case mn::RecipeColumn::correction2:
      return correction2;
    }
    llvm_unreachable("expected a column of the recipe");
  }
};

/// What the frameworks take where they are not told.
struct Defaults {
  StringLiteral kind, convention;
  double lr, momentum, weightDecay, beta1, beta2, epsilon;
};
inline constexpr Defaults defaultsOf[] = {
    {"sgd", "torch", 1e-2, 0, 0, 0, 0, 0},
    {"sgd", "keras", 1e-2, 0, 0, 0, 0, 0},
    {"momentum", "torch", 1e-2, 0.9, 0, 0, 0, 0},
    {"momentum", "keras", 1e-2, 0.9, 0, 0, 0, 0},
    {"nesterov", "torch", 1e-2, 0.9, 0, 0, 0, 0},
    {"nesterov", "keras", 1e-2, 0.9, 0, 0, 0, 0},
    {"adam", "torch", 1e-3, 0, 0, 0.9, 0.999, 1e-8},
    {"adam", "keras", 1e-3, 0, 0, 0.9, 0.999, 1e-7},
    {"adamw", "torch", 1e-3, 0, 1e-2, 0.9, 0.999, 1e-8},
    {"adamw", "keras", 1e-3, 0, 4e-3, 0.9, 0.999, 1e-7},
    {"rmsprop", "torch", 1e-2, 0, 0, 0, 0.99, 1e-8},
    {"rmsprop", "keras", 1e-3, 0, 0, 0, 0.9, 1e-7},
    {"adagrad", "torch", 1e-2, 0, 0, 0, 0, 1e-10},
    {"adagrad", "keras", 1e-3, 0, 0, 0, 0, 1e-7},
};

} // namespace mlir::mnistc

#endif // MNISTC_PASSES_RECIPENUMBERS_H
