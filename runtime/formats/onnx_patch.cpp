//===- onnx_patch.cpp - the same model with other weights -----------------===//
//
// Messages are copied field by field; only those on the way to a replaced
// tensor are written again, because their lengths change.
//
//===----------------------------------------------------------------------===//

#include "formats/onnx_patch.h"
#include "core/array.h"
#include "formats/onnx_fields.h"
#include "formats/onnx_tensor.h"
#include "formats/protobuf.h"
#include <bit>
#include <vector>

namespace mn {

namespace {

using namespace onnx_fields;

/// One call of patchOnnx.
class Patch {
public:
  Patch(const OnnxWeights &weights, const OnnxMetadata &metadata)
      : weights(weights), metadata(metadata) {}

  Status model(std::string_view model, std::string &to);
  Status allFound() const;

private:
  bool isReplaced(std::string_view entry) const;
  Status graph(std::string_view graph, std::string &to);
  Status initializer(const WireField &field, std::string &to);
  Status node(const WireField &field, std::string &to);
  Status constant(std::string_view node, std::span<const float> values,
                  std::string &to);
  Status attribute(std::string_view attribute, std::span<const float> values,
                   std::string &to, bool &replaced);
  Status find(std::string_view name, const OnnxWeights::value_type *&weight);

  const OnnxWeights &weights;
  const OnnxMetadata &metadata;
  std::set<std::string_view> found, sparse;
};

Status malformed(const char *what) {
  return badData("expected an ONNX model, got a malformed %s", what);
}

Status forWeight(std::string_view name, Status status) {
  if (!status.ok())
    status.message = "weight '" + std::string(name) + "': " + status.message;
  return status;
}

/// Looks `name` up among the weights; null where it is none. Two tensors of
/// one name are an error.
Status Patch::find(std::string_view name,
                   const OnnxWeights::value_type *&weight) {
  const auto it = weights.find(name);
  weight = it == weights.end() ? nullptr : &*it;
  if (weight && !found.insert(it->first).second)
    return forWeight(name, badData("expected one tensor of this name, got "
                                   "two"));
  return Status::success();
}

Status Patch::model(std::string_view model, std::string &to) {
  bool any = false;
  WireReader reader(model);
  for (WireField field; reader.next(field);) {
    const bool message = field.wire == Wire::bytes;
    if (message && field.number == modelMetadata && isReplaced(field.body))
      continue;
    if (!message || field.number != modelGraph) {
      to.append(field.all);
      continue;
    }
    // A graph may come in parts, which readers join: each is a list of fields.
    any = true;
    std::string body;
    MN_TRY(graph(field.body, body));
    putBytesField(to, modelGraph, body);
  }
  if (reader.malformed())
    return malformed("model");
  if (!any)
    return badData("expected an ONNX model, got one without a graph");
  for (const auto &[key, value] : metadata) {
    std::string entry;
    putBytesField(entry, entryKey, key);
    putBytesField(entry, entryValue, value);
    putBytesField(to, modelMetadata, entry);
  }
  return Status::success();
}

/// Whether there is a new value for an entry of the metadata.
bool Patch::isReplaced(std::string_view entry) const {
  WireReader reader(entry);
  for (WireField field; reader.next(field);)
    if (field.number == entryKey && field.wire == Wire::bytes)
      return metadata.count(field.body) != 0;
  return false;
}

Status Patch::graph(std::string_view graph, std::string &to) {
  to.reserve(graph.size());
  WireReader reader(graph);
  for (WireField field; reader.next(field);) {
    const bool message = field.wire == Wire::bytes;
    if (message && field.number == graphInitializer) {
      MN_TRY(initializer(field, to));
    } else if (message && field.number == graphNode) {
      MN_TRY(node(field, to));
    } else {
      if (message && field.number == graphSparseInitializer) {
        WireReader parts(field.body);
        for (WireField part; parts.next(part);) {
          OnnxTensorInfo info;
          if (part.number == sparseValues && part.wire == Wire::bytes &&
              readOnnxTensorInfo(part.body, info).ok())
            sparse.insert(info.name);
        }
      }
      to.append(field.all);
    }
  }
  return reader.malformed() ? malformed("graph") : Status::success();
}

Status Patch::initializer(const WireField &field, std::string &to) {
  OnnxTensorInfo info;
  MN_TRY(readOnnxTensorInfo(field.body, info));
  const OnnxWeights::value_type *weight;
  MN_TRY(find(info.name, weight));
  if (!weight) {
    to.append(field.all);
    return Status::success();
  }
  std::string body;
  MN_TRY(forWeight(info.name,
                   replaceOnnxTensor(field.body, weight->second, body)));
  putBytesField(to, graphInitializer, body);
  return Status::success();
}

Status Patch::node(const WireField &field, std::string &to) {
  std::string_view type, domain, output;
  WireReader reader(field.body);
  for (WireField part; reader.next(part);) {
    if (part.number == nodeOp)
      type = part.body;
    else if (part.number == nodeDomain)
      domain = part.body;
    else if (part.number == nodeOutput && output.empty())
      output = part.body;
  }
  if (reader.malformed())
    return malformed("node");
  const OnnxWeights::value_type *weight = nullptr;
  if (type == "Constant" && (domain.empty() || domain == "ai.onnx"))
    MN_TRY(find(output, weight));
  if (!weight) {
    to.append(field.all);
    return Status::success();
  }
  std::string body;
  MN_TRY(forWeight(output, constant(field.body, weight->second, body)));
  putBytesField(to, graphNode, body);
  return Status::success();
}

Status Patch::constant(std::string_view node, std::span<const float> values,
                       std::string &to) {
  bool replaced = false;
  WireReader reader(node);
  for (WireField field; reader.next(field);) {
    if (field.number == nodeAttribute && field.wire == Wire::bytes) {
      std::string body;
      bool here = false;
      MN_TRY(attribute(field.body, values, body, here));
      replaced |= here;
      if (here) {
        putBytesField(to, nodeAttribute, body);
        continue;
      }
    }
    to.append(field.all);
  }
  if (!replaced)
    return badData("expected a Constant with 'value', 'value_float' or "
                   "'value_floats', got another one");
  return Status::success();
}

/// Rewrites an attribute if it is a Constant's value of floats.
Status Patch::attribute(std::string_view attribute,
                        std::span<const float> values, std::string &to,
                        bool &replaced) {
  std::string_view name;
  std::string tensor; // its parts joined, as readers join them
  size_t numbers[attributeFloats + 1] = {}; // of 'value_float' and '_floats'
  WireReader reader(attribute);
  for (WireField field; reader.next(field);) {
    if (field.number == attributeName && field.wire == Wire::bytes)
      name = field.body;
    if (field.number == attributeTensor && field.wire == Wire::bytes)
      tensor.append(field.body);
    if (field.number == attributeFloat)
      numbers[attributeFloat] = 1;
    if (field.number == attributeFloats) // packed or one by one
      numbers[attributeFloats] += field.body.size() / sizeof(float);
  }
  if (reader.malformed())
    return malformed("attribute");
  const uint32_t place = name == "value"          ? attributeTensor
                         : name == "value_float"  ? attributeFloat
                         : name == "value_floats" ? attributeFloats
                                                  : 0;
  if (place == 0)
    return Status::success();
  std::string value;
  if (place == attributeTensor) {
    std::string body;
    MN_TRY(replaceOnnxTensor(tensor, values, body));
    putBytesField(value, attributeTensor, body);
  } else {
    if (values.size() != numbers[place])
      return badData("expected %zu numbers, got %zu", numbers[place],
                     values.size());
    for (const float number : values)
      putFixed32Field(value, place, std::bit_cast<uint32_t>(number));
  }
  WireReader again(attribute);
  for (WireField field; again.next(field);) {
    if (field.number != place) {
      to.append(field.all);
    } else if (!replaced) {
      to.append(value);
      replaced = true;
    }
  }
  return Status::success();
}

Status Patch::allFound() const {
  for (const auto &[name, values] : weights) {
    if (found.contains(name))
      continue;
    return forWeight(
        name, badData(sparse.contains(name)
                          ? "expected a dense initializer, got a sparse one"
                          : "expected an initializer or Constant of this name "
                            "in the model's graph, got none"));
  }
  return Status::success();
}

} // namespace

Status patchOnnx(std::string_view model, const OnnxWeights &weights,
                 const OnnxMetadata &metadata, std::string &patched) {
  patched.clear();
  size_t added = 0;
  for (const auto &[name, values] : weights)
    added += values.size() * 2; // no type is smaller
  const auto tooLarge = [](size_t bytes) {
    return badData(
        "expected a model of less than 2 GiB, which is the most that "
        "protobuf reads, got %zu bytes",
        bytes);
  };
  if (model.size() > maxOnnxBytes || added > maxOnnxBytes)
    return tooLarge(model.size() > added ? model.size() : added);
  Patch patch(weights, metadata);
  MN_TRY(patch.model(model, patched));
  MN_TRY(patch.allFound());
  return patched.size() > maxOnnxBytes ? tooLarge(patched.size())
                                       : Status::success();
}

} // namespace mn
