//===- jsonl.cpp - a log that programs read -------------------------------===//

#include "formats/jsonl.h"
#include "core/array.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace mn {

JsonLog::~JsonLog() {
  if (file >= 0)
    ::close(file);
}

Status JsonLog::open(const std::string &where, bool append) {
  if (file >= 0)
    ::close(file);
  path = where;
  if (path == "-") {
    path = "standard output";
    file = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    return file >= 0 ? Status::success()
                     : badData("cannot write to standard output: %s",
                               std::strerror(errno));
  }
  file = ::open(
      path.c_str(),
      O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | (append ? 0 : O_TRUNC), 0666);
  if (file < 0)
    return badData("cannot write '%s': %s", path.c_str(), std::strerror(errno));
  return append ? cutTornLine() : Status::success();
}

Status JsonLog::cutTornLine() {
  struct stat about;
  if (::fstat(file, &about) != 0 || !S_ISREG(about.st_mode))
    return Status::success();
  // A line of ours is short; a longer end is not ours, and stays.
  constexpr off_t max = 1 << 16;
  const off_t from = about.st_size > max ? about.st_size - max : 0;
  std::string end(static_cast<size_t>(about.st_size - from), '\0');
  const ssize_t got = ::pread(file, end.data(), end.size(), from);
  if (got != static_cast<ssize_t>(end.size()))
    return badData("cannot read '%s': %s", path.c_str(),
                   got < 0 ? std::strerror(errno) : "it changes");
  if (end.empty() || end.back() == '\n')
    return Status::success();
  const size_t line = end.rfind('\n') + 1; // 0 where there is none
  const bool ours = end[line] == '{' && (line > 0 || from == 0);
  const bool good =
      ours ? ::ftruncate(file, from + static_cast<off_t>(line)) == 0
           : ::write(file, "\n", 1) == 1;
  return good ? Status::success()
              : badData("cannot write '%s': %s", path.c_str(),
                        std::strerror(errno));
}

Status JsonLog::write(const Json &event) {
  const std::string line = jsonText(event) + "\n";
  struct stat about;
  const bool regular = ::fstat(file, &about) == 0 && S_ISREG(about.st_mode);
  size_t done = 0;
  while (done < line.size()) {
    const ssize_t put = ::write(file, line.data() + done, line.size() - done);
    if (put < 0 && errno == EINTR)
      continue;
    if (put < 0) {
      const int error = errno;
      if (regular && done > 0 && ::ftruncate(file, about.st_size) != 0)
        return badData("cannot write '%s': %s; its last line is not whole",
                       path.c_str(), std::strerror(error));
      return badData("cannot write '%s': %s", path.c_str(),
                     std::strerror(error));
    }
    done += static_cast<size_t>(put);
  }
  return Status::success();
}

} // namespace mn
