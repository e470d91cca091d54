//===- files.cpp - reading and writing whole files ------------------------===//

#include "formats/files.h"
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

namespace mn {

namespace {

Status systemError(const char *what, const std::string &path) {
  return badData("cannot %s '%s': %s", what, path.c_str(),
                 std::strerror(errno));
}

struct FileDescriptor {
  int number;
  ~FileDescriptor() {
    if (number >= 0)
      ::close(number);
  }
};

/// More is a mistake, or an attempt to fill the memory.
constexpr size_t mostBytes = size_t(1) << 34;

} // namespace

Status readFile(const std::string &path, std::vector<char> &bytes) {
  FileDescriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  struct stat about;
  if (file.number < 0 || ::fstat(file.number, &about) != 0)
    return systemError("read", path);
  if (S_ISDIR(about.st_mode))
    return badData("expected a file, got the folder '%s'", path.c_str());
  bytes.clear();
  size_t size = 0;
  for (;;) {
    if (bytes.size() - size < (size_t(1) << 16))
      bytes.resize(std::max<size_t>(
          size * 2, static_cast<size_t>(about.st_size) + (size_t(1) << 16)));
    const ssize_t got =
        ::read(file.number, bytes.data() + size, bytes.size() - size);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return systemError("read", path);
    size += static_cast<size_t>(got);
    if (size > mostBytes)
      return badData("expected at most %zu bytes in '%s'", mostBytes,
                     path.c_str());
    if (got == 0)
      break;
  }
  bytes.resize(size);
  return Status::success();
}

Status writeFile(const std::string &path, const void *data, size_t bytes) {
  // Devices and pipes cannot be replaced by renaming.
  struct stat about;
  const bool inPlace =
      ::stat(path.c_str(), &about) == 0 && !S_ISREG(about.st_mode);
  const std::string temporary =
      inPlace ? path : path + ".tmp" + std::to_string(::getpid());
  FileDescriptor file{::open(temporary.c_str(),
                             O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)};
  if (file.number < 0)
    return systemError("write", path);
  const auto fail = [&] {
    const Status status = systemError("write", path);
    if (!inPlace)
      ::unlink(temporary.c_str());
    return status;
  };
  const char *from = static_cast<const char *>(data);
  while (bytes > 0) {
    const ssize_t put = ::write(file.number, from, bytes);
    if (put < 0 && errno == EINTR)
      continue;
    if (put < 0)
      return fail();
    from += put;
    bytes -= static_cast<size_t>(put);
  }
  if (inPlace)
    return Status::success();
  if (::fsync(file.number) != 0 ||
      ::rename(temporary.c_str(), path.c_str()) != 0)
    return fail();
  return Status::success();
}

Status readMaybeGzipped(const std::string &path, std::vector<char> &bytes) {
  std::vector<char> packed;
  MN_TRY(readFile(path, packed));
  if (packed.size() < 2 || packed[0] != '\x1f' || packed[1] != '\x8b') {
    bytes = std::move(packed);
    return Status::success();
  }
  if (packed.size() > UINT32_MAX)
    return badData("expected at most 4 GiB of packed bytes in '%s', got %zu",
                   path.c_str(), packed.size());
  z_stream stream = {};
  if (inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK)
    return badData("cannot unpack '%s': no memory", path.c_str());
  stream.next_in = reinterpret_cast<Bytef *>(packed.data());
  stream.avail_in = static_cast<uInt>(packed.size());
  bytes.assign(packed.size() * 4, 0);
  size_t size = 0;
  int result;
  do {
    if (size == bytes.size())
      bytes.resize(size * 2);
    stream.next_out = reinterpret_cast<Bytef *>(bytes.data() + size);
    // zlib counts in 32 bits.
    const auto room =
        static_cast<uInt>(std::min(bytes.size() - size, size_t(1) << 30));
    stream.avail_out = room;
    result = inflate(&stream, Z_NO_FLUSH);
    size += room - stream.avail_out;
  } while (result == Z_OK && size < mostBytes);
  const std::string why = stream.msg ? stream.msg : "the file is cut off";
  inflateEnd(&stream);
  if (result != Z_STREAM_END)
    return badData("cannot unpack '%s': %s", path.c_str(), why.c_str());
  bytes.resize(size);
  return Status::success();
}

Status readArray(const std::string &path, Array &array) {
  std::vector<char> file;
  MN_TRY(readMaybeGzipped(path, file));
  const auto begins = [&](const char *with, size_t size) {
    return file.size() >= size && std::memcmp(file.data(), with, size) == 0;
  };
  const bool protobuf =
      path.size() > 3 && path.compare(path.size() - 3, 3, ".pb") == 0;
  Status status;
  if (begins("\x93NUMPY", 6))
    status = parseNpy(file, array);
  else if (begins("\x89PNG", 4))
    status = parsePng(file, array);
  else if (protobuf)
    status = parseTensorProto(file, array);
  else if (begins("\0\0", 2))
    status = parseIdx(file, array);
  else
    return badData("expected a .npy, .png, .pb or IDX file, got '%s', which "
                   "begins like none of them",
                   path.c_str());
  if (!status.ok())
    status.message = "'" + path + "': " + status.message;
  return status;
}

} // namespace mn
