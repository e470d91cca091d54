//===- cublas_library.cpp - the functions of cuBLASLt ---------------------===//

#include "cuda/cublas_library.h"
#include "cuda/library_search.h"

namespace mn::cuda {

Status loadCublas(CublasLibrary &library) {
  constexpr const char *file = "libcublasLt.so.13";
  static_assert(CUBLAS_VER_MAJOR == 13, "the file's name has the version");
  void *opened = nullptr;
  MN_TRY(openLibrary(file, opened));
#define MN_FIND(NAME) MN_FIND_FUNCTION(opened, file, library, NAME)
  MN_CUBLAS_FUNCTIONS(MN_FIND)
#undef MN_FIND
  // 130001 is 13.0.1.
  const size_t major = library.cublasLtGetVersion() / 10000;
  if (major != CUBLAS_VER_MAJOR)
    return Status::error(
        Code::noLibrary,
        "expected version " + std::to_string(CUBLAS_VER_MAJOR) + " of '" +
            file + "', got " + std::to_string(library.cublasLtGetVersion()));
  const cublasStatus_t status = library.cublasLtCreate(&library.handle);
  if (status != CUBLAS_STATUS_SUCCESS)
    return Status::error(Code::noLibrary,
                         std::string("'") + file + "' does not start: " +
                             library.cublasLtGetStatusString(status));
  return Status::success();
}

} // namespace mn::cuda
