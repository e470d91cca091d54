//===- live_block.h - lines of a terminal that are redrawn ------*- C++ -*-===//
//
// As reports/progress.h does with one line. Elsewhere than on a terminal
// nothing is drawn, and only lines that stay are printed.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_REPORTS_LIVE_BLOCK_H
#define MNISTRT_REPORTS_LIVE_BLOCK_H

#include "reports/progress.h"

namespace mn {

class LiveBlock {
public:
  explicit LiveBlock(const Progress::Options &options) : options(options) {}
  LiveBlock(const LiveBlock &) = delete;
  LiveBlock &operator=(const LiveBlock &) = delete;
  ~LiveBlock() { clear(); }

  bool terminal() const { return options.terminal; }
  /// Columns of the terminal; 0: no limit.
  int width() const;
  /// Lines of the terminal.
  int height() const;

  /// `text`: lines, each with its end, as long as the terminal is wide at most.
  void draw(const std::string &text);
  /// A line that stays, above the block.
  void print(std::string_view line);
  /// Lines that stay, each with its end, as they are.
  void write(std::string_view lines);
  void clear();

private:
  const Progress::Options options;
  std::string shown;
};

} // namespace mn

#endif // MNISTRT_REPORTS_LIVE_BLOCK_H
