//===- train_model.cpp - the tables of a model that trains ----------------===//

#include "train/train_model.h"
#include "core/array.h"
#include "core/batch_plan.h"
#include "core/digest.h"
#include <algorithm>
#include <cmath>
#include <cstring>

namespace mn {

namespace {

constexpr const char *neededStates[] = {
    names::seed, names::epoch,   names::batch,  names::step,
    names::seen, names::lossSum, names::badStep};
constexpr const char *metricStates[] = {names::lossSum, names::correct,
                                        names::seen, names::badStep};

/// Farther apart than this, states are read one by one.
constexpr size_t maxSpan = 4096;

Status mismatch(std::string message) {
  return Status::error(Code::noLibrary, std::move(message));
}

int64_t rowElements(const Tensor &tensor) {
  int64_t count = 1;
  for (int d = 1; d < tensor.rank; ++d)
    count *= tensor.shape[d];
  return count;
}

/// From a function that knows a state's 64 bits.
template <typename Whole> Metrics metricsFrom(const Whole &whole) {
  Metrics metrics;
  const int64_t bits = whole(names::lossSum);
  std::memcpy(&metrics.lossSum, &bits, sizeof bits);
  metrics.correct = whole(names::correct);
  metrics.seen = whole(names::seen);
  metrics.badStep = whole(names::badStep);
  return metrics;
}

} // namespace

Status TrainModel::create(const Model &model, int64_t batch,
                          TrainModel &result) {
  result = {};
  result.model = &model;
  MN_TRY(result.choosePlans(batch));
  result.batchesOfStep = partsOf(model, result.plan());
  MN_TRY(result.findInputs());
  for (const char *state : neededStates) {
    const Parameter *found = result.find(state);
    if (!found || bytesOf(found->tensor) != 8)
      return mismatch(std::string("expected the state '") + state +
                      "' of 64 bits in the program, got " +
                      (found ? shapeText(found->tensor) : "none"));
  }
  result.findClasses();
  return Status::success();
}

Status TrainModel::choosePlans(int64_t wanted) {
  std::string found;
  for (int i = 0; i < model->planCount; ++i) {
    if (!isOfKind(model->plans[i].name, kinds::train))
      continue;
    const int64_t size = model->plans[i].batch;
    found += (found.empty() ? "" : ", ") + std::to_string(size);
    if (wanted != 0 ? wanted == size : size > batch) {
      trainPlan = i;
      batch = size;
    }
  }
  if (found.empty() || !model->recipe)
    return Status::error(Code::usage, "expected a model that trains, got one "
                                      "that was compiled without '--train'");
  if (trainPlan < 0)
    return Status::error(Code::usage,
                         text("expected '--batch' to be one of %s, got %lld",
                              found.c_str(), static_cast<long long>(wanted)));
  for (int i = 0; i < model->planCount; ++i)
    if (isOfKind(model->plans[i].name, kinds::eval) &&
        model->plans[i].batch == batch)
      evalPlan = i;
  return Status::success();
}

Status TrainModel::findInputs() {
  const Plan &tables = plan();
  classTargets = std::string_view(model->recipe->targets) == "class";
  const char *const wanted[] = {names::labels, names::valid,
                                names::globalValid};
  const int more = dataParallel() || batchesOfStep > 1 ? 3 : 2;
  bool fits = tables.inputCount == 1 + more && batch >= 1;
  for (int i = 0; fits && i < more; ++i)
    fits = std::string_view(tables.inputs[1 + i].name) == wanted[i];
  if (!fits)
    return Status::error(Code::usage,
                         text("expected a model of one input with a batch "
                              "dimension to train, got one of %d",
                              std::max(tables.inputCount - more, 0)));
  input = &tables.inputs[0];
  labels = &tables.inputs[1];
  if (input->type != Type::f32 || input->rank < 1 || labels->rank < 1)
    return Status::error(
        Code::usage, text("expected an input of float to train, got '%s' of %s",
                          input->name, nameOf(input->type)));
  inputElements = rowElements(*input);
  targetElements = rowElements(*labels);
  return Status::success();
}

/// The first result of inference has a score for each class of each label, one
/// for two of them; where it is a loss there are no scores.
void TrainModel::findClasses() {
  for (int i = 0; classTargets && i < model->planCount; ++i) {
    const Plan &candidate = model->plans[i];
    if (!isOfKind(candidate.name, kinds::infer) || candidate.outputCount < 1 ||
        candidate.batch < 1)
      continue;
    const Tensor &scores = candidate.outputs[0];
    const auto count = static_cast<int64_t>(countOf(scores));
    const int64_t rows = candidate.batch * targetElements;
    const bool isLoss = scores.rank < 2 && count == 1;
    if (!isLoss && count % rows == 0)
      classes = std::max<int64_t>(count / rows, 2);
    return;
  }
}

const Parameter *TrainModel::find(std::string_view name) const {
  for (int i = 0; i < model->parameterCount; ++i)
    if (name == model->parameters[i].tensor.name)
      return &model->parameters[i];
  return nullptr;
}

TrainModel::Trained TrainModel::trained() const {
  Trained result;
  for (int i = 0; i < model->parameterCount; ++i)
    if (model->parameters[i].role == Role::parameter) {
      ++result.tensors;
      result.elements +=
          static_cast<int64_t>(countOf(model->parameters[i].tensor));
    }
  return result;
}

std::vector<char> TrainModel::initialBlock() const {
  std::vector<char> block(model->parameterBytes, 0);
  std::copy_n(model->initial, std::min(model->initialBytes, block.size()),
              block.data());
  return block;
}

int64_t TrainModel::whole(const std::vector<char> &block,
                          const char *state) const {
  int64_t value = 0;
  if (const Parameter *found = find(state))
    std::memcpy(&value, block.data() + found->tensor.offset, sizeof value);
  return value;
}

void TrainModel::setWhole(std::vector<char> &block, const char *state,
                          int64_t value) const {
  if (const Parameter *found = find(state))
    std::memcpy(block.data() + found->tensor.offset, &value, sizeof value);
}

void TrainModel::setFloats(std::vector<char> &block, const char *state,
                           const std::vector<float> &values) const {
  if (const Parameter *found = find(state))
    std::memcpy(block.data() + found->tensor.offset, values.data(),
                bytesOf(found->tensor));
}

Status TrainModel::checkNumbers(const std::vector<char> &block) const {
  const std::vector<char> initial = initialBlock();
  for (int i = 0; i < model->parameterCount; ++i) {
    const Tensor &tensor = model->parameters[i].tensor;
    if (tensor.type != Type::f32 ||
        std::string_view(tensor.name).substr(0, 3) == "mn.")
      continue;
    for (size_t k = 0; k < countOf(tensor); ++k) {
      const size_t at = tensor.offset + k * sizeof(float);
      float now, first;
      std::memcpy(&now, block.data() + at, sizeof(now));
      std::memcpy(&first, initial.data() + at, sizeof(first));
      if (std::isnan(now) || (std::isinf(now) && !std::isinf(first)))
        return Status::error(
            Code::numeric,
            text("expected finite weights, got %s in element %lld of '%s'",
                 std::isnan(now) ? "NaN" : "infinity",
                 static_cast<long long>(k), tensor.name));
    }
  }
  return Status::success();
}

const Parameter *TrainModel::averageOf(const Parameter &parameter) const {
  const Parameter *found =
      find(std::string(parameter.tensor.name) + names::average);
  // A tensor of the model may be called so.
  return found && found->role == Role::state ? found : nullptr;
}

std::string TrainModel::digest(const std::vector<char> &block) const {
  Digest digest;
  for (int i = 0; i < model->parameterCount; ++i) {
    const auto &[tensor, role, order] = model->parameters[i];
    if (role != Role::state)
      digest.addTensor(tensor.name, block.data() + tensor.offset,
                       bytesOf(tensor));
  }
  return digest.text();
}

std::vector<RunPart> TrainModel::parts(const std::vector<char> &block) const {
  std::vector<RunPart> parts;
  for (int i = 0; i < model->parameterCount; ++i) {
    const auto &[tensor, role, order] = model->parameters[i];
    if (role == Role::state)
      continue;
    Digest digest;
    digest.addTensor(tensor.name, block.data() + tensor.offset,
                     bytesOf(tensor));
    parts.push_back({"'" + std::string(tensor.name) + "'", digest.text()});
  }
  return parts;
}

Status TrainModel::write(Executor &executor, const char *state,
                         int64_t value) const {
  const Parameter *found = find(state);
  return found ? executor.writeParameters(found->tensor.offset, &value,
                                          sizeof value)
               : Status::success();
}

Status TrainModel::writeStart(Executor &executor, int64_t epoch) const {
  MN_TRY(write(executor, names::epoch, epoch));
  MN_TRY(write(executor, names::batch, 0));
  MN_TRY(write(executor, names::part, 0));
  // The bits of 0.0 are zeros.
  for (const char *state : metricStates)
    MN_TRY(write(executor, state,
                 std::string_view(state) == names::badStep ? -1 : 0));
  return Status::success();
}

Metrics TrainModel::metricsOf(const std::vector<char> &block) const {
  return metricsFrom([&](const char *state) { return whole(block, state); });
}

void TrainModel::setMetrics(std::vector<char> &block,
                            const Metrics &metrics) const {
  int64_t bits;
  std::memcpy(&bits, &metrics.lossSum, sizeof bits);
  setWhole(block, names::lossSum, bits);
  setWhole(block, names::correct, metrics.correct);
  setWhole(block, names::seen, metrics.seen);
  setWhole(block, names::badStep, metrics.badStep);
}

/// Of all parameters only these few bytes are read: it is done between steps.
Status TrainModel::readMetrics(Executor &executor, Metrics &metrics) const {
  size_t begin = SIZE_MAX, end = 0;
  for (const char *state : metricStates)
    if (const Parameter *found = find(state)) {
      begin = std::min(begin, found->tensor.offset);
      end = std::max(end, found->tensor.offset + sizeof(int64_t));
    }
  const bool together = begin < end && end - begin <= maxSpan;
  std::vector<char> span(together ? end - begin : 0);
  if (together)
    MN_TRY(executor.readParameters(begin, span.data(), span.size()));
  Status status = Status::success();
  metrics = metricsFrom([&](const char *state) {
    int64_t value = 0;
    const Parameter *found = find(state);
    if (found && together)
      std::memcpy(&value, span.data() + found->tensor.offset - begin,
                  sizeof value);
    else if (found && status.ok())
      status =
          executor.readParameters(found->tensor.offset, &value, sizeof value);
    return value;
  });
  return status;
}

InputRange TrainModel::labelRange() const {
  // A loss of the model's own says itself which labels it takes and ignores.
  for (int i = 0; i < plan().rangeCount; ++i)
    if (&plan().inputs[plan().ranges[i].input] == labels)
      return plan().ranges[i];
  return {1, 0, classes != 0 ? classes - 1 : INT32_MAX, 0};
}

double TrainModel::accuracy(const Metrics &metrics) const {
  if (classes == 0 || !find(names::correct))
    return -1;
  return metrics.seen ? static_cast<double>(metrics.correct) /
                            static_cast<double>(metrics.seen * targetElements)
                      : 0;
}

} // namespace mn
