//===- files.h - reading and writing data files -----------------*- C++ -*-===//
//
// Readers take nothing for granted: a file may be cut off, hostile, or of
// another kind. Every error names the file.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_FORMATS_FILES_H
#define MNISTRT_FORMATS_FILES_H

#include "core/array.h"
#include <string_view>

namespace mn {

/// A file that is open for reading, and that it is one: opening a pipe or a
/// device could wait forever.
class InputFile {
public:
  InputFile() = default;
  InputFile(const InputFile &) = delete;
  InputFile &operator=(const InputFile &) = delete;
  ~InputFile();

  Status open(const std::string &path);
  uint64_t bytes() const { return size; }
  int descriptor() const { return file; }
  /// Errors: fewer bytes than asked for.
  Status readAt(uint64_t offset, void *to, size_t bytes) const;

private:
  std::string path;
  int file = -1;
  uint64_t size = 0;
};

Status readFile(const std::string &path, std::vector<char> &bytes);

/// What data may take of the host's memory. More is a mistake, or an attempt to
/// fill it.
constexpr size_t maxDataBytes = size_t(1) << 34;

/// What becomes of a picture's colors: nothing is left of them, or there is a
/// plane for each of red, green and blue, or these are side by side.
enum class Colors { grey, planes, interleaved };

/// Pixels of 3 planes, side by side.
void interleave(const uint8_t *planes, size_t pixels, uint8_t *to);

/// What the head of a file says: an array without its elements, and where in
/// the file they begin.
struct ArrayHeader {
  Array array;
  size_t begin = 0, bytes = 0;
};

/// As much of a file as has to be read to know its header.
constexpr size_t headBytes = size_t(1) << 16;

// The formats. Messages are without the file's name.
Status parseNpyHeader(std::string_view head, ArrayHeader &header);
Status parseIdxHeader(std::string_view head, ArrayHeader &header);
/// That a picture is not too large, from its first bytes.
Status checkPngHeader(std::string_view head);
/// uint8 [height, width], or with `colors` [3, height, width] or
/// [height, width, 3].
Status parsePng(const std::vector<char> &file, Colors colors, Array &array);
/// A picture as a PNG file: grey, or with three `channels` red, green and blue
/// of each pixel side by side.
Status pngOf(const uint8_t *pixels, int64_t height, int64_t width,
             int64_t channels, std::vector<char> &file);
Status parseTensorProto(std::string_view file, Array &array);
/// The whole of a .npy or IDX file.
Status parseArray(Status (*parseHeader)(std::string_view, ArrayHeader &),
                  std::string_view file, Array &array);

std::vector<char> npyOf(Type type, const std::vector<int64_t> &shape,
                        const void *data, size_t bytes);

/// Reads a file by what it begins with and, for ONNX's tensors, which begin
/// with nothing, by its ending '.pb'. Files of .npy and IDX may be gzipped. The
/// header is checked before more is read, unpacked or allocated.
Status readArray(const std::string &path, Array &array,
                 Colors colors = Colors::grey);
/// The same, but what can be used as it is in the file is mapped: elements of
/// .npy and IDX that are not gzipped, nor misplaced, and no truth values.
Status mapArray(const std::string &path, Array &array);

/// CIFAR-10's or CIFAR-100's binary files in a folder, or in the sub-folder
/// that their archive makes: uint8 images [N, 3, 32, 32], or as `colors` has
/// it, labels [N] (CIFAR-100's fine ones), and the names of the classes where
/// the folder has them. Error: no colors.
bool hasCifarFiles(const std::string &folder, const std::string &split);
Status readCifar(const std::string &folder, const std::string &split,
                 Colors colors, Array &images, Array &labels,
                 std::vector<std::string> &names);

/// MNIST's files in a folder, in its sub-folders 'MNIST/raw' and 'raw', gzipped
/// or not, under any of the spellings in use: uint8 images [N, height,
/// width] and labels [N]. `split` is "train" or "test".
bool hasIdxFiles(const std::string &folder, const std::string &split);
Status readIdxPair(const std::string &folder, const std::string &split,
                   Array &images, Array &labels);

} // namespace mn

#endif // MNISTRT_FORMATS_FILES_H
