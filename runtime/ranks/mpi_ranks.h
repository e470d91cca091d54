//===- mpi_ranks.h - ranks that MPI connects --------------------*- C++ -*-===//
//
// Nothing waits for ever: a rank that was killed or stopped is found out by a
// time limit, and named.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_RANKS_MPI_RANKS_H
#define MNISTRT_RANKS_MPI_RANKS_H

#include "ranks/launch.h"
#include <memory>

namespace mn {

/// Starts MPI. `timeout`: seconds that a rank waits for the others. Errors: no
/// library; another number of ranks than the launcher said.
Status openMpiRanks(const Launch &launch, double timeout,
                    std::unique_ptr<Ranks> &ranks);

} // namespace mn

#endif // MNISTRT_RANKS_MPI_RANKS_H
