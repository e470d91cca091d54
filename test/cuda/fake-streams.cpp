//===- fake-streams.cpp - streams and events, written down ----------------===//

#include "fake-state.h"

using namespace fake;

extern "C" {

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
                                cuuint64_t *, CUgraph *graph,
                                const CUgraphNode **nodes,
                                const CUgraphEdgeData **, size_t *count) {
  MN_FAILS;
  if (graph)
    *graph = reinterpret_cast<CUgraph>(capture.get());
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

} // extern "C"
