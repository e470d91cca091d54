//===- digest.h - a checksum of the weights ---------------------*- C++ -*-===//
//
// Two runs that end with the same weights print the same digest. XXH64 with
// seed 0, of the xxHash library: fast, the same on every machine, and not for
// keeping secrets.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CORE_DIGEST_H
#define MNISTRT_CORE_DIGEST_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace mn {

class Digest {
public:
  Digest();
  ~Digest();

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
  struct State;
  std::unique_ptr<State> state;
};

} // namespace mn

#endif // MNISTRT_CORE_DIGEST_H
