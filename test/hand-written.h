//===- hand-written.h - tables of a model that trains -----------*- C++ -*-===//

#ifndef MNISTC_TEST_HAND_WRITTEN_H
#define MNISTC_TEST_HAND_WRITTEN_H

#include "mnistrt/model.h"
#include <span>

namespace byhand {

/// A number of the optimizer or the trainer, `at` in the parameter block.
constexpr mn::Parameter state(const char *name, mn::Type type, size_t at) {
  return {{name, type, 0, nullptr, at}, mn::Role::state};
}

/// A model with a block of parameters that begins with `initial`.
inline mn::Model model(const char *name, std::span<const mn::Plan> plans,
                       std::span<const mn::Parameter> parameters,
                       size_t parameterBytes,
                       std::span<const float> initial = {}) {
  mn::Model model = {};
  model.version = mn::modelVersion;
  model.name = name;
  model.plans = plans.data();
  model.planCount = static_cast<int>(plans.size());
  model.parameters = parameters.data();
  model.parameterCount = static_cast<int>(parameters.size());
  model.parameterBytes = parameterBytes;
  model.initial = reinterpret_cast<const unsigned char *>(initial.data());
  model.initialBytes = initial.size_bytes();
  return model;
}

} // namespace byhand

#endif // MNISTC_TEST_HAND_WRITTEN_H
