//===- augmentation.cpp - what '--augment' says ---------------------------===//

#include "train/augmentation.h"
#include "inference/row_pictures.h"
#include <cmath>
#include <numbers>
#include <sstream>

namespace mn {

namespace {

/// More than any picture has.
constexpr double maxShift = 1 << 15;

Status refused(const std::string &word) {
  return Status::error(
      Code::usage,
      "expected '--augment' to be some of shift:PIXELS, rotate:DEGREES (up to "
      "180), scale:PART (below 1) and flip, joined by commas, got '" +
          word + "'");
}

/// The number after a name; false where it is none from 0 to `most`.
bool readNumber(const std::string &word, size_t colon, double most,
                double &number) {
  if (colon == std::string::npos)
    return false;
  const char *begin = word.c_str() + colon + 1;
  char *end = nullptr;
  number = std::strtod(begin, &end);
  return end != begin && *end == 0 && number >= 0 && number <= most;
}

Status readWord(const std::string &word, Augment &augment) {
  const size_t colon = word.find(':');
  const std::string name = word.substr(0, colon);
  double number = 0;
  if (word == "flip") {
    augment.flip = true;
  } else if (name == "shift" && readNumber(word, colon, maxShift, number) &&
             number == std::floor(number)) {
    augment.shift = static_cast<int32_t>(number);
  } else if (name == "rotate" && readNumber(word, colon, 180, number)) {
    augment.rotate = static_cast<float>(number / 180 * std::numbers::pi);
  } else if (name == "scale" && readNumber(word, colon, 0.999, number)) {
    augment.scale = static_cast<float>(number);
  } else {
    return refused(word);
  }
  return Status::success();
}

} // namespace

Status readAugment(const std::string &text, const Array &rows,
                   Augment &augment) {
  augment = {};
  if (text.empty())
    return Status::success();
  std::stringstream rest(text);
  for (std::string word; std::getline(rest, word, ',');)
    MN_TRY(readWord(word, augment));
  if (text.back() == ',')
    return refused("");
  const std::optional<PictureShape> shape = pictureShapeOf(rows);
  if (!shape)
    return Status::error(
        Code::usage, "expected pictures for '--augment', [rows, height, width] "
                     "with one or three channels, got rows of shape " +
                         shapeText(rows.shape));
  augment.height = static_cast<int32_t>(shape->height);
  augment.width = static_cast<int32_t>(shape->width);
  augment.channels = static_cast<int32_t>(shape->channels);
  augment.interleaved = !shape->planar;
  return Status::success();
}

} // namespace mn
