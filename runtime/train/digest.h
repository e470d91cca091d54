//===- digest.h - what the weights are, in sixteen digits -------*- C++ -*-===//
//
// Two runs that end with the same weights print the same digest. XXH64 with
// seed 0 (xxHash's specification, version 0.1.1, by Yann Collet): fast, the
// same on every machine, and not for keeping secrets.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_TRAIN_DIGEST_H
#define MNISTRT_TRAIN_DIGEST_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace mn {

class Digest {
public:
  void add(const void *data, size_t bytes);
  /// One tensor: its name's length and bytes, its data's length (both as
  /// 64-bit little-endian numbers) and bytes. Tensors count in the order in
  /// which they are added.
  void addTensor(std::string_view name, const void *data, size_t bytes);

  /// Of everything so far; more may be added after it.
  uint64_t value() const;
  /// 16 hexadecimal digits, as XXH64's canonical form: "ef46db3751d8e999".
  std::string text() const;

private:
  uint64_t lanes[4] = {0x60EA27EEADC0B5D6u, 0xC2B2AE3D27D4EB4Fu, 0,
                       0x61C8864E7A143579u};
  unsigned char pending[32];
  uint64_t total = 0; ///< bytes so far; `total` % 32 of them are in `pending`
};

} // namespace mn

#endif // MNISTRT_TRAIN_DIGEST_H
