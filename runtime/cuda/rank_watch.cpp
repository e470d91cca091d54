//===- rank_watch.cpp - looks after ranks while a call blocks -------------===//

#include "cuda/rank_watch.h"

using namespace mn;
using namespace mn::cuda;

/// Most calls are over before the first look.
constexpr std::chrono::milliseconds betweenLooks(50);
/// To clean up; more would only delay what there is to say.
constexpr double cleaningSeconds = 2;

RankWatch::~RankWatch() {
  {
    const std::lock_guard lock(mutex);
    over = true;
  }
  ended.notify_all();
  thread.join();
}

Status RankWatch::judge(double waited) {
  if (known.ok())
    return ranks.watch(waited);
  return waited > cleaningSeconds ? known : Status::success();
}

void RankWatch::look() {
  std::unique_lock lock(mutex);
  while (!ended.wait_for(lock, betweenLooks, [this] { return over; })) {
    if (!began)
      continue;
    const Status status = judge(secondsSince(*began));
    if (status.ok())
      continue;
    ranks.giveUp(status);
    return;
  }
}

/// Whether a call begins that is not in another.
bool RankWatch::begin(const Status &failure) {
  const std::lock_guard lock(mutex);
  if (began)
    return false;
  known = failure;
  began = Clock::now();
  return true;
}

RankWatch::Call::Call(RankWatch *watch, const Status &failure)
    : watch(watch && watch->begin(failure) ? watch : nullptr) {}

RankWatch::Call::~Call() {
  if (!watch)
    return;
  const std::lock_guard lock(watch->mutex);
  watch->began.reset();
}
