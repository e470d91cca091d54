//===- feeder.cpp - runs batches of data through a plan -------------------===//

#include "train/feeder.h"
#include "core/batch_plan.h"
#include "inference/runner.h"
#include <algorithm>
#include <system_error>
#include <thread>

namespace mn {

namespace {

/// A thread is worth starting for this many bytes of inputs.
constexpr int64_t bytesPerThread = int64_t(1) << 20;

/// What the rows of one thread become.
class RowWriter {
public:
  explicit RowWriter(const Batch &batch, bool bytes)
      : batch(batch), bytes(bytes) {
    for (int p = 0; bytes && p < 256; ++p)
      pixels[p] = batch.normalized(static_cast<float>(p));
  }

  void write(int64_t row) const {
    const int64_t sample = batch.sampleOf(row), n = batch.inputElements;
    float *to = batch.toInputs + row * n;
    uint32_t *target = batch.toTargets + row * batch.targetElements;
    if (sample < 0) {
      std::fill_n(to, n, 0.0f);
      std::fill_n(target, batch.targetElements, 0u);
      return;
    }
    if (batch.augment.on()) {
      augmentRow(batch, sample, to);
    } else if (bytes) {
      const auto *from =
          static_cast<const uint8_t *>(batch.inputs) + sample * n;
      for (int64_t i = 0; i < n; ++i)
        to[i] = pixels[from[i]];
    } else {
      const auto *from = static_cast<const float *>(batch.inputs) + sample * n;
      for (int64_t i = 0; i < n; ++i)
        to[i] = batch.normalized(from[i]);
    }
    std::copy_n(batch.targets + sample * batch.targetElements,
                batch.targetElements, target);
  }

private:
  const Batch &batch;
  bool bytes;
  float pixels[256];
};

} // namespace

void fillBatch(const Batch &batch, Type inputType, int threads) {
  const RowWriter writer(batch, inputType == Type::u8);
  const auto work = [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row)
      writer.write(row);
  };
  *batch.toValid = batch.valid();
  if (batch.toGlobalValid)
    *batch.toGlobalValid = batch.globalValid();
  threads = static_cast<int>(std::clamp<int64_t>(
      batch.rows * batch.inputElements * 4 / bytesPerThread, 1, threads));
  std::vector<std::thread> others;
  const auto bound = [&](int t) { return batch.rows * t / threads; };
  int started = 1;
  try {
    for (; started < threads; ++started)
      others.emplace_back(work, bound(started), bound(started + 1));
  } catch (const std::system_error &) {
    // This thread does what no other thread can be made for.
    work(bound(started), batch.rows);
  }
  work(0, bound(1));
  for (std::thread &other : others)
    other.join();
}

int64_t roomForData(int64_t asked, int64_t freeBytes) {
  // For the graphs of batches, which are captured when they first run, and for
  // what others do with the device.
  constexpr int64_t leftFree = int64_t(512) << 20;
  if (asked >= 0)
    return asked;
  return freeBytes < 0 ? INT64_MAX : std::max<int64_t>(freeBytes - leftFree, 0);
}

Status Feeder::load(int set, const TrainData &data) {
  sets[set] = &data;
  const auto bytes = static_cast<int64_t>(data.bytes());
  if (checkNumbers || bytes > room)
    return Status::success();
  const Status status = executor.load(set, data.samples());
  // What does not fit is streamed, like what may not be kept.
  if (status.code == Code::outOfMemory)
    return Status::success();
  resident[set] = status.ok();
  room -= bytes;
  return status;
}

void Feeder::use(int set, const TrainData &data, bool onDevice) {
  sets[set] = &data;
  resident[set] = onDevice;
}

Status Feeder::check() const {
  for (int set = 0; set < dataSets; ++set)
    if (sets[set] && (!resident[set] || executor.usesHostMemory()))
      MN_TRY(sets[set]->check());
  return Status::success();
}

Status Feeder::run(const BatchRange &range) {
  return resident[range.set] ? executor.runBatches(range.plan, range.set,
                                                   range.shuffle, range.count)
                             : stream(range);
}

Status Feeder::stream(const BatchRange &range) {
  MN_TRY(executor.prepare(range.plan));
  const int64_t parts = partsOf(*model.model, model.model->plans[range.plan]);
  for (int64_t batch = range.first; batch < range.first + range.count;
       ++batch) {
    if (checkNumbers) {
      MN_TRY(trace(range, batch));
    } else {
      MN_TRY(executor.wait(slot));
      fill(range, batch, slot);
      MN_TRY(executor.submit(range.plan, slot));
      slot = 1 - slot;
    }
    if (ranks && (batch + 1) % parts == 0)
      ++ranks->step;
  }
  return Status::success();
}

/// A trace leaves the parameters as they were: a run follows.
Status Feeder::trace(const BatchRange &range, int64_t batch) {
  fill(range, batch, 0);
  Status status = traceForNan(executor, *model.model, range.plan);
  if (!status.ok()) {
    status.message +=
        text("; batch %lld of epoch %lld", static_cast<long long>(batch + 1),
             static_cast<long long>(range.epoch + 1));
    return status;
  }
  MN_TRY(executor.submit(range.plan, 0));
  return executor.wait(0);
}

void Feeder::fill(const BatchRange &range, int64_t number, int slot) {
  const Samples &from = sets[range.set]->samples();
  Batch batch =
      batchOf(from, range.shuffle, ranks ? ranks->place() : RankPlace());
  batch.inputs = from.inputs;
  batch.targets = static_cast<const uint32_t *>(from.targets);
  batch.toInputs = static_cast<float *>(executor.input(range.plan, 0, slot));
  batch.toTargets =
      static_cast<uint32_t *>(executor.input(range.plan, 1, slot));
  batch.toValid = static_cast<int32_t *>(executor.input(range.plan, 2, slot));
  const Plan &plan = model.model->plans[range.plan];
  batch.parts = partsOf(*model.model, plan);
  if (plan.inputCount > 3)
    batch.toGlobalValid =
        static_cast<int32_t *>(executor.input(range.plan, 3, slot));
  batch.rows = model.batch;
  batch.seed = &range.seed;
  batch.epoch = &range.epoch;
  batch.number = &number;
  fillBatch(
      batch, from.inputType,
      static_cast<int>(std::max(1u, std::thread::hardware_concurrency())));
}

} // namespace mn
