//===- idx.cpp - MNIST's own files ----------------------------------------===//

#include "formats/files.h"
#include <sys/stat.h>

namespace mn {

Status parseIdxHeader(std::string_view head, ArrayHeader &header) {
  if (head.size() < 4 || head[0] || head[1])
    return badData("expected an IDX file, got no IDX magic number");
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(head[i]); };
  if (byte(2) != 8)
    return badData("expected IDX elements of type 0x08 (unsigned bytes), got "
                   "0x%02x",
                   byte(2));
  const size_t rank = byte(3);
  header.begin = 4 + 4 * rank;
  if (rank < 1 || rank > 4 || head.size() < header.begin)
    return badData("expected 1 to 4 dimensions in the IDX header, got %zu",
                   rank);
  Array &array = header.array;
  array = {};
  array.type = Type::u8;
  array.pixels = rank > 1;
  for (size_t i = 4; i < header.begin; i += 4)
    array.shape.push_back(int64_t(byte(i)) << 24 | byte(i + 1) << 16 |
                          byte(i + 2) << 8 | byte(i + 3));
  return checkedBytes(array.type, array.shape, header.bytes);
}

namespace {

/// The first of all spellings that there is, or nothing.
std::string findFile(const std::string &folder, const std::string &prefix,
                     const std::string &what, const std::string &rank) {
  struct stat about;
  for (const char *below : {"", "/MNIST/raw", "/raw", "/mnist"})
    for (const char *separator : {"-idx", ".idx"})
      for (const char *ending : {"", ".gz"}) {
        const std::string path = folder + below + "/" + prefix + "-" + what +
                                 separator + rank + "-ubyte" + ending;
        if (::stat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode))
          return path;
      }
  return "";
}

Status readPart(const std::string &folder, const std::string &prefix,
                const char *what, const char *rank, bool maps, Array &array) {
  const std::string path = findFile(folder, prefix, what, rank);
  if (path.empty())
    return badData("expected '%s-%s-idx%s-ubyte' or the same with .gz in '%s', "
                   "got neither",
                   prefix.c_str(), what, rank, folder.c_str());
  return maps ? mapArray(path, array) : readArray(path, array);
}

} // namespace

bool hasIdxFiles(const std::string &folder, const std::string &split) {
  const std::string prefix = split == "train" ? "train" : "t10k";
  return !findFile(folder, prefix, "images", "3").empty() ||
         !findFile(folder, prefix, "labels", "1").empty();
}

Status readIdxPair(const std::string &folder, const std::string &split,
                   Array &images, Array &labels) {
  const std::string prefix = split == "train" ? "train" : "t10k";
  MN_TRY(readPart(folder, prefix, "images", "3", /*maps=*/true, images));
  MN_TRY(readPart(folder, prefix, "labels", "1", /*maps=*/false, labels));
  if (images.shape.size() != 3 || labels.shape.size() != 1)
    return badData(
        "expected images of 3 dimensions and labels of 1, got %s and "
        "%s",
        shapeText(images.shape).c_str(), shapeText(labels.shape).c_str());
  return Status::success();
}

} // namespace mn
