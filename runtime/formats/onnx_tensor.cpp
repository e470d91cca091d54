//===- onnx_tensor.cpp - a TensorProto with other numbers -----------------===//

#include "formats/onnx_tensor.h"
#include "core/array.h"
#include "formats/tensor_proto.h"
#include <bit>
#include <cmath>
#include <limits>

namespace mn {

using namespace tensorproto;

namespace {

/// TensorProto.DataType.
enum DataType : uint64_t {
  typeFloat = 1,
  typeFloat16 = 10,
  typeDouble = 11,
  typeBfloat16 = 16
};

constexpr const char *typeNames[] = {
    "undefined", "float",  "uint8",     "int8",       "uint16",  "int16",
    "int32",     "int64",  "string",    "bool",       "float16", "double",
    "uint32",    "uint64", "complex64", "complex128", "bfloat16"};

std::string typeName(uint64_t type) {
  return type < std::size(typeNames) ? typeNames[type]
                                     : "type " + std::to_string(type);
}

bool holdsData(uint32_t number) {
  return number == floatData || number == int32Data || number == stringData ||
         number == int64Data || number == rawData || number == doubleData ||
         number == uint64Data;
}

/// The bits of `value` as IEEE 754's binary16, rounded to the nearest, ties to
/// even.
uint16_t toFloat16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint16_t sign = static_cast<uint16_t>(bits >> 16 & 0x8000);
  const uint32_t magnitude = bits & 0x7fffffff;
  if (magnitude > 0x7f800000) // not a number: quiet, with its upper bits
    return static_cast<uint16_t>(sign | 0x7e00 | (magnitude >> 13 & 0x3ff));
  if (magnitude >= 0x47800000) // 65536 and more
    return static_cast<uint16_t>(sign | 0x7c00);
  if (magnitude < 0x38800000) {
    // Below 2^-14: a multiple of 2^-24. Adding 0.5, whose last place is
    // 2^-24, leaves that number in the lowest bits, rounded by the machine.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<uint16_t>(
        sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000));
  }
  const uint32_t odd = magnitude >> 13 & 1;
  return static_cast<uint16_t>(sign |
                               ((magnitude - 0x38000000 + 0xfff + odd) >> 13));
}

uint16_t toBfloat16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value))
    return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

Status malformed() {
  return badData("expected a tensor in protobuf, got bytes that are none");
}

struct Header {
  uint64_t type = 0;
  std::vector<int64_t> shape;
  bool external = false;
};

Status readHeader(std::string_view tensor, Header &header) {
  WireReader reader(tensor);
  for (WireField field; reader.next(field);) {
    if (field.number == dims) {
      if (!takeIntegers(field, header.shape))
        return malformed();
    } else if (field.number == dataType && field.wire == Wire::varint) {
      header.type = field.value;
    } else if (field.number == dataLocation && field.wire == Wire::varint) {
      header.external = field.value == 1;
    } else if (field.number == segment) {
      return badData("expected a whole tensor, got a segment of one");
    }
  }
  return reader.malformed() ? malformed() : Status::success();
}

Status checkCount(const Header &header, size_t count) {
  uint64_t expected = 1;
  for (const int64_t size : header.shape)
    if (size < 0 || __builtin_mul_overflow(expected, uint64_t(size), &expected))
      return badData("expected a shape of integers, got %s",
                     shapeText(header.shape).c_str());
  if (expected != count)
    return badData("expected %llu numbers for its shape %s, got %zu",
                   static_cast<unsigned long long>(expected),
                   shapeText(header.shape).c_str(), count);
  return Status::success();
}

template <typename T>
Status convert16(std::span<const float> values, T (*to)(float), T infinity,
                 const char *type, std::string &raw) {
  raw.reserve(values.size() * 2);
  for (size_t i = 0; i < values.size(); ++i) {
    const T bits = to(values[i]);
    if ((bits & 0x7fff) == infinity && !std::isinf(values[i]))
      return badData("expected numbers that fit %s, got %g at %zu", type,
                     static_cast<double>(values[i]), i);
    raw.push_back(static_cast<char>(bits));
    raw.push_back(static_cast<char>(bits >> 8));
  }
  return Status::success();
}

Status convert(std::span<const float> values, uint64_t type, std::string &raw) {
  switch (type) {
  case typeFloat:
    raw.assign(reinterpret_cast<const char *>(values.data()),
               values.size_bytes());
    return Status::success();
  case typeDouble:
    raw.reserve(values.size() * sizeof(double));
    for (const float value : values) {
      const double wide = value;
      raw.append(reinterpret_cast<const char *>(&wide), sizeof(wide));
    }
    return Status::success();
  case typeFloat16:
    return convert16<uint16_t>(values, toFloat16, 0x7c00, "float16", raw);
  case typeBfloat16:
    return convert16<uint16_t>(values, toBfloat16, 0x7f80, "bfloat16", raw);
  default:
    return badData("expected a tensor of float, double, float16 or bfloat16, "
                   "got %s",
                   typeName(type).c_str());
  }
}

} // namespace

Status readOnnxTensorInfo(std::string_view tensor, OnnxTensorInfo &info) {
  bool external = false;
  std::string location;
  WireReader reader(tensor);
  for (WireField field; reader.next(field);) {
    if (field.number == name && field.wire == Wire::bytes)
      info.name = field.body;
    if (field.number == dataLocation && field.wire == Wire::varint)
      external = field.value == 1;
    if (field.number != externalData || field.wire != Wire::bytes)
      continue;
    // StringStringEntryProto: key = 1, value = 2.
    std::string_view key, value;
    WireReader entry(field.body);
    for (WireField part; entry.next(part);)
      (part.number == 1 ? key : value) = part.body;
    if (entry.malformed())
      return malformed();
    if (key == "location")
      location = value;
  }
  if (external)
    info.location = location;
  return reader.malformed() ? malformed() : Status::success();
}

Status replaceOnnxTensor(std::string_view tensor, std::span<const float> values,
                         std::string &to) {
  Header header;
  MN_TRY(readHeader(tensor, header));
  MN_TRY(checkCount(header, values.size()));
  std::string raw;
  MN_TRY(convert(values, header.type, raw));
  // The new data takes the place of the old, so that a file that had raw_data
  // keeps every other byte.
  bool written = false;
  WireReader reader(tensor);
  for (WireField field; reader.next(field);) {
    const bool data = holdsData(field.number);
    const bool where = header.external && (field.number == externalData ||
                                           field.number == dataLocation);
    if ((data || where) && !written) {
      putBytesField(to, rawData, raw);
      written = true;
    }
    if (!data && !where)
      to.append(field.all);
  }
  if (!written)
    putBytesField(to, rawData, raw);
  return Status::success();
}

} // namespace mn
