//===- open_ranks.h - with whom a process trains ----------------*- C++ -*-===//

#ifndef MNISTRT_RANKS_OPEN_RANKS_H
#define MNISTRT_RANKS_OPEN_RANKS_H

#include "core/ranks.h"
#include "mnistrt/model.h"
#include <functional>
#include <memory>

namespace mn {

/// Whether a program was compiled for several ranks.
bool isDataParallel(const Model &model);

/// Runs `work` as one of the processes that a launcher has started together, or
/// with null where there is one. What is wrong with all of them, and what they
/// agree upon, the first one says. `timeout`: seconds that ranks wait for each
/// other.
Status withRanks(const Model &model, int64_t timeout,
                 const std::function<Status(Ranks *)> &work);

/// Says what went wrong before memory is freed: a launcher may kill soon. Where
/// a rank is lost, that is the end: sums that a GPU still has to do wait for
/// it for ever, and so would who frees their memory.
void sayNow(const Status &status);

} // namespace mn

#endif // MNISTRT_RANKS_OPEN_RANKS_H
