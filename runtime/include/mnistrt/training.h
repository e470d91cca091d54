//===- training.h - what compiler and trainer agree on ----------*- C++ -*-===//
//
// The names of a training program's functions, states and inputs, and the rows
// of its recipe. The compiler writes them, the runtime reads them, and both
// include this file.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_TRAINING_H
#define MNISTRT_TRAINING_H

#include <cstdint>

namespace mn {

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

namespace names {
/// Begins every name below; no tensor of a model has such a name.
inline constexpr char prefix[] = "mn.";

/// Inputs of a plan that trains or evaluates, after the model's own.
inline constexpr char labels[] = "mn.labels";
inline constexpr char valid[] = "mn.valid"; ///< rows of the batch that count
/// Where several batches make an update, of several ranks or one after the
/// other: those of all of them.
inline constexpr char globalValid[] = "mn.global_valid";
/// Its result.
inline constexpr char loss[] = "mn.loss";

/// States of 64-bit integers.
inline constexpr char seed[] = "mn.seed";
inline constexpr char epoch[] = "mn.epoch";
inline constexpr char batch[] = "mn.batch"; ///< in this epoch
inline constexpr char step[] = "mn.step";   ///< in this training
inline constexpr char part[] = "mn.part";   ///< batch of an update of several
inline constexpr char seen[] = "mn.seen";   ///< rows
inline constexpr char correct[] = "mn.correct";  ///< labels
inline constexpr char badStep[] = "mn.bad_step"; ///< -1: none
/// Of a data-parallel program: which of the ranks this is, and how many.
inline constexpr char rank[] = "mn.rank", ranks[] = "mn.ranks";
inline constexpr const char *integers[] = {seed, epoch,   batch,   step, part,
                                           seen, correct, badStep, rank, ranks};
/// A state of doubles: the sum of the losses of all rows seen.
inline constexpr char lossSum[] = "mn.loss_sum";
/// A state of floats: recipeRows rows of RecipeColumn::count numbers.
inline constexpr char recipe[] = "mn.recipe";

/// A state of floats: how often a label of each class counts.
inline constexpr char classWeights[] = "mn.class_weights";

/// Ends the name of a parameter's moving mean, which is evaluated and saved in
/// its place.
inline constexpr char average[] = ".ema";

/// Not a tensor: the key of an ONNX file's metadata for the names of classes, a
/// JSON array of strings.
inline constexpr char classNames[] = "class_names";
} // namespace names

/// What a plan does, by its name: "train", or "train_64" for a batch of 64.
namespace kinds {
inline constexpr char infer[] = "infer";
inline constexpr char eval[] = "eval";
inline constexpr char train[] = "train";
} // namespace kinds

constexpr bool isOfKind(const char *plan, const char *kind) {
  for (; *kind; ++plan, ++kind)
    if (*plan != *kind)
      return false;
  return *plan == 0 || *plan == '_';
}

//===----------------------------------------------------------------------===//
// The recipe
//===----------------------------------------------------------------------===//

/// The numbers that one training step reads: a row of the state `mn.recipe`.
struct RecipeColumn {
  enum : int {
    lr,
    momentum,
    weightDecay,
    beta1, ///< in a row 1 - beta1, which single precision holds more exactly
    beta2, ///< in a row 1 - beta2
    epsilon,
    dampening,
    clip,
    correction1, ///< 1 - beta1^t, t counting steps from 1
    correction2, ///< 1 - beta2^t
    count
  };
};

/// Rows of `mn.recipe`: step s, from 0, reads row s mod recipeRows.
inline constexpr int64_t recipeRows = 1024;

} // namespace mn

#endif // MNISTRT_TRAINING_H
