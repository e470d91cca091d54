//===- fake-nccl.h - an NCCL that only writes down --------------*- C++ -*-===//
//
// libnccl.so.2 for machines without a GPU: nothing is added up. Ranks connect
// only where NCCL_GRAPH_MIXING_SUPPORT is what FAKE_CUDA_MIXES says, if that is
// set.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_TEST_CUDA_FAKE_NCCL_H
#define MNISTC_TEST_CUDA_FAKE_NCCL_H

#include <cstddef>
#include <vector>

namespace fake {

struct Sum {
  const void *from, *to;
  size_t count;
  int type;
  void *stream;
};

struct Nccl {
  int connectResult = 0, asyncError = 0; ///< what the functions answer
  int ranks = 0, rank = -1;              ///< of the last communicator
  int destroyed = 0, aborted = 0;
  std::vector<Sum> sums = {};
};

Nccl &nccl();

} // namespace fake

#endif // MNISTC_TEST_CUDA_FAKE_NCCL_H
