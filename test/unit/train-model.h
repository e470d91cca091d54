//===- train-model.h - a hand-written model that trains ---------*- C++ -*-===//
//
// What the compiler makes of one layer with a softmax: the tables and steps,
// for the executor of the CPU.
//
//===----------------------------------------------------------------------===//

#ifndef MNIST_UNIT_TRAIN_MODEL_H
#define MNIST_UNIT_TRAIN_MODEL_H

#include "mnistrt/model.h"
#include <string>

namespace trainmodel {

constexpr int64_t batch = 16, pixels = 784, classes = 10;

/// Lives as long as the program.
const mn::Model &model();

/// The same with another name, for checkpoints of another model.
mn::Model renamed(const char *name);

} // namespace trainmodel

#endif // MNIST_UNIT_TRAIN_MODEL_H
