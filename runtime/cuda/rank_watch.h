//===- rank_watch.h - looks after ranks while a call blocks -----*- C++ -*-===//
//
// The driver and NCCL have calls that return only when other ranks have done
// their part: connecting, or a launch behind a sum that nobody completes. Who
// is in one cannot look whether the others are there. A thread of its own does
// so meanwhile, and has the process end where one is lost.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CUDA_RANK_WATCH_H
#define MNISTRT_CUDA_RANK_WATCH_H

#include "core/clock.h"
#include "core/ranks.h"
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

namespace mn::cuda {

class RankWatch {
public:
  explicit RankWatch(Ranks &ranks) : ranks(ranks), thread([this] { look(); }) {}
  ~RankWatch();

  /// While it lives, its thread is in calls that may block, and does not use
  /// the ranks itself. One in another is part of that. Null: a rank is alone.
  /// `failure`: what has gone wrong already, if it is about cleaning up.
  class Call {
  public:
    explicit Call(RankWatch *watch, const Status &failure = {});
    ~Call();
    Call(const Call &) = delete;
    Call &operator=(const Call &) = delete;

  private:
    RankWatch *const watch; ///< null: nothing to end
  };

private:
  bool begin(const Status &failure);
  Status judge(double waited);
  void look();

  Ranks &ranks;
  std::mutex mutex; ///< of what follows, and of the ranks during a call
  std::condition_variable ended;
  bool over = false;
  std::optional<Clock::time_point> began; ///< the call
  Status known;                           ///< before it
  std::thread thread;
};

} // namespace mn::cuda

#endif // MNISTRT_CUDA_RANK_WATCH_H
