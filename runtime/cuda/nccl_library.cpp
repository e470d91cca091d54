//===- nccl_library.cpp - the functions of NCCL ---------------------------===//

#include "cuda/nccl_library.h"
#include "cuda/library_search.h"
#include <algorithm>
#include <dlfcn.h>
#include <utility>

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
#define MN_FIND(NAME)                                                          \
  library.NAME = reinterpret_cast<decltype(library.NAME)>(dlsym(opened, #NAME));
  MN_FIND(ncclMemAlloc)
  MN_FIND(ncclMemFree)
  MN_FIND(ncclCommWindowRegister)
  MN_FIND(ncclCommWindowDeregister)
#undef MN_FIND
  return Status::success();
}

static size_t wholePages(size_t bytes) {
  constexpr size_t page = NcclLibrary::pageBytes;
  return (bytes + page - 1) / page * page;
}

void *NcclLibrary::allocate(size_t bytes) {
  void *memory = nullptr;
  if (!ncclMemAlloc || !ncclMemFree || !ncclCommWindowRegister ||
      !ncclCommWindowDeregister ||
      ncclMemAlloc(&memory, wholePages(bytes)) != success)
    return nullptr;
  allocated.push_back(memory);
  return memory;
}

bool NcclLibrary::owns(CUdeviceptr memory) const {
  return std::find(allocated.begin(), allocated.end(),
                   reinterpret_cast<void *>(memory)) != allocated.end();
}

/// A smaller sum takes longer in memory that two H200 share, a larger one less.
constexpr size_t leastShared = size_t(1) << 20; // bytes

/// The pages that large sums are computed in, those that touch as one.
static std::vector<NcclLibrary::Pages>
pagesOf(const std::vector<NcclLibrary::Sum> &sums) {
  std::vector<NcclLibrary::Pages> pages;
  for (const NcclLibrary::Sum &sum : sums)
    if (const auto begin = reinterpret_cast<uintptr_t>(sum.begin);
        sum.bytes >= leastShared)
      pages.push_back({begin / NcclLibrary::pageBytes,
                       (begin + sum.bytes - 1) / NcclLibrary::pageBytes + 1});
  std::sort(pages.begin(), pages.end());
  std::vector<NcclLibrary::Pages> joined;
  for (const auto &[begin, end] : pages)
    if (joined.empty() || begin > joined.back().second)
      joined.push_back({begin, end});
    else
      joined.back().second = std::max(joined.back().second, end);
  return joined;
}

Status NcclLibrary::shareSums(Ranks &ranks) {
  const std::vector<Pages> all = pagesOf(std::exchange(sums, {}));
  double can = !allocated.empty();
  MN_TRY(ranks.reduce(Reduction::min, &can, 1));
  for (const Pages &pages : all)
    if (can != 0 &&
        std::none_of(shared.begin(), shared.end(), [&](const Pages &other) {
          return pages.first < other.second && other.first < pages.second;
        }))
      MN_TRY(share(pages, ranks));
  return Status::success();
}

Status NcclLibrary::share(const Pages &pages, Ranks &ranks) {
  constexpr int symmetric = 1;
  Window window = nullptr;
  void *begin = reinterpret_cast<void *>(pages.first * pageBytes);
  const size_t bytes = (pages.second - pages.first) * pageBytes;
  const auto registerThem = [&] {
    const RankWatch::Call call(watch.get());
    return ncclCommWindowRegister(communicator, begin, bytes, &window,
                                  symmetric) == success &&
           window != nullptr;
  };
  const bool mine = registerThem();
  double has = mine;
  MN_TRY(ranks.reduce(Reduction::min, &has, 1));
  if (has != 0)
    shared.push_back(pages);
  else if (mine)
    return check(ncclCommWindowDeregister(communicator, window),
                 "no longer sharing memory");
  return Status::success();
}

void NcclLibrary::abort(const Status &failure) {
  const RankWatch::Call call(watch.get(), failure);
  ncclCommAbort(communicator);
  communicator = nullptr;
}

void NcclLibrary::close() {
  if (communicator)
    ncclCommDestroy(communicator);
  communicator = nullptr;
  for (void *memory : allocated)
    ncclMemFree(memory);
  allocated.clear();
}

Status connect(NcclLibrary &library, Ranks &ranks) {
  NcclLibrary::Id id = {};
  Status status = Status::success();
  if (ranks.isFirst())
    status = library.check(library.ncclGetUniqueId(&id), "making an id");
  MN_TRY(ranks.agree(status));
  MN_TRY(ranks.broadcast(&id, sizeof id));
  const RankPlace &place = ranks.place();
  library.watch = std::make_unique<RankWatch>(ranks);
  const RankWatch::Call call(library.watch.get());
  return library.check(library.ncclCommInitRank(&library.communicator,
                                                place.count, id, place.rank),
                       "connecting the ranks");
}

} // namespace mn::cuda
