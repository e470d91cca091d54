//===- saver.cpp - the trained model as an ONNX file ----------------------===//

#include "train/saver.h"
#include "core/array.h"
#include "formats/atomic_file.h"
#include "formats/json.h"
#include "formats/onnx_patch.h"

namespace mn {

Status Saver::patch(const std::vector<char> &block,
                    std::string &patched) const {
  const Model &tables = *model.model;
  if (!tables.onnx)
    return Status::error(Code::usage, "expected a program that holds its ONNX "
                                      "file, to save it, got one without");
  OnnxWeights weights;
  for (int i = 0; i < tables.parameterCount; ++i) {
    const auto &[tensor, role, order] = tables.parameters[i];
    if (role == Role::state)
      continue;
    if (tensor.type != Type::f32)
      return Status::error(Code::usage,
                           text("expected weights of float to save, got '%s' "
                                "of %s",
                                tensor.name, nameOf(tensor.type)));
    const Parameter *average = model.averageOf(tables.parameters[i]);
    const size_t offset = (average ? average->tensor : tensor).offset;
    weights[tensor.name] = {
        reinterpret_cast<const float *>(block.data() + offset),
        countOf(tensor)};
  }
  OnnxMetadata metadata;
  if (!classNames.empty())
    metadata[names::classNames] = jsonText(classNames);
  return patchOnnx(
      {reinterpret_cast<const char *>(tables.onnx), tables.onnxBytes}, weights,
      metadata, patched);
}

Status Saver::check(const std::string &path) {
  std::string patched;
  MN_TRY(patch(model.initialBlock(), patched));
  MN_TRY(externalFilesOf(patched, external));
  return checkWritable(path, patched.size());
}

Status Saver::save(const std::string &path, const std::vector<char> &block) {
  std::string patched;
  MN_TRY(patch(block, patched));
  return writeAtomically(path, patched);
}

} // namespace mn
