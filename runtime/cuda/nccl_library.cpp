//===- nccl_library.cpp - the functions of NCCL ---------------------------===//

#include "cuda/nccl_library.h"
#include "cuda/library_search.h"

#if __has_include(<nccl.h>)
#include <nccl.h>
static_assert(sizeof(ncclUniqueId) == sizeof(mn::cuda::NcclLibrary::Id));
static_assert(ncclFloat32 == mn::cuda::NcclLibrary::floats &&
              ncclFloat64 == mn::cuda::NcclLibrary::doubles &&
              ncclSum == mn::cuda::NcclLibrary::sum &&
              ncclSuccess == mn::cuda::NcclLibrary::success);
#endif

namespace mn::cuda {

Status NcclLibrary::check(int result, const char *what) const {
  if (result == success)
    return Status::success();
  return Status::error(Code::rankLost, std::string("NCCL: ") + what + ": " +
                                           ncclGetErrorString(result));
}

Status loadNccl(NcclLibrary &library) {
  constexpr const char *file = "libnccl.so.2";
  void *opened = nullptr;
  MN_TRY(openLibrary(file, opened));
#define MN_FIND(NAME) MN_FIND_FUNCTION(opened, file, library, NAME)
  MN_FIND(ncclGetVersion)
  MN_FIND(ncclGetUniqueId)
  MN_FIND(ncclCommInitRank)
  MN_FIND(ncclCommDestroy)
  MN_FIND(ncclCommAbort)
  MN_FIND(ncclCommGetAsyncError)
  MN_FIND(ncclAllReduce)
  MN_FIND(ncclGetErrorString)
#undef MN_FIND
  return Status::success();
}

Status connect(NcclLibrary &library, Ranks &ranks) {
  NcclLibrary::Id id = {};
  Status status = Status::success();
  if (ranks.isFirst())
    status = library.check(library.ncclGetUniqueId(&id), "making an id");
  MN_TRY(ranks.agree(status));
  MN_TRY(ranks.broadcast(&id, sizeof id));
  const RankPlace &place = ranks.place();
  return library.check(library.ncclCommInitRank(&library.communicator,
                                                place.count, id, place.rank),
                       "connecting the ranks");
}

} // namespace mn::cuda
