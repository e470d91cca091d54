//===- jsonl.h - a log that programs read -----------------------*- C++ -*-===//
//
// One JSON object a line (jsonlines.org), written with one system call as soon
// as it happens, so that a run can be followed and a killed one leaves whole
// lines.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_FORMATS_JSONL_H
#define MNISTRT_FORMATS_JSONL_H

#include "core/status.h"
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace mn {

/// A line in the making: {"event":"epoch","epoch":3,"loss":0.25}. Keys are
/// written in the order in which they are added. Numbers read back as the same
/// bits. JSON has no infinity: "inf", "-inf" and "nan" are strings. Bytes that
/// are not UTF-8 become U+FFFD.
class JsonEvent {
public:
  explicit JsonEvent(std::string_view event);

  JsonEvent &add(std::string_view key, std::string_view value);
  // Without it, a literal would become a bool.
  JsonEvent &add(std::string_view key, const char *value) {
    return add(key, std::string_view(value));
  }
  JsonEvent &add(std::string_view key, float value);
  JsonEvent &add(std::string_view key, double value);
  JsonEvent &add(std::string_view key, bool value);
  JsonEvent &add(std::string_view key, std::signed_integral auto value) {
    return addWhole(key, static_cast<int64_t>(value));
  }
  JsonEvent &add(std::string_view key, std::unsigned_integral auto value) {
    return addWhole(key, static_cast<uint64_t>(value));
  }

  /// The object, without an end of line.
  std::string line() const { return text + "}"; }

private:
  JsonEvent &addWhole(std::string_view key, int64_t value);
  JsonEvent &addWhole(std::string_view key, uint64_t value);
  JsonEvent &addText(std::string_view key, std::string_view value);

  std::string text;
};

/// `text` in quotes, as a JSON string.
std::string jsonString(std::string_view text);

class JsonLog {
public:
  JsonLog() = default;
  JsonLog(const JsonLog &) = delete;
  JsonLog &operator=(const JsonLog &) = delete;
  ~JsonLog();

  /// Opens the file, empties it unless `append`, and creates it where it is
  /// missing. What a killed run left of a line at the end is cut off.
  Status open(const std::string &path, bool append);
  bool isOpen() const { return file >= 0; }

  /// Writes a line. On an error, a full disk above all, nothing of it stays.
  Status write(const JsonEvent &event);

private:
  Status cutTornLine();

  std::string path;
  int file = -1;
};

} // namespace mn

#endif // MNISTRT_FORMATS_JSONL_H
