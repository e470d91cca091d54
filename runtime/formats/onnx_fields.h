//===- onnx_fields.h - field numbers of onnx.proto --------------*- C++ -*-===//

#ifndef MNISTRT_FORMATS_ONNX_FIELDS_H
#define MNISTRT_FORMATS_ONNX_FIELDS_H

#include <cstdint>

namespace mn::onnx_fields {

constexpr uint32_t modelGraph = 7, modelMetadata = 14;
constexpr uint32_t entryKey = 1, entryValue = 2;
constexpr uint32_t graphNode = 1, graphInitializer = 5,
                   graphSparseInitializer = 15;
constexpr uint32_t nodeInput = 1, nodeOutput = 2, nodeOp = 4, nodeAttribute = 5,
                   nodeDomain = 7;
constexpr uint32_t attributeName = 1, attributeFloat = 2, attributeInt = 3,
                   attributeTensor = 5, attributeFloats = 7;
constexpr uint32_t sparseValues = 1;

} // namespace mn::onnx_fields

#endif // MNISTRT_FORMATS_ONNX_FIELDS_H
