//===- nccl_library.h - the functions of NCCL -------------------*- C++ -*-===//
//
// Declared here, since they are few and their ABI is stable since NCCL 2.0:
// nccl.h comes in a package of some 200 MB.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_NCCL_LIBRARY_H
#define MNISTRT_CUDA_NCCL_LIBRARY_H

#include "core/ranks.h"
#include "cuda/rank_watch.h"
#include <cuda.h>
#include <memory>
#include <vector>

namespace mn::cuda {

struct NcclLibrary {
  struct Id {
    char bytes[128];
  };
  using Communicator = struct NcclCommunicator *;
  struct Sum {
    void *begin;
    size_t bytes;
  };
  using Pages = std::pair<uintptr_t, uintptr_t>; ///< the first, one past them
  static constexpr uintptr_t pageBytes = 4096;   ///< as windows need them
  static constexpr int success = 0, floats = 7, doubles = 8, sum = 0;

  int (*ncclGetVersion)(int *version) = nullptr;
  int (*ncclGetUniqueId)(Id *id) = nullptr;
  int (*ncclCommInitRank)(Communicator *communicator, int ranks, Id id,
                          int rank) = nullptr;
  int (*ncclCommDestroy)(Communicator communicator) = nullptr;
  int (*ncclCommAbort)(Communicator communicator) = nullptr;
  int (*ncclCommGetAsyncError)(Communicator communicator, int *error) = nullptr;
  int (*ncclAllReduce)(const void *from, void *to, size_t count, int type,
                       int operation, Communicator communicator,
                       CUstream stream) = nullptr;
  const char *(*ncclGetErrorString)(int error) = nullptr;

  // Since NCCL 2.27; null in an older one.
  using Window = struct NcclWindow *;
  int (*ncclMemAlloc)(void **memory, size_t bytes) = nullptr;
  int (*ncclMemFree)(void *memory) = nullptr;
  int (*ncclCommWindowRegister)(Communicator communicator, void *memory,
                                size_t bytes, Window *window,
                                int flags) = nullptr;
  int (*ncclCommWindowDeregister)(Communicator communicator,
                                  Window window) = nullptr;

  Communicator communicator = nullptr; ///< null: this rank is alone
  std::unique_ptr<RankWatch> watch;    ///< likewise
  std::vector<void *> allocated;       ///< by ncclMemAlloc
  std::vector<Sum> sums;               ///< enqueued since shareSums()
  std::vector<Pages> shared;           ///< by all ranks

  bool isOpen() const { return ncclAllReduce != nullptr; }
  Status check(int result, const char *what) const;

  /// Memory that ranks may share; null where NCCL has none.
  void *allocate(size_t bytes);
  bool owns(CUdeviceptr memory) const;
  /// Lets the ranks share what of `memory`, which allocate() made, large sums
  /// are computed in. All ranks call it after the same sums.
  Status shareSums(Ranks &ranks);
  /// Ends the communicator after a failure, without waiting for other ranks.
  void abort(const Status &failure);
  /// Ends the communicator, and frees what was allocated.
  void close();

private:
  Status share(const Pages &pages, Ranks &ranks);
};

/// Opens libnccl.so.2.
Status loadNccl(NcclLibrary &library);

/// Connects all ranks; each calls it, with the context of its GPU current.
Status connect(NcclLibrary &library, Ranks &ranks);

} // namespace mn::cuda

#endif // MNISTRT_CUDA_NCCL_LIBRARY_H
