//===- socket_ranks.h - ranks that find each other by TCP -------*- C++ -*-===//
//
// For launchers that start processes and no MPI, such as torchrun: rank 0
// listens at MASTER_ADDR:MASTER_PORT, the others connect. What goes this way is
// NCCL's id and a few numbers now and then; gradients never do.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_RANKS_SOCKET_RANKS_H
#define MNISTRT_RANKS_SOCKET_RANKS_H

#include "ranks/launch.h"
#include <memory>

namespace mn {

/// Waits until all ranks are there, at most `timeout` seconds, which is also
/// how long a rank waits for the others later. Where the port is taken, as by
/// torchrun's own store, the next ones are tried. Errors: no address or port;
/// ranks that do not come, or say that they are others than expected.
Status openSocketRanks(const Launch &launch, double timeout,
                       std::unique_ptr<Ranks> &ranks);

} // namespace mn

#endif // MNISTRT_RANKS_SOCKET_RANKS_H
