//===- fake-streams.cpp - streams, events and graphs, written down --------===//

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

} // namespace

extern "C" {

//===----------------------------------------------------------------------===//
// Streams and events
//===----------------------------------------------------------------------===//

CUresult cuStreamCreate(CUstream *stream, unsigned) {
  MN_FAILS;
  *stream = reinterpret_cast<CUstream>(new Stream{streams++});
  ++driver().allocations;
  return CUDA_SUCCESS;
}

CUresult cuStreamDestroy(CUstream stream) {
  MN_ALONE;
  delete of(stream);
  --driver().allocations;
  return CUDA_SUCCESS;
}

CUresult cuStreamSynchronize(CUstream stream) {
  MN_FAILS;
  driver().log.push_back({What::synchronize, of(stream)->number});
  return CUDA_SUCCESS;
}

CUresult cuStreamQuery(CUstream) {
  MN_FAILS;
  return CUDA_SUCCESS;
}

CUresult cuEventQuery(CUevent) {
  MN_FAILS;
  return CUDA_SUCCESS;
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status) {
  MN_FAILS;
  *status = of(stream)->captured ? CU_STREAM_CAPTURE_STATUS_ACTIVE
                                 : CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}

CUresult cuStreamGetCaptureInfo(CUstream handle, CUstreamCaptureStatus *status,
                                cuuint64_t *, CUgraph *,
                                const CUgraphNode **nodes,
                                const CUgraphEdgeData **, size_t *count) {
  MN_FAILS;
  *nodes = of(handle)->nodes.data();
  *count = of(handle)->captured ? of(handle)->nodes.size() : 0;
  return cuStreamIsCapturing(handle, status);
}

/// Takes what the stream waits for anyway, of which its own last operation may
/// be a kernel that has not ended.
CUresult cuStreamUpdateCaptureDependencies(CUstream handle, CUgraphNode *nodes,
                                           const CUgraphEdgeData *edges,
                                           size_t count, unsigned flags) {
  MN_FAILS;
  Stream &stream = *of(handle);
  if (!stream.captured || flags != CU_STREAM_SET_CAPTURE_DEPENDENCIES ||
      Nodes(nodes, nodes + count) != stream.nodes)
    return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < count; ++i)
    if (edges[i].type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC) {
      if (nodes[i] != stream.last)
        return CUDA_ERROR_INVALID_VALUE;
      stream.overlaps = true;
    }
  return CUDA_SUCCESS;
}

CUresult cuStreamWaitEvent(CUstream handle, CUevent handleOfEvent, unsigned) {
  MN_FAILS;
  Stream &stream = *of(handle);
  const Event &event = *of(handleOfEvent);
  if (!event.recorded)
    return CUDA_ERROR_INVALID_VALUE;
  if (capture && event.capture == capture->number) {
    if (!stream.captured)
      takePart(&stream);
    merge(stream.clock, event.clock);
    merge(stream.nodes, event.nodes);
  } else if (stream.captured) {
    return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
  }
  enqueue(handle, {.what = What::wait, .event = event.number});
  return CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent *event, unsigned) {
  MN_FAILS;
  *event = reinterpret_cast<CUevent>(new Event{events++});
  ++driver().allocations;
  return CUDA_SUCCESS;
}

CUresult cuEventDestroy(CUevent event) {
  MN_ALONE;
  delete of(event);
  --driver().allocations;
  return CUDA_SUCCESS;
}

CUresult cuEventRecord(CUevent handle, CUstream stream) {
  MN_FAILS;
  Event &event = *of(handle);
  enqueue(stream, {.what = What::record, .event = event.number});
  event.recorded = true;
  event.capture = of(stream)->captured ? capture->number : 0;
  event.clock = of(stream)->clock;
  event.nodes = of(stream)->nodes;
  return CUDA_SUCCESS;
}

CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned) {
  MN_FAILS;
  return cuEventRecord(event, stream);
}

CUresult cuEventSynchronize(CUevent event) {
  MN_FAILS;
  driver().log.push_back({What::synchronize, -1, of(event)->number});
  return CUDA_SUCCESS;
}

CUresult cuEventElapsedTime(float *milliseconds, CUevent, CUevent) {
  MN_FAILS;
  *milliseconds = 1;
  return CUDA_SUCCESS;
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

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
