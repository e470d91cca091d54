//===- image_folder.cpp - pictures sorted into folders by class -----------===//

#include "data/image_folder.h"
#include "formats/files.h"
#include <algorithm>
#include <filesystem>
#include <strings.h>

namespace mn {

namespace {

namespace fs = std::filesystem;

struct Listing {
  std::vector<std::string> folders, files; ///< names, sorted
};

Status list(const std::string &path, Listing &listing) {
  std::error_code error;
  fs::directory_iterator entry(path, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name[0] == '.')
      continue;
    // Links count as what they lead to; one that leads nowhere is no picture.
    std::error_code dangling;
    if (entry->is_directory(dangling))
      listing.folders.push_back(name);
    else
      listing.files.push_back(name);
  }
  if (error)
    return badData("cannot read the folder '%s': %s", path.c_str(),
                   error.message().c_str());
  std::sort(listing.folders.begin(), listing.folders.end());
  std::sort(listing.files.begin(), listing.files.end());
  return Status::success();
}

bool isPng(const std::string &name) {
  return name.size() > 4 &&
         ::strcasecmp(name.c_str() + name.size() - 4, ".png") == 0;
}

} // namespace

bool hasPictures(const std::string &path) {
  Listing top, inside;
  if (!list(path, top).ok())
    return false;
  for (const std::string &name : top.folders) {
    inside = {};
    if (list(path + "/" + name, inside).ok() &&
        std::any_of(inside.files.begin(), inside.files.end(), isPng))
      return true;
  }
  return false;
}

std::vector<std::string> picturesIn(const std::string &path) {
  Listing top;
  std::vector<std::string> paths;
  if (list(path, top).ok())
    for (const std::string &name : top.files)
      if (isPng(name))
        paths.push_back(path + "/" + name);
  return paths;
}

Status listClasses(const std::string &path, std::vector<std::string> &classes) {
  Listing top;
  MN_TRY(list(path, top));
  if (top.folders.empty())
    return badData("expected a folder for each class in '%s', got none",
                   path.c_str());
  classes = std::move(top.folders);
  return Status::success();
}

Status listImageFolder(const std::string &path,
                       const std::vector<std::string> &classes,
                       ImageFolder &folder) {
  Listing top;
  MN_TRY(list(path, top));
  ImageFolder found;
  found.others = top.files.size();
  found.classes = classes;
  if (classes.empty())
    MN_TRY(listClasses(path, found.classes));
  for (const std::string &name : top.folders) {
    const std::string inside = path + "/" + name;
    const auto label =
        std::lower_bound(found.classes.begin(), found.classes.end(), name);
    if (label == found.classes.end() || *label != name)
      return badData("expected in '%s' only classes to train on, got '%s'",
                     path.c_str(), name.c_str());
    Listing listing;
    MN_TRY(list(inside, listing));
    const size_t before = found.paths.size();
    for (const std::string &file : listing.files) {
      if (!isPng(file)) {
        ++found.others;
        continue;
      }
      found.paths.push_back(inside + "/" + file);
      found.labels.push_back(
          static_cast<int32_t>(label - found.classes.begin()));
    }
    if (found.paths.size() == before && classes.empty())
      return badData("expected .png pictures in '%s', got none among %zu "
                     "files",
                     inside.c_str(), listing.files.size());
  }
  if (found.paths.empty())
    return badData("expected .png pictures in '%s', got none", path.c_str());
  folder = std::move(found);
  return Status::success();
}

/// "28 x 28": width and height of a picture, grey or with colors.
static std::string sizeText(const std::vector<int64_t> &shape) {
  const size_t first = shape.size() == 3 && shape[0] == 3;
  return text("%lld x %lld", static_cast<long long>(shape[first + 1]),
              static_cast<long long>(shape[first]));
}

Status readImageFolder(const ImageFolder &folder, size_t first, size_t count,
                       Array &images, Colors colors) {
  if (count > folder.paths.size() || first > folder.paths.size() - count)
    return badData("expected pictures up to %zu, got %zu", first + count,
                   folder.paths.size());
  Array result;
  result.type = Type::u8;
  result.pixels = true;
  std::vector<char> pixels;
  for (size_t i = first; i < first + count; ++i) {
    const std::string &path = folder.paths[i];
    Array image;
    std::vector<char> file;
    MN_TRY(readFile(path, file));
    Status status = parsePng(file, colors, image);
    if (!status.ok()) {
      status.message = "'" + path + "': " + status.message;
      return status;
    }
    if (i == first) {
      result.shape = image.shape;
      result.shape.insert(result.shape.begin(), static_cast<int64_t>(count));
      size_t bytes;
      MN_TRY(checkedBytes(result.type, result.shape, bytes));
      if (bytes > maxDataBytes)
        return badData("expected at most %zu bytes of pictures, got %zu of "
                       "%s; '--limit' takes fewer",
                       maxDataBytes, count, sizeText(image.shape).c_str());
      pixels.reserve(bytes);
    }
    const std::vector<int64_t> firstShape(result.shape.begin() + 1,
                                          result.shape.end());
    if (image.shape != firstShape)
      return badData("'%s': expected %s pixels, as in '%s', got %s",
                     path.c_str(), sizeText(firstShape).c_str(),
                     folder.paths[first].c_str(),
                     sizeText(image.shape).c_str());
    pixels.insert(pixels.end(), image.bytes.begin(), image.bytes.end());
  }
  result.bytes = std::move(pixels);
  images = std::move(result);
  return Status::success();
}

} // namespace mn
