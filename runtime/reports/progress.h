//===- progress.h - how far the training is ---------------------*- C++ -*-===//
//
// On a terminal, one line that is redrawn, at most ten times a second
// and as wide as the terminal; elsewhere, a plain line for each report. Colours
// follow no-color.org.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_REPORTS_PROGRESS_H
#define MNISTRT_REPORTS_PROGRESS_H

#include <cstdint>
#include <string>
#include <string_view>

namespace mn {

struct TrainState {
  int64_t epoch = 1, epochs = 1; ///< from 1
  int64_t step = 0, steps = 1;   ///< of this epoch
  double loss = 0;               ///< the mean since the last report
  double accuracy = -1;          ///< 0 to 1; negative where there is none
  int64_t rows = 0;              ///< since the last report
  double imagesPerSecond = 0;    ///< 0 where it is not known yet
  double secondsLeft = -1;       ///< of the whole run; negative: not known yet
};

/// The live line: at most `width` columns without colours. What a narrow
/// terminal has no room for is left out, the least important first.
std::string progressLine(const TrainState &state, int width, bool color);

/// "epoch 3/5, step 512/938: loss 0.1234, accuracy 98.12 %, 1.20M images/s,
/// 0:12 left".
std::string reportLine(const TrainState &state);

/// "0:07", "12:34", "1:02:03", "2 d 01:02:03".
std::string durationText(double seconds);
/// "950", "83.2k", "1.24M".
std::string rateText(double perSecond);

class Progress {
public:
  struct Options {
    int file = 2;          ///< descriptor; -1: nothing is printed
    bool terminal = false; ///< whether a line can be redrawn
    bool color = false;
    int width = 0; ///< columns; 0: the terminal's, asked at each drawing
  };
  /// What a descriptor is and the environment wants (TERM, NO_COLOR).
  static Options detect(int file);

  explicit Progress(const Options &options) : options(options) {}
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;
  ~Progress() { clear(); }

  /// To be called as often as there is news. `now`: seconds on any clock that
  /// does not go backwards. Draws only on a terminal.
  void update(const TrainState &state, double now);
  /// At each report: a plain line where there is no terminal.
  void report(const TrainState &state);
  /// A line that stays, above the live one. On a terminal, a long one is broken
  /// at blanks.
  void print(std::string_view line);
  /// Takes the live line away, for whatever is printed next.
  void clear();

private:
  int width() const;

  Options options;
  double drawn = 0; ///< when
  bool any = false; ///< whether anything was ever drawn
  std::string live; ///< the line that stands there now; empty: none
};

} // namespace mn

#endif // MNISTRT_REPORTS_PROGRESS_H
