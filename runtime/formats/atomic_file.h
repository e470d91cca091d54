//===- atomic_file.h - a file that is whole or not there --------*- C++ -*-===//
//
// Written next to its place as PATH.tmp, flushed to the disk, and renamed. What
// was at the path stays until then, whatever happens: a full disk, SIGKILL, a
// power cut. A PATH.tmp that a killed process left is taken over.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_FORMATS_ATOMIC_FILE_H
#define MNISTRT_FORMATS_ATOMIC_FILE_H

#include "core/status.h"
#include <cstdint>
#include <string>
#include <string_view>

namespace mn {

class AtomicFile {
public:
  AtomicFile() = default;
  AtomicFile(const AtomicFile &) = delete;
  AtomicFile &operator=(const AtomicFile &) = delete;
  /// Without a commit, nothing happened.
  ~AtomicFile();

  /// `bytes`: how much will be written. It is reserved, so that a disk without
  /// room is found here; the error says how much is needed and free. A link is
  /// followed: the file that it names is replaced. Errors: a folder or device,
  /// a folder that is missing or may not be written to, another process that
  /// writes the same file.
  Status open(const std::string &path, uint64_t bytes);
  Status write(const void *data, size_t bytes);
  /// Flushes the file, renames it, and flushes the folder.
  Status commit();

private:
  Status openTemporary();
  Status reserve(uint64_t bytes);
  Status failed(const char *what, int error) const;
  void abandon();

  std::string target;    ///< with links resolved
  std::string temporary; ///< `target` + ".tmp"
  uint64_t promised = 0; ///< what `open` was told
  uint64_t written = 0;
  int file = -1;
};

/// Whether a file of `bytes` bytes can be written to `path`; leaves no file.
/// For asking before hours of training.
Status checkWritable(const std::string &path, uint64_t bytes);

/// All of a file in one call.
Status writeAtomically(const std::string &path, std::string_view content);

} // namespace mn

#endif // MNISTRT_FORMATS_ATOMIC_FILE_H
