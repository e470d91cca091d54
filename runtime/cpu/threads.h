//===- threads.h - whether there are threads to compute with ----*- C++ -*-===//

#ifndef MNISTRT_CPU_THREADS_H
#define MNISTRT_CPU_THREADS_H

#include "core/status.h"

namespace mn {

/// Makes as many threads as OpenMP will, and ends them: where it cannot make
/// one, libgomp ends the process with an exit code that is not ours.
Status checkThreads(int count);

} // namespace mn

#endif // MNISTRT_CPU_THREADS_H
