//===- cudnn_library.cpp - the functions of cuDNN -------------------------===//

#include "cuda/cudnn_library.h"
#include "cuda/library_search.h"

namespace mn::cuda {

Status loadCudnn(CUstream stream, CudnnLibrary &library) {
  constexpr const char *file = "libcudnn.so.9";
  static_assert(CUDNN_MAJOR == 9, "the file's name has the version");
  // cuDNN opens these by name when an engine needs them; once open, they are
  // found wherever they are.
  openOptionalLibrary("libnvrtc.so.13");
  openOptionalLibrary("libcublasLt.so.13");
  void *opened = nullptr;
  MN_TRY(openLibrary(file, opened));
#define MN_FIND(NAME) MN_FIND_FUNCTION(opened, file, library, NAME)
  MN_CUDNN_FUNCTIONS(MN_FIND)
#undef MN_FIND
  // 91900 is 9.19.0.
  const size_t version = library.cudnnGetVersion();
  if (version / 10000 != CUDNN_MAJOR)
    return Status::error(Code::noLibrary,
                         "expected version " + std::to_string(CUDNN_MAJOR) +
                             " of '" + file + "', got " +
                             std::to_string(version / 10000) + "." +
                             std::to_string(version / 100 % 100));
  cudnnStatus_t status = library.cudnnCreate(&library.handle);
  if (status == CUDNN_STATUS_SUCCESS)
    status = library.cudnnSetStream(library.handle, stream);
  if (status != CUDNN_STATUS_SUCCESS)
    return Status::error(Code::noLibrary,
                         std::string("'") + file + "' does not start: " +
                             library.cudnnGetErrorString(status));
  return Status::success();
}

} // namespace mn::cuda
