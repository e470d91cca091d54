//===- train-atomic-file.cpp - a file that is whole or not there ----------===//

#include "formats/atomic_file.h"
#include "train-folder.h"
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using test::contentOf;
using test::Folder;

TEST(AtomicFile, Writes) {
  Folder folder;
  ASSERT_TRUE(mn::writeAtomically(folder / "a", "one").ok());
  EXPECT_EQ(contentOf(folder / "a"), "one");
  ASSERT_TRUE(mn::writeAtomically(folder / "a", "").ok());
  EXPECT_EQ(contentOf(folder / "a"), "");
  EXPECT_EQ(folder.size(), 1u);
}

TEST(AtomicFile, NothingHappensWithoutCommit) {
  Folder folder;
  test::write(folder / "a", "old");
  {
    mn::AtomicFile file;
    ASSERT_TRUE(file.open(folder / "a", 3).ok());
    ASSERT_TRUE(file.write("new", 3).ok());
    EXPECT_EQ(contentOf(folder / "a"), "old");
  }
  EXPECT_EQ(contentOf(folder / "a"), "old");
  EXPECT_EQ(folder.size(), 1u);
}

TEST(AtomicFile, KeepsModeAndLink) {
  Folder folder;
  test::write(folder / "real", "old");
  ASSERT_EQ(chmod((folder / "real").c_str(), 0640), 0);
  ASSERT_EQ(symlink("real", (folder / "link").c_str()), 0);
  ASSERT_TRUE(mn::writeAtomically(folder / "link", "new").ok());
  struct stat about;
  ASSERT_EQ(lstat((folder / "link").c_str(), &about), 0);
  EXPECT_TRUE(S_ISLNK(about.st_mode));
  ASSERT_EQ(stat((folder / "real").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 07777, 0640u);
  EXPECT_EQ(contentOf(folder / "real"), "new");
}

// What is there after a SIGKILL: the old file, and a rest that the next write
// takes over.
TEST(AtomicFile, SurvivesKill) {
  Folder folder;
  test::write(folder / "a", "old");
  const pid_t child = fork();
  if (child == 0) {
    mn::AtomicFile file;
    if (file.open(folder / "a", 100).ok() && file.write("half", 4).ok())
      kill(getpid(), SIGKILL);
    _exit(1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(contentOf(folder / "a"), "old");
  EXPECT_EQ(folder.size(), 2u);
  ASSERT_TRUE(mn::writeAtomically(folder / "a", "x").ok());
  EXPECT_EQ(contentOf(folder / "a"), "x");
  EXPECT_EQ(folder.size(), 1u);
}

TEST(AtomicFile, OneWriterAtATime) {
  Folder folder;
  mn::AtomicFile first;
  ASSERT_TRUE(first.open(folder / "a", 1).ok());
  EXPECT_EQ(mn::writeAtomically(folder / "a", "x").message,
            "cannot write '" + folder / "a" +
                "': another process is writing it");
  ASSERT_TRUE(first.write("y", 1).ok());
  ASSERT_TRUE(first.commit().ok());
  EXPECT_EQ(contentOf(folder / "a"), "y");
}

TEST(AtomicFile, FindsAFullDiskBeforeWriting) {
  Folder folder;
  test::write(folder / "a", "old");
  const mn::Status status = mn::checkWritable(folder / "a", uint64_t(1) << 60);
  EXPECT_EQ(status.code, mn::Code::badData);
  EXPECT_EQ(status.message.find("cannot write '" + folder / "a" +
                                "': expected 1152921504606846976 bytes of free "
                                "space, got "),
            0u)
      << status.message;
  EXPECT_EQ(contentOf(folder / "a"), "old");
  EXPECT_EQ(folder.size(), 1u);
}

// A limit on the size of files, as a disk that fills up while we write.
TEST(AtomicFile, FailsWhileWriting) {
  Folder folder;
  test::write(folder / "a", "old");
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const struct rlimit limit = {1000, 1000};
    setrlimit(RLIMIT_FSIZE, &limit);
    mn::AtomicFile file;
    const std::string data(4000, 'x');
    const bool good = file.open(folder / "a", 0).ok() &&
                      !file.write(data.data(), data.size()).ok() &&
                      !file.commit().ok();
    _exit(good ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(contentOf(folder / "a"), "old");
  EXPECT_EQ(folder.size(), 1u);
}

// What stands where the new file is to be written may be another's.
TEST(AtomicFile, LeavesTemporaryFilesOfOthers) {
  Folder folder;
  test::write(folder / "victim", "kept");
  const std::string temporary = folder / "a.tmp";
  const auto refuses = [&](const char *what) {
    const mn::Status status = mn::writeAtomically(folder / "a", "new");
    EXPECT_EQ(status.code, mn::Code::badData) << what;
    EXPECT_NE(status.message.find("that this program did not leave"),
              std::string::npos)
        << what << ": " << status.message;
    EXPECT_EQ(contentOf(folder / "victim"), "kept") << what;
    struct stat about;
    EXPECT_NE(stat((folder / "a").c_str(), &about), 0) << what;
    EXPECT_EQ(unlink(temporary.c_str()), 0) << what;
  };
  ASSERT_EQ(link((folder / "victim").c_str(), temporary.c_str()), 0);
  refuses("a name of another file");
  ASSERT_EQ(symlink("victim", temporary.c_str()), 0);
  refuses("a link to another file");
  ASSERT_EQ(mkfifo(temporary.c_str(), 0600), 0);
  refuses("a pipe");
  EXPECT_TRUE(mn::writeAtomically(folder / "a", "new").ok());
}

TEST(AtomicFile, RefusesWhatIsNoFile) {
  Folder folder;
  EXPECT_EQ(mn::checkWritable(folder.path, 1).message,
            "cannot write '" + folder.path +
                "': expected a file, got a folder");
  EXPECT_EQ(mn::checkWritable("/dev/null", 1).message,
            "cannot write '/dev/null': expected a file, got a device");
  EXPECT_EQ(mn::checkWritable(folder / "no/a", 1).message,
            "cannot write '" + folder / "no/a" +
                "': No such file or directory");
}

} // namespace
