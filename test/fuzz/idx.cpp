//===- idx.cpp - MNIST's files --------------------------------------------===//

#include "formats/files.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  mn::Array array;
  (void)mn::parseArray(mn::parseIdxHeader,
                       {reinterpret_cast<const char *>(data), size}, array);
  return 0;
}
