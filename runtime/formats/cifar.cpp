//===- cifar.cpp - the binary files of CIFAR-10 and CIFAR-100 -------------===//
//
// A row is one label, or a coarse and a fine one, and 32 x 32 pixels of red, of
// green, and of blue (https://www.cs.toronto.edu/~kriz/cifar.html).
//
//===----------------------------------------------------------------------===//

#include "formats/files.h"
#include <algorithm>
#include <sys/stat.h>

namespace mn {

namespace {

constexpr size_t side = 32, pixels = side * side, rowBytes = 3 * pixels;

/// One of the two data sets, where it is.
struct Cifar {
  std::string folder;
  size_t labels = 1; ///< of a row; the last one counts
  std::vector<std::string> train;
  const char *test, *names;

  const std::vector<std::string> files(const std::string &split) const {
    return split == "train" ? train : std::vector<std::string>{test};
  }
};

bool isFile(const std::string &path) {
  struct stat about;
  return ::stat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode);
}

/// Whether the first file of a split is there.
bool find(const std::string &folder, const std::string &split, Cifar &found) {
  const Cifar kinds[] = {
      {folder,
       1,
       {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
        "data_batch_4.bin", "data_batch_5.bin"},
       "test_batch.bin",
       "batches.meta.txt"},
      {folder, 2, {"train.bin"}, "test.bin", "fine_label_names.txt"}};
  for (const char *below : {"", "/cifar-10-batches-bin", "/cifar-100-binary"})
    for (Cifar kind : kinds) {
      kind.folder = folder + below;
      if (!isFile(kind.folder + "/" + kind.files(split).front()))
        continue;
      found = std::move(kind);
      return true;
    }
  return false;
}

/// A line each.
Status readNames(const std::string &path, std::vector<std::string> &names) {
  names.clear();
  if (!isFile(path))
    return Status::success();
  std::vector<char> file;
  MN_TRY(readFile(path, file));
  std::string name;
  for (const char c : file)
    if (c == '\n') {
      if (!name.empty())
        names.push_back(name);
      name.clear();
    } else if (c != '\r') {
      name += c;
    }
  if (!name.empty())
    names.push_back(name);
  return Status::success();
}

} // namespace

bool hasCifarFiles(const std::string &folder, const std::string &split) {
  Cifar found;
  return find(folder, split, found);
}

Status readCifar(const std::string &folder, const std::string &split,
                 Colors colors, Array &images, Array &labels,
                 std::vector<std::string> &names) {
  Cifar found;
  if (!find(folder, split, found))
    return badData("expected CIFAR's files to %s on in '%s', got none",
                   split.c_str(), folder.c_str());
  if (colors == Colors::grey)
    return badData("'%s': expected a model of an input with 3 colors, got "
                   "another",
                   found.folder.c_str());
  images = {}, labels = {};
  std::vector<char> &to = images.bytes.edit(), &classes = labels.bytes.edit();
  images.type = labels.type = Type::u8;
  images.pixels = true;
  for (const std::string &name : found.files(split)) {
    const std::string path = found.folder + "/" + name;
    std::vector<char> file;
    MN_TRY(readFile(path, file));
    const size_t row = found.labels + rowBytes;
    if (file.empty() || file.size() % row != 0)
      return badData("'%s': expected rows of %zu bytes, got %zu bytes",
                     path.c_str(), row, file.size());
    for (size_t at = 0; at < file.size(); at += row) {
      classes.push_back(file[at + found.labels - 1]);
      const char *planes = &file[at + found.labels];
      const size_t begin = to.size();
      to.insert(to.end(), planes, planes + rowBytes);
      if (colors == Colors::interleaved)
        interleave(reinterpret_cast<const uint8_t *>(planes), pixels,
                   reinterpret_cast<uint8_t *>(&to[begin]));
    }
  }
  const auto count = static_cast<int64_t>(classes.size());
  constexpr auto s = static_cast<int64_t>(side);
  labels.shape = {count};
  images.shape = colors == Colors::planes
                     ? std::vector<int64_t>{count, 3, s, s}
                     : std::vector<int64_t>{count, s, s, 3};
  return readNames(found.folder + "/" + found.names, names);
}

} // namespace mn
