//===- RoundedOnH200.h - what computes rounded operands fastest -*- C++ -*-===//

#ifndef MNISTC_IR_PLAN_ROUNDEDONH200_H
#define MNISTC_IR_PLAN_ROUNDEDONH200_H

#include "lib/IR/Plan/Machine.h"
#include <vector>

namespace mlir::mnistc {

/// In bf16 on an NVIDIA H200: libraries that read operands in bf16. Those of
/// PreferencesOnH200.h follow.
std::vector<Preference> roundedOnH200();

} // namespace mlir::mnistc

#endif // MNISTC_IR_PLAN_ROUNDEDONH200_H
