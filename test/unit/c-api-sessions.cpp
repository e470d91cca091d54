//===- c-api-sessions.cpp - who may use a session, and when ---------------===//

#include "c-api.h"
#include <atomic>
#include <chrono>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

/// All functions that take a session, on one that cannot be used.
void expectRefused(mn_session *session, const char *why) {
  mn_tensor tensor;
  std::vector<float> result;
  const auto heard = [&](bool refused) {
    EXPECT_TRUE(refused &&
                std::string(mn_error()).find(why) != std::string::npos)
        << "expected '" << why << "', got '" << mn_error() << "'";
  };
  heard(mn_plan_count(session) == -1);
  heard(mn_plan_batch(session, 0) == -1);
  heard(mn_input_count(session) == -1);
  heard(mn_output_count(session) == -1);
  heard(mn_model_name(session) == nullptr);
  heard(mn_device_name(session) == nullptr);
  heard(mn_device_bytes(session) == 0);
  heard(mn_input(session, 0, 0, &tensor) == MN_USAGE);
  heard(mn_output(session, 0, 0, &tensor) == MN_USAGE);
  heard(infer(session, 1, result) == MN_USAGE);
  heard(mn_input_data(session, 0, 0, 0) == nullptr);
  heard(mn_output_data(session, 0, 0, 0) == nullptr);
  heard(mn_submit(session, 0, 0) == MN_USAGE);
  heard(mn_wait(session, 0) == MN_USAGE);
  heard(mn_infer_on_device(session, 1, nullptr, 0, nullptr, 0, nullptr) ==
        MN_USAGE);
  heard(mn_train_start(session, nullptr) == MN_USAGE);
  heard(mn_train_batch(session) == -1);
  heard(mn_train_number(session, 0) == nullptr);
  heard(mn_save(session, "x.onnx") == MN_USAGE);
}

TEST(SessionUse, NullClosedAndForeignAreRefused) {
  EXPECT_EQ(mn_close(nullptr), MN_OK);
  expectRefused(nullptr, "expected a session, got NULL");
  mn_session *closed = openSession();
  EXPECT_EQ(mn_close(closed), MN_OK);
  // Its place is used again, and stays another's.
  mn_session *next = openSession();
  EXPECT_EQ(mn_close(closed), MN_USAGE);
  expectRefused(closed, "closed or never opened");
  int something = 0;
  expectRefused(reinterpret_cast<mn_session *>(&something),
                "closed or never opened");
  infer(next, 1);
  EXPECT_EQ(mn_close(next), MN_OK);
}

// Without a word in common two sessions do not wait for each other; in one
// session every call is either right or refused.
TEST(SessionUse, ThreadsAreSafe) {
  mn_session *shared = openSession();
  const std::vector<float> expected = infer(shared, 5);
  std::atomic<int> right = 0, busy = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t)
    threads.emplace_back([&] {
      mn_session *own = openSession();
      for (int i = 0; i < 200; ++i) {
        EXPECT_EQ(infer(own, 5), expected);
        std::vector<float> found;
        const mn_status status = infer(shared, 5, found);
        if (status == MN_OK)
          EXPECT_EQ(found, expected);
        else
          EXPECT_EQ(status, MN_BUSY) << mn_error();
        ++(status == MN_OK ? right : busy);
      }
      EXPECT_EQ(mn_close(own), MN_OK);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_GT(right, 0);
  EXPECT_EQ(right + busy, 1200);
  EXPECT_EQ(mn_close(shared), MN_OK);
}

// A session that runs is neither used nor closed by another thread. That one
// runs and this one asks for as long as it takes them to meet.
TEST(SessionUse, BusyIsSaid) {
  using Clock = std::chrono::steady_clock;
  mn_session *session = openSession();
  const auto deadline = Clock::now() + std::chrono::seconds(60);
  std::atomic<bool> heard = false;
  std::thread runner([&] {
    std::vector<float> result;
    while (!heard && Clock::now() < deadline)
      infer(session, 4000, result);
  });
  while (!heard && Clock::now() < deadline)
    heard = mn_plan_count(session) == -1 &&
            std::string(mn_error()).find("got another") != std::string::npos;
  runner.join();
  EXPECT_TRUE(heard);
  EXPECT_EQ(mn_close(session), MN_OK);
}

TEST(SessionUse, MessagesBelongToTheirThread) {
  mn_close(reinterpret_cast<mn_session *>(1));
  const std::string before = mn_error();
  std::thread([] { EXPECT_STREQ(mn_error(), ""); }).join();
  EXPECT_EQ(mn_error(), before);
}

// OpenMP's threads are not in the child: it would wait for them for ever.
TEST(SessionUse, ChildrenAreRefused) {
  mn_session *session = openSession();
  const std::vector<float> expected = infer(session, 40);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(20);
    expectRefused(session, "forked after mn_open");
    mn_session *own;
    EXPECT_EQ(mn_open(unitModel(), nullptr, &own), MN_USAGE);
    EXPECT_EQ(mn_close(session), MN_OK);
    _exit(testing::Test::HasFailure());
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_EQ(infer(session, 40), expected);
  mn_close(session);
}

} // namespace
