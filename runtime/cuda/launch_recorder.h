//===- launch_recorder.h - launches whose blocks record times ---*- C++ -*-===//
//
// Each launch of a run has a place in device memory for the times of its
// blocks, which the host gives it when it enqueues the launch: no block asks
// for one, and the host knows whose times are where.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_LAUNCH_RECORDER_H
#define MNISTRT_CUDA_LAUNCH_RECORDER_H

#include "core/timed_runs.h"
#include "cuda/state.h"

namespace mn::cuda {

class LaunchRecorder {
public:
  /// Of the steps of a plan, on these streams.
  LaunchRecorder(const std::vector<State::Step> &steps,
                 const std::vector<CUstream> &streams)
      : steps(steps), streams(streams) {}

  /// What is enqueued next is the first launch. Its blocks write to `memory`;
  /// none do where it is null.
  void restart(BlockTimes *to) {
    memory = to;
    blocks = 0;
    turn = 0;
    launches.clear();
  }

  /// Where the blocks of a launch write; null: nowhere.
  BlockTimes *add(const State &state, const Context &ctx, const char *kernel,
                  const char *part, unsigned count);

  int turn = 0; ///< of what is enqueued now
  std::vector<TimedLaunch> launches;
  size_t blocks = 0; ///< of all launches

private:
  const std::vector<State::Step> &steps;
  const std::vector<CUstream> &streams;
  BlockTimes *memory = nullptr;
};

} // namespace mn::cuda

#endif // MNISTRT_CUDA_LAUNCH_RECORDER_H
