//===- safetensors.h - named tensors in a file ------------------*- C++ -*-===//
//
// Checkpoints: a 64-bit little-endian length, a JSON header of that length, and
// the tensors' bytes one after another, as github.com/huggingface/safetensors
// says. The header gives each tensor's dtype, shape and data_offsets from the
// end of the header, and may have a map of strings, "__metadata__".
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_FORMATS_SAFETENSORS_H
#define MNISTRT_FORMATS_SAFETENSORS_H

#include "formats/files.h"
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace mn {

enum class DType : uint8_t { f64, i64, f32, i32, u8, boolean };

/// "F32", and how many bytes an element has.
const char *nameOf(DType type);
size_t bytesOf(DType type);

/// A tensor to be written. `data` must live until it is.
struct SafetensorsView {
  std::string name;
  DType type;
  std::vector<int64_t> shape;
  const void *data;
};

using SafetensorsMetadata = std::map<std::string, std::string>;

/// Writes a file whole or not at all (see AtomicFile). Tensors are laid out by
/// the size of their elements, largest first, then by name, so that each is
/// aligned; the same tensors give the same bytes. Names and metadata must be
/// UTF-8, names all different. To the metadata comes "xxh64": sixteen digits,
/// the XXH64 of the whole file as it is with sixteen zeros in their place.
Status writeSafetensors(const std::string &path,
                        std::vector<SafetensorsView> tensors,
                        const SafetensorsMetadata &metadata);

/// What the header says of one tensor.
struct SafetensorsEntry {
  std::string name;
  DType type;
  std::vector<int64_t> shape;
  uint64_t begin, end; ///< bytes, counted from the end of the header
};

/// Checks a header and reads it: strict JSON without repeated keys, known
/// dtypes, no overflow, and tensors that cover `dataBytes` bytes without gaps
/// or overlaps. Entries come in the order of their data. Messages are without
/// the file's name.
Status parseSafetensorsHeader(std::string_view header, uint64_t dataBytes,
                              std::vector<SafetensorsEntry> &entries,
                              SafetensorsMetadata &metadata);

/// A file that is open for reading.
class SafetensorsFile {
public:
  /// Reads and checks the header and, where the file has one, the checksum: all
  /// that can be wrong with a file is found here.
  Status open(const std::string &path);

  /// Whether it had a checksum, as every file of ours; those that others wrote
  /// have none.
  bool hadChecksum() const { return checked; }

  const std::vector<SafetensorsEntry> &entries() const { return all; }
  /// Without the checksum.
  const SafetensorsMetadata &metadata() const { return strings; }
  /// Null where the file has no such tensor.
  const SafetensorsEntry *find(std::string_view name) const;

  /// Reads a tensor that must be there and of this type and shape.
  Status read(std::string_view name, DType type,
              const std::vector<int64_t> &shape, void *to) const;

private:
  Status checkSum(std::string header);

  std::string path;
  InputFile file;
  bool checked = false;
  uint64_t dataBegin = 0, dataBytes = 0;
  std::vector<SafetensorsEntry> all;
  SafetensorsMetadata strings;
};

} // namespace mn

#endif // MNISTRT_FORMATS_SAFETENSORS_H
