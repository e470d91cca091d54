//===- Statistic.h - statistics as the installed LLVM has them --*- C++ -*-===//
//
// LLVM's header lays out a statistic by NDEBUG: with assertions on in our code
// and off in the installed libraries, what they construct is not what we count
// in. Included before all else where the build has assertions.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_PASSES_STATISTIC_H
#define MNISTC_PASSES_STATISTIC_H

#if defined(__cplusplus) && !defined(NDEBUG)
#define NDEBUG
#include "llvm/ADT/Statistic.h"
#undef NDEBUG
#endif

#endif // MNISTC_PASSES_STATISTIC_H
