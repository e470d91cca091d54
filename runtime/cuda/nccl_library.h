//===- nccl_library.h - the functions of NCCL -------------------*- C++ -*-===//
//
// Declared here, since they are few and their ABI is stable since NCCL 2.0:
// nccl.h comes in a package of some 200 MB.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_NCCL_LIBRARY_H
#define MNISTRT_CUDA_NCCL_LIBRARY_H

#include "core/ranks.h"
#include <cuda.h>

namespace mn::cuda {

struct NcclLibrary {
  struct Id {
    char bytes[128];
  };
  using Communicator = struct NcclCommunicator *;
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

  Communicator communicator = nullptr; ///< null: this rank is alone

  bool isOpen() const { return ncclAllReduce != nullptr; }
  Status check(int result, const char *what) const;
};

/// Opens libnccl.so.2.
Status loadNccl(NcclLibrary &library);

/// Connects all ranks; each calls it, with the context of its GPU current.
Status connect(NcclLibrary &library, Ranks &ranks);

} // namespace mn::cuda

#endif // MNISTRT_CUDA_NCCL_LIBRARY_H
