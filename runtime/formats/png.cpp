//===- png.cpp - pictures, grey or in colors ------------------------------===//
//
// libpng turns every kind of PNG into 8-bit grey or RGB; transparent parts are
// on black, MNIST's background.
//
//===----------------------------------------------------------------------===//

#include "formats/files.h"
#include <png.h>

namespace mn {

namespace {

// A picture of a digit is small; what is not would be refused later anyway.
constexpr unsigned maxSide = 4096;

Status tooLarge(unsigned width, unsigned height) {
  return badData("expected a picture of at most %u x %u pixels, got %u x %u",
                 maxSide, maxSide, width, height);
}

} // namespace

Status checkPngHeader(std::string_view head) {
  // Signature, length and name of the first chunk, width, height.
  if (head.size() < 24 || head.substr(12, 4) != "IHDR")
    return badData("expected a PNG picture, got no header");
  const auto number = [&](size_t at) {
    unsigned value = 0;
    for (size_t i = at; i < at + 4; ++i)
      value = value << 8 | static_cast<uint8_t>(head[i]);
    return value;
  };
  const unsigned width = number(16), height = number(20);
  return width > maxSide || height > maxSide ? tooLarge(width, height)
                                             : Status::success();
}

void interleave(const uint8_t *planes, size_t pixels, uint8_t *to) {
  for (size_t i = 0; i < pixels; ++i)
    for (size_t color = 0; color < 3; ++color)
      to[3 * i + color] = planes[color * pixels + i];
}

/// The reverse.
static void separate(Array &array) {
  std::vector<char> planes(array.bytes.size());
  const size_t pixels = planes.size() / 3;
  for (size_t i = 0; i < pixels; ++i)
    for (size_t color = 0; color < 3; ++color)
      planes[color * pixels + i] = array.bytes[3 * i + color];
  array.bytes = std::move(planes);
  array.shape = {3, array.shape[0], array.shape[1]};
}

Status parsePng(const std::vector<char> &file, Colors colors, Array &array) {
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  if (!png_image_begin_read_from_memory(&image, file.data(), file.size()))
    return badData("expected a PNG picture, got %s", image.message);
  if (image.width > maxSide || image.height > maxSide) {
    const unsigned width = image.width, height = image.height;
    png_image_free(&image);
    return tooLarge(width, height);
  }
  const bool grey = colors == Colors::grey;
  image.format = grey ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  array = {};
  array.type = Type::u8;
  array.pixels = true;
  array.shape = {static_cast<int64_t>(image.height),
                 static_cast<int64_t>(image.width)};
  if (!grey)
    array.shape.push_back(3);
  array.bytes.edit().resize(PNG_IMAGE_SIZE(image));
  const png_color black = {0, 0, 0};
  if (!png_image_finish_read(&image, &black, array.bytes.edit().data(), 0,
                             nullptr)) {
    const std::string why = image.message;
    png_image_free(&image);
    return badData("expected a whole PNG picture, got %s", why.c_str());
  }
  if (colors == Colors::planes)
    separate(array);
  return Status::success();
}

Status pngOf(const uint8_t *pixels, int64_t height, int64_t width,
             int64_t channels, std::vector<char> &file) {
  if (height < 1 || width < 1 || height > maxSide || width > maxSide)
    return tooLarge(static_cast<unsigned>(width),
                    static_cast<unsigned>(height));
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<unsigned>(width);
  image.height = static_cast<unsigned>(height);
  image.format = channels == 3 ? PNG_FORMAT_RGB : PNG_FORMAT_GRAY;
  png_alloc_size_t bytes = PNG_IMAGE_PNG_SIZE_MAX(image);
  file.resize(bytes);
  if (!png_image_write_to_memory(&image, file.data(), &bytes, 0, pixels, 0,
                                 nullptr))
    return badData("cannot make a PNG picture: %s", image.message);
  file.resize(bytes);
  return Status::success();
}

} // namespace mn
