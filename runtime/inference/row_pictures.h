//===- row_pictures.h - rows of a data set as pictures ----------*- C++ -*-===//

#ifndef MNISTRT_INFERENCE_ROW_PICTURES_H
#define MNISTRT_INFERENCE_ROW_PICTURES_H

#include "core/array.h"
#include <optional>

namespace mn {

/// Where the pixels of a row are.
struct PictureShape {
  int64_t height = 0, width = 0, channels = 1;
  bool planar = false; ///< a channel after the other
};

/// Of [N, height, width], with channels before or after these; nothing of other
/// rows.
std::optional<PictureShape> pictureShapeOf(const Array &inputs);

/// A row as a PNG file. Numbers that are no pixels are spread from black to
/// white.
Status pictureOf(const Array &inputs, const PictureShape &shape, int64_t row,
                 std::vector<char> &file);

} // namespace mn

#endif // MNISTRT_INFERENCE_ROW_PICTURES_H
