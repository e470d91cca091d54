//===- rate_finder.h - a learning rate to begin with ------------*- C++ -*-===//
//
// Trains a hundred steps with rates that grow from step to step, and looks
// where the loss is smallest (Smith, "Cyclical Learning Rates for Training
// Neural Networks", WACV 2017). Nothing is kept of that training.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_TRAIN_RATE_FINDER_H
#define MNISTRT_TRAIN_RATE_FINDER_H

#include "train/trainer.h"

namespace mn {

/// A step of the search.
struct RatePoint {
  double rate, loss;
  double smooth; ///< exponential mean of the losses so far, without bias
};

/// A tenth of the rate with the smallest smoothed loss: where the loss is
/// smallest it is about to grow. 0: no loss is a hundredth below the first
/// ones.
double suggestedRate(const std::vector<RatePoint> &points);

/// Prints the search and the rate. Errors: those of 'train', and a loss that
/// falls at no rate (Code::numeric).
Status findRate(const Model &model, const Options &options,
                const Trainer::Open &open);

} // namespace mn

#endif // MNISTRT_TRAIN_RATE_FINDER_H
