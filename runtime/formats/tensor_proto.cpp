//===- tensor_proto.cpp - ONNX's tensors in files of their own ------------===//
//
// Reads the TensorProto of test data sets.
//
//===----------------------------------------------------------------------===//

#include "formats/tensor_proto.h"
#include "formats/files.h"

namespace mn {

using namespace tensorproto;

bool tensorproto::takeIntegers(const WireField &field,
                               std::vector<int64_t> &to) {
  if (field.wire == Wire::varint) {
    to.push_back(static_cast<int64_t>(field.value));
    return true;
  }
  if (field.wire != Wire::bytes)
    return false;
  uint64_t value;
  for (std::string_view rest = field.body; !rest.empty();) {
    if (!takeVarint(rest, value))
      return false;
    to.push_back(static_cast<int64_t>(value));
  }
  return true;
}

namespace {

struct TensorFields {
  std::vector<int64_t> shape;
  uint64_t dataType = 0;
  bool external = false;
  std::string name;
  std::vector<int64_t> integers; ///< int32_data and int64_data
  std::vector<char> plain;       ///< raw_data, float_data and double_data
  bool strings = false;
};

bool parseField(TensorFields &tensor, const WireField &field) {
  switch (field.number) {
  case Field::dims:
    return takeIntegers(field, tensor.shape);
  case Field::dataType:
    tensor.dataType = field.value;
    return field.wire == Wire::varint;
  case Field::floatData:
  case Field::doubleData:
  case Field::rawData:
    tensor.plain.insert(tensor.plain.end(), field.body.begin(),
                        field.body.end());
    return field.wire != Wire::varint;
  case Field::int32Data:
  case Field::int64Data:
    return takeIntegers(field, tensor.integers);
  case Field::stringData:
    tensor.strings = true;
    return true;
  case Field::name:
    tensor.name = field.body;
    return field.wire == Wire::bytes;
  case Field::dataLocation:
    tensor.external = field.value == 1;
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
  WireReader reader({file.data(), file.size()});
  bool parsed = true;
  for (WireField field; parsed && reader.next(field);)
    parsed = parseField(tensor, field);
  if (!parsed || reader.malformed())
    return badData("expected an ONNX tensor (TensorProto), got bytes that "
                   "are not one");
  array = {};
  if (tensor.strings || !typeOf(tensor.dataType, array.type))
    return badData(
        "expected a tensor of floats, doubles, int32, int64, uint8 or "
        "bool, got ONNX's element type %d",
        static_cast<int>(tensor.dataType));
  if (tensor.external)
    return badData("expected the elements in the file, got external data");
  array.shape = tensor.shape;
  array.name = tensor.name;
  array.bytes = std::move(tensor.plain);
  if (array.bytes.empty())
    appendIntegers(tensor.integers, array.type, array.bytes);
  size_t bytes;
  MN_TRY(checkedBytes(array.type, array.shape, bytes));
  if (array.bytes.size() != bytes)
    return badData("expected %zu bytes of elements for shape %s, got %zu",
                   bytes, shapeText(array.shape).c_str(), array.bytes.size());
  return Status::success();
}

} // namespace mn
