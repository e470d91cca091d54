//===- random_inputs.h - inputs that stand for any --------------*- C++ -*-===//

#ifndef MNISTRT_CORE_RANDOM_INPUTS_H
#define MNISTRT_CORE_RANDOM_INPUTS_H

#include "core/executor.h"

namespace mn {

struct RandomInputs {
  int64_t seed = 0;
  int64_t rows = 0;    ///< that count, of a batch
  int64_t classes = 2; ///< integers are below it, and where the plan wants them
};

/// Fills the inputs of slot 0: numbers from -1 to 1, targets from 0 to 1.
Status fillInputs(Executor &executor, const Plan &tables, int plan,
                  const RandomInputs &inputs);

/// A data set of random bytes, as the pixels of pictures are, and of targets.
struct RandomSamples {
  std::vector<uint8_t> inputs;
  std::vector<uint32_t> targets;
  Samples samples; ///< of these
};

/// So many rows for a plan that takes batches.
Status makeSamples(const Model &model, int plan, int64_t rows,
                   RandomSamples &made);

} // namespace mn

#endif // MNISTRT_CORE_RANDOM_INPUTS_H
