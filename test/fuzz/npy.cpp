//===- npy.cpp - NumPy's files --------------------------------------------===//

#include "formats/files.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  mn::Array array, again;
  const std::string_view file(reinterpret_cast<const char *>(data), size);
  if (!mn::parseArray(mn::parseNpyHeader, file, array).ok())
    return 0;
  // What is written reads back the same.
  const std::vector<char> written = mn::npyOf(
      array.type, array.shape, array.bytes.data(), array.bytes.size());
  if (!mn::parseArray(mn::parseNpyHeader, {written.data(), written.size()},
                      again)
           .ok() ||
      again.shape != array.shape || again.bytes != array.bytes)
    __builtin_trap();
  return 0;
}
