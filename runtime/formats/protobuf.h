//===- protobuf.h - protocol buffers' wire format ---------------*- C++ -*-===//
//
// Just enough to walk a message and to write one, without schemas or copies:
// protobuf.dev/programming-guides/encoding. The part that runs a plan has no
// protobuf library.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_FORMATS_PROTOBUF_H
#define MNISTRT_FORMATS_PROTOBUF_H

#include <cstdint>
#include <string>
#include <string_view>

namespace mn {

enum class Wire : uint8_t {
  varint = 0,
  fixed64 = 1,
  bytes = 2,
  group = 3,
  groupEnd = 4,
  fixed32 = 5
};

/// One field as it is in a message.
struct WireField {
  uint32_t number;
  Wire wire;
  uint64_t value;        ///< of a varint, fixed64 or fixed32
  std::string_view body; ///< of bytes; of a fixed one, its bytes
  std::string_view all;  ///< with the tag and length
};

/// Walks the fields of a message. Stops at its end, and at what is no field.
class WireReader {
public:
  explicit WireReader(std::string_view message) : rest(message) {}

  /// False at the end of the message or where it is malformed.
  bool next(WireField &field);
  /// Whether the message ended before it was over.
  bool malformed() const { return bad; }

private:
  bool readVarint(uint64_t &value);
  bool readBody(WireField &field, int depth);
  bool skipGroup(uint32_t number, int depth);

  std::string_view rest;
  bool bad = false;
};

/// Reads a varint off the front of `text`; false where there is none.
bool takeVarint(std::string_view &text, uint64_t &value);

void putVarint(std::string &to, uint64_t value);
void putVarintField(std::string &to, uint32_t number, uint64_t value);
void putFixed32Field(std::string &to, uint32_t number, uint32_t bits);
void putFixed64Field(std::string &to, uint32_t number, uint64_t bits);
/// A string, bytes, or a message that is written already.
void putBytesField(std::string &to, uint32_t number, std::string_view body);

} // namespace mn

#endif // MNISTRT_FORMATS_PROTOBUF_H
