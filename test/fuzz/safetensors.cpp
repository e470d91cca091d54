//===- safetensors.cpp - the header of a checkpoint -----------------------===//

#include "formats/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::vector<mn::SafetensorsEntry> entries;
  mn::SafetensorsMetadata metadata;
  if (size < 2)
    return 0;
  const uint64_t dataBytes = data[0] | data[1] << 8;
  const std::string_view header(reinterpret_cast<const char *>(data + 2),
                                size - 2);
  if (!mn::parseSafetensorsHeader(header, dataBytes, entries, metadata).ok())
    return 0;
  uint64_t end = 0;
  for (const mn::SafetensorsEntry &entry : entries) {
    if (entry.begin != end || entry.end < entry.begin || entry.end > dataBytes)
      __builtin_trap();
    end = entry.end;
  }
  return 0;
}
