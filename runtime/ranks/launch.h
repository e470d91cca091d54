//===- launch.h - how a process was started ---------------------*- C++ -*-===//
//
// mpirun, torchrun and srun tell a process in its environment which rank it is.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_RANKS_LAUNCH_H
#define MNISTRT_RANKS_LAUNCH_H

#include "core/ranks.h"
#include <string>

namespace mn {

struct Launch {
  const char *launcher = nullptr;      ///< "torchrun"; null: none of them
  const char *countVariable = nullptr; ///< where it says how many ranks
  RankPlace place;
  bool hasMpi = false; ///< the launcher connects MPI's processes
  std::string address; ///< where rank 0 is; empty: not said
  int port = 0;
};

/// Reads the variables of torchrun, Open MPI, MPICH and Slurm, in this order.
/// Errors (usage): some that contradict each other, or are no numbers.
Status findLaunch(Launch &launch);

} // namespace mn

#endif // MNISTRT_RANKS_LAUNCH_H
