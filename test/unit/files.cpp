//===- files.cpp - data files that want too much --------------------------===//

#include "formats/files.h"
#include "test/sanitized.h"
#include "train-folder.h"
#include <chrono>
#include <csignal>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <zlib.h>

namespace {

using test::Folder;

std::string idx(uint32_t rows, size_t elements) {
  std::string file("\0\0\x08\1", 4);
  for (int shift = 24; shift >= 0; shift -= 8)
    file += static_cast<char>(rows >> shift);
  return file + std::string(elements, 'x');
}

std::string gzipped(const std::string &content) {
  z_stream stream = {};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 9,
                         Z_DEFAULT_STRATEGY),
            Z_OK);
  std::string packed(deflateBound(&stream, content.size()), '\0');
  stream.next_in =
      reinterpret_cast<Bytef *>(const_cast<char *>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef *>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

/// Of reading a file of this content, without its name.
std::string errorOf(const std::string &content,
                    const std::string &name = "a.idx") {
  Folder folder;
  test::write(folder / name, content);
  mn::Array array;
  const std::string message = mn::readArray(folder / name, array).message;
  const std::string prefix = "'" + folder / name + "': ";
  return message.find(prefix) == 0 ? message.substr(prefix.size()) : message;
}

TEST(Files, HoldWhatTheirHeaderSays) {
  for (const bool packed : {false, true}) {
    const auto file = [&](const std::string &content) {
      return packed ? gzipped(content) : content;
    };
    EXPECT_EQ(errorOf(file(idx(0, 0))), "");
    for (const size_t count : {size_t(1), size_t(70000), size_t(3000000)}) {
      EXPECT_EQ(errorOf(file(idx(uint32_t(count), count))), "");
      const std::string expected = "expected " + std::to_string(count) +
                                   " bytes of elements for shape [" +
                                   std::to_string(count) + "], got ";
      EXPECT_EQ(errorOf(file(idx(uint32_t(count), count - 1))),
                expected + std::to_string(count - 1));
      EXPECT_EQ(errorOf(file(idx(uint32_t(count), count + 1))),
                expected + (packed ? "more" : std::to_string(count + 1)));
    }
  }
}

TEST(Files, EveryCutOfAPackedFileIsFound) {
  const std::string packed = gzipped(idx(3000, 3000));
  for (size_t size = 0; size < packed.size(); ++size)
    EXPECT_NE(errorOf(packed.substr(0, size)), "") << size;
}

/// In a process that may not have the memory that the file asks for. Not with a
/// sanitizer: it has mapped more than any limit, and could map nothing more.
void expectSmall(const std::string &content, const std::string &name,
                 const std::string &expected) {
  const pid_t child = fork();
  if (child == 0) {
#ifndef MN_SANITIZED
    struct rlimit limit;
    getrlimit(RLIMIT_DATA, &limit);
    limit.rlim_cur = rlim_t(256) << 20;
    setrlimit(RLIMIT_DATA, &limit);
#endif
    std::string found;
    try {
      found = errorOf(content, name);
    } catch (const std::bad_alloc &) {
      found = "no memory";
    }
    if (found != expected)
      std::fprintf(stderr, "found: %s\n", found.c_str());
    _exit(found == expected ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0) << expected;
}

TEST(Files, ClaimsAreNotBelieved) {
  expectSmall(idx(4000000000, 10), "a.idx",
              "expected 4000000000 bytes of elements for shape [4000000000], "
              "got 10");
  expectSmall(gzipped(idx(4000000000, 10)), "a.idx",
              "expected 4000000000 bytes of elements for shape [4000000000], "
              "got a packed file too small for them");
  // A thousandth of what it unpacks to; its header asks for little.
  expectSmall(gzipped(idx(100, size_t(64) << 20)), "a.idx",
              "expected 100 bytes of elements for shape [100], got more");
  expectSmall(gzipped(std::string(size_t(64) << 20, 'x')), "a.pb",
              "expected a .npy or IDX file in a packed one, got what begins "
              "like neither");
  const std::string png("\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\1\0\0\0\0\0\1", 24);
  expectSmall(png + std::string(size_t(64) << 20, 'x'), "a.png",
              "expected a picture of at most 4096 x 4096 pixels, got 65536 x "
              "1");
}

/// A .npy file of `count` zeros whose elements begin at `begin`.
std::string npy(const std::string &type, int count, size_t begin) {
  std::string header = "{'descr': '" + type +
                       "', 'fortran_order': False, 'shape': (" +
                       std::to_string(count) + ",), }";
  header.resize(begin - 10, ' ');
  return "\x93NUMPY\1" + std::string(1, '\0') +
         static_cast<char>(header.size()) + std::string(1, '\0') + header +
         std::string(size_t(count) * (type == "|b1" ? 1 : 4), '\0');
}

TEST(Files, AreMappedWhereTheirElementsCanBeUsed) {
  const std::string rows = idx(5000, 5000);
  const struct {
    std::string content;
    bool maps;
  } cases[] = {{rows, true},
               {gzipped(rows), false},
               {npy("<f4", 100, 128), true},
               {npy("<f4", 100, 130), false}, // misplaced
               {npy("|b1", 100, 128), false}, // true may be any byte
               {idx(0, 0), true}};
  for (const auto &[content, maps] : cases) {
    Folder folder;
    const std::string path = folder / "a";
    test::write(path, content);
    mn::Array read, mapped;
    ASSERT_TRUE(mn::readArray(path, read).ok());
    ASSERT_TRUE(mn::mapArray(path, mapped).ok());
    EXPECT_FALSE(read.bytes.isMapped());
    EXPECT_EQ(mapped.bytes.isMapped(), maps);
    EXPECT_EQ(mapped.shape, read.shape);
    EXPECT_EQ(mapped.type, read.type);
    mn::Bytes other = mapped.bytes;
    mapped = {}; // copies share the file
    EXPECT_EQ(std::string(other.begin(), other.end()),
              std::string(read.bytes.begin(), read.bytes.end()));
    other.cut(other.size() / 2);
    const size_t half = other.size();
    EXPECT_EQ(other.isMapped(), maps);
    other.edit().push_back(7);
    EXPECT_FALSE(other.isMapped());
    EXPECT_EQ(other.size(), half + 1);
    EXPECT_EQ(test::contentOf(path), content);
  }
}

TEST(Files, ThatAreMappedMustStayAsTheyAre) {
  Folder folder;
  const std::string path = folder / "a.idx";
  const auto change = [&](const std::string &content) {
    mn::Array array;
    test::write(path, idx(100000, 100000));
    EXPECT_TRUE(mn::mapArray(path, array).ok());
    EXPECT_TRUE(array.bytes.check().ok());
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    test::write(path, content);
    return array.bytes.check().message;
  };
  const std::string changed = "expected '" + path +
                              "' to stay as it is while it is in use, got it "
                              "changed";
  EXPECT_EQ(change(idx(100000, 100000)), changed);
  EXPECT_EQ(change(idx(100000, 99999)), changed);
  // Another file of its name is another file.
  mn::Array array;
  ASSERT_TRUE(mn::mapArray(path, array).message.find("got 99999") !=
              std::string::npos);
  test::write(path, idx(2, 2));
  ASSERT_TRUE(mn::mapArray(path, array).ok());
  test::write(folder / "b.idx", idx(2, 1));
  ASSERT_EQ(std::rename((folder / "b.idx").c_str(), path.c_str()), 0);
  EXPECT_TRUE(array.bytes.check().ok());
  EXPECT_EQ(array.bytes[1], 'x');
}

TEST(FilesDeath, WhatIsCutOffIsSaid) {
  Folder folder;
  const std::string path = folder / "a\n.idx";
  test::write(path, idx(100000, 100000));
  mn::Array array;
  ASSERT_TRUE(mn::mapArray(path, array).ok());
  { // An entry that is used again names its own file.
    mn::Array gone, other;
    test::write(folder / "gone", idx(3, 3));
    ASSERT_TRUE(mn::mapArray(folder / "gone", gone).ok());
    gone = {};
    ASSERT_TRUE(mn::mapArray(path, other).ok());
  }
  ASSERT_EQ(truncate(path.c_str(), 8), 0);
  EXPECT_EXIT(std::printf("%d", array.bytes[90000]),
              testing::ExitedWithCode(14),
              "^error: cannot read '.*/a\\\\n.idx': it was cut short while it "
              "was in use, or its disk fails\n$");
  // One that somebody sends is not ours.
  const auto other = [](int status) {
    return !WIFEXITED(status) || WEXITSTATUS(status) != 14;
  };
  EXPECT_EXIT(std::raise(SIGBUS), other, "");
}

TEST(Files, OnlyFilesAreRead) {
  Folder folder;
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  ASSERT_EQ(mkdir((folder / "folder").c_str(), 0700), 0);
  const std::pair<std::string, const char *> cases[] = {
      {folder / "pipe", "expected a file, got a pipe"},
      {folder / "folder", "expected a file, got a folder"},
      {"/dev/zero", "expected a file, got a device"},
      {folder / "none", "No such file or directory"}};
  for (const auto &[path, why] : cases) {
    mn::Array array;
    EXPECT_EQ(mn::readArray(path, array).message,
              "cannot read '" + path + "': " + why);
  }
}

} // namespace
