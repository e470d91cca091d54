//===- open_ranks.cpp - with whom a process trains ------------------------===//

#include "ranks/open_ranks.h"
#include "commands/options.h"
#include "core/array.h"
#include "core/executor.h"
#include "ranks/mpi_ranks.h"
#include "ranks/socket_ranks.h"
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace mn {

bool isDataParallel(const Model &model) {
  for (int i = 0; i < model.parameterCount; ++i)
    if (std::strcmp(model.parameters[i].tensor.name, names::ranks) == 0)
      return true;
  return false;
}

/// What carries a few numbers and NCCL's id: MPI where the launcher has it.
/// Ranks on CPUs add up by MPI, and so need it.
static Status connect(const Model &model, const Launch &launch, int64_t timeout,
                      std::unique_ptr<Ranks> &ranks) {
  const auto seconds = static_cast<double>(timeout);
  const bool needsMpi = std::strcmp(model.target, "cuda") != 0;
  return launch.hasMpi || needsMpi ? openMpiRanks(launch, seconds, ranks)
                                   : openSocketRanks(launch, seconds, ranks);
}

static Status open(const Model &model, const Launch &launch, int64_t timeout,
                   std::unique_ptr<Ranks> &ranks) {
  Status status =
      isDataParallel(model)
          ? connect(model, launch, timeout, ranks)
          : Status::error(
                Code::usage,
                text("expected a program compiled with '--data-parallel', as "
                     "%s says that it is one of %d ranks, got one without; "
                     "unset %s to run it alone",
                     launch.launcher, launch.place.count,
                     launch.countVariable));
  if (launch.place.rank != 0)
    status.message.clear();
  return status;
}

void sayNow(const Status &status) {
  sayError(status);
  if (status.code != Code::rankLost)
    return;
  std::fflush(nullptr);
  std::_Exit(static_cast<int>(status.code));
}

Status withRanks(const Model &model, int64_t timeout,
                 const std::function<Status(Ranks *)> &work) {
  Launch launch;
  MN_TRY(findLaunch(launch));
  if (launch.place.count == 1)
    return work(nullptr);
  setUpRanks();
  std::unique_ptr<Ranks> ranks;
  MN_TRY(open(model, launch, timeout, ranks));
  ranks->giveUp = sayNow;
  Status status = work(ranks.get());
  // While the others still wait: a launcher kills what has not ended when the
  // first one has failed.
  sayError(status);
  status.message.clear();
  return status;
}

} // namespace mn
