//===- tensor_proto.cpp - files that hold one ONNX tensor -----------------===//
//
// Reads the TensorProto of test data sets.
//
//===----------------------------------------------------------------------===//

#include "formats/tensor_proto.h"
#include "formats/files.h"
#include <algorithm>

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

struct TypeRow {
  uint64_t number; ///< of TensorProto.DataType
  Type type;
  Field field; ///< that holds its elements where raw_data does not
};
constexpr TypeRow typeRows[] = {
    {1, Type::f32, Field::floatData}, {2, Type::u8, Field::int32Data},
    {6, Type::i32, Field::int32Data}, {7, Type::i64, Field::int64Data},
    {9, Type::b8, Field::int32Data},  {11, Type::f64, Field::doubleData}};

/// What a tensor says of itself, without its elements.
struct TensorFields {
  std::vector<int64_t> shape;
  uint64_t dataType = 0;
  bool external = false;
  std::string name;
  uint32_t data = 0; ///< the field that holds the elements; 0: none
};

Status notATensor() {
  return badData("expected an ONNX tensor (TensorProto), got bytes that "
                 "are not one");
}

Status parseField(const WireField &field, TensorFields &tensor) {
  // NumPy's arrays have as many dimensions.
  constexpr size_t maxDimensions = 64;
  bool good = true;
  switch (field.number) {
  case Field::dims:
    good = field.body.size() <= 10 * maxDimensions &&
           takeIntegers(field, tensor.shape) &&
           tensor.shape.size() <= maxDimensions;
    break;
  case Field::dataType:
    tensor.dataType = field.value;
    good = field.wire == Wire::varint;
    break;
  case Field::floatData:
  case Field::int32Data:
  case Field::stringData:
  case Field::int64Data:
  case Field::rawData:
  case Field::doubleData:
  case Field::uint64Data:
    if (field.wire == Wire::bytes && field.body.empty())
      break; // as some write what they do not use
    if (tensor.data != 0 && tensor.data != field.number)
      return badData("expected the elements in one field, got them in "
                     "fields %u and %u of the TensorProto",
                     tensor.data, field.number);
    tensor.data = field.number;
    break;
  case Field::name:
    tensor.name = field.body;
    good = field.wire == Wire::bytes;
    break;
  case Field::dataLocation:
    tensor.external = field.value == 1;
    break;
  default:
    break;
  }
  return good ? Status::success() : notATensor();
}

/// Whether `integer` is a number of `type`.
bool fits(int64_t integer, Type type) {
  return type == Type::i64 ||
         (type == Type::i32 && integer == int32_t(integer)) ||
         (type == Type::u8 && integer == uint8_t(integer)) ||
         (type == Type::b8 && (integer == 0 || integer == 1));
}

/// Appends elements of type `type`, of which there may be `maxBytes` bytes.
Status appendElements(const WireField &field, Type type, size_t maxBytes,
                      std::vector<char> &bytes) {
  const bool whole =
      field.number == Field::int32Data || field.number == Field::int64Data;
  const size_t width = bytesOf(type);
  const auto put = [&](const void *from, size_t count) {
    if (count > maxBytes - bytes.size())
      return false;
    const char *begin = static_cast<const char *>(from);
    bytes.insert(bytes.end(), begin, begin + count);
    return true;
  };
  const Status tooMany =
      badData("expected %zu bytes of elements, got more", maxBytes);
  if (!whole) {
    if (field.wire == Wire::varint)
      return notATensor();
    return put(field.body.data(), field.body.size()) ? Status::success()
                                                     : tooMany;
  }
  std::string_view rest = field.body;
  if (field.wire != Wire::bytes && field.wire != Wire::varint)
    return notATensor();
  uint64_t value = field.value;
  while (field.wire == Wire::varint || !rest.empty()) {
    if (field.wire == Wire::bytes && !takeVarint(rest, value))
      return notATensor();
    const auto integer = static_cast<int64_t>(value);
    if (!fits(integer, type))
      return badData("expected elements of %s, got %lld", nameOf(type),
                     static_cast<long long>(integer));
    if (!put(&integer, width)) // little-endian
      return tooMany;
    if (field.wire == Wire::varint)
      break;
  }
  return Status::success();
}

Status checkFields(const TensorFields &tensor, Type &type) {
  const auto row = std::find_if(
      std::begin(typeRows), std::end(typeRows),
      [&](const TypeRow &r) { return r.number == tensor.dataType; });
  if (row == std::end(typeRows))
    return badData(
        "expected a tensor of floats, doubles, int32, int64, uint8 or "
        "bool, got ONNX's element type %d",
        static_cast<int>(tensor.dataType));
  type = row->type;
  if (tensor.external)
    return badData("expected the elements in the file, got external data");
  if (tensor.data != 0 && tensor.data != Field::rawData &&
      tensor.data != row->field)
    return badData("expected the elements of %s in field %d or raw_data of the "
                   "TensorProto, got them in field %u",
                   nameOf(type), static_cast<int>(row->field), tensor.data);
  return Status::success();
}

} // namespace

// Twice over the fields: the elements can be bounded once the shape is known,
// and it may follow them.
Status parseTensorProto(std::string_view file, Array &array) {
  TensorFields tensor;
  WireReader reader(file);
  for (WireField field; reader.next(field);)
    MN_TRY(parseField(field, tensor));
  if (reader.malformed())
    return notATensor();
  array = {};
  MN_TRY(checkFields(tensor, array.type));
  array.shape = tensor.shape;
  array.name = tensor.name;
  size_t bytes;
  MN_TRY(checkedBytes(array.type, array.shape, bytes));
  WireReader again(file);
  for (WireField field; again.next(field);)
    if (tensor.data != 0 && field.number == tensor.data)
      MN_TRY(appendElements(field, array.type, bytes, array.bytes.edit()));
  if (array.bytes.size() != bytes)
    return badData("expected %zu bytes of elements for shape %s, got %zu",
                   bytes, shapeText(array.shape).c_str(), array.bytes.size());
  return Status::success();
}

} // namespace mn
