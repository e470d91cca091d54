//===- onnx_external.cpp - the files of external data that a model needs --===//

#include "core/array.h"
#include "formats/onnx_patch.h"
#include "formats/onnx_tensor.h"
#include "formats/protobuf.h"

namespace mn {

namespace {

/// Which messages hold which, as far as tensors go: onnx.proto's field numbers.
enum class MessageKind {
  model,
  graph,
  function,
  node,
  attribute,
  tensor,
  sparse
};

struct Edge {
  MessageKind in;
  uint32_t field;
  MessageKind what;
};
constexpr Edge edges[] = {{MessageKind::model, 7, MessageKind::graph},
                          {MessageKind::model, 25, MessageKind::function},
                          {MessageKind::graph, 1, MessageKind::node},
                          {MessageKind::graph, 5, MessageKind::tensor},
                          {MessageKind::graph, 15, MessageKind::sparse},
                          {MessageKind::function, 7, MessageKind::node},
                          {MessageKind::node, 5, MessageKind::attribute},
                          {MessageKind::attribute, 5, MessageKind::tensor},
                          {MessageKind::attribute, 6, MessageKind::graph},
                          {MessageKind::attribute, 10, MessageKind::tensor},
                          {MessageKind::attribute, 11, MessageKind::graph},
                          {MessageKind::attribute, 22, MessageKind::sparse},
                          {MessageKind::attribute, 23, MessageKind::sparse},
                          {MessageKind::sparse, 1, MessageKind::tensor},
                          {MessageKind::sparse, 2, MessageKind::tensor}};

/// As protobuf's own readers: what is deeper is an attack.
constexpr int maxDepth = 100;

Status collect(std::string_view message, MessageKind kind, int depth,
               std::set<std::string> &files) {
  if (depth > maxDepth)
    return badData("expected a model of at most %d levels, got more", maxDepth);
  if (kind == MessageKind::tensor) {
    OnnxTensorInfo info;
    MN_TRY(readOnnxTensorInfo(message, info));
    if (!info.location.empty())
      files.insert(info.location);
    return Status::success();
  }
  WireReader reader(message);
  for (WireField field; reader.next(field);)
    for (const Edge &edge : edges)
      if (edge.in == kind && edge.field == field.number &&
          field.wire == Wire::bytes)
        MN_TRY(collect(field.body, edge.what, depth + 1, files));
  return reader.malformed()
             ? badData("expected an ONNX model, got malformed bytes")
             : Status::success();
}

} // namespace

Status externalFilesOf(std::string_view model, std::set<std::string> &files) {
  files.clear();
  return collect(model, MessageKind::model, 0, files);
}

} // namespace mn
