//===- batches.cpp - data sets in the memory of a CPU program -------------===//

#include "cpu/batches.h"
#include "core/tensor.h"
#include <algorithm>

namespace mn {

DataSet::DataSet(const Samples &samples)
    : kept(samples),
      size(size_t(samples.count) *
           (size_t(samples.inputElements) * bytesOf(samples.inputType) +
            size_t(samples.targetElements) * bytesOf(samples.targetType))) {
  const Batch batch = batchOf(kept, false);
  if (batch.bytes)
    for (int byte = 0; byte < 256; ++byte)
      ofByte.push_back(batch.normalized(float(byte)));
}

void DataSet::fillRow(const Batch &batch, int64_t sample, float *to) const {
  const int64_t n = batch.inputElements;
  if (batch.augment.on())
    return augmentRow(batch, sample, to);
  if (batch.bytes) {
    const uint8_t *from =
        static_cast<const uint8_t *>(batch.inputs) + sample * n;
    for (int64_t i = 0; i < n; ++i)
      to[i] = ofByte[from[i]];
    return;
  }
  const float *from = static_cast<const float *>(batch.inputs) + sample * n;
  for (int64_t i = 0; i < n; ++i)
    to[i] = batch.normalized(from[i]);
}

void DataSet::nextBatch(const BatchPlan &plan, char *arena, bool shuffle,
                        const RankPlace &place) const {
  Batch batch = batchOf(kept, shuffle, place);
  Context ctx;
  ctx.arena = arena;
  plan.place(ctx, batch);
  const int64_t n = batch.inputElements, m = batch.targetElements;
  *batch.toValid = batch.valid();
  if (batch.toGlobalValid)
    *batch.toGlobalValid = batch.globalValid();
  for (int64_t row = 0; row < batch.rows; ++row) {
    const int64_t sample = batch.sampleOf(row);
    float *to = batch.toInputs + row * n;
    uint32_t *label = batch.toTargets + row * m;
    if (sample < 0) {
      std::fill_n(to, n, 0.0f);
      std::fill_n(label, m, 0u);
    } else {
      fillRow(batch, sample, to);
      std::copy_n(batch.targets + sample * m, m, label);
    }
  }
}

} // namespace mn
