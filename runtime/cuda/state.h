//===- state.h - what the steps of a CUDA program share ---------*- C++ -*-===//
//
// Context::runtime points to it: the stream, the libraries, and what the first
// run of each step prepared for later ones.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_STATE_H
#define MNISTRT_CUDA_STATE_H

#include "cuda/cublas_library.h"
#include "cuda/cudnn_library.h"
#include "cuda/driver.h"
#include "cuda/nccl_library.h"
#include "cuda/spread.h"
#include "mnistrt/model.h"
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace mn::cuda {

/// What a library call keeps for a step.
struct Prepared {
  virtual ~Prepared() = default;
};

class LaunchRecorder;

/// What the next kernel of a stream follows.
struct Last {
  /// Of ours, where that is the last thing enqueued, without its suffix.
  std::string kernel;
  CUgraphNode node = nullptr; ///< its node, where a graph is captured
  bool waits = false; ///< for filters that are packed on another stream, too?
};

struct State {
  Driver driver;
  CublasLibrary cublas; ///< empty where no step needs it
  CudnnLibrary cudnn;   ///< empty where no step needs it
  NcclLibrary nccl;     ///< empty where ranks have not joined
  CUstream stream = nullptr;
  CUmodule modules[2] = {}; ///< the other one is null where one has all
  bool overlaps = false; ///< may a kernel be started before the last one ended?
  /// Are blocks spread? Not where nothing overlaps, since a kernel then has the
  /// whole GPU, nor where kernels of other executors share it.
  bool spreads = false;
  Device device;
  Last last;
  /// Whether kernels take a place for the times of their blocks, as their last
  /// argument; and what gives each launch one, where they are recorded.
  bool timestamps = false;
  LaunchRecorder *recorder = nullptr;

  /// Of which a step launches one or more.
  struct Kernel {
    CUfunction function = nullptr;
    Spread spread;
  };
  struct Step {
    std::map<std::string, Kernel> kernels; ///< by name
    bool spreads = true; ///< unless it runs beside a sum over ranks
    std::unique_ptr<Prepared> library;
    CUdeviceptr memory = 0; ///< stepMemory(); the executor's to free
  };
  std::vector<Step> *steps = nullptr; ///< of the plan that runs
  /// The most bytes of shared memory that any step asks for a kernel: steps
  /// that have the same one may spread its blocks or not.
  std::map<CUfunction, unsigned> sharedOf;

  /// The first thing that went wrong in the step that runs.
  Status status;
  void fail(Code code, std::string message) {
    if (status.ok())
      status = Status::error(code, std::move(message));
  }

  static State &of(Context &ctx) { return *static_cast<State *>(ctx.runtime); }
  Step &step(const Context &ctx) { return (*steps)[size_t(ctx.step)]; }
};

} // namespace mn::cuda

#endif // MNISTRT_CUDA_STATE_H
