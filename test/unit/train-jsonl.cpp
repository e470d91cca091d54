//===- train-jsonl.cpp - a log that programs read -------------------------===//

#include "formats/jsonl.h"
#include "train-folder.h"
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using test::contentOf;
using test::Folder;

TEST(Jsonl, AppendsOrBeginsAnew) {
  Folder folder;
  for (const bool append : {false, true, true}) {
    mn::JsonLog log;
    ASSERT_TRUE(log.open(folder / "a", append).ok());
    ASSERT_TRUE(log.write({{"event", "x"}}).ok());
  }
  EXPECT_EQ(contentOf(folder / "a"),
            "{\"event\":\"x\"}\n{\"event\":\"x\"}\n{\"event\":\"x\"}\n");
  mn::JsonLog log;
  ASSERT_TRUE(log.open(folder / "a", false).ok());
  EXPECT_EQ(contentOf(folder / "a"), "");
}

TEST(Jsonl, CutsWhatAKilledRunLeft) {
  Folder folder;
  test::write(folder / "a", "{\"event\":\"x\"}\n{\"eve");
  mn::JsonLog log;
  ASSERT_TRUE(log.open(folder / "a", true).ok());
  EXPECT_EQ(contentOf(folder / "a"), "{\"event\":\"x\"}\n");
  // Somebody's notes are not ours to cut.
  test::write(folder / "b", "notes");
  ASSERT_TRUE(log.open(folder / "b", true).ok());
  EXPECT_EQ(contentOf(folder / "b"), "notes\n");
}

TEST(Jsonl, NeverHalfALine) {
  Folder folder;
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const struct rlimit limit = {20, 20};
    setrlimit(RLIMIT_FSIZE, &limit);
    mn::JsonLog log;
    const bool good = log.open(folder / "a", false).ok() &&
                      log.write({{"event", "x"}}).ok() &&
                      !log.write({{"event", "y"}}).ok();
    _exit(good ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(contentOf(folder / "a"), "{\"event\":\"x\"}\n");
}

TEST(Jsonl, Errors) {
  mn::JsonLog log;
  EXPECT_EQ(log.open("/no/such/a", true).message,
            "cannot write '/no/such/a': No such file or directory");
}

} // namespace
