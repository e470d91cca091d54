//===- class_weights.h - what '--class-weights' says ------------*- C++ -*-===//

#ifndef MNISTRT_TRAIN_CLASS_WEIGHTS_H
#define MNISTRT_TRAIN_CLASS_WEIGHTS_H

#include "train/train_data.h"

namespace mn {

/// "balanced" (as scikit-learn: rows / (classes * rows of the class), of
/// `data`) or "1,2,0.5", a number for each class; empty: those of the program,
/// if it has any. Errors: a program that does not weigh classes, other words, a
/// class without rows.
Status readClassWeights(const std::string &option, const TrainModel &model,
                        const TrainData &data, std::vector<float> &weights);

/// As the option would say them.
std::string weightsList(const std::vector<float> &weights);

/// "0.5, 2": of two classes; of many the least and the greatest.
std::string weightsText(const std::vector<float> &weights);

} // namespace mn

#endif // MNISTRT_TRAIN_CLASS_WEIGHTS_H
