//===- train-jsonl.cpp - a log that programs read -------------------------===//

#include "formats/jsonl.h"
#include "train-folder.h"
#include <cmath>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using mn::JsonEvent;
using test::contentOf;
using test::Folder;

TEST(Jsonl, KnownLine) {
  EXPECT_EQ(JsonEvent("epoch")
                .add("epoch", 3)
                .add("loss", 0.25)
                .add("best", true)
                .add("file", "a.onnx")
                .line(),
            R"({"event":"epoch","epoch":3,"loss":0.25,"best":true,)"
            R"("file":"a.onnx"})");
}

TEST(Jsonl, NumbersReadBack) {
  for (const double value :
       {0.1, 1.0 / 3, 1e300, 5e-324, -0.0, 123456789.123456789}) {
    const auto line = JsonEvent("x").add("v", value).line();
    EXPECT_EQ(nlohmann::json::parse(line)["v"].get<double>(), value) << line;
  }
  const float third = 1.0f / 3;
  EXPECT_EQ(JsonEvent("x").add("v", third).line(),
            R"({"event":"x","v":0.33333334})");
  EXPECT_EQ(JsonEvent("x").add("v", UINT64_MAX).add("w", INT64_MIN).line(),
            R"({"event":"x","v":18446744073709551615,)"
            R"("w":-9223372036854775808})");
  EXPECT_EQ(JsonEvent("x").add("v", NAN).add("w", -INFINITY).line(),
            R"({"event":"x","v":"nan","w":"-inf"})");
}

TEST(Jsonl, Strings) {
  EXPECT_EQ(mn::jsonString("a\"b\\c\n\t\x01"), R"("a\"b\\c\n\t\u0001")");
  EXPECT_EQ(mn::jsonString("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"),
            "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"");
  const std::string bad = "\"\xef\xbf\xbd";
  EXPECT_EQ(mn::jsonString("\xff"), bad + "\"");
  EXPECT_EQ(mn::jsonString("\xc3"), bad + "\"");
  EXPECT_EQ(mn::jsonString("\xc0\x80"), bad + "\xef\xbf\xbd\"");
  EXPECT_EQ(mn::jsonString("\xed\xa0\x80"), bad + "\xef\xbf\xbd\xef\xbf\xbd\"");
}

TEST(Jsonl, AppendsOrBeginsAnew) {
  Folder folder;
  for (const bool append : {false, true, true}) {
    mn::JsonLog log;
    ASSERT_TRUE(log.open(folder / "a", append).ok());
    ASSERT_TRUE(log.write(JsonEvent("x")).ok());
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
                      log.write(JsonEvent("x")).ok() &&
                      !log.write(JsonEvent("y")).ok();
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
