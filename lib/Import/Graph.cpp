//===- Graph.cpp - what is named, and in which order nodes run ------------===//

#include "lib/Import/Model.h"

using namespace mlir;
using namespace mlir::mnistc;
using namespace mlir::mnistc::importer;

std::string GraphNode::place() const {
  std::string version = opset ? ", opset " + std::to_string(opset) : "";
  std::string type = quoted(proto->op_type());
  return "node " + quoted(name) + " (" + type.substr(1, type.size() - 2) +
         version + ")";
}

namespace {
class GraphOrder {
public:
  GraphOrder(Model &model, Report &report) : model(model), report(report) {}

  void run() {
    nameInitializers();
    nameInputs();
    nameNodes();
    for (const auto &output : model.graph().output()) {
      model.used.insert(output.name());
      visitOutput(output.name());
    }
    if (model.graph().output().empty())
      report.problem(
          {ImportStatus::badModel, "expected a graph output, got none"});
    size_t unused = candidates.size() - model.nodes.size();
    if (unused && !report.hasProblems())
      report.note(Twine(unused) + " of " + Twine(candidates.size()) +
                  " nodes reach no graph output and are left out");
  }

private:
  enum class State { untouched, open, done };
  struct Candidate {
    GraphNode node;
    State state = State::untouched;
    int nextInput = 0;
  };

  void duplicate(StringRef what, StringRef name) {
    report.problem({ImportStatus::badModel, "expected one " + what.str() +
                                                " of the name " + quoted(name) +
                                                ", got several"});
  }

  void nameInitializers() {
    for (const auto &tensor : model.graph().initializer()) {
      if (tensor.name().empty())
        report.problem({ImportStatus::badModel,
                        "expected a name of each initializer, got none"});
      else if (!model.initializers.try_emplace(tensor.name(), &tensor).second)
        duplicate("initializer", tensor.name());
    }
    for (const auto &tensor : model.graph().sparse_initializer())
      sparse.insert(tensor.values().name());
  }

  /// Up to IR version 3 all initializers are graph inputs too, later ones may
  /// be, as defaults.
  void nameInputs() {
    llvm::StringSet<> seen;
    for (const auto &input : model.graph().input()) {
      if (!seen.insert(input.name()).second)
        duplicate("graph input", input.name());
      else if (!model.initializers.count(input.name()))
        model.inputs.push_back(&input);
    }
    inputs = std::move(seen);
  }

  void nameNodes() {
    int number = 0;
    for (const onnx::NodeProto &proto : model.graph().node()) {
      GraphNode node{&proto, proto.name(),
                     proto.domain() == "ai.onnx" ? "" : proto.domain(), 0,
                     number};
      if (node.name.empty())
        node.name = proto.op_type() + "_" + std::to_string(number);
      node.opset = model.opsets.lookup(node.domain);
      for (const std::string &output : proto.output()) {
        if (output.empty())
          continue;
        bool taken = inputs.contains(output) ||
                     model.initializers.count(output) ||
                     !producers.try_emplace(output, number).second;
        if (taken)
          report.problem({ImportStatus::badModel,
                          "expected a new name for each output, got " +
                              quoted(output) + " again"},
                         node.place());
      }
      candidates.push_back({std::move(node)});
      ++number;
    }
  }

  bool isGiven(StringRef name) const {
    return model.initializers.count(name) || inputs.contains(name);
  }

  void visitOutput(const std::string &name) {
    if (isGiven(name))
      return;
    auto producer = producers.find(name);
    if (producer == producers.end())
      report.problem(
          {ImportStatus::badModel,
           "graph output " + quoted(name) + " is neither computed nor given"});
    else
      visit(producer->second);
  }

  /// Depth first, without recursion: models are deeper than stacks.
  void visit(int root) {
    SmallVector<int> path{root};
    while (!path.empty()) {
      Candidate &current = candidates[path.back()];
      const onnx::NodeProto &proto = *current.node.proto;
      if (current.state == State::done) {
        path.pop_back();
      } else if (current.nextInput == proto.input_size()) {
        current.state = State::done;
        path.pop_back();
        model.nodes.push_back(current.node);
        for (const std::string &input : proto.input())
          model.used.insert(input);
      } else {
        current.state = State::open;
        visitInput(current, proto.input(current.nextInput++), path);
      }
    }
  }

  void visitInput(const Candidate &current, const std::string &name,
                  SmallVectorImpl<int> &path) {
    if (name.empty() || isGiven(name))
      return;
    auto producer = producers.find(name);
    if (producer == producers.end()) {
      bool isSparse = sparse.contains(name);
      report.problem(
          {isSparse ? ImportStatus::unsupported : ImportStatus::badModel,
           "input " + quoted(name) +
               (isSparse ? " is a sparse initializer, expected a "
                           "dense one"
                         : " is neither computed nor given")},
          current.node.place());
      return;
    }
    Candidate &next = candidates[producer->second];
    if (next.state == State::open)
      report.problem({ImportStatus::badModel,
                      "expected an acyclic graph, got that input " +
                          quoted(name) + " depends on the node's own output"},
                     current.node.place());
    else if (next.state == State::untouched)
      path.push_back(producer->second);
  }

  Model &model;
  Report &report;
  llvm::StringSet<> inputs, sparse;
  llvm::StringMap<int> producers;
  std::vector<Candidate> candidates;
};
} // namespace

void importer::orderGraph(Model &model, Report &report) {
  GraphOrder(model, report).run();
}
