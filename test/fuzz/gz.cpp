//===- gz.cpp - data files of any kind, packed or not ---------------------===//

#include "formats/files.h"
#include <sys/mman.h>
#include <unistd.h>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const int file = memfd_create("fuzz", 0);
  if (ftruncate(file, 0) != 0 ||
      pwrite(file, data, size, 0) != static_cast<ssize_t>(size))
    __builtin_trap();
  mn::Array array;
  (void)mn::readArray("/proc/self/fd/" + std::to_string(file), array);
  return 0;
}
