//===- picture_shape.h - where the pixels of a row are ----------*- C++ -*-===//

#ifndef MNISTRT_DATA_PICTURE_SHAPE_H
#define MNISTRT_DATA_PICTURE_SHAPE_H

#include "core/array.h"

namespace mn {

struct PictureShape {
  int64_t height = 0, width = 0, channels = 1;
  bool interleaved = false; ///< channels side by side, not plane by plane
};

/// Of rows of pictures: [N, height, width], with one or three channels before
/// or after these. False: they are something else.
bool findPictureShape(const Array &rows, PictureShape &shape);

} // namespace mn

#endif // MNISTRT_DATA_PICTURE_SHAPE_H
