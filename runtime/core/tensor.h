//===- tensor.h - sizes and names of tensors --------------------*- C++ -*-===//
//
// What executors and the program need to know of the tables' tensors. Not for
// generated code.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CORE_TENSOR_H
#define MNISTRT_CORE_TENSOR_H

#include "mnistrt/model.h"

namespace mn {

inline size_t bytesOf(Type type) {
  switch (type) {
  case Type::f64:
  case Type::i64:
    return 8;
  case Type::f32:
  case Type::i32:
    return 4;
  case Type::bf16:
    return 2;
  case Type::b8:
  case Type::u8:
    return 1;
  }
  return 0;
}

/// As ONNX calls it.
inline const char *nameOf(Type type) {
  switch (type) {
  case Type::f32:
    return "float";
  case Type::f64:
    return "double";
  case Type::i32:
    return "int32";
  case Type::i64:
    return "int64";
  case Type::b8:
    return "bool";
  case Type::u8:
    return "uint8";
  case Type::bf16:
    return "bfloat16";
  }
  return "unknown";
}

inline size_t countOf(const Tensor &tensor) {
  size_t count = 1;
  for (int d = 0; d < tensor.rank; ++d)
    count *= static_cast<size_t>(tensor.shape[d]);
  return count;
}

inline size_t bytesOf(const Tensor &tensor) {
  return countOf(tensor) * bytesOf(tensor.type);
}

} // namespace mn

#endif // MNISTRT_CORE_TENSOR_H
