//===- fake-state.h - streams, events and what they do ----------*- C++ -*-===//

#ifndef MNISTC_TEST_CUDA_FAKE_STATE_H
#define MNISTC_TEST_CUDA_FAKE_STATE_H

#include "fake-driver.h"
#include "module.h"
#include <algorithm>
#include <cstdio>
#include <cuda.h>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace fake {

/// Which steps of a capture an operation comes after: how many of each stream.
using Clock = std::map<int, int>;

inline void merge(Clock &into, const Clock &from) {
  for (auto [stream, count] : from)
    into[stream] = std::max(into[stream], count);
}

/// What the next operation of a captured stream waits for: others by their
/// numbers in the capture, from 1.
using Nodes = std::vector<CUgraphNode>;

inline void merge(Nodes &into, const Nodes &from) {
  for (CUgraphNode node : from)
    if (std::find(into.begin(), into.end(), node) == into.end())
      into.push_back(node);
}

struct Stream {
  int number;
  bool captured = false;
  Clock clock = {};
  Nodes nodes = {};
  CUgraphNode last = nullptr; ///< its own last one
  bool overlaps = false;      ///< may the next kernel begin before that ends?
};

struct Event {
  int number;
  bool recorded = false;
  int capture = 0; ///< in which it was recorded, or 0
  Clock clock = {};
  Nodes nodes = {};
};

/// Of one thread.
struct Capture {
  int number;                    ///< from 1
  std::vector<Stream *> streams; ///< that take part; the first began it
  std::vector<Entry> entries;
  Clock last; ///< of each stream that takes part
};

inline thread_local std::unique_ptr<Capture> capture;
inline int streams = 0, events = 0, captures = 0;

inline void takePart(Stream *stream) {
  capture->streams.push_back(stream);
  stream->captured = true;
  stream->clock.clear();
  stream->nodes.clear();
  stream->last = nullptr;
  stream->overlaps = false;
}

inline Stream *of(CUstream stream) {
  static Stream byDefault = {-1};
  return stream ? reinterpret_cast<Stream *>(stream) : &byDefault;
}
inline Event *of(CUevent event) { return reinterpret_cast<Event *>(event); }

struct Kernel {
  std::string name;
  CUmodule module;
  auto operator<=>(const Kernel &) const = default;
};

/// Of kernels that can run; none for machine code of a GPU.
inline std::map<CUmodule, std::unique_ptr<emulated::Module>> modules;

inline std::map<CUmodule, const void *> images;

inline const Kernel &of(CUfunction function) {
  return *reinterpret_cast<const Kernel *>(function);
}

inline CUresult fails(const char *name) {
  driver().called.insert(name);
  const auto found = driver().fails.find(name);
  return static_cast<CUresult>(found == driver().fails.end() ? 0
                                                             : found->second);
}

/// One function at a time, from whichever thread.
inline std::recursive_mutex &mutex() {
  static std::recursive_mutex all;
  return all;
}

#define MN_ALONE                                                               \
  const std::lock_guard<std::recursive_mutex> alone(fake::mutex())

#define MN_FAILS                                                               \
  MN_ALONE;                                                                    \
  if (const CUresult result = fails(__func__); result != CUDA_SUCCESS)         \
  return result

inline CUresult run(const Entry &entry) {
  const std::string wrong = entry.work ? entry.work() : "";
  if (wrong.empty())
    return CUDA_SUCCESS;
  std::fprintf(stderr, "fake driver: %s\n", wrong.c_str());
  return CUDA_ERROR_LAUNCH_FAILED;
}

/// Writes down what `stream` does next, and does it unless a graph is captured.
inline CUresult enqueue(CUstream handle, Entry entry) {
  Stream &stream = *of(handle);
  entry.stream = stream.number;
  if (!capture || !stream.captured) {
    const CUresult result = run(entry);
    entry.work = nullptr;
    driver().log.push_back(std::move(entry));
    return result;
  }
  if (entry.what != What::wait && entry.what != What::record) {
    const bool overlapsLast = std::exchange(stream.overlaps, false);
    for (CUgraphNode node : stream.nodes)
      entry.edges.push_back(
          {reinterpret_cast<size_t>(node),
           !entry.overlaps && !(overlapsLast && node == stream.last)});
    stream.last = reinterpret_cast<CUgraphNode>(capture->entries.size() + 1);
    stream.nodes = {stream.last};
    entry.overlaps |= overlapsLast;
  }
  capture->entries.push_back(std::move(entry));
  capture->last[stream.number] = ++stream.clock[stream.number];
  return CUDA_SUCCESS;
}

} // namespace fake

#endif // MNISTC_TEST_CUDA_FAKE_STATE_H
