//===- augment.h - pictures that are changed at random ----------*- C++ -*-===//
//
// Each time a picture is trained on it is shifted, turned, scaled and mirrored
// a little, so that a network sees more of them. What happens to a row depends
// on the seed, the epoch and the row's place in the data set alone: not on the
// batch, and not on who computes it, since every operation is rounded by
// itself. For g++, clang and NVRTC.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_AUGMENT_H
#define MNISTRT_AUGMENT_H

#include "mnistrt/philox.h"

namespace mn {

/// The stream of random numbers that is kept for augmentation; see Random.
constexpr uint32_t augmentStream = 0x4155474Du; // "AUGM"

/// Operations that no compiler joins: on the host, the runtime is compiled for
/// processors that cannot.
namespace rounded {
#ifdef __CUDA_ARCH__
MN_FN float add(float x, float y) { return __fadd_rn(x, y); }
MN_FN float mul(float x, float y) { return __fmul_rn(x, y); }
MN_FN double add(double x, double y) { return __dadd_rn(x, y); }
MN_FN double mul(double x, double y) { return __dmul_rn(x, y); }
MN_FN double div(double x, double y) { return __ddiv_rn(x, y); }
MN_FN float floor(float x) { return floorf(x); }
#else
MN_FN float add(float x, float y) { return x + y; }
MN_FN float mul(float x, float y) { return x * y; }
MN_FN double add(double x, double y) { return x + y; }
MN_FN double mul(double x, double y) { return x * y; }
MN_FN double div(double x, double y) { return x / y; }
MN_FN float floor(float x) { return __builtin_floorf(x); }
#endif
} // namespace rounded

/// Where the pixels of a row are from: pixel (x, y) of the result is the one at
/// (a u + b v + x0, c u + d v + y0) of the data, with u = x - shiftX - x0 and
/// v = y - shiftY - y0, where (x0, y0) is the center.
struct PictureMap {
  float a, b, c, d, x0, y0;
  int32_t shiftX, shiftY;
};

/// How much is changed at most, and what the rows look like. `height` 0: rows
/// stay as they are.
struct Augment {
  int32_t height = 0, width = 0, channels = 1;
  bool interleaved = false; ///< channels side by side, not plane by plane
  bool flip = false;        ///< half of all rows, left to right
  int32_t shift = 0;        ///< whole pixels, in both directions
  float rotate = 0;         ///< radians, both ways
  float scale = 0;          ///< 0.1: 0.9 to 1.1 times as large

  MN_FN bool on() const { return height != 0; }

  /// Sine and cosine of `t` from -pi to pi: Taylor series of a quarter of it
  /// (errors below 1e-9), then twice the formulas for double angles.
  MN_FN static void sinCos(double t, double &sine, double &cosine) {
    using namespace rounded;
    const double x = mul(t, 0.25), y = mul(x, x);
    double s = 0, c = 0; // sin x / x and cos x, by Horner's rule
    for (int k = 6; k >= 0; --k) {
      s = add(1.0, mul(s, div(-y, (2 * k + 2) * (2 * k + 3))));
      c = add(1.0, mul(c, div(-y, (2 * k + 1) * (2 * k + 2))));
    }
    s = mul(s, x);
    for (int i = 0; i < 2; ++i) {
      const double twice = mul(2.0, mul(s, c));
      c = add(1.0, mul(-2.0, mul(s, s)));
      s = twice;
    }
    sine = s, cosine = c;
  }

  /// From -1 to 1.
  MN_FN static double both(uint32_t bits) {
    return rounded::add(rounded::mul(2.0, double(unitFloat(bits))), -1.0);
  }
  /// From -shift to shift.
  MN_FN int32_t pixels(uint32_t bits) const {
    return int32_t(uint64_t(bits) * uint64_t(2 * shift + 1) >> 32) - shift;
  }

  MN_FN PictureMap mapOf(uint64_t seed, uint64_t epoch, uint64_t sample) const {
    using namespace rounded;
    const Random random = {seed, augmentStream};
    const Words4 one = random.block(epoch, 2 * sample);
    const Words4 two = random.block(epoch, 2 * sample + 1);
    double sine = 0, cosine = 1;
    sinCos(mul(double(rotate), both(one.word[0])), sine, cosine);
    const double size = add(1.0, mul(double(scale), both(one.word[1])));
    const double mirror = flip && (two.word[0] & 1) ? -1 : 1;
    PictureMap map;
    map.a = float(mul(mirror, div(cosine, size)));
    map.b = float(mul(mirror, div(sine, size)));
    map.c = float(div(-sine, size));
    map.d = float(div(cosine, size));
    map.x0 = 0.5f * float(width - 1);
    map.y0 = 0.5f * float(height - 1);
    map.shiftX = pixels(one.word[2]);
    map.shiftY = pixels(one.word[3]);
    return map;
  }

  /// Element `i` of a row: between the four pixels around the place that the
  /// map says, by their distances. `at(j)` is element j of the data's row;
  /// outside of the picture there is `outside`.
  template <typename At>
  MN_FN float element(const PictureMap &map, int64_t i, float outside,
                      const At &at) const {
    using namespace rounded;
    const int32_t plane = height * width;
    const int32_t pixel =
        interleaved ? int32_t(i) / channels : int32_t(i) % plane;
    const int32_t channel =
        interleaved ? int32_t(i) % channels : int32_t(i) / plane;
    const float u = float(pixel % width - map.shiftX) - map.x0;
    const float v = float(pixel / width - map.shiftY) - map.y0;
    const float x = add(add(mul(map.a, u), mul(map.b, v)), map.x0);
    const float y = add(add(mul(map.c, u), mul(map.d, v)), map.y0);
    const float left = floor(x), top = floor(y);
    const auto value = [&](int32_t row, int32_t column) {
      if (row < 0 || row >= height || column < 0 || column >= width)
        return outside;
      const int32_t from = row * width + column;
      return at(interleaved ? int64_t(from) * channels + channel
                            : int64_t(channel) * plane + from);
    };
    const auto between = [](float p, float q, float part) {
      return add(p, mul(part, add(q, -p)));
    };
    const int32_t row = int32_t(top), column = int32_t(left);
    const float right = add(x, -left), down = add(y, -top);
    return between(
        between(value(row, column), value(row, column + 1), right),
        between(value(row + 1, column), value(row + 1, column + 1), right),
        down);
  }
};

} // namespace mn

#endif // MNISTRT_AUGMENT_H
