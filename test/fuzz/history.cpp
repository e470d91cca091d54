//===- history.cpp - what a checkpoint says of its run --------------------===//

#include "train/history.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  mn::History history, again;
  const std::string_view text(reinterpret_cast<const char *>(data), size);
  if (!history.parse(text).ok())
    return 0;
  if (!again.parse(history.text()).ok() || again.text() != history.text())
    __builtin_trap();
  history.addPoint({1, 1, 1});
  (void)history.plot("title");
  return 0;
}
