//===- pixels.h - floats of bytes -------------------------------*- C++ -*-===//

#ifndef MNISTRT_CORE_PIXELS_H
#define MNISTRT_CORE_PIXELS_H

#include "mnistrt/pixels.h"
#include <cstddef>

namespace mn {

/// What each byte becomes, computed once for all 256.
inline void writeFloats(const Pixels &pixels, const uint8_t *from, size_t count,
                        float *to) {
  float made[256];
  for (int p = 0; p < 256; ++p)
    made[p] = pixels(p);
  for (size_t i = 0; i < count; ++i)
    to[i] = made[from[i]];
}

} // namespace mn

#endif // MNISTRT_CORE_PIXELS_H
