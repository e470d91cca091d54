//===- image_folder.h - pictures sorted into folders by class ---*- C++ -*-===//
//
// FOLDER/CLASS/*.png, as torchvision's ImageFolder reads it: the classes are
// the sub-folders in the order of their names' bytes, and so are the pictures
// of each. Hidden files are no pictures.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_DATA_IMAGE_FOLDER_H
#define MNISTRT_DATA_IMAGE_FOLDER_H

#include "formats/files.h"
#include <string>
#include <vector>

namespace mn {

struct ImageFolder {
  std::vector<std::string> classes; ///< names; a label is an index
  std::vector<std::string> paths;   ///< of all pictures, class by class
  std::vector<int32_t> labels;      ///< one a path
  size_t others = 0;                ///< files that are no PNG, left out
};

/// Whether a folder has folders with pictures in it.
bool hasPictures(const std::string &path);

/// The pictures in a folder itself, in the order of their names' bytes.
std::vector<std::string> picturesIn(const std::string &path);

/// The names of the classes of a folder, in their order.
Status listClasses(const std::string &path, std::vector<std::string> &classes);

/// Finds the pictures without reading them. Errors: no folder, no classes, a
/// class without pictures. Where `classes` is not empty, it numbers them: there
/// may be fewer of them, or ones without pictures, but no others.
Status listImageFolder(const std::string &path,
                       const std::vector<std::string> &classes,
                       ImageFolder &folder);

/// Reads pictures [first, first + count), which must all be of one size, as
/// uint8 [count, height, width] of grey, or with colors.
Status readImageFolder(const ImageFolder &folder, size_t first, size_t count,
                       Array &images, Colors colors = Colors::grey);

} // namespace mn

#endif // MNISTRT_DATA_IMAGE_FOLDER_H
