//===- safetensors.cpp - named tensors in a file --------------------------===//

#include "formats/safetensors.h"
#include "core/array.h"
#include "core/digest.h"
#include "formats/atomic_file.h"
#include <algorithm>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <tuple>

namespace mn {

namespace {

static_assert(std::endian::native == std::endian::little,
              "tensors are written as they are in memory");

/// The reference implementation reads headers of up to 100 MB; as values in
/// memory they would take gigabytes.
constexpr uint64_t maxHeaderBytes = uint64_t(16) << 20;

constexpr const char *checksumKey = "xxh64";
constexpr const char *noChecksum = "0000000000000000";

/// Where the digits of a checksum are in a header. No text of a header looks
/// the same: there the quotes would be escaped.
size_t placeOfChecksum(const std::string &header, const std::string &digits) {
  const std::string before = text("\"%s\":\"", checksumKey);
  const size_t found = header.find(before + digits + '"');
  return found == std::string::npos ? found : found + before.size();
}

/// The length and the header: the data follows.
void addHeader(Digest &digest, const std::string &header) {
  const uint64_t length = header.size();
  digest.add(&length, sizeof(length));
  digest.add(header.data(), header.size());
}

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
  json["__metadata__"] = metadata;
  json["__metadata__"][checksumKey] = noChecksum;
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
  if (header.size() > maxHeaderBytes)
    return badData("expected a header of at most %llu bytes, got %zu",
                   static_cast<unsigned long long>(maxHeaderBytes),
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
  Digest digest;
  addHeader(digest, header);
  for (size_t i = 0; i < tensors.size(); ++i) {
    digest.add(tensors[i].data, sizes[i]);
    total += sizes[i];
  }
  const std::string digits = digest.text();
  header.replace(placeOfChecksum(header, noChecksum), digits.size(), digits);
  AtomicFile file;
  MN_TRY(file.open(path, total));
  MN_TRY(file.write(&length, sizeof(length)));
  MN_TRY(file.write(header.data(), header.size()));
  for (size_t i = 0; i < tensors.size(); ++i)
    MN_TRY(file.write(tensors[i].data, sizes[i]));
  return file.commit();
}

/// Reads the whole file once more than its tensors are read; a checkpoint is
/// read once a run.
Status SafetensorsFile::checkSum(std::string header) {
  const auto found = strings.find(checksumKey);
  checked = found != strings.end();
  if (!checked)
    return Status::success();
  const std::string digits = found->second;
  strings.erase(found);
  const size_t place = placeOfChecksum(header, digits);
  if (place == std::string::npos || digits.size() != std::strlen(noChecksum))
    return badData("'%s': expected sixteen digits as checksum '%s', got '%s'",
                   path.c_str(), checksumKey, digits.c_str());
  header.replace(place, digits.size(), noChecksum);
  Digest digest;
  addHeader(digest, header);
  std::vector<char> part(size_t(1) << 20);
  for (uint64_t done = 0; done < dataBytes;) {
    const size_t bytes = std::min<uint64_t>(part.size(), dataBytes - done);
    MN_TRY(file.readAt(dataBegin + done, part.data(), bytes));
    digest.add(part.data(), bytes);
    done += bytes;
  }
  if (digest.text() != digits)
    return badData("'%s' is damaged: expected bytes of checksum %s, got %s",
                   path.c_str(), digits.c_str(), digest.text().c_str());
  return Status::success();
}

Status SafetensorsFile::open(const std::string &from) {
  path = from;
  all.clear();
  strings.clear();
  uint64_t length = 0;
  MN_TRY(file.open(path));
  const uint64_t fileBytes = file.bytes();
  if (fileBytes < sizeof(length))
    return badData("'%s' is no safetensors file: expected at least 8 bytes, "
                   "got %llu",
                   path.c_str(), static_cast<unsigned long long>(fileBytes));
  MN_TRY(file.readAt(0, &length, sizeof(length)));
  if (length > maxHeaderBytes)
    return badData("'%s' is no safetensors file: expected a header of at most "
                   "%llu bytes, got %llu",
                   path.c_str(),
                   static_cast<unsigned long long>(maxHeaderBytes),
                   static_cast<unsigned long long>(length));
  if (length > fileBytes - sizeof(length))
    return badData("'%s' is cut off: expected a header of %llu bytes, got "
                   "%llu",
                   path.c_str(), static_cast<unsigned long long>(length),
                   static_cast<unsigned long long>(fileBytes - sizeof(length)));
  std::string header(length, '\0');
  MN_TRY(file.readAt(sizeof(length), header.data(), header.size()));
  dataBegin = sizeof(length) + length;
  dataBytes = fileBytes - dataBegin;
  Status status = parseSafetensorsHeader(header, dataBytes, all, strings);
  if (!status.ok()) {
    status.message = "'" + path + "': " + status.message;
    return status;
  }
  return checkSum(std::move(header));
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
  return file.readAt(dataBegin + entry->begin, to, entry->end - entry->begin);
}

} // namespace mn
