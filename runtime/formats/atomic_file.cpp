//===- atomic_file.cpp - a file that is whole or not there ----------------===//

#include "formats/atomic_file.h"
#include "core/array.h"
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

namespace mn {

namespace {

std::string folderOf(const std::string &path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos)
    return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

/// What is free for an ordinary user around `path`; false where unknown.
bool freeBytes(const std::string &path, uint64_t &bytes) {
  struct statvfs about;
  if (::statvfs(folderOf(path).c_str(), &about) != 0)
    return false;
  bytes = uint64_t(about.f_bavail) * about.f_frsize;
  return true;
}

/// The path at the end of a chain of links; links to nothing stay as they are.
std::string resolved(const std::string &path) {
  char *real = ::realpath(path.c_str(), nullptr);
  if (!real)
    return path;
  const std::string result = real;
  std::free(real);
  return result;
}

/// Whether a file is what a killed process of this user left: no other name of
/// somebody's file, no pipe.
bool isOurs(int file) {
  struct stat about;
  return ::fstat(file, &about) == 0 && S_ISREG(about.st_mode) &&
         about.st_nlink == 1 && about.st_uid == ::geteuid();
}

Status noRoom(const std::string &path, uint64_t needed) {
  uint64_t free = 0;
  if (!freeBytes(path, free))
    return badData("cannot write '%s': expected %llu bytes of free space, got "
                   "a full disk",
                   path.c_str(), static_cast<unsigned long long>(needed));
  return badData("cannot write '%s': expected %llu bytes of free space, got "
                 "%llu",
                 path.c_str(), static_cast<unsigned long long>(needed),
                 static_cast<unsigned long long>(free));
}

} // namespace

AtomicFile::~AtomicFile() { abandon(); }

void AtomicFile::abandon() {
  if (file < 0)
    return;
  // Unlinked before the lock goes, so that it is ours that is unlinked.
  ::unlink(temporary.c_str());
  ::close(file);
  file = -1;
}

Status AtomicFile::failed(const char *what, int error) const {
  if (error == ENOSPC || error == EDQUOT)
    return noRoom(target, promised > written ? promised : written);
  return badData("cannot %s '%s': %s", what, target.c_str(),
                 std::strerror(error));
}

Status AtomicFile::open(const std::string &path, uint64_t bytes) {
  abandon();
  target = resolved(path);
  temporary = target + ".tmp";
  promised = bytes;
  written = 0;
  struct stat old;
  const bool exists = ::stat(target.c_str(), &old) == 0;
  if (exists && !S_ISREG(old.st_mode))
    return badData("cannot write '%s': expected a file, got a %s", path.c_str(),
                   S_ISDIR(old.st_mode) ? "folder" : "device");
  if (exists && ::access(target.c_str(), W_OK) != 0)
    return failed("write", errno);
  MN_TRY(openTemporary());
  if (exists && ::fchmod(file, old.st_mode & 07777) != 0) {
    const Status status = failed("write", errno);
    abandon();
    return status;
  }
  return reserve(bytes);
}

Status AtomicFile::openTemporary() {
  // A second process may rename its file between our opening and locking it:
  // then we hold a finished file, and try again.
  for (;;) {
    constexpr int flags = O_WRONLY | O_CLOEXEC | O_NOFOLLOW;
    file = ::open(temporary.c_str(), flags | O_CREAT | O_EXCL, 0666);
    if (file < 0 && errno == EEXIST) {
      file = ::open(temporary.c_str(), flags | O_NONBLOCK);
      if (file < 0 && errno == ENOENT)
        continue;
      if (file < 0 || !isOurs(file)) {
        if (file >= 0)
          ::close(file);
        file = -1;
        return badData("cannot write '%s': expected no '%s', got one that "
                       "this program did not leave",
                       target.c_str(), temporary.c_str());
      }
    }
    if (file < 0)
      return failed("write", errno);
    if (::flock(file, LOCK_EX | LOCK_NB) != 0) {
      const int error = errno;
      ::close(file);
      file = -1;
      if (error == EWOULDBLOCK)
        return badData("cannot write '%s': another process is writing it",
                       target.c_str());
      return failed("lock", error);
    }
    struct stat ours, there;
    if (::fstat(file, &ours) == 0 && ::stat(temporary.c_str(), &there) == 0 &&
        ours.st_ino == there.st_ino && ours.st_dev == there.st_dev)
      break;
    ::close(file);
  }
  if (::ftruncate(file, 0) == 0)
    return Status::success();
  const Status status = failed("write", errno);
  abandon();
  return status;
}

Status AtomicFile::reserve(uint64_t bytes) {
  struct rlimit limit;
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
      limit.rlim_cur != RLIM_INFINITY && bytes > limit.rlim_cur) {
    abandon();
    return badData("cannot write '%s': expected files of %llu bytes to be "
                   "allowed, got a limit of %llu",
                   target.c_str(), static_cast<unsigned long long>(bytes),
                   static_cast<unsigned long long>(limit.rlim_cur));
  }
  uint64_t free = 0;
  if (freeBytes(target, free) && bytes > free) {
    abandon();
    return noRoom(target, bytes);
  }
  // Not every file system can reserve; then writing finds out.
  if (bytes > 0 &&
      ::fallocate(file, FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(bytes)) !=
          0 &&
      (errno == ENOSPC || errno == EDQUOT || errno == EFBIG)) {
    const Status status = failed("write", errno);
    abandon();
    return status;
  }
  return Status::success();
}

Status AtomicFile::write(const void *data, size_t bytes) {
  const char *from = static_cast<const char *>(data);
  while (bytes > 0) {
    const ssize_t put = ::write(file, from, bytes);
    if (put < 0 && errno == EINTR)
      continue;
    if (put < 0) {
      const int error = errno;
      const Status status = failed("write", error);
      abandon();
      return status;
    }
    from += put;
    bytes -= static_cast<size_t>(put);
    written += static_cast<uint64_t>(put);
  }
  return Status::success();
}

Status AtomicFile::commit() {
  if (file < 0)
    return badData("cannot write '%s': it is not open", target.c_str());
  if (::fsync(file) != 0 || ::rename(temporary.c_str(), target.c_str()) != 0) {
    const Status status = failed("write", errno);
    abandon();
    return status;
  }
  ::close(file);
  file = -1;
  // The file is whole whether or not the folder can be flushed; a power cut
  // may still bring back the old one.
  const int folder =
      ::open(folderOf(target).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) {
    ::fsync(folder);
    ::close(folder);
  }
  return Status::success();
}

Status checkWritable(const std::string &path, uint64_t bytes) {
  AtomicFile file;
  return file.open(path, bytes);
}

Status writeAtomically(const std::string &path, std::string_view content) {
  AtomicFile file;
  MN_TRY(file.open(path, content.size()));
  MN_TRY(file.write(content.data(), content.size()));
  return file.commit();
}

} // namespace mn
