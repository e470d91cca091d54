//===- terminal.cpp - how wide printed text may be ------------------------===//

#include "reports/terminal.h"
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <sys/ioctl.h>
#include <unistd.h>

namespace mn {

namespace {

bool beginsCharacter(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0) != 0x80;
}

} // namespace

int columnsOf(int file) {
  if (const char *given = std::getenv("COLUMNS")) {
    char *end;
    const long columns = std::strtol(given, &end, 10);
    if (end != given && !*end && columns > 0 && columns <= 10000)
      return static_cast<int>(columns);
  }
  struct winsize size = {};
  if (::ioctl(file, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    return size.ws_col;
  return 0;
}

size_t textWidth(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), beginsCharacter));
}

std::string shortened(std::string_view text, size_t width) {
  if (textWidth(text) <= width)
    return std::string(text);
  constexpr std::string_view dots = "...";
  const size_t room = width > dots.size() ? width - dots.size() : 0;
  size_t bytes = 0;
  for (size_t count = 0; bytes < text.size(); ++bytes)
    if (beginsCharacter(text[bytes]) && count++ == room)
      break;
  return std::string(text.substr(0, bytes)) +
         std::string(dots.substr(0, width - room));
}

std::string wrapped(std::string_view text, int width, int indent) {
  if (width <= 0)
    return std::string(text);
  const auto limit = static_cast<size_t>(width);
  const std::string margin(static_cast<size_t>(indent), ' ');
  std::string result;
  size_t column = 0;
  while (!text.empty()) {
    // A word with the blanks before it, as in "accuracy   93 %".
    const size_t blanks = std::min(text.find_first_not_of(' '), text.size());
    size_t end = std::min(text.find_first_of(" \n", blanks), text.size());
    while (text.substr(end).starts_with(" %")) // "93 %" stays together
      end = std::min(text.find_first_of(" \n", end + 1), text.size());
    const std::string_view word = text.substr(blanks, end - blanks);
    const size_t size = textWidth(word);
    if (column > margin.size() && column + blanks + size > limit) {
      result += '\n' + margin;
      column = margin.size();
    } else {
      result += text.substr(0, blanks);
      column += blanks;
    }
    result += word;
    column += size;
    text.remove_prefix(end);
    if (!text.empty() && text.front() == '\n') {
      text.remove_prefix(1);
      result += '\n' + (text.empty() ? "" : margin);
      column = margin.size();
    }
  }
  return result;
}

void put(int file, std::string_view text) {
  while (file >= 0 && !text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written <= 0)
      return;
    text.remove_prefix(static_cast<size_t>(written));
  }
}

} // namespace mn
