//===- augmentation.h - what '--augment' says -------------------*- C++ -*-===//

#ifndef MNISTRT_TRAIN_AUGMENTATION_H
#define MNISTRT_TRAIN_AUGMENTATION_H

#include "core/array.h"
#include "mnistrt/augment.h"

namespace mn {

/// "shift:2,rotate:10,scale:0.1,flip", in any order, degrees; empty: nothing.
/// Errors (Code::usage): other words, numbers out of range, `rows` that are no
/// pictures.
Status readAugment(const std::string &text, const Array &rows,
                   Augment &augment);

} // namespace mn

#endif // MNISTRT_TRAIN_AUGMENTATION_H
