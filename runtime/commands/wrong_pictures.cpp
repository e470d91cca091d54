//===- wrong_pictures.cpp - the rows that a classifier gets wrong ---------===//

#include "commands/eval_output.h"
#include "data/picture_shape.h"
#include "formats/atomic_file.h"
#include "formats/files.h"
#include <algorithm>
#include <filesystem>

namespace mn {

namespace {

namespace fs = std::filesystem;

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
    const size_t to = shape.interleaved ? i : i % plane * channels + i / plane;
    pixels[to] = static_cast<uint8_t>(
        std::clamp(255 * (numbers[i] - low) / (high - low), 0.0, 255.0) + 0.5);
  }
  return pixels;
}

} // namespace

Status checkWrongFolder(const std::string &folder, const SampleSet &data) {
  PictureShape shape;
  if (!findPictureShape(data.inputs, shape))
    return Status::error(Code::usage,
                         "expected pictures for '--wrong', [rows, height, "
                         "width] with one or three channels, got rows of "
                         "shape " +
                             shapeText(data.inputs.shape));
  std::error_code error;
  fs::create_directories(folder, error);
  fs::directory_iterator entry;
  if (!error)
    entry = fs::directory_iterator(folder, error);
  if (error)
    return badData("cannot make the folder '%s': %s", folder.c_str(),
                   error.message().c_str());
  return entry == fs::directory_iterator()
             ? Status::success()
             : badData("expected an empty or a new folder for '--wrong', got "
                       "'%s' with files",
                       folder.c_str());
}

Status writeWrongPictures(const std::string &folder, const SampleSet &data,
                          const std::vector<JudgedRow> &rows) {
  PictureShape shape;
  findPictureShape(data.inputs, shape);
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::vector<uint8_t> pixels =
        pixelsOf(data.inputs, shape, rows[i].row);
    std::vector<char> file;
    MN_TRY(
        pngOf(pixels.data(), shape.height, shape.width, shape.channels, file));
    MN_TRY(writeAtomically(folder +
                               text("/%04zu-row-%lld-is-%zu-taken-for-%zu.png",
                                    i + 1, static_cast<long long>(rows[i].row),
                                    rows[i].label, rows[i].guess),
                           {file.data(), file.size()}));
  }
  return Status::success();
}

} // namespace mn
