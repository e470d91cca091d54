//===- array.h - a tensor in host memory ------------------------*- C++ -*-===//
//
// Row-major; what readers return and writers take.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CORE_ARRAY_H
#define MNISTRT_CORE_ARRAY_H

#include "core/bytes.h"
#include "core/status.h"
#include "core/tensor.h"
#include <charconv>
#include <cstring>
#include <string>
#include <vector>

namespace mn {

struct Array {
  Type type = Type::f32;
  std::vector<int64_t> shape;
  Bytes bytes;
  std::string name;    ///< the tensor's, where the file says it
  bool pixels = false; ///< numbers from 0 to 255 that mean black to white

  size_t count() const { return bytes.size() / bytesOf(type); }
};

/// How many bytes a tensor takes; an error where a dimension is negative or
/// there are more than a machine can address.
Status checkedBytes(Type type, const std::vector<int64_t> &shape,
                    size_t &bytes);

/// "[64, 1, 28, 28]".
std::string shapeText(const int64_t *shape, size_t rank);
inline std::string shapeText(const std::vector<int64_t> &shape) {
  return shapeText(shape.data(), shape.size());
}
inline std::string shapeText(const Tensor &tensor) {
  return shapeText(tensor.shape, static_cast<size_t>(tensor.rank));
}

/// Element `i` of a block of memory, as a double. Integers above 2^53 lose
/// digits.
double numberAt(Type type, const void *data, size_t i);

/// printf into a string. <format> needs libstdc++ 13; Debian 12 has 12.
[[gnu::format(printf, 1, 2)]] std::string text(const char *format, ...);

/// The shortest text that reads back as `value`.
template <typename T> std::string shortest(T value) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof(digits), value).ptr};
}

/// A status with Code::badData.
template <typename... Arguments>
Status badData(const char *format, Arguments... arguments) {
  return Status::error(Code::badData, text(format, arguments...));
}
inline Status badData(const char *message) {
  return Status::error(Code::badData, message);
}

} // namespace mn

#endif // MNISTRT_CORE_ARRAY_H
