//===- sweep_options.h - the options of 'app sweep' -------------*- C++ -*-===//

#ifndef MNISTRT_SWEEP_SWEEP_OPTIONS_H
#define MNISTRT_SWEEP_SWEEP_OPTIONS_H

#include <cstdint>
#include <string>

namespace mn {

struct SweepOptions {
  /// Values of options of 'train', as text: "0.1,0.03", "1..8".
  std::string lr, momentum, dampening, weightDecay, beta1, beta2, epsilon,
      clipNorm, clipValue, schedule, init, batch, epochs, seed;
  std::string list, out;
  int64_t random = 0; ///< runs to draw; 0: the product
  int64_t randomSeed = 1;
  int64_t halving = 0; ///< 0: none
  int64_t keep = 1, jobs = 0;
};

} // namespace mn

#endif // MNISTRT_SWEEP_SWEEP_OPTIONS_H
