//===- train_data.cpp - data sets that fit a model ------------------------===//

#include "train/train_data.h"
#include "core/digest.h"

namespace mn {

Status TrainData::create(SampleSet given, const TrainModel &model,
                         const Transform &transform) {
  set = std::move(given);
  view.scale = static_cast<float>(
      transform.scale.value_or(set.inputs.pixels ? 1.0 / 255 : 1.0));
  view.mean = static_cast<float>(transform.mean.value_or(0));
  view.deviation = static_cast<float>(transform.deviation.value_or(1));
  view.invert = transform.invert && set.inputs.pixels;
  MN_TRY(checkInputs(model));
  MN_TRY(checkTargets(model));
  view.inputs = set.inputs.bytes.data();
  view.inputType = set.inputs.type;
  view.targets = targets.data();
  view.targetType = set.targets.type;
  view.count = set.count();
  view.inputElements = model.inputElements;
  view.targetElements = model.targetElements;
  return Status::success();
}

Status TrainData::checkInputs(const TrainModel &model) {
  int64_t rows = 0;
  Status status = countRows(set.inputs, Rows(model.plan(), *model.input), rows);
  if (status.ok() && rows != set.count())
    status = badData("expected rows of shape %s for input '%s', got one of "
                     "shape %s",
                     shapeText(*model.input).c_str(), model.input->name,
                     shapeText(set.inputs.shape).c_str());
  if (!status.ok()) {
    status.message = "'" + set.source + "': " + status.message;
    return status;
  }
  if (set.inputs.type == Type::u8 || set.inputs.type == Type::f32)
    return Status::success();
  // There are two types on the device.
  const size_t count = set.inputs.count();
  std::vector<char> floats(count * 4);
  for (size_t i = 0; i < count; ++i) {
    const auto value = static_cast<float>(
        numberAt(set.inputs.type, set.inputs.bytes.data(), i));
    std::memcpy(floats.data() + 4 * i, &value, 4);
  }
  set.inputs.type = Type::f32;
  set.inputs.bytes = std::move(floats);
  return Status::success();
}

Status TrainData::checkTargets(const TrainModel &model) {
  const char *source = set.source.c_str();
  if (model.classTargets && !set.classes())
    return badData("'%s': expected classes, integers from 0 on, as the "
                   "model's loss takes, got values; a program compiled with "
                   "'--loss=mse --targets=values' trains on them",
                   source);
  // Integers are values too.
  if (!model.classTargets && set.classes())
    setTargetsToValues();
  const auto found = static_cast<int64_t>(set.targets.count()) / set.count();
  if (found != model.targetElements)
    return badData("'%s': expected %lld targets per row, as '%s' of the model "
                   "has, got %lld",
                   source, static_cast<long long>(model.targetElements),
                   model.labels->name, static_cast<long long>(found));
  targets = std::move(set.targets.bytes.edit());
  return set.classes() ? checkLabels(model) : Status::success();
}

Status TrainData::checkLabels(const TrainModel &model) {
  const InputRange range = model.labelRange();
  const size_t count = targets.size() / 4;
  for (size_t i = 0; i < count; ++i) {
    int32_t label;
    std::memcpy(&label, targets.data() + 4 * i, 4);
    if ((label >= range.lowest && label <= range.highest) ||
        label == range.ignored)
      continue;
    return badData("'%s': expected labels from %lld to %lld, the classes of "
                   "the model, got %d in row %zu",
                   set.source.c_str(), static_cast<long long>(range.lowest),
                   static_cast<long long>(range.highest), label,
                   i / static_cast<size_t>(model.targetElements));
  }
  return Status::success();
}

void TrainData::setTargetsToValues() {
  const size_t count = set.targets.count();
  char *elements = set.targets.bytes.edit().data();
  for (size_t i = 0; i < count; ++i) {
    const auto value = static_cast<float>(numberAt(Type::i32, elements, i));
    std::memcpy(elements + 4 * i, &value, 4);
  }
  set.targets.type = Type::f32;
}

std::string TrainData::digest() const {
  Digest digest;
  digest.addTensor("inputs", set.inputs.bytes.data(), set.inputs.bytes.size());
  digest.addTensor("targets", targets.data(), targets.size());
  const float transform[] = {view.scale, view.mean, view.deviation,
                             view.invert ? 1.0f : 0.0f};
  digest.add(transform, sizeof transform);
  return digest.text();
}

} // namespace mn
