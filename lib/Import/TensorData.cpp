//===- TensorData.cpp - ONNX tensors as attributes ------------------------===//

#include "lib/Import/TensorData.h"
#include "lib/IR/Mnist/TensorSize.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/FileSystem.h"
#include <cstring>

using namespace mlir;
using namespace mlir::mnistc;
using namespace mlir::mnistc::importer;
using onnx::TensorProto;

/// The limit for a tensor stored in a file.
static constexpr int64_t maxBytes = int64_t(2) << 30;

std::string importer::typeName(int onnxType) {
  if (!onnx::TensorProto_DataType_IsValid(onnxType))
    return "number " + std::to_string(onnxType);
  return StringRef(onnx::TensorProto_DataType_Name(
                       static_cast<onnx::TensorProto_DataType>(onnxType)))
      .lower();
}

std::string importer::typeName(Type element) {
  std::string text;
  llvm::raw_string_ostream(text) << element;
  return plainMessage(text);
}

Type importer::elementType(MLIRContext *context, int onnxType) {
  Builder builder(context);
  switch (onnxType) {
  case TensorProto::FLOAT:
  case TensorProto::FLOAT16:
  case TensorProto::BFLOAT16:
  case TensorProto::DOUBLE:
    return builder.getF32Type();
  case TensorProto::INT32:
    return builder.getI32Type();
  case TensorProto::INT64:
    return builder.getI64Type();
  case TensorProto::BOOL:
    return builder.getI1Type();
  case TensorProto::UINT8:
    return builder.getIntegerType(8, /*isSigned=*/false);
  default:
    return {};
  }
}

bool importer::changesPrecision(int onnxType) {
  return onnxType == TensorProto::FLOAT16 ||
         onnxType == TensorProto::BFLOAT16 || onnxType == TensorProto::DOUBLE;
}

RankedTensorType importer::tensorType(ArrayRef<int64_t> shape, Type element) {
  for (int64_t size : shape)
    if (size < 0)
      fail("expected sizes of at least 0, got " + shapeText(shape));
  if (!isCountable(shape))
    fail("expected at most " + Twine(maxTensorElements) + " elements, got " +
         shapeText(shape));
  return RankedTensorType::get(shape, element);
}

/// Bytes of one element in raw data, 0 for types that we do not read.
static int64_t rawSize(int onnxType) {
  switch (onnxType) {
  case TensorProto::DOUBLE:
  case TensorProto::INT64:
    return 8;
  case TensorProto::FLOAT:
  case TensorProto::INT32:
    return 4;
  case TensorProto::FLOAT16:
  case TensorProto::BFLOAT16:
    return 2;
  case TensorProto::BOOL:
  case TensorProto::UINT8:
    return 1;
  default:
    return 0;
  }
}

static float fromBits(const llvm::fltSemantics &semantics, uint16_t bits) {
  llvm::APFloat value(semantics, llvm::APInt(16, bits));
  return value.convertToFloat();
}

/// The attribute for `count` numbers that `get` reads one by one, as `type`
/// stores them.
template <typename Element, typename Get>
static DenseElementsAttr collect(RankedTensorType type, Get get) {
  SmallVector<Element, 0> values;
  int64_t count = type.getNumElements();
  values.reserve(count);
  for (int64_t i = 0; i < count; ++i)
    values.push_back(static_cast<Element>(get(i)));
  return DenseElementsAttr::get(type, ArrayRef<Element>(values));
}

template <typename Stored>
static Stored loadAt(StringRef bytes, int64_t index) {
  Stored value;
  std::memcpy(&value, bytes.data() + index * sizeof(Stored), sizeof(Stored));
  return value;
}

static DenseElementsAttr fromRaw(RankedTensorType type, int onnxType,
                                 StringRef raw) {
  switch (onnxType) {
  case TensorProto::FLOAT:
    return collect<float>(type, [&](auto i) { return loadAt<float>(raw, i); });
  case TensorProto::DOUBLE:
    return collect<float>(type, [&](auto i) { return loadAt<double>(raw, i); });
  case TensorProto::FLOAT16:
    return collect<float>(type, [&](auto i) {
      return fromBits(llvm::APFloat::IEEEhalf(), loadAt<uint16_t>(raw, i));
    });
  case TensorProto::BFLOAT16:
    return collect<float>(type, [&](auto i) {
      return fromBits(llvm::APFloat::BFloat(), loadAt<uint16_t>(raw, i));
    });
  case TensorProto::INT64:
    return collect<int64_t>(type,
                            [&](auto i) { return loadAt<int64_t>(raw, i); });
  case TensorProto::INT32:
    return collect<int32_t>(type,
                            [&](auto i) { return loadAt<int32_t>(raw, i); });
  case TensorProto::UINT8:
    return collect<uint8_t>(type,
                            [&](auto i) { return loadAt<uint8_t>(raw, i); });
  default: // BOOL; any other byte than 0 is true
    return collect<bool>(type,
                         [&](auto i) { return loadAt<uint8_t>(raw, i) != 0; });
  }
}

/// The field for numbers of a type that we read.
static StringRef fieldOf(int onnxType) {
  switch (onnxType) {
  case TensorProto::FLOAT:
    return "float_data";
  case TensorProto::DOUBLE:
    return "double_data";
  case TensorProto::INT64:
    return "int64_data";
  default:
    return "int32_data";
  }
}

static void checkCount(StringRef what, int64_t expected, int64_t found,
                       ArrayRef<int64_t> shape) {
  if (expected != found)
    fail("expected " + Twine(expected) + " " + what + " for the shape " +
         shapeText(shape) + ", got " + Twine(found));
}

/// The numbers are in one place, and in the field of their type.
static void checkStorage(const TensorProto &tensor) {
  const std::pair<StringRef, int64_t> fields[] = {
      {"float_data", tensor.float_data_size()},
      {"int32_data", tensor.int32_data_size()},
      {"string_data", tensor.string_data_size()},
      {"int64_data", tensor.int64_data_size()},
      {"double_data", tensor.double_data_size()},
      {"uint64_data", tensor.uint64_data_size()},
  };
  bool external = tensor.data_location() == TensorProto::EXTERNAL;
  StringRef place = external                ? "external data"
                    : tensor.has_raw_data() ? "raw_data"
                                            : fieldOf(tensor.data_type());
  if (external && !tensor.raw_data().empty())
    fail("expected numbers in one place, external data, got raw_data too");
  for (auto [name, size] : fields)
    if (size != 0 && name != place)
      fail("expected numbers of " + typeName(tensor.data_type()) +
           " in one place, " + place + ", got some in " + name);
}

/// Small numbers share `int32_data`.
static DenseElementsAttr fromFields(RankedTensorType type,
                                    const TensorProto &tensor) {
  auto check = [&](const auto &field) {
    checkCount("numbers", type.getNumElements(), field.size(), type.getShape());
  };
  switch (tensor.data_type()) {
  case TensorProto::FLOAT:
    check(tensor.float_data());
    return collect<float>(type, [&](auto i) { return tensor.float_data(i); });
  case TensorProto::DOUBLE:
    check(tensor.double_data());
    return collect<float>(type, [&](auto i) { return tensor.double_data(i); });
  case TensorProto::INT64:
    check(tensor.int64_data());
    return collect<int64_t>(type, [&](auto i) { return tensor.int64_data(i); });
  default:
    break;
  }
  check(tensor.int32_data());
  int64_t limit = rawSize(tensor.data_type()) == 4
                      ? INT32_MAX
                      : (1 << 8 * rawSize(tensor.data_type())) - 1;
  for (int64_t number : tensor.int32_data())
    if (number > limit || (limit != INT32_MAX && number < 0))
      fail("expected numbers from 0 to " + Twine(limit) + " for " +
           typeName(tensor.data_type()) + ", got " + Twine(number));
  auto number = [&](auto i) { return tensor.int32_data(i); };
  switch (tensor.data_type()) {
  case TensorProto::FLOAT16:
    return collect<float>(type, [&](auto i) {
      return fromBits(llvm::APFloat::IEEEhalf(), number(i));
    });
  case TensorProto::BFLOAT16:
    return collect<float>(type, [&](auto i) {
      return fromBits(llvm::APFloat::BFloat(), number(i));
    });
  case TensorProto::INT32:
    return collect<int32_t>(type, number);
  case TensorProto::UINT8:
    return collect<uint8_t>(type, number);
  default:
    return collect<bool>(type, [&](auto i) { return number(i) != 0; });
  }
}

DenseElementsAttr importer::decodeTensor(MLIRContext *context,
                                         const TensorProto &tensor,
                                         ExternalData &external) {
  Type element = elementType(context, tensor.data_type());
  if (!element)
    unsupported("element type " + typeName(tensor.data_type()) +
                " is not supported, only float, int32, int64, bool, uint8 "
                "and what becomes float");
  if (tensor.has_segment())
    unsupported("a tensor in segments is not supported");
  checkStorage(tensor);
  SmallVector<int64_t> shape(tensor.dims().begin(), tensor.dims().end());
  RankedTensorType type = tensorType(shape, element);
  int64_t bytes = type.getNumElements() * rawSize(tensor.data_type());
  if (bytes > maxBytes)
    unsupported("expected at most " + Twine(maxBytes) + " bytes, got " +
                Twine(bytes) + " for the shape " + shapeText(shape));
  if (tensor.data_location() == TensorProto::EXTERNAL)
    return fromRaw(type, tensor.data_type(), external.read(tensor, bytes));
  if (!tensor.has_raw_data())
    return fromFields(type, tensor);
  checkCount("bytes", bytes, tensor.raw_data().size(), shape);
  return fromRaw(type, tensor.data_type(), tensor.raw_data());
}

//===----------------------------------------------------------------------===//
// Bindings
//===----------------------------------------------------------------------===//

/// "1,3,-1" as numbers; nothing where it is no list of numbers.
static std::optional<SmallVector<double>> parseNumbers(StringRef text) {
  SmallVector<double> numbers;
  SmallVector<StringRef> words;
  if (!text.trim().empty())
    text.split(words, ',');
  for (StringRef word : words) {
    double number = 0;
    word = word.trim();
    if (word == "true" || word == "false")
      number = word == "true";
    else if (word.getAsDouble(number))
      return std::nullopt;
    numbers.push_back(number);
  }
  return numbers;
}

static DenseElementsAttr readTensorFile(MLIRContext *context, StringRef path) {
  if (llvm::sys::fs::exists(path) && !llvm::sys::fs::is_regular_file(path))
    fail("expected a file to read, got another thing at " + quoted(path));
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false);
  if (!file)
    fail("cannot read " + quoted(path) + ": " + file.getError().message());
  TensorProto tensor;
  if ((*file)->getBufferSize() > INT32_MAX ||
      !tensor.ParseFromArray((*file)->getBufferStart(),
                             static_cast<int>((*file)->getBufferSize())))
    fail("expected an ONNX tensor in " + quoted(path));
  ExternalData none("");
  return decodeTensor(context, tensor, none);
}

DenseElementsAttr
importer::decodeBinding(MLIRContext *context, StringRef text, Type element,
                        std::optional<ArrayRef<int64_t>> shape) {
  std::optional<SmallVector<double>> numbers = parseNumbers(text);
  if (!numbers) {
    DenseElementsAttr value = readTensorFile(context, text);
    if (value.getElementType() != element)
      fail("expected a tensor of the input's element type in " + quoted(text));
    if (shape && value.getType().getShape() != *shape)
      fail("expected the shape " + shapeText(*shape) + " in " + quoted(text) +
           ", got " + shapeText(value.getType().getShape()));
    return value;
  }
  SmallVector<int64_t> sizes;
  if (shape)
    llvm::append_range(sizes, *shape);
  else
    sizes.push_back(numbers->size());
  RankedTensorType type = tensorType(sizes, element);
  checkCount("numbers", type.getNumElements(), numbers->size(), sizes);
  if (isa<FloatType>(element))
    return collect<float>(type, [&](auto i) { return (*numbers)[i]; });
  SmallVector<int64_t> integers;
  for (double number : *numbers) {
    if (number != std::trunc(number) || std::abs(number) > 9e15)
      fail("expected integers, got " + quoted(text));
    integers.push_back(static_cast<int64_t>(number));
  }
  return integersAttr(type, integers);
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

SmallVector<int64_t> importer::integersOf(DenseElementsAttr value) {
  SmallVector<int64_t> result;
  // A bit is 1, not -1, and pixels have no sign.
  bool isSigned = !value.getElementType().isInteger(1) &&
                  !value.getElementType().isUnsignedInteger();
  for (const APInt &number : value.getValues<APInt>())
    result.push_back(isSigned ? number.getSExtValue()
                              : static_cast<int64_t>(number.getZExtValue()));
  return result;
}

DenseElementsAttr importer::integersAttr(RankedTensorType type,
                                         ArrayRef<int64_t> values) {
  auto number = [&](auto i) { return values[i]; };
  switch (type.getElementTypeBitWidth()) {
  case 1:
    return collect<bool>(type, [&](auto i) { return values[i] != 0; });
  case 8:
    return collect<uint8_t>(type, number);
  case 32:
    return collect<int32_t>(type, number);
  default:
    return collect<int64_t>(type, number);
  }
}

DenseElementsAttr importer::splatAttr(RankedTensorType type, double number) {
  if (auto element = dyn_cast<FloatType>(type.getElementType()))
    return DenseElementsAttr::get(type, FloatAttr::get(element, number));
  auto element = cast<IntegerType>(type.getElementType());
  return DenseElementsAttr::get(
      type, IntegerAttr::get(element, APInt(element.getWidth(),
                                            static_cast<int64_t>(number),
                                            /*isSigned=*/true)));
}
