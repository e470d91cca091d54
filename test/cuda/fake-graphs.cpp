//===- fake-graphs.cpp - graphs, written down -----------------------------===//

#include "fake-state.h"
#include <queue>

using namespace fake;

namespace {

/// For each entry of a graph those that it has to be done before: the next one
/// of its stream, and who waits for the event that it records.
std::vector<std::vector<size_t>> successors(const std::vector<Entry> &graph) {
  std::vector<std::vector<size_t>> later(graph.size());
  std::map<int, size_t> last, recorded; // of a stream; of an event
  for (size_t i = 0; i < graph.size(); ++i) {
    const Entry &entry = graph[i];
    if (last.count(entry.stream))
      later[last[entry.stream]].push_back(i);
    if (entry.what == What::wait && recorded.count(entry.event))
      later[recorded[entry.event]].push_back(i);
    if (entry.what == What::record)
      recorded[entry.event] = i;
    last[entry.stream] = i;
  }
  return later;
}

/// An order in which a GPU may run a graph: that of the capture, or of all that
/// may be next always the last. Records and waits take no time.
std::vector<size_t> orderOf(const std::vector<Entry> &graph) {
  const auto later = successors(graph);
  std::vector<int> awaited(graph.size(), 0);
  for (const std::vector<size_t> &all : later)
    for (size_t entry : all)
      ++awaited[entry];
  const bool backward = emulated::runsBackward();
  const auto isAfter = [&](size_t a, size_t b) {
    if (bool(graph[a].work) != bool(graph[b].work))
      return bool(graph[a].work);
    return backward ? a < b : a > b;
  };
  std::priority_queue<size_t, std::vector<size_t>, decltype(isAfter)> ready(
      isAfter);
  for (size_t i = 0; i < graph.size(); ++i)
    if (awaited[i] == 0)
      ready.push(i);
  std::vector<size_t> order;
  while (!ready.empty()) {
    order.push_back(ready.top());
    ready.pop();
    for (size_t entry : later[order.back()])
      if (--awaited[entry] == 0)
        ready.push(entry);
  }
  return order;
}

/// Of the capture that is under way.
Entry &entryOf(CUgraphNode node) {
  return capture->entries[reinterpret_cast<size_t>(node) - 1];
}

CUgraphEdgeData dataOf(const Edge &edge) {
  CUgraphEdgeData data = {};
  if (!edge.whole)
    data.type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
  return data;
}

} // namespace

extern "C" {

CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode) {
  MN_FAILS;
  if (capture)
    return CUDA_ERROR_ILLEGAL_STATE;
  capture = std::make_unique<Capture>();
  capture->number = ++captures;
  takePart(of(stream));
  return CUDA_SUCCESS;
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph) {
  *graph = nullptr;
  if (!capture || capture->streams.front() != of(stream))
    return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  const std::unique_ptr<Capture> ended = std::move(capture);
  // What took part ends with the first stream.
  bool joined = true;
  for (auto [number, count] : ended->last)
    joined &= of(stream)->clock[number] >= count;
  for (Stream *each : ended->streams)
    each->captured = false;
  MN_FAILS;
  if (!joined)
    return CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
  driver().graphs.push_back(ended->entries);
  *graph = reinterpret_cast<CUgraph>(driver().graphs.size());
  return CUDA_SUCCESS;
}

CUresult cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode *from,
                                    CUgraphEdgeData *edges, size_t *count) {
  MN_FAILS;
  const std::vector<Edge> &all = entryOf(node).edges;
  for (size_t i = 0; from && i < all.size(); ++i) {
    from[i] = reinterpret_cast<CUgraphNode>(all[i].from);
    edges[i] = dataOf(all[i]);
  }
  *count = all.size();
  return CUDA_SUCCESS;
}

CUresult cuGraphRemoveDependencies(CUgraph, const CUgraphNode *from,
                                   const CUgraphNode *to,
                                   const CUgraphEdgeData *edges, size_t count) {
  MN_FAILS;
  for (size_t i = 0; i < count; ++i)
    if (std::erase_if(entryOf(to[i]).edges, [&](const Edge &edge) {
          return edge.from == reinterpret_cast<size_t>(from[i]) &&
                 dataOf(edge).type == edges[i].type;
        }) != 1)
      return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

CUresult cuGraphAddDependencies(CUgraph, const CUgraphNode *from,
                                const CUgraphNode *to,
                                const CUgraphEdgeData *edges, size_t count) {
  MN_FAILS;
  for (size_t i = 0; i < count; ++i)
    entryOf(to[i]).edges.push_back(
        {reinterpret_cast<size_t>(from[i]),
         edges[i].type == CU_GRAPH_DEPENDENCY_TYPE_DEFAULT});
  return CUDA_SUCCESS;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *made, CUgraph graph,
                                     unsigned long long) {
  MN_FAILS;
  *made = reinterpret_cast<CUgraphExec>(graph);
  return CUDA_SUCCESS;
}

CUresult cuGraphUpload(CUgraphExec, CUstream) {
  MN_FAILS;
  return CUDA_SUCCESS;
}

CUresult cuGraphLaunch(CUgraphExec graph, CUstream stream) {
  MN_FAILS;
  const size_t number = reinterpret_cast<size_t>(graph) - 1;
  enqueue(stream, {.what = What::graph, .graph = int(number)});
  const std::vector<Entry> &entries = driver().graphs[number];
  for (size_t i : orderOf(entries))
    if (const CUresult result = run(entries[i]); result != CUDA_SUCCESS)
      return result;
  if (driver().onGraph)
    driver().onGraph(int(number));
  return CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph) { return CUDA_SUCCESS; }

CUresult cuGraphExecDestroy(CUgraphExec) {
  MN_ALONE;
  ++driver().destroyedGraphs;
  return CUDA_SUCCESS;
}

} // extern "C"
