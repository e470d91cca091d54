//===- cudnn_graph.cpp - descriptors of cuDNN's graph API -----------------===//

#include "cuda/cudnn_graph.h"
#include <algorithm>

namespace mn::cuda {

void CudnnGraph::finish(Descriptor &descriptor) {
  descriptor.finalize();
  if (status == CUDNN_STATUS_SUCCESS)
    status = descriptor.status;
}

//===----------------------------------------------------------------------===//
// Describing
//===----------------------------------------------------------------------===//

int CudnnGraph::tensor(const std::vector<int64_t> &dims,
                       const std::vector<int64_t> &strides,
                       const void *memory) {
  const int number = int(tensors.size());
  Descriptor &t = tensors.emplace_back(dnn, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  t.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, int64_t(number));
  t.set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, type);
  t.set(CUDNN_ATTR_TENSOR_DIMENSIONS, dims);
  t.set(CUDNN_ATTR_TENSOR_STRIDES, strides);
  const auto address = reinterpret_cast<uintptr_t>(memory);
  const int64_t alignment =
      memory ? int64_t(std::min<uintptr_t>(16, address & (~address + 1))) : 16;
  t.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, alignment);
  t.set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, memory == nullptr);
  finish(t);
  if (memory) {
    pointers.push_back(const_cast<void *>(memory));
    ids.push_back(number);
  }
  return number;
}

void CudnnGraph::convolution(cudnnBackendDescriptorType_t kind, int spatial,
                             const int64_t *before, const int64_t *after,
                             const int64_t *strides, const int64_t *dilations,
                             int image, int filter, int result) {
  Descriptor &c =
      others.emplace_back(dnn, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  const int64_t dims = spatial;
  c.set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, CUDNN_TYPE_INT64, dims);
  c.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE,
        CUDNN_DATA_FLOAT);
  c.set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_TYPE_CONVOLUTION_MODE,
        CUDNN_CROSS_CORRELATION);
  c.set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, CUDNN_TYPE_INT64, dims, before);
  c.set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, CUDNN_TYPE_INT64, dims, after);
  c.set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, CUDNN_TYPE_INT64, dims, strides);
  c.set(CUDNN_ATTR_CONVOLUTION_DILATIONS, CUDNN_TYPE_INT64, dims, dilations);
  finish(c);

  using Name = cudnnBackendAttributeName_t;
  struct Names {
    Name conv, image, filter, result, alpha, beta;
  };
  const Names n =
      kind == CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR
          ? Names{CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
                  CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
                  CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
                  CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y,
                  CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
                  CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA}
      : kind == CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR
          ? Names{CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
                  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
                  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
                  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
                  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
                  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA}
          : Names{CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
                  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
                  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
                  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
                  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
                  CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA};
  Descriptor &o = operations.emplace_back(dnn, kind);
  o.set(n.conv, others.back());
  o.set(n.image, tensors[size_t(image)]);
  o.set(n.filter, tensors[size_t(filter)]);
  o.set(n.result, tensors[size_t(result)]);
  o.set(n.alpha, CUDNN_TYPE_FLOAT, 1.0f);
  o.set(n.beta, CUDNN_TYPE_FLOAT, 0.0f);
  finish(o);
}

void CudnnGraph::pointwise(cudnnPointwiseMode_t mode, int x, int b,
                           int result) {
  Descriptor &p = others.emplace_back(dnn, CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
  p.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, mode);
  p.set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
  if (mode == CUDNN_POINTWISE_RELU_FWD)
    p.set(CUDNN_ATTR_POINTWISE_NAN_PROPAGATION, CUDNN_TYPE_NAN_PROPOGATION,
          CUDNN_PROPAGATE_NAN);
  finish(p);
  Descriptor &o = operations.emplace_back(
      dnn, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
  o.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, others.back());
  o.set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, tensors[size_t(x)]);
  if (b >= 0)
    o.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, tensors[size_t(b)]);
  o.set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, tensors[size_t(result)]);
  finish(o);
}

void CudnnGraph::add(int x, int y, int result) {
  pointwise(CUDNN_POINTWISE_ADD, x, y, result);
}
void CudnnGraph::relu(int x, int result) {
  pointwise(CUDNN_POINTWISE_RELU_FWD, x, -1, result);
}

//===----------------------------------------------------------------------===//
// Choosing an engine
//===----------------------------------------------------------------------===//

/// What cuDNN proposes, best first.
std::vector<Descriptor> CudnnGraph::engines(Descriptor &graph,
                                            cudnnBackendHeurMode_t mode) {
  Descriptor heuristic(dnn, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  heuristic.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
  heuristic.set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, mode);
  heuristic.finalize();
  const int64_t count = heuristic.get(
      CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0, nullptr);
  std::vector<Descriptor> configs;
  std::vector<cudnnBackendDescriptor_t> raw;
  for (int64_t i = 0; i < count; ++i) {
    configs.emplace_back(dnn, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
    raw.push_back(configs.back().raw());
  }
  const int64_t filled =
      count == 0
          ? 0
          : heuristic.get(CUDNN_ATTR_ENGINEHEUR_RESULTS,
                          CUDNN_TYPE_BACKEND_DESCRIPTOR, count, raw.data());
  if (heuristic.status != CUDNN_STATUS_SUCCESS)
    status = heuristic.status;
  configs.resize(size_t(std::min(count, filled)));
  return configs;
}

/// Exact are neither smaller types, nor sums in any order, nor transforms whose
/// errors are large. Tensor cores read f32 as tf32.
CudnnGraph::Numerics CudnnGraph::numericsOf(Descriptor &config) {
  Descriptor engine(dnn, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  cudnnBackendDescriptor_t raw = engine.raw();
  config.get(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
             &raw);
  cudnnBackendNumericalNote_t notes[CUDNN_NUMERICAL_NOTE_TYPE_COUNT] = {};
  const int64_t count =
      engine.get(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, CUDNN_TYPE_NUMERICAL_NOTE,
                 CUDNN_NUMERICAL_NOTE_TYPE_COUNT, notes);
  if (engine.status != CUDNN_STATUS_SUCCESS)
    return {false, false, false};
  Numerics numerics = {true, false, false};
  for (int64_t i = 0; i < count; ++i)
    switch (notes[i]) {
    case CUDNN_NUMERICAL_NOTE_TENSOR_CORE:
      numerics.cores = true;
      break;
    case CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS:
    case CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION:
    case CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC:
    case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_6x6:
    case CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13:
      numerics.exact = false;
      break;
    case CUDNN_NUMERICAL_NOTE_FFT:
      numerics.fft = true;
      break;
    default:
      break;
    }
  return numerics;
}

/// What tells a configuration from others: its engine, and that one's knobs.
Identity CudnnGraph::identityOf(Descriptor &config) {
  Descriptor engine(dnn, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  cudnnBackendDescriptor_t raw = engine.raw();
  config.get(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
             &raw);
  Identity identity(1);
  engine.get(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, CUDNN_TYPE_INT64, 1,
             identity.data());
  std::vector<Descriptor> knobs;
  std::vector<cudnnBackendDescriptor_t> raws;
  for (int i = 0; i < CUDNN_KNOB_TYPE_COUNTS; ++i) {
    knobs.emplace_back(dnn, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR);
    raws.push_back(knobs.back().raw());
  }
  const int64_t count = config.get(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
                                   CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                   int64_t(raws.size()), raws.data());
  for (int64_t i = 0; i < std::min(count, int64_t(knobs.size())); ++i) {
    cudnnBackendKnobType_t type = {};
    int64_t value = 0;
    knobs[size_t(i)].get(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, CUDNN_TYPE_KNOB_TYPE,
                         1, &type);
    knobs[size_t(i)].get(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, CUDNN_TYPE_INT64, 1,
                         &value);
    identity.insert(identity.end(), {int64_t(type), value});
  }
  return identity;
}

// Neither of cuDNN's heuristics is the better one. Of 173 convolutions with
// both gradients in bf16 and 100 in tf32 on one H200, the first that heuristic
// A proposes took 1.17 times as long as the best of those that are among the
// first ten of A or B, B's 1.15, and what has the least sum of places 1.11
// times, at worst 4.4 times (docs/results/2026-12-01-large-batches-h200.md).
std::vector<Descriptor> CudnnGraph::byPlaces(std::vector<Descriptor> first,
                                             std::vector<Descriptor> second) {
  const auto identities = [&](std::vector<Descriptor> &configs) {
    std::vector<Identity> all;
    for (Descriptor &config : configs)
      all.push_back(identityOf(config));
    return all;
  };
  const size_t ofFirst = first.size();
  std::vector<Descriptor> sorted;
  for (size_t i : orderByPlaces(identities(first), identities(second)))
    sorted.push_back(std::move(i < ofFirst ? first[i] : second[i - ofFirst]));
  return sorted;
}

/// The exact ones of what cuDNN proposes, in the order in which to try them:
/// tensor cores first, where they are allowed.
std::vector<Descriptor>
CudnnGraph::candidates(Descriptor &graph, Transforms transforms, bool cores) {
  std::vector<Descriptor> first, second, others;
  const auto add = [&](cudnnBackendHeurMode_t mode,
                       std::vector<Descriptor> &preferred) {
    for (Descriptor &config : engines(graph, mode)) {
      const Numerics numerics = numericsOf(config);
      if (!numerics.exact || (numerics.cores && !cores))
        continue;
      const bool later =
          cores ? !numerics.cores
                : transforms != Transforms::asProposed &&
                      numerics.fft != (transforms == Transforms::first);
      (later ? others : preferred).push_back(std::move(config));
    }
  };
  add(CUDNN_HEUR_MODE_A, first);
  if (cores) {
    add(CUDNN_HEUR_MODE_B, second);
    first = byPlaces(std::move(first), std::move(second));
  }
  add(CUDNN_HEUR_MODE_FALLBACK, first);
  for (Descriptor &config : others)
    first.push_back(std::move(config));
  return first;
}

/// The tensors with memory, and where that is.
Descriptor CudnnGraph::packOf(const std::vector<void *> &memory) const {
  Descriptor v(dnn, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  v.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR,
        int64_t(memory.size()), memory.data());
  v.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, ids);
  v.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, workspace);
  v.finalize();
  return v;
}

bool CudnnGraph::choose(Descriptor &config, size_t workspaceBytes) {
  Descriptor plan(dnn, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, dnn.handle);
  plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, config);
  plan.finalize();
  int64_t needed = 0;
  plan.get(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1,
           &needed);
  if (plan.status != CUDNN_STATUS_SUCCESS) {
    status = plan.status;
    return false;
  }
  if (size_t(needed) > workspaceBytes)
    return false;
  Descriptor v = packOf(pointers);
  if (v.status != CUDNN_STATUS_SUCCESS) {
    status = v.status;
    return false;
  }
  // Some engines find out only when they run that they cannot.
  const cudnnStatus_t ran =
      dnn.cudnnBackendExecute(dnn.handle, plan.raw(), v.raw());
  if (ran != CUDNN_STATUS_SUCCESS) {
    status = ran;
    return false;
  }
  chosen = std::move(plan);
  pack = std::move(v);
  return true;
}

bool CudnnGraph::plan(void *memory, size_t workspaceBytes,
                      Transforms transforms, bool cores) {
  if (status != CUDNN_STATUS_SUCCESS)
    return false;
  workspace = memory;
  Descriptor graph(dnn, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  std::vector<cudnnBackendDescriptor_t> raw;
  for (const Descriptor &operation : operations)
    raw.push_back(operation.raw());
  graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, dnn.handle);
  graph.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
            int64_t(raw.size()), raw.data());
  graph.finalize();
  if (graph.status != CUDNN_STATUS_SUCCESS) {
    status = graph.status;
    return false;
  }
  for (Descriptor &config : candidates(graph, transforms, cores))
    if (choose(config, workspaceBytes))
      return true;
  if (status == CUDNN_STATUS_SUCCESS)
    status = CUDNN_STATUS_NOT_SUPPORTED;
  return false;
}

cudnnStatus_t CudnnGraph::run(const std::vector<const void *> &planned,
                              const std::vector<const void *> &now) const {
  const auto execute = [&](const Descriptor &with) {
    return with.status == CUDNN_STATUS_SUCCESS
               ? dnn.cudnnBackendExecute(dnn.handle, chosen.raw(), with.raw())
               : with.status;
  };
  if (now == planned)
    return execute(pack);
  std::vector<void *> moved = pointers;
  for (void *&pointer : moved)
    if (const auto at = std::find(planned.begin(), planned.end(), pointer);
        at != planned.end())
      pointer = const_cast<void *>(now[size_t(at - planned.begin())]);
  return execute(packOf(moved));
}

} // namespace mn::cuda
