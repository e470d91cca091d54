//===- choices.h - one word of several --------------------------*- C++ -*-===//

#ifndef MNISTRT_CORE_CHOICES_H
#define MNISTRT_CORE_CHOICES_H

#include "core/status.h"
#include <string>
#include <string_view>
#include <vector>

namespace mn {

using Choices = std::vector<std::string>;

/// How many letters are inserted, deleted, replaced or swapped with their
/// neighbour between two words.
size_t editDistance(std::string_view a, std::string_view b);

/// The choice that `word` probably means: one that begins with it, or
/// one at most a third of whose letters differ. Empty: none.
std::string nearest(std::string_view word, const Choices &choices);

/// "; did you mean '--epochs'?", or nothing. `prefix` is put before the choice.
std::string didYouMean(std::string_view word, const Choices &choices,
                       std::string_view prefix = "");

/// "auto, logits or probabilities".
std::string listOf(const Choices &choices);

/// The number of `word` among the choices of option `name`; else an error
/// (Code::usage): "expected '--scores' to be auto or logits, got 'x'".
Status choose(std::string_view name, std::string_view word,
              const Choices &choices, size_t &number);

} // namespace mn

#endif // MNISTRT_CORE_CHOICES_H
