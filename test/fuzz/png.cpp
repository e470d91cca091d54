//===- png.cpp - pictures -------------------------------------------------===//

#include "formats/files.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const char *begin = reinterpret_cast<const char *>(data);
  mn::Array array;
  if (mn::checkPngHeader({begin, size}).ok())
    (void)mn::parsePng({begin, begin + size}, mn::Colors::planes, array);
  return 0;
}
