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
#include "formats/json.h"

namespace mn {

class JsonLog {
public:
  JsonLog() = default;
  JsonLog(const JsonLog &) = delete;
  JsonLog &operator=(const JsonLog &) = delete;
  ~JsonLog();

  /// Opens the file, empties it unless `append`, and creates it where it is
  /// missing. What a killed run left of a line at the end is cut off. "-" is
  /// standard output.
  Status open(const std::string &path, bool append);
  bool isOpen() const { return file >= 0; }

  /// Writes a line. On an error, a full disk above all, nothing of it stays.
  Status write(const Json &event);

private:
  Status cutTornLine();

  std::string path;
  int file = -1;
};

} // namespace mn

#endif // MNISTRT_FORMATS_JSONL_H
