//===- level.h - which instructions a CPU has -------------------*- C++ -*-===//

#ifndef MNISTRT_CPU_LEVEL_H
#define MNISTRT_CPU_LEVEL_H

#include "core/status.h"
#include "mnistrt/model.h"

namespace mn {

/// "x86-64-v3": the best of the levels of x86-64 that this CPU has.
const char *cpuLevel();

/// Error 11: the model was compiled for a better CPU.
Status checkArch(const Model &model);

} // namespace mn

#endif // MNISTRT_CPU_LEVEL_H
