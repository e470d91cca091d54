//===- choices.cpp - one word of several ----------------------------------===//

#include "core/choices.h"
#include <algorithm>

namespace mn {

/// "Optimal string alignment": Damerau and Levenshtein's distance where no
/// letters are edited twice.
size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> rows(a.size() + 1,
                                        std::vector<size_t>(b.size() + 1, 0));
  for (size_t i = 0; i <= a.size(); ++i)
    rows[i][0] = i;
  for (size_t j = 0; j <= b.size(); ++j)
    rows[0][j] = j;
  for (size_t i = 1; i <= a.size(); ++i)
    for (size_t j = 1; j <= b.size(); ++j) {
      const bool same = a[i - 1] == b[j - 1];
      rows[i][j] = std::min({rows[i - 1][j] + 1, rows[i][j - 1] + 1,
                             rows[i - 1][j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        rows[i][j] = std::min(rows[i][j], rows[i - 2][j - 2] + 1);
    }
  return rows[a.size()][b.size()];
}

std::string nearest(std::string_view word, const Choices &choices) {
  // Longer words are not typing errors, and take quadratic time.
  constexpr size_t longest = 64;
  if (word.empty() || word.size() > longest)
    return "";
  std::string best;
  size_t bestDistance = SIZE_MAX;
  for (const std::string &choice : choices) {
    const size_t distance = editDistance(word, choice);
    const size_t letters = std::max(word.size(), choice.size());
    if (distance < bestDistance && distance * 3 <= letters) {
      bestDistance = distance;
      best = choice;
    }
  }
  if (!best.empty())
    return best;
  for (const std::string &choice : choices)
    if (word.size() > 1 && std::string_view(choice).starts_with(word))
      return choice;
  return "";
}

std::string didYouMean(std::string_view word, const Choices &choices,
                       std::string_view prefix) {
  const std::string best = nearest(word, choices);
  return best.empty() ? ""
                      : "; did you mean '" + std::string(prefix) + best + "'?";
}

std::string listOf(const Choices &choices) {
  std::string list;
  for (size_t i = 0; i < choices.size(); ++i)
    list += (i == 0                    ? ""
             : i + 1 == choices.size() ? " or "
                                       : ", ") +
            choices[i];
  return list;
}

Status choose(std::string_view name, std::string_view word,
              const Choices &choices, size_t &number) {
  const auto found = std::find(choices.begin(), choices.end(), word);
  number = static_cast<size_t>(found - choices.begin());
  if (found != choices.end())
    return Status::success();
  return Status::error(Code::usage, "expected '" + std::string(name) +
                                        "' to be " + listOf(choices) +
                                        ", got '" + std::string(word) + "'" +
                                        didYouMean(word, choices));
}

} // namespace mn
