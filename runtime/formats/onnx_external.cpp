//===- onnx_external.cpp - the files of external data that a model needs --===//

#include "core/array.h"
#include "formats/onnx_patch.h"
#include "formats/onnx_tensor.h"
#include "formats/protobuf.h"

namespace mn {

namespace {

/// Which messages hold which, as far as tensors go: onnx.proto's field numbers.
enum class Message { model, graph, function, node, attribute, tensor, sparse };

struct Edge {
  Message in;
  uint32_t field;
  Message what;
};
constexpr Edge edges[] = {{Message::model, 7, Message::graph},
                          {Message::model, 25, Message::function},
                          {Message::graph, 1, Message::node},
                          {Message::graph, 5, Message::tensor},
                          {Message::graph, 15, Message::sparse},
                          {Message::function, 7, Message::node},
                          {Message::node, 5, Message::attribute},
                          {Message::attribute, 5, Message::tensor},
                          {Message::attribute, 6, Message::graph},
                          {Message::attribute, 10, Message::tensor},
                          {Message::attribute, 11, Message::graph},
                          {Message::attribute, 22, Message::sparse},
                          {Message::attribute, 23, Message::sparse},
                          {Message::sparse, 1, Message::tensor},
                          {Message::sparse, 2, Message::tensor}};

/// As protobuf's own readers: what is deeper is an attack.
constexpr int maxDepth = 100;

Status collect(std::string_view message, Message kind, int depth,
               std::set<std::string> &files) {
  if (depth > maxDepth)
    return badData("expected a model of at most %d levels, got more", maxDepth);
  if (kind == Message::tensor) {
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
  return collect(model, Message::model, 0, files);
}

} // namespace mn
