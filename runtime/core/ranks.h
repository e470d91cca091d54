//===- ranks.h - processes that train one model together --------*- C++ -*-===//
//
// A rank is one of several processes, or threads, of which each has a share of
// the rows of a batch. All of them call the collective functions below in the
// same order; each call waits for the others. This class is a rank that is
// alone; ranks/ has others.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_CORE_RANKS_H
#define MNISTRT_CORE_RANKS_H

#include "core/status.h"
#include <cstdint>
#include <functional>
#include <string>

namespace mn {

inline constexpr int maxRanks = 1 << 16;

/// Which rank this is, of how many, and of those on its host.
struct RankPlace {
  int rank = 0, count = 1, localRank = 0, localCount = 1;
};

enum class Reduction { sum, min, max };

inline double combine(Reduction kind, double x, double y) {
  return kind == Reduction::sum                ? x + y
         : (kind == Reduction::min) == (x < y) ? x
                                               : y;
}

class Ranks {
public:
  Ranks() = default;
  virtual ~Ranks() = default;
  Ranks(const Ranks &) = delete;
  Ranks &operator=(const Ranks &) = delete;

  const RankPlace &place() const { return where; }
  bool several() const { return where.count > 1; }
  bool isFirst() const { return where.rank == 0; }

  /// The same values on all ranks, from those of each.
  virtual Status reduce(Reduction, double *, int64_t) {
    return Status::success();
  }
  /// What rank 0 has, on all.
  virtual Status broadcast(void *, size_t) { return Status::success(); }
  /// The sum in place, in host memory, of a step of a plan. Error: ranks whose
  /// steps add up elsewhere.
  virtual Status allReduce(float *, int64_t) { return addsElsewhere(); }
  virtual Status allReduce(double *, int64_t) { return addsElsewhere(); }
  /// Whether the others are there, for who has waited so many seconds for
  /// something else that needs them.
  virtual Status watch(double) { return Status::success(); }

  /// Whether all ranks were successful so far: on each the code of the lowest
  /// that was not. Only that one has a message, to be said once.
  Status agree(const Status &mine);
  /// A failure that is known to all: nothing is agreed upon any more.
  Status end(const Status &status);
  /// To be called with a failure that others do not know of, before the process
  /// ends: they stop waiting.
  void fail(Code code);

  /// Whether all know of a failure, or were told of one.
  bool isOver() const { return over; }

  int64_t step = 0; ///< of the training, for messages
  /// Whether this process was asked to stop.
  std::function<bool()> isStopping = [] { return false; };
  /// Ends the process with a failure that no call can return, as its thread is
  /// blocked; by default it does nothing.
  std::function<void(const Status &)> giveUp = [](const Status &) {};

protected:
  explicit Ranks(const RankPlace &where) : where(where) {}

  /// Tells the others.
  virtual void tell(Code) {}

  Status addsElsewhere() const;

  RankPlace where;
  bool over = false; ///< a failure is known to all, or they were told
};

} // namespace mn

#endif // MNISTRT_CORE_RANKS_H
