//===- picture_shape.cpp - where the pixels of a row are ------------------===//

#include "data/picture_shape.h"

namespace mn {

static bool isColor(int64_t channels) { return channels == 1 || channels == 3; }

bool findPictureShape(const Array &rows, PictureShape &shape) {
  const std::vector<int64_t> &d = rows.shape;
  shape = {};
  if (d.size() == 3)
    shape = {d[1], d[2], 1, false};
  else if (d.size() == 4 && isColor(d[1]))
    shape = {d[2], d[3], d[1], false};
  else if (d.size() == 4 && isColor(d[3]))
    shape = {d[1], d[2], d[3], true};
  return shape.height > 0 && shape.width > 0;
}

} // namespace mn
