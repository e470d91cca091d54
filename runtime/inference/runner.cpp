//===- runner.cpp - any number of rows through plans of fixed sizes -------===//

#include "inference/runner.h"
#include <algorithm>
#include <cmath>

namespace mn {

bool isInference(const Plan &plan) { return isOfKind(plan.name, kinds::infer); }

namespace {

/// What Executor::trace hands to `look`.
struct NumberCheck {
  Executor &executor;
  const Plan &plan;
  std::vector<char> buffer;
};

Status lookForNan(void *user, int number) {
  auto &check = *static_cast<NumberCheck *>(user);
  const Step &step = check.plan.steps[number];
  for (int r = 0; r < step.resultCount; ++r) {
    const Tensor &tensor = step.results[r];
    if (tensor.type != Type::f32 && tensor.type != Type::f64)
      continue;
    check.buffer.resize(bytesOf(tensor));
    MN_TRY(check.executor.read(tensor.offset, check.buffer.data(),
                               check.buffer.size()));
    const size_t count = countOf(tensor);
    for (size_t i = 0; i < count; ++i) {
      const double value = numberAt(tensor.type, check.buffer.data(), i);
      if (!std::isfinite(value))
        return Status::error(
            Code::numeric,
            text("expected finite numbers, got %s in element %zu of '%s', "
                 "computed by step %d (%s: %s) for %s",
                 std::isnan(value) ? "NaN" : "infinity", i, tensor.name,
                 number + 1, step.implementation, step.ops, step.nodes));
    }
  }
  return Status::success();
}

} // namespace

Status traceForNan(Executor &executor, const Model &model, int plan) {
  const Plan &tables = model.plans[plan];
  if (tables.stepCount > 0 && !tables.steps[0].results)
    return Status::error(Code::usage,
                         "expected a model that says what its steps "
                         "write, got one that does not");
  NumberCheck check{executor, tables, {}};
  return executor.trace(plan, lookForNan, &check);
}

Status choosePlan(const Model &model, const std::string &kind, int64_t rows,
                  int64_t batch, int &plan) {
  plan = -1;
  std::string found;
  for (int i = 0; i < model.planCount; ++i) {
    const Plan &candidate = model.plans[i];
    if (!isOfKind(candidate.name, kind.c_str()))
      continue;
    found += (found.empty() ? "" : ", ") + std::to_string(candidate.batch);
    if (batch && candidate.batch != batch)
      continue;
    if (plan < 0) {
      plan = i;
      continue;
    }
    const int64_t best = model.plans[plan].batch, size = candidate.batch;
    const bool fits = size >= rows, bestFits = best >= rows;
    if (fits ? !bestFits || size < best : !bestFits && size > best)
      plan = i;
  }
  if (plan >= 0)
    return Status::success();
  return Status::error(
      Code::usage, batch ? text("expected '--batch' to be one of %s, got %lld",
                                found.c_str(), static_cast<long long>(batch))
                         : "expected a plan to " + kind + ", got none");
}

Status Runner::submit(int plan, int slot) {
  const Plan &tables = model.plans[plan];
  MN_TRY(admitInputs(executor, tables, plan, slot));
  if (!checkNumbers)
    return executor.submit(plan, slot);
  // Tracing reads slot 0, whatever slot is meant.
  for (int i = 0; i < tables.inputCount && slot != 0; ++i)
    std::memcpy(executor.input(plan, i, 0), executor.input(plan, i, slot),
                bytesOf(tables.inputs[i]));
  MN_TRY(traceForNan(executor, model, plan));
  return executor.submit(plan, slot);
}

Status Runner::run(int plan, int64_t rows, const Part &fill, const Part &take) {
  MN_TRY(executor.prepare(plan));
  const int64_t batch = std::max<int64_t>(model.plans[plan].batch, 1);
  struct {
    bool busy = false;
    int64_t first = 0, count = 0;
  } slots[2];
  const int slotCount = checkNumbers ? 1 : 2;
  const auto finish = [&](int slot) {
    if (!slots[slot].busy)
      return Status::success();
    MN_TRY(executor.wait(slot));
    slots[slot].busy = false;
    return take(slots[slot].first, slots[slot].count, slot);
  };
  int slot = 0;
  for (int64_t first = 0; first < rows; first += batch) {
    MN_TRY(finish(slot));
    slots[slot].first = first;
    slots[slot].count = std::min(batch, rows - first);
    MN_TRY(fill(first, slots[slot].count, slot));
    MN_TRY(submit(plan, slot));
    slots[slot].busy = true;
    slot = (slot + 1) % slotCount;
  }
  for (int i = 0; i < slotCount; ++i)
    MN_TRY(finish((slot + i) % slotCount));
  return Status::success();
}

Status Runner::run(int64_t batch, const std::vector<Array> &inputs,
                   std::vector<Array> &outputs, int &plan) {
  // Which inputs have rows is the same in every plan.
  MN_TRY(choosePlan(1, batch, plan));
  int64_t rows = -1;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Rows input(model.plans[plan], model.plans[plan].inputs[i]);
    if (!input.batched)
      continue;
    const int64_t found = inputs[i].shape[0];
    if (rows >= 0 && found != rows)
      return badData(
          "expected %lld rows for input '%s', as for the others, got "
          "%lld",
          static_cast<long long>(rows), input.tensor->name,
          static_cast<long long>(found));
    rows = found;
  }
  rows = rows < 0 ? 1 : rows;
  MN_TRY(choosePlan(rows, batch, plan));
  const Plan &tables = model.plans[plan];
  const int64_t size = std::max<int64_t>(tables.batch, 1);

  outputs.assign(static_cast<size_t>(tables.outputCount), {});
  for (int i = 0; i < tables.outputCount; ++i) {
    const Rows output(tables, tables.outputs[i]);
    if (!output.batched && rows != size)
      return badData(
          "expected %lld rows, since output '%s' is one for all of them, "
          "got %lld",
          static_cast<long long>(size), output.tensor->name,
          static_cast<long long>(rows));
    outputs[i].name = output.tensor->name;
    outputs[i].type = output.tensor->type;
    outputs[i].shape = output.row;
    if (output.batched)
      outputs[i].shape.insert(outputs[i].shape.begin(), rows);
    outputs[i].bytes.edit().resize(
        output.rowBytes() * static_cast<size_t>(output.batched ? rows : 1));
  }
  pixels.resize(inputs.size());
  for (int i = 0; i < tables.inputCount; ++i)
    if (pixels[i])
      MN_TRY(executor.givePixels(plan, i, *pixels[i]));
  return run(
      plan, rows,
      [&](int64_t first, int64_t count, int slot) {
        for (int i = 0; i < tables.inputCount; ++i) {
          const Rows input(tables, tables.inputs[i]);
          const int64_t from = input.batched ? first : 0;
          const int64_t number = input.batched ? count : 1;
          const int64_t capacity = input.batched ? size : 1;
          void *to = executor.input(plan, i, slot);
          MN_TRY(
              pixels[i]
                  ? fillPixels(inputs[i], input, from, number, capacity, to)
                  : fillRows(inputs[i], input, {}, from, number, capacity, to));
        }
        return Status::success();
      },
      [&](int64_t first, int64_t count, int slot) {
        for (int i = 0; i < tables.outputCount; ++i) {
          const Rows output(tables, tables.outputs[i]);
          const size_t bytes = output.rowBytes();
          const size_t from = output.batched ? static_cast<size_t>(first) : 0;
          const size_t number = output.batched ? static_cast<size_t>(count) : 1;
          std::memcpy(outputs[i].bytes.edit().data() + from * bytes,
                      executor.output(plan, i, slot), number * bytes);
        }
        return Status::success();
      });
}

} // namespace mn
