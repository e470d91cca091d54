//===- row_pictures.cpp - rows of a data set as pictures ------------------===//

#include "inference/row_pictures.h"
#include "formats/files.h"
#include <algorithm>

namespace mn {

namespace {

bool isColor(int64_t channels) { return channels == 1 || channels == 3; }

/// Numbers that are no pixels are spread from black to white.
std::vector<uint8_t> pixelsOf(const Array &inputs, const PictureShape &shape,
                              int64_t row) {
  const auto plane = static_cast<size_t>(shape.height * shape.width);
  const auto channels = static_cast<size_t>(shape.channels);
  const size_t first = static_cast<size_t>(row) * plane * channels;
  std::vector<double> numbers(plane * channels);
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = numberAt(inputs.type, inputs.bytes.data(), first + i);
  double low = 0, high = 255;
  if (!inputs.pixels) {
    const auto [least, most] =
        std::minmax_element(numbers.begin(), numbers.end());
    low = *least, high = std::max(*most, *least + 1e-30);
  }
  std::vector<uint8_t> pixels(numbers.size());
  for (size_t i = 0; i < numbers.size(); ++i) {
    const size_t to = shape.planar ? i % plane * channels + i / plane : i;
    pixels[to] = static_cast<uint8_t>(
        std::clamp(255 * (numbers[i] - low) / (high - low), 0.0, 255.0) + 0.5);
  }
  return pixels;
}

} // namespace

std::optional<PictureShape> pictureShapeOf(const Array &inputs) {
  PictureShape shape;
  const std::vector<int64_t> &d = inputs.shape;
  if (d.size() == 3)
    shape = {d[1], d[2], 1, false};
  else if (d.size() == 4 && isColor(d[1]))
    shape = {d[2], d[3], d[1], true};
  else if (d.size() == 4 && isColor(d[3]))
    shape = {d[1], d[2], d[3], false};
  if (shape.height < 1 || shape.width < 1)
    return std::nullopt;
  return shape;
}

Status pictureOf(const Array &inputs, const PictureShape &shape, int64_t row,
                 std::vector<char> &file) {
  const std::vector<uint8_t> pixels = pixelsOf(inputs, shape, row);
  return pngOf(pixels.data(), shape.height, shape.width, shape.channels, file);
}

} // namespace mn
