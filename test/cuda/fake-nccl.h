//===- fake-nccl.h - an NCCL that only writes down --------------*- C++ -*-===//
//
// libnccl.so.2 for machines without a GPU: nothing is added up. Ranks connect
// only where NCCL_GRAPH_MIXING_SUPPORT is what FAKE_CUDA_MIXES says, if that is
// set. A sum is the kernel "nccl", which in memory that ranks share may begin
// before what it follows has ended.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTC_TEST_CUDA_FAKE_NCCL_H
#define MNISTC_TEST_CUDA_FAKE_NCCL_H

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace fake {

struct Sum {
  const void *from, *to;
  size_t count;
  int type;
  void *stream;
};

struct Window {
  const char *begin;
  size_t bytes;
};

struct Nccl {
  int connectResult = 0, asyncError = 0; ///< what the functions answer
  int ranks = 0, rank = -1;              ///< of the last communicator
  int destroyed = 0, aborted = 0;
  std::vector<Sum> sums = {};
  int windowResult = 0; ///< what making a window answers
  int windowsAsked = 0; ///< by this rank; the others wait for it
  std::vector<Window> windows = {};
  /// Sees what is called of those that need the other ranks, and may block.
  std::function<void(const std::string &function)> onCall = nullptr;
};

Nccl &nccl();

} // namespace fake

#endif // MNISTC_TEST_CUDA_FAKE_NCCL_H
