//===- thread_ranks.cpp - ranks that are threads of a process -------------===//
//
// They meet: the last one to come does what all wait for, in the order of the
// ranks, so that sums have the same bits whoever is last.
//
//===----------------------------------------------------------------------===//

#include "ranks/thread_ranks.h"
#include "core/array.h"
#include "core/clock.h"
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>

namespace mn {

namespace {

/// One that was heard of so recently is there.
constexpr double recentSeconds = 1;

/// What the ranks share.
struct Meeting {
  Meeting(int count, double timeout)
      : count(count), timeout(timeout), given(size_t(count)),
        heard(size_t(count), Clock::now()) {}

  const int count;
  const double timeout;
  std::mutex mutex;
  std::condition_variable over;
  std::vector<void *> given; ///< by each; null: it has not come
  std::vector<Clock::time_point> heard;
  int arrived = 0;
  int64_t number = 0; ///< of meetings that are over
  bool failed = false;
};

class ThreadRanks final : public Ranks {
public:
  ThreadRanks(int rank, std::shared_ptr<Meeting> meeting)
      : Ranks({rank, meeting->count, rank, meeting->count}),
        all(std::move(meeting)) {}

  Status reduce(Reduction kind, double *values, int64_t count) override;
  Status broadcast(void *bytes, size_t count) override;
  Status watch(double waited) override;

private:
  void tell(Code) override;
  template <typename Last> Status meet(void *mine, Last last);
  Status lost(double waited);

  const std::shared_ptr<Meeting> all;
};

template <typename Last> Status ThreadRanks::meet(void *mine, Last last) {
  std::unique_lock lock(all->mutex);
  if (all->failed)
    return end(Status::error(Code::rankLost, ""));
  all->given[size_t(where.rank)] = mine;
  if (++all->arrived == all->count) {
    last();
    all->arrived = 0;
    std::fill(all->given.begin(), all->given.end(), nullptr);
    ++all->number;
    all->over.notify_all();
    return Status::success();
  }
  const int64_t number = all->number;
  const auto begin = Clock::now();
  while (all->number == number) {
    all->heard[size_t(where.rank)] = Clock::now();
    all->over.wait_for(lock, std::chrono::milliseconds(20));
    if (all->number != number)
      break;
    if (all->failed)
      return end(Status::error(Code::rankLost, ""));
    if (const double waited = secondsSince(begin); waited > all->timeout)
      return end(lost(waited));
  }
  return Status::success();
}

/// With the lock: one speaks for all.
Status ThreadRanks::lost(double waited) {
  all->failed = true;
  all->over.notify_all();
  std::string who;
  int missing = 0;
  for (int i = 0; i < all->count; ++i)
    if (i != where.rank && secondsSince(all->heard[size_t(i)]) > recentSeconds)
      who += (missing++ ? ", " : "") + std::to_string(i);
  return Status::error(
      Code::rankLost,
      text("expected all %d ranks in step %lld, got no answer from rank%s %s "
           "for %.3g s; '--timeout=SECONDS' waits longer",
           all->count, static_cast<long long>(step + 1),
           missing == 1 ? "" : "s", who.c_str(), waited));
}

Status ThreadRanks::watch(double waited) {
  std::unique_lock lock(all->mutex);
  all->heard[size_t(where.rank)] = Clock::now();
  if (all->failed)
    return end(Status::error(Code::rankLost, ""));
  return waited > all->timeout ? end(lost(waited)) : Status::success();
}

void ThreadRanks::tell(Code) {
  std::unique_lock lock(all->mutex);
  all->failed = true;
  all->over.notify_all();
}

Status ThreadRanks::reduce(Reduction kind, double *values, int64_t count) {
  return meet(values, [&] {
    std::vector<double> result;
    for (void *given : all->given) {
      const auto *mine = static_cast<const double *>(given);
      if (result.empty()) {
        result.assign(mine, mine + count);
        continue;
      }
      for (size_t i = 0; i < result.size(); ++i)
        result[i] = combine(kind, result[i], mine[i]);
    }
    for (void *given : all->given)
      std::copy(result.begin(), result.end(), static_cast<double *>(given));
  });
}

Status ThreadRanks::broadcast(void *bytes, size_t count) {
  return meet(bytes, [&] {
    for (size_t rank = 1; rank < all->given.size(); ++rank)
      std::memcpy(all->given[rank], all->given[0], count);
  });
}

} // namespace

std::vector<std::unique_ptr<Ranks>> makeThreadRanks(int count, double timeout) {
  const auto meeting = std::make_shared<Meeting>(count, timeout);
  std::vector<std::unique_ptr<Ranks>> ranks;
  for (int rank = 0; rank < count; ++rank)
    ranks.push_back(std::make_unique<ThreadRanks>(rank, meeting));
  return ranks;
}

} // namespace mn
