//===- files.h - reading and writing data files -----------------*- C++ -*-===//
//
// Readers take nothing for granted: a file may be cut off, hostile, or of
// another kind. Every error names the file.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_FORMATS_FILES_H
#define MNISTRT_FORMATS_FILES_H

#include "core/array.h"

namespace mn {

Status readFile(const std::string &path, std::vector<char> &bytes);

/// All or nothing: a full disk leaves what was there before.
Status writeFile(const std::string &path, const void *data, size_t bytes);

/// As readFile, unpacked where the file is gzipped.
Status readMaybeGzipped(const std::string &path, std::vector<char> &bytes);

// The formats, from a file's bytes. Messages are without the file's name.
Status parseNpy(const std::vector<char> &file, Array &array);
Status parseTensorProto(const std::vector<char> &file, Array &array);
Status parsePng(const std::vector<char> &file, Array &array);
Status parseIdx(const std::vector<char> &file, Array &array);

std::vector<char> npyOf(Type type, const std::vector<int64_t> &shape,
                        const void *data, size_t bytes);

/// Reads a file by what it begins with and, for ONNX's tensors, which begin
/// with nothing, by its ending '.pb'.
Status readArray(const std::string &path, Array &array);

/// MNIST's files in a folder, in its sub-folders 'MNIST/raw' and 'raw', gzipped
/// or not, under any of the spellings that are about: u8 images [N, height,
/// width] and labels [N]. `split` is "train" or "test".
bool hasIdxFiles(const std::string &folder, const std::string &split);
Status readIdxPair(const std::string &folder, const std::string &split,
                   Array &images, Array &labels);

} // namespace mn

#endif // MNISTRT_FORMATS_FILES_H
