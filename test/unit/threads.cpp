//===- threads.cpp - where no thread can be made --------------------------===//

#include "cpu/threads.h"
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

TEST(Threads, AreAskedForBeforeTheyAreNeeded) {
  EXPECT_TRUE(mn::checkThreads(4).ok());
  const pid_t child = fork();
  if (child == 0) {
    // The limit does not hold for root.
    if (geteuid() == 0 && setuid(65534) != 0)
      _exit(3);
    const struct rlimit one = {1, 1};
    setrlimit(RLIMIT_NPROC, &one);
    const mn::Status status = mn::checkThreads(4);
    const bool good = status.code == mn::Code::outOfMemory &&
                      status.message.find("expected 4 threads, got 1 (") == 0 &&
                      status.message.find("OMP_NUM_THREADS=1 takes fewer") !=
                          std::string::npos;
    if (!good)
      std::fprintf(stderr, "%s\n", status.message.c_str());
    _exit(good && mn::checkThreads(1).ok() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

} // namespace
