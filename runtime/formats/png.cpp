//===- png.cpp - pictures, as grey pixels ---------------------------------===//
//
// libpng turns every kind of PNG into 8-bit grey; transparent parts lie on
// black, MNIST's background.
//
//===----------------------------------------------------------------------===//

#include "formats/files.h"
#include <png.h>

namespace mn {

Status parsePng(const std::vector<char> &file, Array &array) {
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  if (!png_image_begin_read_from_memory(&image, file.data(), file.size()))
    return badData("expected a PNG picture, got %s", image.message);
  // A picture of a digit is small; what is not would be refused later anyway.
  if (image.width > 4096 || image.height > 4096) {
    const unsigned width = image.width, height = image.height;
    png_image_free(&image);
    return badData("expected a picture of at most 4096 x 4096 pixels, got "
                   "%u x %u",
                   width, height);
  }
  image.format = PNG_FORMAT_GRAY;
  array = {};
  array.type = Type::u8;
  array.pixels = true;
  array.shape = {static_cast<int64_t>(image.height),
                 static_cast<int64_t>(image.width)};
  array.bytes.resize(PNG_IMAGE_SIZE(image));
  const png_color black = {0, 0, 0};
  if (!png_image_finish_read(&image, &black, array.bytes.data(), 0, nullptr)) {
    const std::string why = image.message;
    png_image_free(&image);
    return badData("expected a whole PNG picture, got %s", why.c_str());
  }
  return Status::success();
}

} // namespace mn
