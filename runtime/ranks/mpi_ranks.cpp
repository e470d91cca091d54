//===- mpi_ranks.cpp - ranks that MPI connects ----------------------------===//

#include "ranks/mpi_ranks.h"
#include "core/array.h"
#include "core/clock.h"
#include "ranks/mpi_library.h"
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <sched.h>
#include <unistd.h>
#include <vector>

namespace mn {

namespace {

using Handle = MpiLibrary::Handle;

/// Ranks that are missed have so long to say that they are there.
constexpr double answerSeconds = 3;
/// A launcher kills soon after it has sent a signal or has seen that a rank has
/// ended: Open MPI's does so after a second. What is left of that, with a
/// question and a farewell, is for ranks that others keep from their cores.
constexpr double afterSignal = 0.4, answerSoon = 0.2;
/// How often a rank looks whether the others of its host are there.
constexpr double lookSeconds = 0.01;
/// Elements of one call, whose count is an int.
constexpr int64_t maxCount = int64_t(1) << 30;

class MpiRanks final : public Ranks {
public:
  MpiRanks(const RankPlace &where, const MpiLibrary &mpi, double timeout)
      : Ranks(where), mpi(mpi), timeout(timeout) {}
  ~MpiRanks() override;

  Status start();
  Status reduce(Reduction, double *values, int64_t count) override;
  Status broadcast(void *bytes, size_t count) override;
  Status allReduce(float *values, int64_t count) override {
    return add(values, count, mpi.floats);
  }
  Status allReduce(double *values, int64_t count) override {
    return add(values, count, mpi.doubles);
  }
  Status watch(double waited) override;
  void tell(Code code) override;

private:
  /// What ranks tell each other when something is wrong.
  struct Notice {
    int64_t code; ///< that a rank ends with; 0: it waits
    int64_t call; ///< the number of the collective that it waits in
  };
  /// A message to or from another rank.
  struct Letter {
    Notice notice = {};
    Handle request = nullptr;
    bool done = false;
  };

  template <typename T> Status add(T *values, int64_t count, Handle type);
  Status wait(Handle request);
  double limit(double waited);
  void listenTo(int rank);
  bool someFailed();
  std::vector<int> ended() const;
  Status findProcesses();
  void send(const Notice &notice, std::vector<Letter> &letters);
  Status lost(double waited);
  void hear(int speaker);
  /// Of ranks that are missed.
  double secondsToAnswer() const {
    return isStopping() ? answerSoon : answerSeconds;
  }
  std::vector<int> unanswered();
  bool test(Handle &request);

  const MpiLibrary mpi;
  const double timeout;
  Handle forCollectives = nullptr, forNotices = nullptr;
  std::vector<Letter> inbox;                ///< one a rank
  std::vector<Letter> questions, farewells; ///< likewise, to each
  std::vector<char> answered;   ///< whether a rank has said that it waits
  std::vector<pid_t> processes; ///< of the other ranks; 0: on another host
  bool broken = false;
  int64_t calls = 0;
  double longest = 0; ///< seconds that a call has waited
  Clock::time_point signalled, looked;
};

/// MPI ends only where every rank does: one that is missed would be waited for.
MpiRanks::~MpiRanks() {
  if (broken)
    return;
  for (Letter &letter : inbox)
    if (letter.request && !letter.done && mpi.Cancel(&letter.request) == 0)
      while (!test(letter.request))
        ;
  mpi.Finalize();
}

Status MpiRanks::start() {
  int count = 0, rank = 0;
  mpi.Comm_set_errhandler(mpi.world, mpi.returnErrors);
  if (mpi.Comm_size(mpi.world, &count) != 0 ||
      mpi.Comm_rank(mpi.world, &rank) != 0 ||
      mpi.Comm_dup(mpi.world, &forCollectives) != 0 ||
      mpi.Comm_dup(mpi.world, &forNotices) != 0)
    return Status::error(Code::noLibrary,
                         "expected " + mpi.name + " to start, got a failure");
  if (count != where.count || rank != where.rank)
    return Status::error(
        Code::usage,
        text("expected rank %d of %d from %s, as the launcher says, got rank "
             "%d of %d; start the program with the mpirun of that library",
             where.rank, where.count, mpi.name.c_str(), rank, count));
  for (std::vector<Letter> *letters : {&inbox, &questions, &farewells})
    letters->resize(where.count);
  answered.resize(where.count);
  for (int i = 0; i < where.count; ++i)
    if (i != where.rank)
      listenTo(i);
  return findProcesses();
}

Status MpiRanks::findProcesses() {
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  // What a double holds exactly.
  const auto host = static_cast<double>(std::hash<std::string>()(name) >> 16);
  std::vector<double> known(2 * size_t(where.count), 0);
  known[2 * size_t(where.rank)] = host;
  known[2 * size_t(where.rank) + 1] = ::getpid();
  MN_TRY(reduce(Reduction::sum, known.data(), int64_t(known.size())));
  for (int i = 0; i < where.count; ++i)
    processes.push_back(i != where.rank && known[2 * size_t(i)] == host
                            ? pid_t(known[2 * size_t(i) + 1])
                            : 0);
  return Status::success();
}

bool MpiRanks::test(Handle &request) {
  int done = 0;
  alignas(8) char status[64];
  return mpi.Test(&request, &done, status) == 0 && done;
}

/// Posts what receives the next notice of another rank: that it waits, that it
/// has failed, or one after the other.
void MpiRanks::listenTo(int rank) {
  mpi.Irecv(&inbox[rank].notice, sizeof(Notice), mpi.bytes, rank, 0, forNotices,
            &inbox[rank].request);
}

void MpiRanks::send(const Notice &notice, std::vector<Letter> &letters) {
  for (int i = 0; i < where.count; ++i)
    if (i != where.rank && !letters[i].request) {
      letters[i].notice = notice;
      mpi.Isend(&letters[i].notice, sizeof(Notice), mpi.bytes, i, 0, forNotices,
                &letters[i].request);
    }
}

/// Whether another rank says that it has failed.
bool MpiRanks::someFailed() {
  bool failed = false;
  for (int i = 0; i < where.count; ++i) {
    if (i == where.rank)
      continue;
    Letter &letter = inbox[i];
    if (!letter.done && test(letter.request)) {
      letter.done = letter.notice.code != 0;
      answered[i] = !letter.done;
      if (!letter.done)
        listenTo(i);
    }
    failed |= letter.done;
  }
  return failed;
}

/// How long one may wait that has waited so long.
double MpiRanks::limit(double waited) {
  if (!isStopping())
    return timeout;
  if (signalled == Clock::time_point())
    signalled = Clock::now();
  // What is left of this step, which others may still compute; and as long in
  // each later one, since all stop after the same step, which may be some on.
  const double more = afterSignal + 2 * longest;
  const double before = std::max(0.0, waited - secondsSince(signalled));
  return std::min(timeout, before + more);
}

Status MpiRanks::watch(double waited) {
  if (someFailed()) {
    broken = true;
    return end(Status::error(Code::rankLost, ""));
  }
  if (waited > limit(waited))
    return end(lost(waited));
  if (secondsSince(looked) > lookSeconds) {
    looked = Clock::now();
    if (!ended().empty())
      return end(lost(waited));
  }
  return Status::success();
}

Status MpiRanks::wait(Handle request) {
  ++calls;
  const auto begin = Clock::now();
  for (int64_t turn = 1; !test(request); ++turn) {
    if (turn % 64 != 0)
      continue;
    sched_yield();
    MN_TRY(watch(secondsSince(begin)));
  }
  longest = std::max(longest, secondsSince(begin));
  return Status::success();
}

/// The ranks of this host, at least, whose processes have ended.
std::vector<int> MpiRanks::ended() const {
  std::vector<int> found;
  for (int i = 0; i < static_cast<int>(processes.size()); ++i)
    if (processes[i] != 0 && ::kill(processes[i], 0) != 0 && errno == ESRCH)
      found.push_back(i);
  return found;
}

/// The lowest rank that is there speaks for all.
Status MpiRanks::lost(double waited) {
  broken = true;
  const std::vector<int> gone = ended();
  const std::vector<int> missing = gone.empty() ? unanswered() : gone;
  // What one that is gone has said before may be under way.
  for (const auto begin = Clock::now(); secondsSince(begin) < lookSeconds;)
    if (someFailed())
      return Status::error(Code::rankLost, "");
  for (int i = 0; i < where.rank; ++i)
    if (answered[i] ||
        std::find(missing.begin(), missing.end(), i) == missing.end()) {
      hear(i);
      return Status::error(Code::rankLost, "");
    }
  std::string who;
  for (const int rank : missing)
    who += (who.empty() ? "" : ", ") + std::to_string(rank);
  const std::string wanted =
      text("expected all %d ranks in step %lld, got ", where.count,
           static_cast<long long>(step + 1));
  const char *many = missing.size() == 1 ? "" : "s";
  const std::string found =
      !gone.empty() ? text("no rank%s %s any more", many, who.c_str())
      : missing.empty()
          ? "ranks that wait for different steps"
          : text("no answer from rank%s %s for %.3g s; '--timeout=SECONDS' "
                 "waits longer",
                 many, who.c_str(), waited);
  // One that was only stopped is not to speak when it goes on.
  tell(Code::rankLost);
  return Status::error(Code::rankLost, wanted + found);
}

/// Waits until the one that speaks has done so. It may have begun to ask later;
/// if this rank ended first, a launcher would have one that was only stopped go
/// on, which would speak, too, and of this rank.
void MpiRanks::hear(int speaker) {
  const auto begin = Clock::now();
  while (!someFailed() && secondsSince(begin) < secondsToAnswer()) {
    sched_yield();
    const std::vector<int> gone = ended();
    if (std::find(gone.begin(), gone.end(), speaker) != gone.end())
      return;
  }
}

/// Asks who is there, and returns those who do not say so.
std::vector<int> MpiRanks::unanswered() {
  send({0, calls}, questions);
  const auto begin = Clock::now();
  const double enough = secondsToAnswer();
  std::vector<int> missing;
  do {
    missing.clear();
    sched_yield();
    someFailed(); // Receives.
    for (int i = 0; i < where.count; ++i)
      if (i != where.rank && !answered[i] && !inbox[i].done)
        missing.push_back(i);
  } while (!missing.empty() && secondsSince(begin) < enough);
  return missing;
}

void MpiRanks::tell(Code code) {
  broken = true;
  send({static_cast<int64_t>(code), calls}, farewells);
  // Small messages leave at once; this moves those that do not.
  bool all = false;
  for (const auto begin = Clock::now();
       !all && secondsSince(begin) < answerSoon;) {
    all = true;
    for (Letter &letter : farewells) {
      letter.done = letter.done || !letter.request || test(letter.request);
      all &= letter.done;
    }
  }
}

template <typename T>
Status MpiRanks::add(T *values, int64_t count, Handle type) {
  for (int64_t first = 0; first < count; first += maxCount) {
    Handle request = nullptr;
    mpi.Iallreduce(mpi.inPlace, values + first,
                   static_cast<int>(std::min(count - first, maxCount)), type,
                   mpi.operations[int(Reduction::sum)], forCollectives,
                   &request);
    MN_TRY(wait(request));
  }
  return Status::success();
}

Status MpiRanks::reduce(Reduction kind, double *values, int64_t count) {
  Handle request = nullptr;
  mpi.Iallreduce(mpi.inPlace, values, static_cast<int>(count), mpi.doubles,
                 mpi.operations[int(kind)], forCollectives, &request);
  return wait(request);
}

Status MpiRanks::broadcast(void *bytes, size_t count) {
  for (size_t first = 0; first < count; first += maxCount) {
    Handle request = nullptr;
    mpi.Ibcast(static_cast<char *>(bytes) + first,
               static_cast<int>(std::min<size_t>(count - first, maxCount)),
               mpi.bytes, 0, forCollectives, &request);
    MN_TRY(wait(request));
  }
  return Status::success();
}

} // namespace

Status openMpiRanks(const Launch &launch, double timeout,
                    std::unique_ptr<Ranks> &ranks) {
  MpiLibrary library = {};
  MN_TRY(MpiLibrary::open(launch.launcher, library));
  auto opened = std::make_unique<MpiRanks>(launch.place, library, timeout);
  const Status status = opened->start();
  ranks = std::move(opened);
  return status;
}

} // namespace mn
