//===- library_search.h - finding NVIDIA's libraries ------------*- C++ -*-===//
//
// Programs depend on no CUDA library until a plan needs one; then it is looked
// for where the user says, where the loader looks, and where CUDA toolkits and
// Python's packages put it.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_LIBRARY_SEARCH_H
#define MNISTRT_CUDA_LIBRARY_SEARCH_H

#include "core/status.h"
#include "mnistrt/model.h"
#include <string>
#include <vector>

namespace mn::cuda {

/// Opens a library such as "libcudnn.so.9" in the first of these places that
/// has it: MNISTC_CUDA_PATH (folders, separated by colons), the loader's own,
/// the toolkit's, Python's. The compiler's own folders are not among them: a
/// program trusts no folder of the machine that built it. A missing library is
/// an error of code 12 that lists the places.
Status openLibrary(const char *file, void *&library);

/// The same for a library that is useful but not required.
void openOptionalLibrary(const char *file);

/// The address of a function of a library of that name.
Status findFunction(void *library, const char *file, const char *function,
                    void *&address);

#define MN_STRING_OF(NAME) #NAME
/// Fills member NAME of TABLE; a macro of the header may add a version to it.
#define MN_FIND_FUNCTION(LIBRARY, FILE, TABLE, NAME)                           \
  {                                                                            \
    void *address = nullptr;                                                   \
    MN_TRY(findFunction(LIBRARY, FILE, MN_STRING_OF(NAME), address));          \
    TABLE.NAME = reinterpret_cast<decltype(TABLE.NAME)>(address);              \
  }

} // namespace mn::cuda

#endif // MNISTRT_CUDA_LIBRARY_SEARCH_H
