//===- onnx_tensor.h - a TensorProto with other numbers ---------*- C++ -*-===//
//
// Replaces what a TensorProto holds and keeps all that it says: its name, type,
// shape, documentation, and fields that are not known here. Field numbers are
// onnx.proto's.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_FORMATS_ONNX_TENSOR_H
#define MNISTRT_FORMATS_ONNX_TENSOR_H

#include "core/status.h"
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mn {

/// What identifies a tensor, and where else its data is.
struct OnnxTensorInfo {
  std::string_view name;
  std::string location; ///< the file of external data, else empty
};
Status readOnnxTensorInfo(std::string_view tensor, OnnxTensorInfo &info);

/// Appends `tensor` to `to` with the numbers of `values` as raw_data. Floats
/// are converted to the tensor's type (float, double, float16, bfloat16, to the
/// nearest, ties to even); a finite number that becomes infinite is an error.
/// External data is brought in. Messages are without the tensor's name.
Status replaceOnnxTensor(std::string_view tensor, std::span<const float> values,
                         std::string &to);

} // namespace mn

#endif // MNISTRT_FORMATS_ONNX_TENSOR_H
