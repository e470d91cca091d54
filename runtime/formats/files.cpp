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

/// Of a packed file, which may be a thousand times smaller.
constexpr size_t maxUnpackedBytes = size_t(1) << 32;

} // namespace

InputFile::~InputFile() {
  if (file >= 0)
    ::close(file);
}

Status InputFile::open(const std::string &from) {
  if (file >= 0)
    ::close(file);
  path = from;
  file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  struct stat about;
  if (file < 0 || ::fstat(file, &about) != 0)
    return badData("cannot read '%s': %s", path.c_str(), std::strerror(errno));
  if (!S_ISREG(about.st_mode))
    return badData("cannot read '%s': expected a file, got a %s", path.c_str(),
                   S_ISDIR(about.st_mode)    ? "folder"
                   : S_ISFIFO(about.st_mode) ? "pipe"
                                             : "device");
  size = static_cast<uint64_t>(about.st_size);
  return Status::success();
}

Status InputFile::readAt(uint64_t offset, void *to, size_t bytes) const {
  char *into = static_cast<char *>(to);
  while (bytes > 0) {
    const ssize_t got = ::pread(file, into, bytes, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return badData("cannot read '%s': %s", path.c_str(),
                     std::strerror(errno));
    if (got == 0)
      return badData("cannot read '%s': expected %zu more bytes at %llu, got "
                     "its end",
                     path.c_str(), bytes,
                     static_cast<unsigned long long>(offset));
    into += got;
    offset += static_cast<uint64_t>(got);
    bytes -= static_cast<size_t>(got);
  }
  return Status::success();
}

Status readFile(const std::string &path, std::vector<char> &bytes) {
  InputFile file;
  MN_TRY(file.open(path));
  if (file.bytes() > maxDataBytes)
    return badData("expected at most %zu bytes in '%s', got %llu", maxDataBytes,
                   path.c_str(), static_cast<unsigned long long>(file.bytes()));
  bytes.resize(file.bytes());
  return file.readAt(0, bytes.data(), bytes.size());
}

namespace {

/// Reads from the beginning to the end, unpacked where the file is gzipped.
class UnpackedFile {
public:
  ~UnpackedFile() {
    if (stream)
      gzclose(stream);
  }

  Status open(const std::string &from) {
    path = from;
    MN_TRY(file.open(path));
    const int copy = ::dup(file.descriptor());
    stream = gzdopen(copy, "rb");
    if (stream)
      return Status::success();
    if (copy >= 0)
      ::close(copy);
    return badData("cannot read '%s': %s", path.c_str(), std::strerror(errno));
  }

  /// Less than `bytes` where the file ends.
  Status read(char *to, size_t bytes, size_t &got) {
    for (got = 0; got < bytes;) {
      const auto part =
          static_cast<unsigned>(std::min(bytes - got, size_t(1) << 30));
      const int put = gzread(stream, to + got, part);
      if (put <= 0)
        break;
      got += static_cast<size_t>(put);
    }
    int error = Z_OK;
    const char *why = gzerror(stream, &error);
    if (error == Z_OK || error == Z_STREAM_END)
      return Status::success();
    return badData("cannot unpack '%s': %s", path.c_str(),
                   error == Z_BUF_ERROR ? "the file is cut off" : why);
  }

  bool packed() { return gzdirect(stream) == 0; }
  std::shared_ptr<const MappedFile> map() const {
    return MappedFile::map(file.descriptor(), path, file.bytes());
  }
  uint64_t bytes() const { return file.bytes(); }

private:
  std::string path;
  InputFile file;
  gzFile stream = nullptr;
};

Status wrongSize(const ArrayHeader &header, const char *found) {
  return badData("expected %zu bytes of elements for shape %s, got %s",
                 header.bytes, shapeText(header.array.shape).c_str(), found);
}

/// Whether a file can hold what its header says.
Status checkSize(const ArrayHeader &header, uint64_t fileBytes, bool packed) {
  if (packed) {
    // Deflate makes of a byte 1032 at most.
    if (header.bytes / 1032 > fileBytes)
      return wrongSize(header, "a packed file too small for them");
    if (header.bytes > maxUnpackedBytes)
      return badData("expected at most %zu bytes in a packed file, got shape "
                     "%s of %zu; unpack it first",
                     maxUnpackedBytes, shapeText(header.array.shape).c_str(),
                     header.bytes);
    return Status::success();
  }
  if (header.bytes > maxDataBytes)
    return badData("expected at most %zu bytes, got shape %s of %zu",
                   maxDataBytes, shapeText(header.array.shape).c_str(),
                   header.bytes);
  if (fileBytes - header.begin != header.bytes)
    return wrongSize(header, std::to_string(fileBytes - header.begin).c_str());
  return Status::success();
}

/// Whether elements can be used where they are in a file.
bool fitsMemory(const ArrayHeader &header) {
  const Type type = header.array.type;
  // Any byte but 0 is true; those who compute with it count on 1.
  return type != Type::b8 && header.begin % bytesOf(type) == 0;
}

/// What follows the head.
Status readElements(UnpackedFile &file, std::string_view head,
                    ArrayHeader &header, Array &array) {
  std::vector<char> &bytes = array.bytes.edit();
  bytes.resize(header.bytes);
  head.remove_prefix(header.begin);
  const size_t known = std::min(head.size(), header.bytes);
  std::copy_n(head.begin(), known, bytes.begin());
  size_t got = 0, more = head.size() - known;
  char rest;
  MN_TRY(file.read(bytes.data() + known, header.bytes - known, got));
  if (known + got < header.bytes)
    return wrongSize(header, std::to_string(known + got).c_str());
  if (more == 0)
    MN_TRY(file.read(&rest, 1, more));
  return more > 0 ? wrongSize(header, "more") : Status::success();
}

/// Formats that are read as a whole.
Status readWhole(const std::string &path, std::string_view head, Colors colors,
                 Array &array) {
  const bool png = head.substr(0, 4) == "\x89PNG";
  if (png)
    MN_TRY(checkPngHeader(head));
  std::vector<char> file;
  MN_TRY(readFile(path, file));
  return png ? parsePng(file, colors, array)
             : parseTensorProto({file.data(), file.size()}, array);
}

/// Of .npy and IDX.
Status readOrMap(UnpackedFile &file, std::string_view head, bool maps,
                 ArrayHeader &header, Array &array) {
  MN_TRY(checkSize(header, file.bytes(), file.packed()));
  array = header.array;
  if (maps && !file.packed() && fitsMemory(header))
    if (auto mapped = file.map()) {
      array.bytes = Bytes(std::move(mapped), header.begin, header.bytes);
      return Status::success();
    }
  return readElements(file, head, header, array);
}

/// Messages are without the file's name.
Status readKnown(const std::string &path, UnpackedFile &file,
                 std::string_view head, Colors colors, bool maps,
                 Array &array) {
  const bool protobuf =
      path.size() > 3 && path.compare(path.size() - 3, 3, ".pb") == 0;
  const bool npy = head.substr(0, 6) == "\x93NUMPY";
  const bool idx = head.substr(0, 2) == std::string_view("\0\0", 2);
  const bool whole = protobuf || head.substr(0, 4) == "\x89PNG";
  if (whole && !file.packed())
    return readWhole(path, head, colors, array);
  if (!npy && !idx)
    return badData(file.packed()
                       ? "expected a .npy or IDX file in a packed one, got "
                         "what begins like neither"
                       : "expected a .npy, .png, .pb or IDX file, got one "
                         "that begins like none of them");
  ArrayHeader header;
  MN_TRY(npy ? parseNpyHeader(head, header) : parseIdxHeader(head, header));
  return readOrMap(file, head, maps, header, array);
}

} // namespace

Status parseArray(Status (*parseHeader)(std::string_view, ArrayHeader &),
                  std::string_view file, Array &array) {
  ArrayHeader header;
  MN_TRY(parseHeader(file.substr(0, headBytes), header));
  MN_TRY(checkSize(header, file.size(), /*packed=*/false));
  array = std::move(header.array);
  file.remove_prefix(header.begin);
  array.bytes = std::vector<char>(file.begin(), file.end());
  return Status::success();
}

static Status readFrom(const std::string &path, Colors colors, bool maps,
                       Array &array) {
  UnpackedFile file;
  MN_TRY(file.open(path));
  std::vector<char> head(headBytes);
  size_t got = 0;
  MN_TRY(file.read(head.data(), head.size(), got));
  Status status =
      readKnown(path, file, {head.data(), got}, colors, maps, array);
  if (!status.ok() &&
      status.message.find('\'' + path + '\'') == std::string::npos)
    status.message = "'" + path + "': " + status.message;
  if (status.ok() && array.type == Type::b8)
    for (char &byte : array.bytes.edit())
      byte = byte != 0;
  return status;
}

Status readArray(const std::string &path, Array &array, Colors colors) {
  return readFrom(path, colors, /*maps=*/false, array);
}

Status mapArray(const std::string &path, Array &array) {
  return readFrom(path, Colors::grey, /*maps=*/true, array);
}

} // namespace mn
