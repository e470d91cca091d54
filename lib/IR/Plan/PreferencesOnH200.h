//===- PreferencesOnH200.h - what computes an op fastest --------*- C++ -*-===//

#ifndef MNISTC_IR_PLAN_PREFERENCESONH200_H
#define MNISTC_IR_PLAN_PREFERENCESONH200_H

#include "lib/IR/Plan/Machine.h"

namespace mlir::mnistc {

/// On an NVIDIA H200, and cards like it; the first that applies is taken.
ArrayRef<Preference> preferencesOnH200();

} // namespace mlir::mnistc

#endif // MNISTC_IR_PLAN_PREFERENCESONH200_H
