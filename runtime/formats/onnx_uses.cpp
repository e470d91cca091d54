//===- onnx_uses.cpp - what a model does with its weights -----------------===//

#include "formats/onnx_uses.h"
#include "formats/onnx_fields.h"
#include "formats/protobuf.h"
#include <vector>

namespace mn {

namespace {

using namespace onnx_fields;

struct Node {
  std::string_view op;
  std::vector<std::string_view> inputs, outputs;
  bool transposed[2] = {}; ///< transA, transB

  std::string_view input(size_t i) const {
    return i < inputs.size() ? inputs[i] : std::string_view();
  }
};

void readAttribute(std::string_view message, Node &node) {
  WireReader reader(message);
  WireField field;
  std::string_view name;
  bool value = false;
  while (reader.next(field))
    if (field.number == attributeName)
      name = field.body;
    else if (field.number == attributeInt)
      value = field.value != 0;
  if (name == "transA" || name == "transB")
    node.transposed[name == "transB"] = value;
}

Node readNode(std::string_view message) {
  Node node;
  WireReader reader(message);
  WireField field;
  while (reader.next(field))
    if (field.number == nodeInput)
      node.inputs.push_back(field.body);
    else if (field.number == nodeOutput)
      node.outputs.push_back(field.body);
    else if (field.number == nodeOp)
      node.op = field.body;
    else if (field.number == nodeAttribute)
      readAttribute(field.body, node);
  return node;
}

std::vector<Node> nodesOf(std::string_view model) {
  std::vector<Node> nodes;
  WireReader outer(model);
  WireField graph, field;
  while (outer.next(graph)) {
    if (graph.number != modelGraph || graph.wire != Wire::bytes)
      continue;
    WireReader reader(graph.body);
    while (reader.next(field))
      if (field.number == graphNode && field.wire == Wire::bytes)
        nodes.push_back(readNode(field.body));
  }
  return nodes;
}

/// A tensor that is a weight, or one turned over.
struct Alias {
  std::string weight;
  bool transposed;
};

class Uses {
public:
  WeightUses result;

  void visit(const Node &node) {
    if (node.outputs.empty())
      return;
    const bool turns = node.op == "Transpose";
    if (node.op == "Identity" || node.op == "Cast" || turns) {
      const Alias from = aliasOf(node.input(0));
      aliases[std::string(node.outputs[0])] = {from.weight,
                                               from.transposed != turns};
    } else if (node.op == "Conv" || node.op == "ConvTranspose") {
      add(node.input(1), {WeightUse::Kind::conv, node.op == "Conv",
                          std::string(node.input(2))});
    } else if (node.op == "Gemm") {
      dense(node.input(0), !node.transposed[0], node);
      dense(node.input(1), node.transposed[1], node);
    } else if (node.op == "MatMul") {
      dense(node.input(0), true, node);
      dense(node.input(1), false, node);
    } else if (node.op == "Add") {
      addBias(node.input(0), node.input(1));
      addBias(node.input(1), node.input(0));
    }
  }

private:
  Alias aliasOf(std::string_view tensor) const {
    const auto found = aliases.find(tensor);
    return found == aliases.end() ? Alias{std::string(tensor), false}
                                  : found->second;
  }

  void add(std::string_view weight, WeightUse use) {
    const Alias alias = aliasOf(weight);
    use.outFirst = use.outFirst != alias.transposed;
    result.try_emplace(alias.weight, std::move(use));
  }

  void dense(std::string_view weight, bool outFirst, const Node &node) {
    add(weight, {WeightUse::Kind::dense, outFirst, std::string(node.input(2))});
    products.try_emplace(std::string(node.outputs[0]));
    products[std::string(node.outputs[0])].push_back(aliasOf(weight).weight);
  }

  /// What is added to a product, where nothing was in the product's own node.
  void addBias(std::string_view product, std::string_view bias) {
    const auto found = products.find(product);
    if (found == products.end())
      return;
    for (const std::string &weight : found->second)
      if (WeightUse &use = result[weight]; use.bias.empty())
        use.bias = bias;
  }

  std::map<std::string, Alias, std::less<>> aliases;
  std::map<std::string, std::vector<std::string>, std::less<>> products;
};

} // namespace

WeightUses weightUsesOf(std::string_view model) {
  Uses uses;
  for (const Node &node : nodesOf(model))
    uses.visit(node);
  return std::move(uses.result);
}

} // namespace mn
