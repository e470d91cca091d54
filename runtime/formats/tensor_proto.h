//===- tensor_proto.h - ONNX's tensors as messages --------------*- C++ -*-===//

#ifndef MNISTRT_FORMATS_TENSOR_PROTO_H
#define MNISTRT_FORMATS_TENSOR_PROTO_H

#include "formats/protobuf.h"
#include <vector>

namespace mn::tensorproto {

/// The fields of a TensorProto, by their number in onnx.proto.
enum Field : uint32_t {
  dims = 1,
  dataType = 2,
  segment = 3,
  floatData = 4,
  int32Data = 5,
  stringData = 6,
  int64Data = 7,
  name = 8,
  rawData = 9,
  doubleData = 10,
  uint64Data = 11,
  externalData = 13,
  dataLocation = 14
};

/// Appends what a repeated field of integers holds: packed many, or one.
/// False where it holds something else.
bool takeIntegers(const WireField &field, std::vector<int64_t> &to);

} // namespace mn::tensorproto

#endif // MNISTRT_FORMATS_TENSOR_PROTO_H
