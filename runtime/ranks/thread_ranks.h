//===- thread_ranks.h - ranks that are threads of a process -----*- C++ -*-===//

#ifndef MNISTRT_RANKS_THREAD_RANKS_H
#define MNISTRT_RANKS_THREAD_RANKS_H

#include "core/ranks.h"
#include <memory>
#include <vector>

namespace mn {

/// `count` ranks, one for each of as many threads. `timeout`: seconds that one
/// waits for the others.
std::vector<std::unique_ptr<Ranks>> makeThreadRanks(int count, double timeout);

} // namespace mn

#endif // MNISTRT_RANKS_THREAD_RANKS_H
