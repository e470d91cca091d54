//===- jsonl.cpp - a log that programs read -------------------------------===//

#include "formats/jsonl.h"
#include "core/array.h"
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace mn {

namespace {

/// The bytes of the UTF-8 character at the front of `text`; 0 where there is
/// none (Unicode 15, table 3-7: neither overlong forms nor surrogates).
size_t characterBytes(std::string_view text) {
  const auto at = [&](size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const auto follows = [&](size_t i) { return (at(i) & 0xc0) == 0x80; };
  const unsigned a = at(0), b = at(1);
  if (a < 0x80)
    return 1;
  if (a >= 0xc2 && a <= 0xdf)
    return follows(1) ? 2 : 0;
  if (a >= 0xe0 && a <= 0xef) {
    const bool good = !(a == 0xe0 && b < 0xa0) && !(a == 0xed && b > 0x9f);
    return good && follows(1) && follows(2) ? 3 : 0;
  }
  if (a >= 0xf0 && a <= 0xf4) {
    const bool good = !(a == 0xf0 && b < 0x90) && !(a == 0xf4 && b > 0x8f);
    return good && follows(1) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

template <typename T> std::string shortest(T value) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof(digits), value).ptr};
}

const char *nameOfSpecial(double value) {
  return std::isnan(value) ? "\"nan\"" : value > 0 ? "\"inf\"" : "\"-inf\"";
}

} // namespace

std::string jsonString(std::string_view text) {
  std::string result = "\"";
  while (!text.empty()) {
    const size_t bytes = characterBytes(text);
    const unsigned char first = static_cast<unsigned char>(text[0]);
    if (bytes == 0) {
      result += "\xef\xbf\xbd";
    } else if (first == '"' || first == '\\') {
      result += {'\\', text[0]};
    } else if (first == '\n') {
      result += "\\n";
    } else if (first == '\t') {
      result += "\\t";
    } else if (first < 0x20 || first == 0x7f) {
      constexpr const char *hex = "0123456789abcdef";
      result += {'\\', 'u', '0', '0', hex[first >> 4], hex[first & 15]};
    } else {
      result += text.substr(0, bytes);
    }
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  return result + "\"";
}

JsonEvent::JsonEvent(std::string_view event) { add("event", event); }

JsonEvent &JsonEvent::addText(std::string_view key, std::string_view value) {
  text += text.empty() ? '{' : ',';
  text += jsonString(key) + ":";
  text += value;
  return *this;
}

JsonEvent &JsonEvent::add(std::string_view key, std::string_view value) {
  return addText(key, jsonString(value));
}

JsonEvent &JsonEvent::add(std::string_view key, float value) {
  return addText(key, std::isfinite(value) ? shortest(value)
                                           : nameOfSpecial(double(value)));
}

JsonEvent &JsonEvent::add(std::string_view key, double value) {
  return addText(key,
                 std::isfinite(value) ? shortest(value) : nameOfSpecial(value));
}

JsonEvent &JsonEvent::add(std::string_view key, bool value) {
  return addText(key, value ? "true" : "false");
}

JsonEvent &JsonEvent::addWhole(std::string_view key, int64_t value) {
  return addText(key, shortest(value));
}

JsonEvent &JsonEvent::addWhole(std::string_view key, uint64_t value) {
  return addText(key, shortest(value));
}

JsonLog::~JsonLog() {
  if (file >= 0)
    ::close(file);
}

Status JsonLog::open(const std::string &where, bool append) {
  if (file >= 0)
    ::close(file);
  path = where;
  file = ::open(
      path.c_str(),
      O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | (append ? 0 : O_TRUNC), 0666);
  if (file < 0)
    return badData("cannot write '%s': %s", path.c_str(), std::strerror(errno));
  return append ? cutTornLine() : Status::success();
}

Status JsonLog::cutTornLine() {
  struct stat about;
  if (::fstat(file, &about) != 0 || !S_ISREG(about.st_mode))
    return Status::success();
  // A line of ours is short; a longer end is not ours, and stays.
  constexpr off_t most = 1 << 16;
  const off_t from = about.st_size > most ? about.st_size - most : 0;
  std::string end(static_cast<size_t>(about.st_size - from), '\0');
  const ssize_t got = ::pread(file, end.data(), end.size(), from);
  if (got != static_cast<ssize_t>(end.size()))
    return badData("cannot read '%s': %s", path.c_str(),
                   got < 0 ? std::strerror(errno) : "it changes");
  if (end.empty() || end.back() == '\n')
    return Status::success();
  const size_t line = end.rfind('\n') + 1; // 0 where there is none
  const bool ours = end[line] == '{' && (line > 0 || from == 0);
  const bool good =
      ours ? ::ftruncate(file, from + static_cast<off_t>(line)) == 0
           : ::write(file, "\n", 1) == 1;
  return good ? Status::success()
              : badData("cannot write '%s': %s", path.c_str(),
                        std::strerror(errno));
}

Status JsonLog::write(const JsonEvent &event) {
  const std::string line = event.line() + "\n";
  struct stat about;
  const bool regular = ::fstat(file, &about) == 0 && S_ISREG(about.st_mode);
  size_t done = 0;
  while (done < line.size()) {
    const ssize_t put = ::write(file, line.data() + done, line.size() - done);
    if (put < 0 && errno == EINTR)
      continue;
    if (put < 0) {
      const int error = errno;
      if (regular && done > 0 && ::ftruncate(file, about.st_size) != 0)
        return badData("cannot write '%s': %s; its last line is not whole",
                       path.c_str(), std::strerror(error));
      return badData("cannot write '%s': %s", path.c_str(),
                     std::strerror(error));
    }
    done += static_cast<size_t>(put);
  }
  return Status::success();
}

} // namespace mn
