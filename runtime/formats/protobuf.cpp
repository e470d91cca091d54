//===- protobuf.cpp - protocol buffers' wire format -----------------------===//

#include "formats/protobuf.h"
#include <bit>
#include <cstring>

namespace mn {

namespace {

static_assert(std::endian::native == std::endian::little,
              "fixed fields are written as they are in memory");

/// As protobuf's own readers: deeper groups are an attack.
constexpr int maxDepth = 100;

template <typename T> void putFixed(std::string &to, T bits) {
  char bytes[sizeof(T)];
  std::memcpy(bytes, &bits, sizeof(T));
  to.append(bytes, sizeof(T));
}

void putTag(std::string &to, uint32_t number, Wire wire) {
  putVarint(to, uint64_t(number) << 3 | static_cast<uint64_t>(wire));
}

} // namespace

bool takeVarint(std::string_view &text, uint64_t &value) {
  value = 0;
  for (size_t i = 0; i < 10 && i < text.size(); ++i) {
    const uint64_t byte = static_cast<unsigned char>(text[i]);
    value |= (byte & 127) << (7 * i);
    if (byte < 128) {
      text.remove_prefix(i + 1);
      return true;
    }
  }
  return false;
}

bool WireReader::readVarint(uint64_t &value) { return takeVarint(rest, value); }

bool WireReader::next(WireField &field) {
  if (bad || rest.empty())
    return false;
  const std::string_view begin = rest;
  uint64_t tag = 0;
  if (!readVarint(tag) || tag >> 32 != 0 || tag >> 3 == 0) {
    bad = true;
    return false;
  }
  field = {
      static_cast<uint32_t>(tag >> 3), static_cast<Wire>(tag & 7), 0, {}, {}};
  if (field.wire == Wire::groupEnd || !readBody(field, 0)) {
    bad = true;
    return false;
  }
  field.all = begin.substr(0, begin.size() - rest.size());
  return true;
}

bool WireReader::readBody(WireField &field, int depth) {
  uint64_t size = 0;
  switch (field.wire) {
  case Wire::varint:
    return readVarint(field.value);
  case Wire::fixed64:
    size = 8;
    break;
  case Wire::fixed32:
    size = 4;
    break;
  case Wire::bytes:
    if (!readVarint(size))
      return false;
    break;
  case Wire::group:
    return skipGroup(field.number, depth + 1);
  default:
    return false;
  }
  if (size > rest.size())
    return false;
  field.body = rest.substr(0, size);
  if (field.wire != Wire::bytes)
    std::memcpy(&field.value, field.body.data(), size);
  rest.remove_prefix(size);
  return true;
}

bool WireReader::skipGroup(uint32_t number, int depth) {
  if (depth > maxDepth)
    return false;
  uint64_t tag = 0;
  while (readVarint(tag) && tag >> 32 == 0 && tag >> 3 != 0) {
    WireField field = {
        static_cast<uint32_t>(tag >> 3), static_cast<Wire>(tag & 7), 0, {}, {}};
    if (field.wire == Wire::groupEnd)
      return field.number == number;
    if (!readBody(field, depth))
      return false;
  }
  return false;
}

void putVarint(std::string &to, uint64_t value) {
  for (; value >= 128; value >>= 7)
    to.push_back(static_cast<char>(value | 128));
  to.push_back(static_cast<char>(value));
}

void putVarintField(std::string &to, uint32_t number, uint64_t value) {
  putTag(to, number, Wire::varint);
  putVarint(to, value);
}

void putFixed32Field(std::string &to, uint32_t number, uint32_t bits) {
  putTag(to, number, Wire::fixed32);
  putFixed(to, bits);
}

void putFixed64Field(std::string &to, uint32_t number, uint64_t bits) {
  putTag(to, number, Wire::fixed64);
  putFixed(to, bits);
}

void putBytesField(std::string &to, uint32_t number, std::string_view body) {
  putTag(to, number, Wire::bytes);
  putVarint(to, body.size());
  to.append(body);
}

} // namespace mn
