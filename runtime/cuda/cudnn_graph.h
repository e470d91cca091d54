//===- cudnn_graph.h - descriptors of cuDNN's graph API ---------*- C++ -*-===//
//
// A thin C++ form of cuDNN's backend API: descriptors that free themselves, the
// tensors and operations that we use, and a graph that was given an engine.
// After the first failure nothing more is done; the builder keeps its status.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_CUDNN_GRAPH_H
#define MNISTRT_CUDA_CUDNN_GRAPH_H

#include "cuda/cudnn_library.h"
#include "cuda/proposals.h"
#include <utility>
#include <vector>

namespace mn::cuda {

class Descriptor {
public:
  Descriptor() = default;
  Descriptor(const CudnnLibrary &dnn, cudnnBackendDescriptorType_t type)
      : dnn(&dnn) {
    status = dnn.cudnnBackendCreateDescriptor(type, &descriptor);
  }
  Descriptor(Descriptor &&other) noexcept { *this = std::move(other); }
  Descriptor &operator=(Descriptor &&other) noexcept {
    std::swap(dnn, other.dnn);
    std::swap(descriptor, other.descriptor);
    std::swap(status, other.status);
    return *this;
  }
  ~Descriptor() {
    if (descriptor)
      dnn->cudnnBackendDestroyDescriptor(descriptor);
  }

  void set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
           int64_t count, const void *values) {
    if (status == CUDNN_STATUS_SUCCESS)
      status =
          dnn->cudnnBackendSetAttribute(descriptor, name, type, count, values);
  }
  template <typename T>
  void set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
           T value) {
    set(name, type, 1, static_cast<const void *>(&value));
  }
  void set(cudnnBackendAttributeName_t name, const Descriptor &other) {
    set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, other.descriptor);
  }
  void set(cudnnBackendAttributeName_t name,
           const std::vector<int64_t> &values) {
    set(name, CUDNN_TYPE_INT64, int64_t(values.size()), values.data());
  }
  /// Up to `count` values; how many there are.
  int64_t get(cudnnBackendAttributeName_t name,
              cudnnBackendAttributeType_t type, int64_t count, void *values) {
    int64_t found = 0;
    if (status == CUDNN_STATUS_SUCCESS)
      status = dnn->cudnnBackendGetAttribute(descriptor, name, type, count,
                                             &found, values);
    return found;
  }
  void finalize() {
    if (status == CUDNN_STATUS_SUCCESS)
      status = dnn->cudnnBackendFinalize(descriptor);
  }

  cudnnBackendDescriptor_t raw() const { return descriptor; }
  cudnnStatus_t status = CUDNN_STATUS_SUCCESS;

private:
  const CudnnLibrary *dnn = nullptr;
  cudnnBackendDescriptor_t descriptor = nullptr;
};

/// Which engines to try first: cuDNN's own order knows the kind of GPU, but not
/// how much of an FFT's tiles an image fills.
enum class Transforms { asProposed, first, last };

/// A graph of operations being described; then a plan that runs it. All tensors
/// have elements of one type.
class CudnnGraph {
public:
  explicit CudnnGraph(const CudnnLibrary &dnn,
                      cudnnDataType_t type = CUDNN_DATA_FLOAT)
      : dnn(dnn), type(type) {}

  /// A tensor in memory; null: one that only the graph sees. Its number.
  int tensor(const std::vector<int64_t> &dims,
             const std::vector<int64_t> &strides, const void *memory);

  void convolution(cudnnBackendDescriptorType_t kind, int spatial,
                   const int64_t *before, const int64_t *after,
                   const int64_t *strides, const int64_t *dilations, int image,
                   int filter, int result);
  void add(int x, int y, int result);
  void relu(int x, int result);

  /// Chooses the first engine, as the heuristics propose them, that computes in
  /// true fp32, or on tensor cores where it may, gives the same bits each time,
  /// and needs no more workspace than there is. False: none does.
  bool plan(void *memory, size_t workspaceBytes,
            Transforms transforms = Transforms::asProposed, bool cores = false);
  /// Enqueues it, with what was at `planned` when it was planned at `now`.
  cudnnStatus_t run(const std::vector<const void *> &planned,
                    const std::vector<const void *> &now) const;
  /// The last error while planning.
  cudnnStatus_t status = CUDNN_STATUS_SUCCESS;

private:
  void finish(Descriptor &descriptor);
  void pointwise(cudnnPointwiseMode_t mode, int x, int b, int result);
  std::vector<Descriptor> engines(Descriptor &graph,
                                  cudnnBackendHeurMode_t mode);
  struct Numerics {
    bool exact, cores, fft;
  };
  Numerics numericsOf(Descriptor &engineConfig);
  Identity identityOf(Descriptor &engineConfig);
  std::vector<Descriptor> byPlaces(std::vector<Descriptor> first,
                                   std::vector<Descriptor> second);
  std::vector<Descriptor> candidates(Descriptor &graph, Transforms transforms,
                                     bool cores);
  bool choose(Descriptor &config, size_t workspaceBytes);
  Descriptor packOf(const std::vector<void *> &memory) const;

  const CudnnLibrary &dnn;
  const cudnnDataType_t type;
  std::vector<Descriptor> tensors;
  std::vector<Descriptor> others; ///< that operations refer to
  std::vector<Descriptor> operations;
  std::vector<void *> pointers;
  std::vector<int64_t> ids;
  void *workspace = nullptr;
  Descriptor chosen, pack;
};

} // namespace mn::cuda

#endif // MNISTRT_CUDA_CUDNN_GRAPH_H
