//===- class_weights.cpp - what '--class-weights' says --------------------===//

#include "train/class_weights.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <sstream>

namespace mn {

namespace {

/// A line has no room for the weights of more.
constexpr size_t mostNamed = 10;

/// All labels count, of which a row may have several.
Status balance(const TrainData &data, std::vector<float> &weights) {
  const Samples &samples = data.samples();
  const auto *labels = static_cast<const int32_t *>(samples.targets);
  const auto count =
      static_cast<size_t>(samples.count * samples.targetElements);
  std::vector<int64_t> found(weights.size());
  for (size_t i = 0; i < count; ++i)
    ++found[static_cast<size_t>(labels[i])];
  for (size_t k = 0; k < weights.size(); ++k) {
    if (found[k] == 0)
      return badData("expected training rows of each class for "
                     "'--class-weights=balanced', got none of class %zu",
                     k);
    weights[k] = static_cast<float>(static_cast<double>(count) /
                                    static_cast<double>(weights.size()) /
                                    static_cast<double>(found[k]));
  }
  return Status::success();
}

bool readWeight(const std::string &word, float &weight) {
  char *end = nullptr;
  weight = std::strtof(word.c_str(), &end);
  return end != word.c_str() && *end == 0 && std::isfinite(weight) &&
         weight >= 0;
}

bool readList(const std::string &list, std::vector<float> &weights) {
  const size_t count = weights.size();
  weights.clear();
  std::stringstream rest(list);
  for (std::string word; std::getline(rest, word, ',');)
    if (!readWeight(word, weights.emplace_back()))
      return false;
  return weights.size() == count && list.back() != ',' &&
         std::any_of(weights.begin(), weights.end(),
                     [](float weight) { return weight > 0; });
}

} // namespace

Status readClassWeights(const std::string &option, const TrainModel &model,
                        const TrainData &data, std::vector<float> &weights) {
  const Parameter *state = model.find(names::classWeights);
  if (!state && !option.empty())
    return Status::error(Code::usage,
                         "expected a program compiled with '--class-weights', "
                         "to weigh classes, got one without");
  weights.resize(state ? countOf(state->tensor) : 0);
  if (!state || option.empty()) {
    const std::vector<char> block = model.initialBlock();
    if (state)
      std::memcpy(weights.data(), block.data() + state->tensor.offset,
                  bytesOf(state->tensor));
    return Status::success();
  }
  if (option == "balanced")
    return balance(data, weights);
  const size_t classes = weights.size();
  return readList(option, weights)
             ? Status::success()
             : Status::error(
                   Code::usage,
                   text("expected '--class-weights' to be balanced, or %zu "
                        "numbers joined by commas, one for each class, of 0 "
                        "or more and not all 0, got '%s'",
                        classes, option.c_str()));
}

std::string weightsList(const std::vector<float> &weights) {
  std::string list;
  for (const float weight : weights)
    list += text("%s%.9g", list.empty() ? "" : ",", double(weight));
  return list;
}

std::string weightsText(const std::vector<float> &weights) {
  if (weights.size() > mostNamed) {
    const auto [least, most] =
        std::minmax_element(weights.begin(), weights.end());
    return text("from %g to %g", double(*least), double(*most));
  }
  std::string list;
  for (const float weight : weights)
    list += text("%s%g", list.empty() ? "" : ", ", double(weight));
  return list;
}

} // namespace mn
