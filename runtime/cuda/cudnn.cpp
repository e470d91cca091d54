//===- cudnn.cpp - convolutions on cuDNN ----------------------------------===//
//
// One graph a step: the convolution and its epilogue, fused where an engine
// can, else the convolution and, in place on its result, the epilogue. A
// one-dimensional convolution is a two-dimensional one of width 1.
//
//===----------------------------------------------------------------------===//

#include "cuda/cudnn_graph.h"
#include "cuda/state.h"
#include "mnistrt/cuda/libraries.h"
#include <algorithm>

using namespace mn;
using namespace mn::cuda;

namespace {

using Dims = std::vector<int64_t>;
using Addresses = std::vector<const void *>;

/// What is kept for a step: graphs that run one after the other, and where all
/// tensors were when these were planned.
struct PreparedGraphs final : Prepared {
  explicit PreparedGraphs(Addresses planned) : planned(std::move(planned)) {}

  const Addresses planned;
  std::vector<std::unique_ptr<CudnnGraph>> graphs;
};

/// Sizes and strides of an image or filter, in the order N C D....
struct Memory {
  Dims dims, strides;
};

Memory memoryOf(const Conv &s, int64_t n, int64_t c, const int (&extent)[3]) {
  const int spatial = std::max(2, s.spatial);
  Memory m;
  m.dims = {n, c};
  m.dims.insert(m.dims.end(), extent, extent + spatial);
  m.strides.resize(m.dims.size());
  int64_t stride = 1;
  if (s.layout == Layout::nhwc) {
    m.strides[1] = 1;
    stride = c;
  }
  for (size_t d = m.dims.size() - 1; d >= 2; --d) {
    m.strides[d] = stride;
    stride *= m.dims[d];
  }
  if (s.layout == Layout::nchw) {
    m.strides[1] = stride;
    stride *= c;
  }
  m.strides[0] = stride;
  return m;
}

/// The numbers of a convolution's tensors in a graph.
struct Tensors {
  int image, filter, result;
};

/// Adds the convolution; `result` null: only the graph sees it.
Tensors addConvolution(CudnnGraph &graph, cudnnBackendDescriptorType_t kind,
                       const Conv &s, const void *image, const void *filter,
                       const void *result) {
  const auto tensor = [&](const Memory &m, const void *memory) {
    return graph.tensor(m.dims, m.strides, memory);
  };
  Tensors t;
  t.image = tensor(memoryOf(s, s.batch, s.inChannels, s.in), image);
  t.filter = tensor(
      memoryOf(s, s.outChannels, s.inChannels / s.groups, s.kernel), filter);
  t.result = tensor(memoryOf(s, s.batch, s.outChannels, s.out), result);
  int64_t before[3], after[3], strides[3], dilations[3];
  for (int d = 0; d < 3; ++d) {
    before[d] = s.pads[d];
    strides[d] = s.strides[d];
    dilations[d] = s.dilations[d];
    // As much as the last window reaches into: what is beyond may not count.
    after[d] = std::max(0, (s.out[d] - 1) * s.strides[d] +
                               (s.kernel[d] - 1) * s.dilations[d] + 1 -
                               s.in[d] - s.pads[d]);
  }
  graph.convolution(kind, std::max(2, s.spatial), before, after, strides,
                    dilations, t.image, t.filter, t.result);
  return t;
}

// Where FFTs pay, in microseconds on one H200: 32 -> 64 channels, 3x3, the best
// exact engine that is an FFT, and the best one that is none.
//
//                     14x14, padded         26x26
//   batch                64     1024      64    1024
//   convolution       32 24  172 195   51 59 476 566
//   input's gradient  47 31  456 318   47 82 432 1068
//   filter's gradient 30 36  221 672   61 101 660 1510
//
// They work on tiles of 32 x 32, between transforms that many channels share;
// of a tile the windows that lie in it are of use. An image of 32 with padding
// takes four tiles: 32 -> 64 channels at 256, a kernel 362, the FFT 1112.
Transforms transformsFor(cudnnBackendDescriptorType_t kind, const Conv &s) {
  constexpr int tile = 32, someChannels = 16;
  constexpr double enough = 0.4;
  int64_t taps = 1;
  for (int d = 0; d < 3; ++d)
    taps *= s.kernel[d];
  const bool known = s.spatial == 2 && s.groups == 1 && taps >= 9 &&
                     *std::max_element(s.kernel, s.kernel + 2) < tile &&
                     std::min(s.inChannels, s.outChannels) >= someChannels;
  if (!known)
    return Transforms::asProposed;
  double used = 1;
  for (int d = 0; d < 2; ++d) {
    const int each = tile + 1 - s.kernel[d];
    used *= double(s.out[d]) / (tile * ((s.out[d] + each - 1) / each));
  }
  if (kind == CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR ||
      used >= enough)
    return Transforms::first;
  return Transforms::last;
}

/// The parts of an epilogue, in the order in which cuDNN's engines know them.
enum class Part { residual, bias, relu };

std::vector<Part> partsOf(const Epilogue &e) {
  std::vector<Part> parts;
  if (e.residual)
    parts.push_back(Part::residual);
  if (e.bias)
    parts.push_back(Part::bias);
  if (e.relu)
    parts.push_back(Part::relu);
  return parts;
}

/// Adds parts of an epilogue, from tensor `x` of the graph into y.
void addParts(CudnnGraph &graph, const Conv &s, int x, float *y,
              const Epilogue &e, const std::vector<Part> &parts) {
  const Memory m = memoryOf(s, s.batch, s.outChannels, s.out);
  for (size_t i = 0; i < parts.size(); ++i) {
    int other = -1;
    if (parts[i] == Part::residual) {
      other = graph.tensor(m.dims, m.strides, e.residual);
    } else if (parts[i] == Part::bias) {
      const int ones[3] = {1, 1, 1};
      const Memory b = memoryOf(s, 1, s.outChannels, ones);
      other = graph.tensor(b.dims, b.strides, e.bias);
    }
    const int result =
        graph.tensor(m.dims, m.strides, i + 1 == parts.size() ? y : nullptr);
    if (other >= 0)
      graph.add(x, other, result);
    else
      graph.relu(x, result);
    x = result;
  }
}

const char *nameOf(Mma mma) {
  return mma == Mma::bf16 ? "bf16" : mma == Mma::tf32 ? "fp32 or tf32" : "fp32";
}

std::string describe(const CudnnLibrary &dnn, const char *what, const Conv &s,
                     size_t workspaceBytes, cudnnStatus_t status) {
  const size_t version = dnn.cudnnGetVersion();
  return "cuDNN " + std::to_string(version / 10000) + "." +
         std::to_string(version / 100 % 100) + " has no engine in " +
         nameOf(s.schedule.mma) + " for a " + what + " of " +
         std::to_string(s.inChannels) + " into " +
         std::to_string(s.outChannels) + " channels in " +
         std::to_string(s.groups) + " groups with " +
         std::to_string(workspaceBytes) +
         " bytes of workspace: " + dnn.cudnnGetErrorString(status);
}

void runGraphs(State &state, const PreparedGraphs &prepared,
               const Addresses &now) {
  for (const auto &graph : prepared.graphs)
    if (const cudnnStatus_t status = graph->run(prepared.planned, now);
        status != CUDNN_STATUS_SUCCESS)
      state.fail(Code::noDevice, std::string("cuDNN: ") +
                                     state.cudnn.cudnnGetErrorString(status));
  state.last = {};
}

/// A convolution or gradient without an epilogue, of floats or all of bf16.
void runPlain(Context &ctx, cudnnBackendDescriptorType_t kind, const char *what,
              const Conv &s, const void *image, const void *filter,
              const void *result) {
  State &state = State::of(ctx);
  std::unique_ptr<Prepared> &kept = state.step(ctx).library;
  const Addresses now = {image, filter, result};
  if (!kept) {
    auto prepared = std::make_unique<PreparedGraphs>(now);
    const bool rounded = s.schedule.mma == Mma::bf16;
    auto graph = std::make_unique<CudnnGraph>(
        state.cudnn, rounded ? CUDNN_DATA_BFLOAT16 : CUDNN_DATA_FLOAT);
    addConvolution(*graph, kind, s, image, filter, result);
    if (!graph->plan(ctx.workspace, ctx.workspaceBytes, transformsFor(kind, s),
                     rounded || s.schedule.mma == Mma::tf32))
      return state.fail(
          Code::noLibrary,
          describe(state.cudnn, what, s, ctx.workspaceBytes, graph->status));
    prepared->graphs.push_back(std::move(graph));
    kept = std::move(prepared);
  }
  runGraphs(state, static_cast<const PreparedGraphs &>(*kept), now);
}

/// Plans a graph and keeps it if there is an engine for it.
struct Planner {
  Context &ctx;
  PreparedGraphs &prepared;
  Transforms transforms;
  bool tf32;
  cudnnStatus_t status = CUDNN_STATUS_SUCCESS;

  template <typename Build> bool operator()(const Build &build) {
    auto graph = std::make_unique<CudnnGraph>(State::of(ctx).cudnn);
    build(*graph);
    if (!graph->plan(ctx.workspace, ctx.workspaceBytes, transforms, tf32)) {
      status = graph->status;
      return false;
    }
    prepared.graphs.push_back(std::move(graph));
    return true;
  }
};

/// The convolution and its epilogue in one graph; else the convolution, and in
/// place on its result the epilogue, or each of its parts. False: not even so.
bool prepareFused(Planner &plan, float *y, const float *x, const float *w,
                  const Conv &s, const Epilogue &e) {
  constexpr auto kind = CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR;
  const std::vector<Part> parts = partsOf(e);
  if (plan([&](CudnnGraph &graph) {
        const int sum = addConvolution(graph, kind, s, x, w, nullptr).result;
        addParts(graph, s, sum, y, e, parts);
      }))
    return true;
  if (!plan(
          [&](CudnnGraph &graph) { addConvolution(graph, kind, s, x, w, y); }))
    return false;
  const auto onResult = [&](const std::vector<Part> &some) {
    return plan([&](CudnnGraph &graph) {
      const Memory m = memoryOf(s, s.batch, s.outChannels, s.out);
      addParts(graph, s, graph.tensor(m.dims, m.strides, y), y, e, some);
    });
  };
  return onResult(parts) ||
         std::all_of(parts.begin(), parts.end(),
                     [&](Part part) { return onResult({part}); });
}

} // namespace

void mn::cudnn::conv(Context &ctx, float *y, const float *x, const float *w,
                     const Conv &s, const Epilogue &e) {
  if (!e.bias && !e.residual && !e.relu)
    return runPlain(ctx, CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
                    "convolution", s, x, w, y);
  State &state = State::of(ctx);
  std::unique_ptr<Prepared> &kept = state.step(ctx).library;
  const Addresses now = {y, x, w, e.bias, e.residual};
  if (!kept) {
    auto prepared = std::make_unique<PreparedGraphs>(now);
    constexpr auto kind =
        CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR;
    Planner plan{ctx, *prepared, transformsFor(kind, s),
                 s.schedule.mma == Mma::tf32};
    if (!prepareFused(plan, y, x, w, s, e))
      return state.fail(Code::noLibrary,
                        describe(state.cudnn, "convolution with an epilogue", s,
                                 ctx.workspaceBytes, plan.status));
    kept = std::move(prepared);
  }
  runGraphs(state, static_cast<const PreparedGraphs &>(*kept), now);
}

void mn::cudnn::conv(Context &ctx, Bf16 *y, const Bf16 *x, const Bf16 *w,
                     const Conv &s) {
  runPlain(ctx, CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
           "convolution", s, x, w, y);
}

namespace {
void runInputGrad(Context &ctx, const void *dx, const void *dy, const void *w,
                  const Conv &s) {
  runPlain(ctx, CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
           "convolution's input gradient", s, dx, w, dy);
}
void runFilterGrad(Context &ctx, const void *dw, const void *x, const void *dy,
                   const Conv &s) {
  runPlain(ctx, CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
           "convolution's filter gradient", s, x, dw, dy);
}
} // namespace

void mn::cudnn::convInputGrad(Context &ctx, float *dx, const float *dy,
                              const float *w, const Conv &s) {
  runInputGrad(ctx, dx, dy, w, s);
}
void mn::cudnn::convInputGrad(Context &ctx, Bf16 *dx, const Bf16 *dy,
                              const Bf16 *w, const Conv &s) {
  runInputGrad(ctx, dx, dy, w, s);
}

void mn::cudnn::convFilterGrad(Context &ctx, float *dw, const float *x,
                               const float *dy, const Conv &s) {
  runFilterGrad(ctx, dw, x, dy, s);
}
void mn::cudnn::convFilterGrad(Context &ctx, Bf16 *dw, const Bf16 *x,
                               const Bf16 *dy, const Conv &s) {
  runFilterGrad(ctx, dw, x, dy, s);
}
