//===- ranks.cpp - threads that train one model together ------------------===//

#include "ranks/socket_ranks.h"
#include "ranks/thread_ranks.h"
#include "train/rank_checks.h"
#include <chrono>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <netinet/in.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

using mn::Code;
using mn::Ranks;
using mn::Reduction;
using mn::Status;

namespace {

/// What each of `count` ranks returns that all run `body`.
std::vector<Status> run(int count, double timeout,
                        const std::function<Status(Ranks &)> &body) {
  const auto ranks = mn::makeThreadRanks(count, timeout);
  std::vector<Status> ends(static_cast<size_t>(count));
  std::vector<std::thread> threads;
  for (size_t i = 0; i < ends.size(); ++i)
    threads.emplace_back([&, i] { ends[i] = body(*ranks[i]); });
  for (std::thread &thread : threads)
    thread.join();
  return ends;
}

int messages(const std::vector<Status> &ends) {
  int count = 0;
  for (const Status &end : ends)
    count += !end.message.empty();
  return count;
}

/// What all kinds of ranks can do.
Status reduceAndBroadcast(Ranks &ranks) {
  const int rank = ranks.place().rank, count = ranks.place().count;
  for (int round = 0; round < 20; ++round) {
    double sum[] = {1.0 + rank, 1}, least = rank + 3, most = rank;
    MN_TRY(ranks.reduce(Reduction::sum, sum, 2));
    MN_TRY(ranks.reduce(Reduction::min, &least, 1));
    MN_TRY(ranks.reduce(Reduction::max, &most, 1));
    EXPECT_EQ(sum[0], count * (count + 1) / 2);
    EXPECT_EQ(sum[1], count);
    EXPECT_EQ(least, 3);
    EXPECT_EQ(most, count - 1);
    char id[128] = {};
    id[127] = static_cast<char>(rank == 0 ? 'a' + round : 0);
    MN_TRY(ranks.broadcast(id, sizeof id));
    EXPECT_EQ(id[127], 'a' + round);
    MN_TRY(ranks.watch(0));
  }
  return Status::success();
}

TEST(ThreadRanks, ReduceAndBroadcast) {
  for (const int count : {1, 2, 3, 8})
    for (const Status &end : run(count, 10, reduceAndBroadcast))
      EXPECT_TRUE(end.ok()) << end.message;
}

TEST(ThreadRanks, StepsAddUpElsewhere) {
  float x = 1;
  EXPECT_TRUE(Ranks().allReduce(&x, 1).ok()) << "alone";
  for (const Status &end :
       run(2, 10, [&](Ranks &ranks) { return ranks.allReduce(&x, 1); }))
    EXPECT_EQ(end.code, Code::noLibrary);
}

TEST(ThreadRanks, SumsHaveTheSameBitsWhoeverIsLast) {
  double sums[20][3];
  for (auto &sum : sums)
    run(3, 10, [&](Ranks &ranks) {
      const int rank = ranks.place().rank;
      std::this_thread::sleep_for(std::chrono::microseconds(rand() % 300));
      double x = rank == 0 ? 1e17 : rank == 1 ? 3 : -1e17;
      MN_TRY(ranks.reduce(Reduction::sum, &x, 1));
      sum[rank] = x;
      return Status::success();
    });
  for (const auto &sum : sums)
    for (const double value : sum)
      EXPECT_EQ(value, sums[0][0]);
}

TEST(ThreadRanks, TheLowestThatFailedSpeaks) {
  const auto ends = run(4, 10, [](Ranks &ranks) {
    const int rank = ranks.place().rank;
    MN_TRY(ranks.agree(Status::success()));
    return ranks.agree(
        rank == 1 || rank == 3
            ? Status::error(Code::badData, "no file " + std::to_string(rank))
            : Status::success());
  });
  for (const Status &end : ends)
    EXPECT_EQ(end.code, Code::badData);
  EXPECT_EQ(ends[1].message, "rank 1: no file 1");
  EXPECT_EQ(messages(ends), 1);
}

/// Of three ranks, without the others.
Status theLastFails(Ranks &ranks) {
  if (ranks.place().rank == 2) {
    ranks.fail(Code::outOfMemory);
    return Status::error(Code::outOfMemory, "out of memory");
  }
  double x = 0;
  return ranks.reduce(Reduction::sum, &x, 1);
}

TEST(ThreadRanks, OneThatFailsAloneTellsTheOthers) {
  const auto ends = run(3, 10, theLastFails);
  EXPECT_EQ(ends[0].code, Code::rankLost);
  EXPECT_EQ(ends[1].code, Code::rankLost);
  EXPECT_EQ(messages(ends), 1) << "it has said so itself";
}

TEST(ThreadRanks, OneThatDoesNotComeIsNamed) {
  const auto ends = run(3, 1.5, [](Ranks &ranks) {
    ranks.step = 6;
    if (ranks.place().rank == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2500));
      return ranks.watch(0);
    }
    double x = 0;
    return ranks.reduce(Reduction::sum, &x, 1);
  });
  for (const Status &end : ends)
    EXPECT_EQ(end.code, Code::rankLost);
  EXPECT_EQ(messages(ends), 1);
  for (const Status &end : ends) {
    if (end.message.empty())
      continue;
    EXPECT_EQ(end.message.find("expected all 3 ranks in step 7, got no "
                               "answer from rank 1 for 1.5"),
              0u)
        << end.message;
  }
}

TEST(ThreadRanks, TheFirstPartThatDiffersIsNamed) {
  const auto ends = run(3, 10, [](Ranks &ranks) {
    const int rank = ranks.place().rank;
    std::vector<mn::RunPart> parts = {
        {"'a'", "1"}, {"'b'", rank == 2 ? "3" : "2"}, {"'c'", "4"}};
    MN_TRY(mn::checkEqual(ranks, {parts[0], parts[2]}, Code::numeric, ""));
    parts[2].value += std::to_string(rank);
    return mn::checkEqual(ranks, parts, Code::numeric, " after epoch 4");
  });
  for (const Status &end : ends)
    EXPECT_EQ(end.code, Code::numeric);
  EXPECT_EQ(messages(ends), 1);
  EXPECT_EQ(ends[0].message,
            "expected 'b' to be equal on all ranks after epoch 4, got another "
            "on rank 2 than on rank 0");
}

/// Ranks that connect by TCP, each a thread here.
std::vector<Status> runSockets(int count, int port, double timeout,
                               const std::function<Status(Ranks &)> &body) {
  std::vector<Status> ends(static_cast<size_t>(count));
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back([&, i] {
      mn::Launch launch;
      launch.launcher = "torchrun";
      launch.place = {i, count, i, count};
      launch.address = "localhost";
      launch.port = port;
      std::unique_ptr<Ranks> ranks;
      Status &end = ends[static_cast<size_t>(i)];
      end = mn::openSocketRanks(launch, timeout, ranks);
      if (end.ok())
        end = body(*ranks);
    });
  for (std::thread &thread : threads)
    thread.join();
  return ends;
}

TEST(SocketRanks, ReduceAndBroadcast) {
  for (const int count : {2, 3, 5}) {
    const auto ends = runSockets(count, 28400, 10, [&](Ranks &ranks) {
      MN_TRY(reduceAndBroadcast(ranks));
      return ranks.agree(ranks.place().rank == 1
                             ? Status::error(Code::badData, "no file")
                             : Status::success());
    });
    for (const Status &end : ends)
      EXPECT_EQ(end.code, Code::badData) << end.message;
    EXPECT_EQ(ends[1].message, "rank 1: no file");
    EXPECT_EQ(messages(ends), 1);
  }
}

TEST(SocketRanks, APortThatIsTaken) {
  // By something that accepts connections and says nothing.
  const int door = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in at = {};
  at.sin_family = AF_INET;
  at.sin_port = htons(28420);
  at.sin_addr.s_addr = htonl(INADDR_ANY);
  const bool taken =
      ::bind(door, reinterpret_cast<sockaddr *>(&at), sizeof at) == 0 &&
      ::listen(door, 16) == 0;
  EXPECT_TRUE(taken);
  const auto ends = runSockets(2, 28420, 10, [](Ranks &ranks) {
    double x = 1;
    MN_TRY(ranks.reduce(Reduction::sum, &x, 1));
    EXPECT_EQ(x, 2);
    return Status::success();
  });
  for (const Status &end : ends)
    EXPECT_TRUE(end.ok()) << end.message;
  ::close(door);
}

TEST(SocketRanks, OneThatEndsIsMissed) {
  for (const int lost : {0, 2}) {
    const auto ends = runSockets(3, 28440, 10, [&](Ranks &ranks) {
      if (ranks.place().rank == lost)
        return Status::success(); // Its connections are closed.
      double x = 0;
      return ranks.reduce(Reduction::sum, &x, 1);
    });
    EXPECT_EQ(messages(ends), 1) << lost;
    const Status &said = ends[lost == 0 ? 1 : 0];
    EXPECT_EQ(said.code, Code::rankLost);
    EXPECT_EQ(said.message,
              "expected all 3 ranks in step 1, got no connection with rank " +
                  std::to_string(lost));
  }
}

TEST(SocketRanks, OneThatFailsTellsTheOthers) {
  const auto ends = runSockets(3, 28460, 10, theLastFails);
  EXPECT_EQ(ends[0].code, Code::rankLost);
  EXPECT_EQ(ends[1].code, Code::rankLost);
  EXPECT_EQ(messages(ends), 1);
}

TEST(SocketRanks, ThoseThatDoNotComeAreNamed) {
  mn::Launch launch;
  launch.launcher = "torchrun";
  launch.place = {0, 3, 0, 3};
  std::unique_ptr<Ranks> ranks;
  Status status = mn::openSocketRanks(launch, 0.2, ranks);
  EXPECT_EQ(status.code, Code::usage);
  EXPECT_EQ(status.message, "expected MASTER_ADDR and MASTER_PORT, where "
                            "torchrun says rank 0 is, got no address");
  launch.address = "localhost", launch.port = 28480;
  status = mn::openSocketRanks(launch, 0.2, ranks);
  EXPECT_EQ(status.code, Code::rankLost);
  EXPECT_EQ(status.message, "expected 3 ranks at port 28480 within 0.2 s, got "
                            "no rank 1, 2");
  launch.place.rank = 1;
  status = mn::openSocketRanks(launch, 0.2, ranks);
  EXPECT_EQ(status.message, "expected rank 0 at localhost:28480 within 0.2 s, "
                            "got no answer");
}

} // namespace
