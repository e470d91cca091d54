//===- files.cpp - data files that want too much --------------------------===//

#include "formats/files.h"
#include "train-folder.h"
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
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

/// In a process that may not have the memory that the file asks for.
void expectSmall(const std::string &content, const std::string &name,
                 const std::string &expected) {
  const pid_t child = fork();
  if (child == 0) {
    struct rlimit limit;
    getrlimit(RLIMIT_DATA, &limit);
    limit.rlim_cur = rlim_t(256) << 20;
    setrlimit(RLIMIT_DATA, &limit);
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
