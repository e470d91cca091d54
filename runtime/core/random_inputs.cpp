//===- random_inputs.cpp - inputs that stand for any ----------------------===//

#include "core/random_inputs.h"
#include "core/batch_plan.h"
#include "core/tensor.h"
#include "mnistrt/bf16.h"
#include "mnistrt/philox.h"
#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

namespace mn {

namespace {

template <typename T, typename F>
void fill(void *to, size_t count, const F &next) {
  for (size_t i = 0; i < count; ++i)
    static_cast<T *>(to)[i] = static_cast<T>(next(i));
}

/// What the integers of an input may be: from `lowest`, `count` of them.
struct Integers {
  int64_t lowest, count;
};

Integers integersOf(const Plan &tables, int input, int64_t classes) {
  for (int i = 0; i < tables.rangeCount; ++i) {
    const InputRange &range = tables.ranges[i];
    if (range.input == input && range.lowest <= range.highest)
      return {range.lowest,
              std::min(classes, range.highest - range.lowest + 1)};
  }
  return {0, classes};
}

} // namespace

Status fillInputs(Executor &executor, const Plan &tables, int plan,
                  const RandomInputs &inputs) {
  MN_TRY(executor.prepare(plan));
  for (int i = 0; i < tables.inputCount; ++i) {
    const Tensor &tensor = tables.inputs[i];
    void *to = executor.input(plan, i, 0);
    const std::string name = tensor.name;
    const Random random = {static_cast<uint64_t>(inputs.seed),
                           static_cast<uint32_t>(i)};
    const size_t count = countOf(tensor);
    const Integers integers = integersOf(tables, i, inputs.classes);
    const auto number = [&](size_t at) {
      const double u = random.uniform(0, at);
      return name == names::labels ? u : 2 * u - 1;
    };
    const auto whole = [&](size_t at) {
      return name == names::valid || name == names::globalValid
                 ? std::min(inputs.rows, tables.batch)
                 : integers.lowest + static_cast<int64_t>(random.bits(0, at) %
                                                          integers.count);
    };
    switch (tensor.type) {
    case Type::f32:
      fill<float>(to, count, number);
      break;
    case Type::f64:
      fill<double>(to, count, number);
      break;
    case Type::i32:
      fill<int32_t>(to, count, whole);
      break;
    case Type::i64:
      fill<int64_t>(to, count, whole);
      break;
    case Type::bf16:
      fill<Bf16>(to, count, number);
      break;
    case Type::b8:
    case Type::u8:
      fill<uint8_t>(to, count, [&](size_t at) { return whole(at) & 1; });
      break;
    }
  }
  return Status::success();
}

Status makeSamples(const Model &model, int plan, int64_t rows,
                   RandomSamples &made) {
  BatchPlan batches;
  MN_TRY(findBatchPlan(model, plan, batches));
  const Plan &tables = model.plans[plan];
  Integers classes = {};
  for (int i = 0; i < tables.inputCount; ++i)
    if (std::string(tables.inputs[i].name) == names::labels)
      classes = integersOf(tables, i, RandomInputs().classes);
  const Random random = {0, 0};
  made.inputs.resize(size_t(rows * batches.inputElements));
  for (size_t i = 0; i < made.inputs.size(); i += sizeof(Words4)) {
    const Words4 words = random.block(0, i / sizeof(Words4));
    std::memcpy(&made.inputs[i], &words,
                std::min(sizeof words, made.inputs.size() - i));
  }
  made.targets.resize(size_t(rows * batches.targetElements));
  for (size_t i = 0; i < made.targets.size(); ++i)
    made.targets[i] =
        batches.targetType == Type::f32
            ? std::bit_cast<uint32_t>(float(random.uniform(1, i)))
            : uint32_t(classes.lowest +
                       int64_t(random.bits(1, i)) % classes.count);
  made.samples.inputs = made.inputs.data();
  made.samples.targets = made.targets.data();
  made.samples.targetType = batches.targetType;
  made.samples.count = rows;
  made.samples.inputElements = batches.inputElements;
  made.samples.targetElements = batches.targetElements;
  made.samples.scale = 1.0f / 255;
  return Status::success();
}

} // namespace mn
