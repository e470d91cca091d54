//===- tensor_proto.cpp - ONNX's tensors in files of their own
//-------------===//
//
// Reads the TensorProto of test data sets. The wire format is simple enough to
// go without protobuf: fields of a number and one of four kinds.
//
//===----------------------------------------------------------------------===//

#include "files.h"

namespace mn {

namespace {

/// Reads a message front to back and never past its end.
class Wire {
public:
  Wire(const char *data, size_t size)
      : at(reinterpret_cast<const uint8_t *>(data)), end(at + size) {}

  bool done() const { return at == end; }
  bool varint(uint64_t &value) {
    value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (at == end)
        return false;
      const uint8_t byte = *at++;
      value |= uint64_t(byte & 127) << shift;
      if (byte < 128)
        return true;
    }
    return false;
  }
  bool bytes(size_t size, const char *&data) {
    if (size > static_cast<size_t>(end - at))
      return false;
    data = reinterpret_cast<const char *>(at);
    at += size;
    return true;
  }
  /// A field's payload: its number, or its bytes.
  bool field(uint32_t &number, uint32_t &kind, uint64_t &value,
             const char *&data, size_t &size) {
    uint64_t key;
    if (!varint(key))
      return false;
    number = static_cast<uint32_t>(key >> 3), kind = key & 7;
    data = nullptr, size = 0, value = 0;
    uint64_t length;
    switch (kind) {
    case 0:
      return varint(value);
    case 1:
      return bytes(size = 8, data);
    case 2:
      return varint(length) && bytes(size = length, data);
    case 5:
      return bytes(size = 4, data);
    default:
      return false;
    }
  }

private:
  const uint8_t *at, *end;
};

/// The fields of a TensorProto, by their number in onnx.proto.
enum Field : uint32_t {
  dims = 1,
  dataType = 2,
  floatData = 4,
  int32Data = 5,
  stringData = 6,
  int64Data = 7,
  name = 8,
  rawData = 9,
  doubleData = 10,
  dataLocation = 14,
};

struct TensorFields {
  std::vector<int64_t> shape;
  uint64_t dataType = 0;
  bool external = false;
  std::string name;
  std::vector<int64_t> integers; ///< int32_data and int64_data
  std::vector<char> plain;       ///< raw_data, float_data and double_data
  bool strings = false;
};

/// A repeated number comes packed into one field, or one field each.
bool addIntegers(std::vector<int64_t> &to, uint32_t kind, uint64_t value,
                 const char *data, size_t size) {
  if (kind == 0) {
    to.push_back(static_cast<int64_t>(value));
    return true;
  }
  if (kind != 2)
    return false;
  for (Wire packed(data, size); !packed.done();) {
    if (!packed.varint(value))
      return false;
    to.push_back(static_cast<int64_t>(value));
  }
  return true;
}

bool parseField(TensorFields &tensor, uint32_t number, uint32_t kind,
                uint64_t value, const char *data, size_t size) {
  switch (number) {
  case Field::dims:
    return addIntegers(tensor.shape, kind, value, data, size);
  case Field::dataType:
    tensor.dataType = value;
    return kind == 0;
  case Field::floatData:
  case Field::doubleData:
  case Field::rawData:
    if (kind != 0)
      tensor.plain.insert(tensor.plain.end(), data, data + size);
    return kind != 0;
  case Field::int32Data:
  case Field::int64Data:
    return addIntegers(tensor.integers, kind, value, data, size);
  case Field::stringData:
    tensor.strings = true;
    return true;
  case Field::name:
    if (kind == 2)
      tensor.name.assign(data, size);
    return kind == 2;
  case Field::dataLocation:
    tensor.external = value == 1;
    return true;
  default:
    return true;
  }
}

bool typeOf(uint64_t dataType, Type &type) {
  switch (dataType) {
  case 1:
    type = Type::f32;
    return true;
  case 2:
    type = Type::u8;
    return true;
  case 6:
    type = Type::i32;
    return true;
  case 7:
    type = Type::i64;
    return true;
  case 9:
    type = Type::b8;
    return true;
  case 11:
    type = Type::f64;
    return true;
  default:
    return false;
  }
}

/// Numbers that came one by one, as the bytes of `type`.
void appendIntegers(const std::vector<int64_t> &integers, Type type,
                    std::vector<char> &bytes) {
  const size_t size = bytesOf(type);
  for (int64_t integer : integers) {
    char little[8];
    std::memcpy(little, &integer, 8);
    bytes.insert(bytes.end(), little, little + size);
  }
}

} // namespace

Status parseTensorProto(const std::vector<char> &file, Array &array) {
  TensorFields tensor;
  for (Wire wire(file.data(), file.size()); !wire.done();) {
    uint32_t number, kind;
    uint64_t value;
    const char *data;
    size_t size;
    if (!wire.field(number, kind, value, data, size) ||
        !parseField(tensor, number, kind, value, data, size))
      return badData("expected an ONNX tensor (TensorProto), found bytes that "
                     "are not one");
  }
  array = {};
  if (tensor.strings || !typeOf(tensor.dataType, array.type))
    return badData(
        "expected a tensor of floats, doubles, int32, int64, uint8 or "
        "bool, found ONNX's element type %d",
        static_cast<int>(tensor.dataType));
  if (tensor.external)
    return badData("expected the elements in the file, found external data");
  array.shape = tensor.shape;
  array.name = tensor.name;
  array.bytes = std::move(tensor.plain);
  if (array.bytes.empty())
    appendIntegers(tensor.integers, array.type, array.bytes);
  size_t bytes;
  MN_TRY(checkedBytes(array.type, array.shape, bytes));
  if (array.bytes.size() != bytes)
    return badData("expected %zu bytes of elements for shape %s, found %zu",
                   bytes, shapeText(array.shape).c_str(), array.bytes.size());
  return Status::success();
}

} // namespace mn
