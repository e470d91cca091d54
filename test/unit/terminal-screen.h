//===- terminal-screen.h - what a terminal shows ----------------*- C++ -*-===//

#ifndef TEST_UNIT_TERMINAL_SCREEN_H
#define TEST_UNIT_TERMINAL_SCREEN_H

#include <cstdlib>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>
#include <vector>

namespace test {

/// What is written to a pipe.
class Pipe {
public:
  Pipe() {
    EXPECT_EQ(pipe(ends), 0);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
  }
  ~Pipe() {
    close(ends[0]);
    close(ends[1]);
  }
  std::string take() {
    char buffer[65536];
    const ssize_t got = read(ends[0], buffer, sizeof(buffer));
    return got > 0 ? std::string(buffer, static_cast<size_t>(got)) : "";
  }
  int ends[2];
};

/// The lines of a terminal that was written this: it knows CR, LF, up (A),
/// erasing to the end of a line (K) and of the screen (J).
inline std::string screenOf(const std::string &written) {
  std::vector<std::string> lines(1);
  size_t row = 0, column = 0;
  for (size_t i = 0; i < written.size(); ++i) {
    if (written[i] == '\r') {
      column = 0;
    } else if (written[i] == '\n') {
      column = 0;
      if (++row == lines.size())
        lines.emplace_back();
    } else if (written[i] == '\x1b') {
      char *end;
      const long count = std::strtol(written.c_str() + i + 2, &end, 10);
      i = static_cast<size_t>(end - written.c_str());
      if (written[i] == 'A')
        row -= std::min(row, static_cast<size_t>(count));
      else
        lines[row].resize(column);
      if (written[i] == 'J')
        lines.resize(row + 1);
    } else {
      lines[row].resize(std::max(lines[row].size(), column + 1), ' ');
      lines[row][column++] = written[i];
    }
  }
  std::string text;
  for (size_t i = 0; i < lines.size(); ++i)
    text += lines[i] + (i + 1 < lines.size() ? "\n" : "");
  return text;
}

} // namespace test

#endif // TEST_UNIT_TERMINAL_SCREEN_H
