//===- batch_plan.cpp - where a plan takes its batches from ---------------===//

#include "core/batch_plan.h"
#include "core/tensor.h"
#include <cstring>

namespace mn {

namespace {

Status fail(const std::string &text) {
  return Status::error(Code::usage, text);
}

Status findState(const Model &model, const char *name, size_t &offset) {
  for (int i = 0; i < model.parameterCount; ++i) {
    const Tensor &tensor = model.parameters[i].tensor;
    if (std::strcmp(tensor.name, name) != 0)
      continue;
    if (tensor.type != Type::i64 || countOf(tensor) != 1)
      return fail(std::string("expected the state '") + name +
                  "' to be one int64, got " + std::to_string(countOf(tensor)) +
                  " of type " + nameOf(tensor.type));
    offset = tensor.offset;
    return Status::success();
  }
  return fail(std::string("expected the model to have the state '") + name +
              "', got none; compile it with --train");
}

} // namespace

void BatchPlan::place(const Context &ctx, Batch &batch) const {
  batch.toInputs = ctx.at<float>(inputs);
  batch.toTargets = ctx.at<uint32_t>(labels);
  batch.toValid = ctx.at<int32_t>(valid);
  if (globalValid)
    batch.toGlobalValid = ctx.at<int32_t>(*globalValid);
  batch.rows = rows;
  batch.parts = parts;
  batch.seed = ctx.at<int64_t>(seed);
  batch.epoch = ctx.at<int64_t>(epoch);
  batch.number = ctx.at<int64_t>(number);
}

int64_t partsOf(const Model &model, const Plan &plan) {
  return model.recipe && isOfKind(plan.name, kinds::train)
             ? model.recipe->accumulate
             : 1;
}

Status findBatchPlan(const Model &model, int plan, BatchPlan &found) {
  const Plan &tables = model.plans[plan];
  const Tensor *inputs = nullptr, *labels = nullptr, *valid = nullptr,
               *globalValid = nullptr;
  for (int i = 0; i < tables.inputCount; ++i) {
    const Tensor &input = tables.inputs[i];
    if (std::strcmp(input.name, names::labels) == 0)
      labels = &input;
    else if (std::strcmp(input.name, names::valid) == 0)
      valid = &input;
    else if (std::strcmp(input.name, names::globalValid) == 0)
      globalValid = &input;
    else if (!inputs)
      inputs = &input;
  }
  const std::string name = std::string("plan '") + tables.name + "'";
  if (tables.inputCount != 3 + (globalValid != nullptr) || !inputs || !labels ||
      !valid)
    return fail("expected " + name +
                " to have one input besides 'mn.labels' and 'mn.valid', got " +
                std::to_string(tables.inputCount) + " inputs in total");
  if (inputs->type != Type::f32 || valid->type != Type::i32 ||
      (globalValid && globalValid->type != Type::i32) ||
      (labels->type != Type::i32 && labels->type != Type::f32))
    return fail("expected " + name + " to take float, got " +
                nameOf(inputs->type) + " with labels of " +
                nameOf(labels->type));
  if (tables.batch <= 0 || countOf(*labels) % size_t(tables.batch) != 0)
    return fail("expected " + name + " to take rows, got a batch of " +
                std::to_string(tables.batch));
  found.name = tables.name;
  found.inputs = inputs->offset;
  found.labels = labels->offset;
  found.valid = valid->offset;
  if (globalValid)
    found.globalValid = globalValid->offset;
  found.rows = tables.batch;
  found.parts = partsOf(model, tables);
  found.inputElements = int64_t(countOf(*inputs)) / tables.batch;
  found.targetElements = int64_t(countOf(*labels)) / tables.batch;
  found.targetType = labels->type;
  MN_TRY(findState(model, names::seed, found.seed));
  MN_TRY(findState(model, names::epoch, found.epoch));
  return findState(model, names::batch, found.number);
}

Status checkSamples(int set, const Samples &samples) {
  if (set < 0 || set >= dataSets)
    return fail("expected data set 0, 1 or 2, got " + std::to_string(set));
  if (samples.inputType != Type::u8 && samples.inputType != Type::f32)
    return fail(std::string("expected inputs of uint8 or float, got ") +
                nameOf(samples.inputType));
  if (samples.targetType != Type::i32 && samples.targetType != Type::f32)
    return fail(std::string("expected targets of int32 or float, got ") +
                nameOf(samples.targetType));
  if (samples.count < 0 || samples.inputElements < 0 ||
      samples.targetElements < 0)
    return fail("expected a count of 0 or more, got " +
                std::to_string(samples.count));
  return Status::success();
}

Status checkRows(const BatchPlan &plan, const Samples &samples) {
  const auto text = [](int64_t inputs, int64_t targets, Type type) {
    return "rows of " + std::to_string(inputs) + " numbers with " +
           std::to_string(targets) + " targets of " + nameOf(type);
  };
  if (plan.inputElements == samples.inputElements &&
      plan.targetElements == samples.targetElements &&
      plan.targetType == samples.targetType)
    return Status::success();
  return Status::error(
      Code::badData,
      std::string("expected data for plan '") + plan.name + "' in " +
          text(plan.inputElements, plan.targetElements, plan.targetType) +
          ", got " +
          text(samples.inputElements, samples.targetElements,
               samples.targetType));
}

Batch batchOf(const Samples &samples, bool shuffle, const RankPlace &place) {
  Batch batch;
  batch.rank = place.rank;
  batch.ranks = place.count;
  batch.bytes = samples.inputType == Type::u8;
  batch.inputs = samples.inputs;
  batch.targets = static_cast<const uint32_t *>(samples.targets);
  batch.count = samples.count;
  batch.inputElements = samples.inputElements;
  batch.targetElements = samples.targetElements;
  batch.scale = samples.scale;
  batch.mean = samples.mean;
  batch.deviation = samples.deviation;
  batch.invert = samples.invert;
  batch.augment = samples.augment;
  batch.shuffle = shuffle;
  return batch;
}

void augmentRow(const Batch &batch, int64_t sample, float *to) {
  const PictureMap map = batch.mapOf(sample);
  for (int64_t i = 0; i < batch.inputElements; ++i)
    to[i] = batch.augmented(map, sample, i);
}

Status checkParameterRange(const Model &model, size_t offset, size_t bytes) {
  if (offset <= model.parameterBytes && bytes <= model.parameterBytes - offset)
    return Status::success();
  return Status::error(Code::badData,
                       "expected a range inside of the parameters of " +
                           std::to_string(model.parameterBytes) +
                           " bytes, got " + std::to_string(offset) + " + " +
                           std::to_string(bytes));
}

} // namespace mn
