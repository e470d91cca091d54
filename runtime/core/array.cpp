//===- array.cpp - a tensor in host memory --------------------------------===//

#include "core/array.h"
#include "mnistrt/bf16.h"
#include <cstdarg>
#include <cstdio>

namespace mn {

Status checkedBytes(Type type, const std::vector<int64_t> &shape,
                    size_t &bytes) {
  bytes = bytesOf(type);
  bool empty = false;
  for (int64_t size : shape) {
    if (size < 0)
      return badData("expected dimensions of 0 or more, got %s",
                     shapeText(shape).c_str());
    empty |= size == 0;
  }
  if (empty) {
    bytes = 0;
    return Status::success();
  }
  for (int64_t size : shape)
    if (__builtin_mul_overflow(bytes, static_cast<size_t>(size), &bytes) ||
        bytes > (size_t(1) << 48))
      return badData("expected a tensor that fits in memory, got shape %s",
                     shapeText(shape).c_str());
  return Status::success();
}

std::string shapeText(const int64_t *shape, size_t rank) {
  std::string result = "[";
  for (size_t d = 0; d < rank; ++d)
    result += (d ? ", " : "") + std::to_string(shape[d]);
  return result + "]";
}

double numberAt(Type type, const void *data, size_t i) {
  const auto at = [&](auto value) {
    std::memcpy(&value, static_cast<const char *>(data) + i * sizeof value,
                sizeof value);
    return static_cast<double>(value);
  };
  switch (type) {
  case Type::f32:
    return at(float());
  case Type::f64:
    return at(double());
  case Type::i32:
    return at(int32_t());
  case Type::i64:
    return at(int64_t());
  case Type::b8:
    return at(uint8_t()) != 0;
  case Type::u8:
    return at(uint8_t());
  case Type::bf16:
    return at(Bf16());
  }
  return 0;
}

std::string text(const char *format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  const int size = std::vsnprintf(nullptr, 0, format, arguments);
  va_end(arguments);
  std::string result(size > 0 ? static_cast<size_t>(size) : 0, '\0');
  std::vsnprintf(result.data(), result.size() + 1, format, again);
  va_end(again);
  return result;
}

} // namespace mn
