//===- onnx_patch.h - the same model with other weights ---------*- C++ -*-===//
//
// Writes trained weights into the bytes of the ONNX file that was trained. Only
// the values of the named tensors change; nodes, names, opsets, metadata, and
// fields that this program has never heard of stay byte for byte.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_FORMATS_ONNX_PATCH_H
#define MNISTRT_FORMATS_ONNX_PATCH_H

#include "core/status.h"
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

namespace mn {

/// New values, by the name of an initializer of the main graph or of the output
/// of a Constant node (attribute value, value_float or value_floats) in it.
using OnnxWeights = std::map<std::string, std::span<const float>, std::less<>>;

/// protobuf reads no message of 2 GiB.
constexpr size_t maxOnnxBytes = (size_t(1) << 31) - 1;

/// `model`: a ModelProto; `metadata`: pairs of its metadata that are added, or
/// replaced. Errors: bytes that are no model; a weight that the
/// main graph does not have, has twice, or has as a sparse tensor; another
/// number of elements; a type that is not float, double, float16 or bfloat16,
/// or too small for the value; a result of 2 GiB or more.
using OnnxMetadata = std::map<std::string, std::string, std::less<>>;
Status patchOnnx(std::string_view model, const OnnxWeights &weights,
                 const OnnxMetadata &metadata, std::string &patched);

/// The files that a model reads its tensors from, as it spells them: of its
/// initializers, nodes, subgraphs and functions. Where a model is saved in
/// another folder, these must be copied too.
Status externalFilesOf(std::string_view model, std::set<std::string> &files);

} // namespace mn

#endif // MNISTRT_FORMATS_ONNX_PATCH_H
