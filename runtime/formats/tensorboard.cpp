//===- tensorboard.cpp - what TensorBoard draws ---------------------------===//

#include "formats/tensorboard.h"
#include "core/array.h"
#include "formats/protobuf.h"
#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <unistd.h>

namespace mn {

namespace {

constexpr std::array<uint32_t, 256> crcTable = [] {
  std::array<uint32_t, 256> table = {};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit)
      crc = crc >> 1 ^ (crc & 1 ? 0x82F63B78u : 0);
    table[i] = crc;
  }
  return table;
}();

uint32_t maskedCrc(std::string_view data) {
  return std::rotr(crc32c(data), 15) + 0xa282ead8u;
}

template <typename T> void put(std::string &to, T value) {
  to.append(reinterpret_cast<const char *>(&value), sizeof(value));
}

// Field numbers of event.proto and summary.proto.
constexpr uint32_t eventWallTime = 1, eventStep = 2, eventFileVersion = 3,
                   eventSummary = 5;
constexpr uint32_t summaryValue = 1;
constexpr uint32_t valueTag = 1, valueSimple = 2, valueHistogram = 5;
constexpr uint32_t histogramMin = 1, histogramMax = 2, histogramCount = 3,
                   histogramSum = 4, histogramSquares = 5, histogramLimits = 6,
                   histogramCounts = 7;
/// Of a histogram.
constexpr size_t ranges = 30;

void putDouble(std::string &to, uint32_t number, double value) {
  putFixed64Field(to, number, std::bit_cast<uint64_t>(value));
}

/// Packed, as readers of today write them.
void putDoubles(std::string &to, uint32_t number,
                const std::vector<double> &values) {
  std::string packed;
  for (const double value : values)
    put(packed, value);
  putBytesField(to, number, packed);
}

std::string messageOf(const Histogram &histogram) {
  std::string message;
  double count = 0;
  for (const double some : histogram.counts)
    count += some;
  putDouble(message, histogramMin, histogram.min);
  putDouble(message, histogramMax, histogram.max);
  putDouble(message, histogramCount, count);
  putDouble(message, histogramSum, histogram.sum);
  putDouble(message, histogramSquares, histogram.sumOfSquares);
  putDoubles(message, histogramLimits, histogram.limits);
  putDoubles(message, histogramCounts, histogram.counts);
  return message;
}

double now() {
  using namespace std::chrono;
  return duration<double>(system_clock::now().time_since_epoch()).count();
}

/// The name of the machine, with the characters that a file's name may have.
std::string hostName() {
  char host[256] = {};
  if (::gethostname(host, sizeof(host) - 1) != 0 || !host[0])
    return "host";
  for (char *c = host; *c; ++c)
    if (*c == '/')
      *c = '_';
  return host;
}

} // namespace

uint32_t crc32c(std::string_view data) {
  uint32_t crc = ~0u;
  for (const char byte : data)
    crc = crc >> 8 ^ crcTable[(crc ^ static_cast<unsigned char>(byte)) & 255];
  return ~crc;
}

std::string tfRecord(std::string_view data) {
  std::string record;
  put(record, static_cast<uint64_t>(data.size()));
  put(record, maskedCrc(record));
  record += data;
  put(record, maskedCrc(data));
  return record;
}

TensorBoard::~TensorBoard() {
  if (file >= 0)
    ::close(file);
}

Status TensorBoard::open(const std::string &folder) {
  if (file >= 0)
    ::close(file);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return badData("cannot make the folder '%s': %s", folder.c_str(),
                   error.message().c_str());
  const double time = now();
  const std::string stem =
      folder + text("/events.out.tfevents.%010lld.%s.%d.",
                    static_cast<long long>(time), hostName().c_str(),
                    static_cast<int>(::getpid()));
  for (int number = 0;; ++number) {
    name = stem + std::to_string(number);
    file = ::open(name.c_str(),
                  O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
    if (file >= 0)
      break;
    if (errno != EEXIST)
      return badData("cannot write '%s': %s", name.c_str(),
                     std::strerror(errno));
  }
  std::string event;
  putFixed64Field(event, eventWallTime, std::bit_cast<uint64_t>(time));
  putBytesField(event, eventFileVersion, "brain.Event:2");
  return append(event);
}

Status TensorBoard::write(int64_t step, double wallTime,
                          const std::vector<Scalar> &scalars) {
  std::string summary;
  for (const Scalar &scalar : scalars) {
    std::string value;
    putBytesField(value, valueTag, scalar.tag);
    putFixed32Field(value, valueSimple, std::bit_cast<uint32_t>(scalar.value));
    putBytesField(summary, summaryValue, value);
  }
  return writeSummary(step, wallTime, summary);
}

Histogram histogramOf(std::string tag, std::span<const float> numbers) {
  Histogram found;
  found.tag = std::move(tag);
  if (numbers.empty())
    return found;
  const auto [least, most] =
      std::minmax_element(numbers.begin(), numbers.end());
  found.min = *least, found.max = *most;
  const double width = (found.max - found.min) / ranges;
  const size_t count = width > 0 ? ranges : 1;
  for (size_t i = 1; i <= count; ++i)
    found.limits.push_back(i == count ? found.max
                                      : found.min + width * double(i));
  found.counts.resize(count);
  for (const float number : numbers) {
    const double x = number;
    found.sum += x, found.sumOfSquares += x * x;
    const auto limit =
        std::lower_bound(found.limits.begin(), found.limits.end(), x);
    ++found.counts[static_cast<size_t>(limit - found.limits.begin())];
  }
  return found;
}

Status TensorBoard::writeHistograms(int64_t step, double wallTime,
                                    const std::vector<Histogram> &histograms) {
  std::string summary;
  for (const Histogram &histogram : histograms) {
    std::string value;
    putBytesField(value, valueTag, histogram.tag);
    putBytesField(value, valueHistogram, messageOf(histogram));
    putBytesField(summary, summaryValue, value);
  }
  return writeSummary(step, wallTime, summary);
}

Status TensorBoard::writeSummary(int64_t step, double wallTime,
                                 std::string_view summary) {
  std::string event;
  putFixed64Field(event, eventWallTime, std::bit_cast<uint64_t>(wallTime));
  putVarintField(event, eventStep, static_cast<uint64_t>(step));
  putBytesField(event, eventSummary, summary);
  return append(event);
}

Status TensorBoard::append(std::string_view event) {
  const std::string record = tfRecord(event);
  const off_t before = ::lseek(file, 0, SEEK_END);
  size_t done = 0;
  while (done < record.size()) {
    const ssize_t put =
        ::write(file, record.data() + done, record.size() - done);
    if (put < 0 && errno == EINTR)
      continue;
    if (put < 0) {
      const std::string why = std::strerror(errno);
      // A reader stops at a record that is not whole.
      const bool whole = done == 0 || ::ftruncate(file, before) == 0;
      return badData("cannot write '%s': %s%s", name.c_str(), why.c_str(),
                     whole ? "" : "; its last record is not whole");
    }
    done += static_cast<size_t>(put);
  }
  return Status::success();
}

} // namespace mn
