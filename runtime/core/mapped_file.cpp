//===- mapped_file.cpp - a file as memory ---------------------------------===//

#include "core/mapped_file.h"
#include "core/array.h"
#include "mnistrt/printable.h"
#include <atomic>
#include <csignal>
#include <cstdint>
#include <fcntl.h>
#include <mutex>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace mn {

/// What the handler of SIGBUS knows of a map. It cannot wait for a lock, so
/// that entries stay, and are used again.
struct MappedFile::Entry {
  std::atomic<uintptr_t> first = 0;
  std::atomic<size_t> count = 0; ///< 0: of no map
  std::string message;
  Entry *next = nullptr;
};

namespace {

std::atomic<MappedFile::Entry *> entries = nullptr;
std::mutex adding;
struct sigaction actionBefore;

} // namespace

/// An access beyond the end of a file, or one that the disk fails.
void MappedFile::onBusError(int number, siginfo_t *about, void *) {
  const auto at = reinterpret_cast<uintptr_t>(about->si_addr);
  const bool isAccess = about->si_code > 0; // and not of a process
  for (const Entry *entry = entries; entry; entry = entry->next)
    if (isAccess && at - entry->first < entry->count) {
      const std::string &message = entry->message;
      (void)!::write(STDERR_FILENO, message.data(), message.size());
      ::_exit(static_cast<int>(Code::badData));
    }
  ::sigaction(SIGBUS, &actionBefore, nullptr);
  ::raise(number);
}

MappedFile::Entry *MappedFile::add(const char *first, size_t count,
                                   const std::string &path) {
  const std::lock_guard lock(adding);
  if (!entries) {
    struct sigaction action = {};
    action.sa_sigaction = onBusError;
    action.sa_flags = SA_SIGINFO;
    ::sigaction(SIGBUS, &action, &actionBefore);
  }
  Entry *entry = entries;
  while (entry && entry->count != 0)
    entry = entry->next;
  if (!entry) {
    entry = new Entry;
    entry->next = entries;
    entries = entry;
  }
  entry->message = printable("error: cannot read '" + path +
                             "': it was cut short while it was in use, or its "
                             "disk fails") +
                   "\n";
  entry->first = reinterpret_cast<uintptr_t>(first);
  entry->count = count;
  return entry;
}

std::shared_ptr<const MappedFile>
MappedFile::map(int descriptor, const std::string &path, size_t bytes) {
  struct stat about;
  if (bytes == 0 || ::fstat(descriptor, &about) != 0)
    return nullptr;
  void *mapped = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (mapped == MAP_FAILED)
    return nullptr;
  std::shared_ptr<MappedFile> made(new MappedFile);
  made->first = static_cast<const char *>(mapped);
  made->count = bytes;
  made->path = path;
  made->file = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  made->size = about.st_size;
  made->written = about.st_mtim;
  made->entry = add(made->first, bytes, path);
  return made->file < 0 ? nullptr : made;
}

MappedFile::~MappedFile() {
  entry->count = 0;
  ::munmap(const_cast<char *>(first), count);
  if (file >= 0)
    ::close(file);
}

Status MappedFile::check() const {
  struct stat about;
  if (::fstat(file, &about) == 0 && about.st_size == size &&
      about.st_mtim.tv_sec == written.tv_sec &&
      about.st_mtim.tv_nsec == written.tv_nsec)
    return Status::success();
  return badData("expected '%s' to stay as it is while it is in use, got it "
                 "changed",
                 path.c_str());
}

} // namespace mn
