//===- initialize.cpp - other weights to begin with -----------------------===//

#include "train/initialize.h"
#include "core/array.h"
#include "core/choices.h"
#include "formats/onnx_uses.h"
#include "mnistrt/philox.h"
#include <algorithm>
#include <cmath>
#include <numbers>

namespace mn {

namespace {

const Choices initNames = {"file", "he", "xavier", "torch", "keras"};

/// Streams of random numbers that are kept for parameters: "INI", number.
constexpr uint32_t parameterStream = 0x494e4900u;

struct Fans {
  double in, out;
};

Fans fansOf(const Tensor &tensor, const WeightUse &use) {
  const bool dense = use.kind == WeightUse::Kind::dense;
  const int first = dense ? tensor.rank - 2 : 0;
  double window = 1;
  for (int d = dense ? tensor.rank : 2; d < tensor.rank; ++d)
    window *= static_cast<double>(tensor.shape[d]);
  const double a = static_cast<double>(tensor.shape[first]) * window;
  const double b = static_cast<double>(tensor.shape[first + 1]) * window;
  return use.outFirst ? Fans{b, a} : Fans{a, b};
}

/// One parameter's numbers.
class Filler {
public:
  Filler(int64_t seed, int number, const Tensor &tensor,
         std::vector<char> &block)
      : random{static_cast<uint64_t>(seed),
               parameterStream + static_cast<uint32_t>(number)},
        to(reinterpret_cast<float *>(block.data() + tensor.offset)),
        count(countOf(tensor)) {}

  void constant(float value) { std::fill_n(to, count, value); }

  void uniform(double bound) {
    for (size_t i = 0; i < count; ++i)
      to[i] = static_cast<float>(bound * (2.0 * random.uniform(0, i) - 1));
  }

  /// Box and Muller's: two uniform numbers make a normal one.
  void normal(double deviation) {
    for (size_t i = 0; i < count; ++i) {
      const double u = 1 - random.uniform(0, 2 * i);
      const double v = random.uniform(0, 2 * i + 1);
      to[i] = static_cast<float>(deviation * std::sqrt(-2 * std::log(u)) *
                                 std::cos(2 * std::numbers::pi * v));
    }
  }

private:
  Random random;
  float *to;
  size_t count;
};

void fillWeight(Initialization kind, const Fans &fans, Filler filler) {
  switch (kind) {
  case Initialization::he:
    return filler.normal(std::sqrt(2 / fans.in));
  case Initialization::xavier:
  case Initialization::keras:
    return filler.uniform(std::sqrt(6 / (fans.in + fans.out)));
  case Initialization::torch:
    return filler.uniform(1 / std::sqrt(fans.in));
  case Initialization::file:
    return;
  }
}

} // namespace

Status parseInitialization(const std::string &name, Initialization &kind) {
  size_t number;
  MN_TRY(choose("--init", name, initNames, number));
  kind = static_cast<Initialization>(number);
  return Status::success();
}

Status initialize(const TrainModel &model, Initialization kind, int64_t seed,
                  std::vector<char> &block) {
  if (kind == Initialization::file)
    return Status::success();
  const Model &tables = *model.model;
  const WeightUses uses = weightUsesOf(
      {reinterpret_cast<const char *>(tables.onnx), tables.onnxBytes});
  for (int i = 0; i < tables.parameterCount; ++i) {
    const auto &[tensor, role, order] = tables.parameters[i];
    if (role != Role::parameter || tensor.rank < 2 || tensor.type != Type::f32)
      continue;
    const auto found = uses.find(tensor.name);
    const WeightUse use = found == uses.end() ? WeightUse() : found->second;
    const Fans fans = fansOf(tensor, use);
    fillWeight(kind, fans, Filler(seed, i, tensor, block));
    const Parameter *bias = model.find(use.bias);
    if (use.bias.empty() || !bias || bias->role != Role::parameter ||
        bias->tensor.rank > 1)
      continue;
    const auto number = static_cast<int>(bias - tables.parameters);
    Filler filler(seed, number, bias->tensor, block);
    if (kind == Initialization::torch)
      filler.uniform(1 / std::sqrt(fans.in));
    else
      filler.constant(0);
  }
  // Means begin as what they are of.
  for (int i = 0; i < tables.parameterCount; ++i)
    if (const Parameter *mean = model.averageOf(tables.parameters[i]))
      std::copy_n(block.data() + tables.parameters[i].tensor.offset,
                  bytesOf(mean->tensor), block.data() + mean->tensor.offset);
  return Status::success();
}

} // namespace mn
