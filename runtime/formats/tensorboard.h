//===- tensorboard.h - what TensorBoard draws -------------------*- C++ -*-===//
//
// An event file: TFRecords (length, checksum, data, checksum; the checksums are
// CRC-32C, rotated, as tensorflow/core/lib/io/record_writer.h says) of Event
// messages (tensorflow/core/util/event.proto). Flushed at each record, so that
// a run can be watched.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_FORMATS_TENSORBOARD_H
#define MNISTRT_FORMATS_TENSORBOARD_H

#include "core/status.h"
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mn {

/// CRC-32C (Castagnoli; RFC 3720, appendix B.4).
uint32_t crc32c(std::string_view data);

/// `data` with its length and checksums.
std::string tfRecord(std::string_view data);

/// A named number at a step.
struct Scalar {
  std::string_view tag; ///< "train/loss"
  float value;
};

/// How often numbers are where, at a step.
struct Histogram {
  std::string tag; ///< "weights/fc1.weight"
  double min = 0, max = 0, sum = 0, sumOfSquares = 0;
  std::vector<double> limits; ///< the upper ones of the ranges
  std::vector<double> counts; ///< up to a limit, above the one before
};

/// Of finite numbers, in ranges of equal width; of equal numbers one range.
Histogram histogramOf(std::string tag, std::span<const float> numbers);

class TensorBoard {
public:
  TensorBoard() = default;
  TensorBoard(const TensorBoard &) = delete;
  TensorBoard &operator=(const TensorBoard &) = delete;
  ~TensorBoard();

  /// Makes FOLDER/events.out.tfevents.SECONDS.HOST.PROCESS.NUMBER, which is
  /// new, and the folder where it is missing. A resumed run writes a new file
  /// next to the old one, as TensorBoard expects.
  Status open(const std::string &folder);
  bool isOpen() const { return file >= 0; }
  const std::string &path() const { return name; }

  /// Numbers of one step; `wallTime` in seconds since 1970.
  Status write(int64_t step, double wallTime,
               const std::vector<Scalar> &scalars);
  Status writeHistograms(int64_t step, double wallTime,
                         const std::vector<Histogram> &histograms);

private:
  Status writeSummary(int64_t step, double wallTime, std::string_view summary);
  Status append(std::string_view event);

  std::string name;
  int file = -1;
};

} // namespace mn

#endif // MNISTRT_FORMATS_TENSORBOARD_H
