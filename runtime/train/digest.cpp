//===- digest.cpp - XXH64 -------------------------------------------------===//

#include "train/digest.h"
#include <algorithm>
#include <bit>
#include <cstring>

namespace mn {

namespace {

static_assert(std::endian::native == std::endian::little,
              "words are read as they lie in memory");

constexpr uint64_t prime1 = 0x9E3779B185EBCA87u, prime2 = 0xC2B2AE3D27D4EB4Fu,
                   prime3 = 0x165667B19E3779F9u, prime4 = 0x85EBCA77C2B2AE63u,
                   prime5 = 0x27D4EB2F165667C5u;

template <typename T> T load(const unsigned char *from) {
  T word;
  std::memcpy(&word, from, sizeof(T));
  return word;
}

uint64_t round(uint64_t lane, uint64_t input) {
  return std::rotl(lane + input * prime2, 31) * prime1;
}

void stripe(uint64_t lanes[4], const unsigned char *from) {
  for (int i = 0; i < 4; ++i)
    lanes[i] = round(lanes[i], load<uint64_t>(from + 8 * i));
}

/// The specification's step 5: what does not fill a stripe.
uint64_t tail(uint64_t hash, const unsigned char *from, size_t bytes) {
  for (; bytes >= 8; bytes -= 8, from += 8)
    hash =
        std::rotl(hash ^ round(0, load<uint64_t>(from)), 27) * prime1 + prime4;
  if (bytes >= 4) {
    hash =
        std::rotl(hash ^ load<uint32_t>(from) * prime1, 23) * prime2 + prime3;
    bytes -= 4;
    from += 4;
  }
  for (; bytes > 0; --bytes, ++from)
    hash = std::rotl(hash ^ *from * prime5, 11) * prime1;
  return hash;
}

} // namespace

void Digest::add(const void *data, size_t bytes) {
  if (bytes == 0)
    return;
  const unsigned char *from = static_cast<const unsigned char *>(data);
  const size_t filled = total % 32;
  total += bytes;
  if (filled > 0) {
    const size_t taken = std::min(32 - filled, bytes);
    std::memcpy(pending + filled, from, taken);
    if (filled + taken < 32)
      return;
    stripe(lanes, pending);
    from += taken;
    bytes -= taken;
  }
  for (; bytes >= 32; bytes -= 32, from += 32)
    stripe(lanes, from);
  if (bytes > 0)
    std::memcpy(pending, from, bytes);
}

void Digest::addTensor(std::string_view name, const void *data, size_t bytes) {
  const uint64_t nameBytes = name.size(), dataBytes = bytes;
  add(&nameBytes, sizeof(nameBytes));
  add(name.data(), name.size());
  add(&dataBytes, sizeof(dataBytes));
  add(data, bytes);
}

uint64_t Digest::value() const {
  uint64_t hash = prime5;
  if (total >= 32) {
    hash = std::rotl(lanes[0], 1) + std::rotl(lanes[1], 7) +
           std::rotl(lanes[2], 12) + std::rotl(lanes[3], 18);
    for (const uint64_t lane : lanes)
      hash = (hash ^ round(0, lane)) * prime1 + prime4;
  }
  hash = tail(hash + total, pending, total % 32);
  hash = (hash ^ (hash >> 33)) * prime2;
  hash = (hash ^ (hash >> 29)) * prime3;
  return hash ^ (hash >> 32);
}

std::string Digest::text() const {
  const uint64_t hash = value();
  std::string digits(16, '0');
  for (int i = 0; i < 16; ++i)
    digits[static_cast<size_t>(i)] =
        "0123456789abcdef"[(hash >> (60 - 4 * i)) & 15];
  return digits;
}

} // namespace mn
