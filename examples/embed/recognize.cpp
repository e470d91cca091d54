//===- recognize.cpp - which digit is on a picture? -----------------------===//
//
// usage: recognize PICTURE.png...
//
// A picture of any size, as gray, in the size that the model takes: dark on
// light or light on dark, whichever the corner is.
//
//===----------------------------------------------------------------------===//

#include <libdigits.h>

#include <algorithm>
#include <cstdio>
#include <mnist.hpp>
#include <png.h>

namespace {

struct Picture {
  size_t width = 0, height = 0;
  std::vector<png_byte> gray;
};

Picture readPicture(const char *path) {
  png_image png = {};
  png.version = PNG_IMAGE_VERSION;
  if (!png_image_begin_read_from_file(&png, path))
    throw std::runtime_error(std::string(path) + ": " + png.message);
  png.format = PNG_FORMAT_GRAY;
  Picture picture = {png.width, png.height, {}};
  picture.gray.resize(PNG_IMAGE_SIZE(png));
  if (!png_image_finish_read(&png, nullptr, picture.gray.data(), 0, nullptr))
    throw std::runtime_error(std::string(path) + ": " + png.message);
  return picture;
}

/// Each pixel is the mean of those that it stands for; ink is 1, paper 0.
std::vector<float> scaled(const Picture &from, size_t width, size_t height) {
  const bool darkInk = from.gray[0] > 127;
  std::vector<float> pixels;
  for (size_t y = 0; y < height; ++y)
    for (size_t x = 0; x < width; ++x) {
      const size_t top = y * from.height / height,
                   left = x * from.width / width;
      const size_t bottom = std::max(top + 1, (y + 1) * from.height / height);
      const size_t right = std::max(left + 1, (x + 1) * from.width / width);
      float sum = 0;
      for (size_t i = top; i < bottom; ++i)
        for (size_t k = left; k < right; ++k)
          sum += from.gray[i * from.width + k];
      const float mean =
          sum / static_cast<float>((bottom - top) * (right - left));
      pixels.push_back(darkInk ? 1 - mean / 255 : mean / 255);
    }
  return pixels;
}

} // namespace

int main(int argc, char **argv) try {
  mnist::Session session(digits_model());
  const std::vector<int64_t> shape = session.inputs().front().shape;
  if (shape.size() != 4 || shape[1] != 1)
    throw std::runtime_error("expected a model of gray pictures");
  for (int i = 1; i < argc; ++i) {
    const std::vector<float> pixels =
        scaled(readPicture(argv[i]), static_cast<size_t>(shape[3]),
               static_cast<size_t>(shape[2]));
    const std::vector<float> scores = session.infer<float>(1, pixels);
    std::printf("%s: %td\n", argv[i],
                std::max_element(scores.begin(), scores.end()) -
                    scores.begin());
  }
} catch (const std::exception &error) {
  std::fprintf(stderr, "error: %s\n", error.what());
  return 1;
}
