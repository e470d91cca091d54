//===- safetensors.cpp - named tensors in a file --------------------------===//

#include "formats/safetensors.h"
#include "core/array.h"
#include "formats/atomic_file.h"
#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>

namespace mn {

namespace {

static_assert(std::endian::native == std::endian::little,
              "tensors are written as they lie in memory");

/// The reference implementation reads no larger header.
constexpr uint64_t mostHeaderBytes = 100000000;

Status bytesOf(const SafetensorsView &tensor, uint64_t &bytes) {
  bytes = bytesOf(tensor.type);
  for (const int64_t size : tensor.shape)
    if (size < 0 || __builtin_mul_overflow(bytes, uint64_t(size), &bytes))
      return badData("tensor '%s': expected a shape of fewer than 2^64 bytes, "
                     "got %s",
                     tensor.name.c_str(), shapeText(tensor.shape).c_str());
  return Status::success();
}

/// The header, padded so that the data begins at a multiple of 8. `sizes` are
/// the tensors' bytes.
Status headerOf(const std::vector<SafetensorsView> &tensors,
                const SafetensorsMetadata &metadata, std::string &header,
                std::vector<uint64_t> &sizes) {
  // Ordered: the text's order is the data's.
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  if (!metadata.empty())
    json["__metadata__"] = metadata;
  uint64_t offset = 0;
  for (const SafetensorsView &tensor : tensors) {
    if (tensor.name == "__metadata__" || json.contains(tensor.name))
      return badData("expected tensors of different names, got two of '%s'",
                     tensor.name.c_str());
    uint64_t bytes = 0;
    MN_TRY(bytesOf(tensor, bytes));
    json[tensor.name] = {{"dtype", nameOf(tensor.type)},
                         {"shape", tensor.shape},
                         {"data_offsets", {offset, offset + bytes}}};
    sizes.push_back(bytes);
    offset += bytes;
  }
  // Replaces what is not UTF-8 rather than throw; then it reads back otherwise.
  header = json.dump(-1, ' ', false,
                     nlohmann::ordered_json::error_handler_t::replace);
  if (nlohmann::ordered_json::parse(header, nullptr, false) != json)
    return badData("expected names and metadata in UTF-8, got other bytes");
  header.append((8 - header.size() % 8) % 8, ' ');
  if (header.size() > mostHeaderBytes)
    return badData("expected a header of at most %llu bytes, got %zu",
                   static_cast<unsigned long long>(mostHeaderBytes),
                   header.size());
  return Status::success();
}

} // namespace

Status writeSafetensors(const std::string &path,
                        std::vector<SafetensorsView> tensors,
                        const SafetensorsMetadata &metadata) {
  std::sort(tensors.begin(), tensors.end(),
            [](const SafetensorsView &a, const SafetensorsView &b) {
              return std::tie(a.type, a.name) < std::tie(b.type, b.name);
            });
  std::string header;
  std::vector<uint64_t> sizes;
  if (Status status = headerOf(tensors, metadata, header, sizes); !status.ok())
    return badData("cannot write '%s': %s", path.c_str(),
                   status.message.c_str());
  const uint64_t length = header.size();
  uint64_t total = sizeof(length) + length;
  for (const uint64_t bytes : sizes)
    total += bytes;
  AtomicFile file;
  MN_TRY(file.open(path, total));
  MN_TRY(file.write(&length, sizeof(length)));
  MN_TRY(file.write(header.data(), header.size()));
  for (size_t i = 0; i < tensors.size(); ++i)
    MN_TRY(file.write(tensors[i].data, sizes[i]));
  return file.commit();
}

SafetensorsFile::~SafetensorsFile() {
  if (file >= 0)
    ::close(file);
}

Status SafetensorsFile::openFile(uint64_t &fileBytes) {
  if (file >= 0)
    ::close(file);
  file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat about;
  if (file < 0 || ::fstat(file, &about) != 0)
    return badData("cannot read '%s': %s", path.c_str(), std::strerror(errno));
  if (!S_ISREG(about.st_mode))
    return badData("cannot read '%s': expected a file, got a %s", path.c_str(),
                   S_ISDIR(about.st_mode) ? "folder" : "device");
  fileBytes = static_cast<uint64_t>(about.st_size);
  return Status::success();
}

Status SafetensorsFile::readAt(uint64_t offset, void *to, size_t bytes) const {
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

Status SafetensorsFile::open(const std::string &from) {
  path = from;
  all.clear();
  strings.clear();
  uint64_t fileBytes = 0, length = 0;
  MN_TRY(openFile(fileBytes));
  if (fileBytes < sizeof(length))
    return badData("'%s' is no safetensors file: expected at least 8 bytes, "
                   "got %llu",
                   path.c_str(), static_cast<unsigned long long>(fileBytes));
  MN_TRY(readAt(0, &length, sizeof(length)));
  if (length > mostHeaderBytes)
    return badData("'%s' is no safetensors file: expected a header of at most "
                   "%llu bytes, got %llu",
                   path.c_str(),
                   static_cast<unsigned long long>(mostHeaderBytes),
                   static_cast<unsigned long long>(length));
  if (length > fileBytes - sizeof(length))
    return badData("'%s' is cut off: expected a header of %llu bytes, got "
                   "%llu",
                   path.c_str(), static_cast<unsigned long long>(length),
                   static_cast<unsigned long long>(fileBytes - sizeof(length)));
  std::string header(length, '\0');
  MN_TRY(readAt(sizeof(length), header.data(), header.size()));
  dataBegin = sizeof(length) + length;
  Status status =
      parseSafetensorsHeader(header, fileBytes - dataBegin, all, strings);
  if (!status.ok())
    status.message = "'" + path + "': " + status.message;
  return status;
}

const SafetensorsEntry *SafetensorsFile::find(std::string_view name) const {
  for (const SafetensorsEntry &entry : all)
    if (entry.name == name)
      return &entry;
  return nullptr;
}

Status SafetensorsFile::read(std::string_view name, DType type,
                             const std::vector<int64_t> &shape,
                             void *to) const {
  const std::string wanted(name);
  const SafetensorsEntry *entry = find(name);
  if (!entry)
    return badData("'%s': expected a tensor '%s', got none", path.c_str(),
                   wanted.c_str());
  if (entry->type != type || entry->shape != shape)
    return badData("'%s': expected tensor '%s' to be %s %s, got %s %s",
                   path.c_str(), wanted.c_str(), nameOf(type),
                   shapeText(shape).c_str(), nameOf(entry->type),
                   shapeText(entry->shape).c_str());
  return readAt(dataBegin + entry->begin, to, entry->end - entry->begin);
}

} // namespace mn
