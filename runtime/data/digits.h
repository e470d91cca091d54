//===- digits.h - a data set that needs no download -------------*- C++ -*-===//
//
// `--data=digits`: handwritten-looking digits, 28 x 28 bytes, 0 is black. Each
// is rendered from its class's strokes: bent, curved, mapped by a random affine
// map and a gentle wave, inked with a pen whose width, softness and darkness
// vary, and specked with noise. An image is a function of the seed, its part
// and its number, with the same bytes on every machine.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_DATA_DIGITS_H
#define MNISTRT_DATA_DIGITS_H

#include <cstdint>

namespace mn {

constexpr int digitSide = 28;
constexpr int digitPixels = digitSide * digitSide;
constexpr int64_t digitTrainCount = 60000;
constexpr int64_t digitTestCount = 10000;

enum class DigitPart : uint32_t { train = 0, test = 1 };

/// The class of image `number`, 0 to 9, each about equally often.
uint8_t digitLabel(uint64_t seed, DigitPart part, int64_t number);

/// Writes digitPixels bytes, row by row.
void drawDigit(uint64_t seed, DigitPart part, int64_t number, uint8_t *image);

/// Images [first, first + count) and their labels, on all cores, or on
/// `threads`.
void drawDigits(uint64_t seed, DigitPart part, int64_t first, int64_t count,
                uint8_t *images, uint8_t *labels, int threads = 0);

} // namespace mn

#endif // MNISTRT_DATA_DIGITS_H
