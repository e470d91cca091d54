//===- mapped_file.h - a file as memory -------------------------*- C++ -*-===//
//
// Processes that map a file share its pages, and only those that are read are
// loaded. What changes in the file changes in memory: `check` finds that out.
// To read what was cut off is a signal, SIGBUS, which ends the program with the
// exit code of bad data and a line that names the file.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CORE_MAPPED_FILE_H
#define MNISTRT_CORE_MAPPED_FILE_H

#include "core/status.h"
#include <csignal>
#include <cstddef>
#include <ctime>
#include <memory>
#include <string>

namespace mn {

class MappedFile {
public:
  /// The first `bytes` of a file that is open for reading, and may be closed
  /// then; `path` is for messages. Null where it cannot be mapped, as on some
  /// file systems, or has nothing to be mapped.
  static std::shared_ptr<const MappedFile>
  map(int descriptor, const std::string &path, size_t bytes);
  ~MappedFile();
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;

  const char *data() const { return first; }
  /// That the file, under whatever name, was not written since it was mapped.
  Status check() const;

  struct Entry;

private:
  MappedFile() = default;

  std::string path;
  int file = -1;
  const char *first = nullptr;
  size_t count = 0;
  long long size = 0;
  timespec written = {};
  Entry *entry = nullptr;

  static Entry *add(const char *first, size_t count, const std::string &path);
  static void onBusError(int number, siginfo_t *about, void *);
};

} // namespace mn

#endif // MNISTRT_CORE_MAPPED_FILE_H
