//===- onednn_cut.cpp - contractions cut into parts -----------------------===//

#include "cpu/onednn_cut.h"
#include "mnistrt/cpu/parallel.h"
#include <algorithm>

namespace mn::onednn {

namespace {

/// The work for which a part is worth its call.
constexpr double partWork = 32 * parallelGrain;
/// Parts of one step: more threads than that find nothing to do.
constexpr int maxMatmulParts = 64, maxLineParts = 32;

double sizeOf(const int (&size)[3]) {
  return double(size[0]) * size[1] * size[2];
}

int partsFor(double work, int maxParts) {
  return static_cast<int>(std::clamp(work / partWork, 1.0, double(maxParts)));
}

/// Where piece `i` of `pieces` of [0, count) begins.
int beginOf(int i, int pieces, int count) {
  return static_cast<int>(int64_t(i) * count / pieces);
}

int reachOf(const Conv &s) { return (s.kernel[0] - 1) * s.dilations[0]; }

/// Windows [begin, end) of the outermost dimension; false: they read nothing.
bool outputLines(const Conv &s, int begin, int end, ConvPart &part) {
  const int from = begin * s.strides[0] - s.pads[0];
  const int to = (end - 1) * s.strides[0] - s.pads[0] + reachOf(s) + 1;
  const int low = std::max(from, 0), high = std::min(to, s.in[0]);
  part.shape.out[0] = end - begin;
  part.shape.in[0] = high - low;
  part.shape.pads[0] = low - from;
  part.in += int64_t(low) * s.in[1] * s.in[2] * s.inChannels;
  part.out += int64_t(begin) * s.out[1] * s.out[2] * s.outChannels;
  return low < high;
}

/// Lines [begin, end) of the input and the windows that reach them.
bool inputLines(const Conv &s, int begin, int end, ConvPart &part) {
  const int stride = s.strides[0];
  const int before = begin + s.pads[0] - reachOf(s);
  const int low = before <= 0 ? 0 : (before + stride - 1) / stride;
  const int high = std::min((end - 1 + s.pads[0]) / stride + 1, s.out[0]);
  part.shape.in[0] = end - begin;
  part.shape.out[0] = high - low;
  part.shape.pads[0] = s.pads[0] + begin - low * stride;
  part.in += int64_t(begin) * s.in[1] * s.in[2] * s.inChannels;
  part.out += int64_t(low) * s.out[1] * s.out[2] * s.outChannels;
  return low < high && part.shape.pads[0] >= 0;
}

ConvPart imagesOf(const Conv &s, int begin, int end) {
  ConvPart part;
  part.shape = s;
  part.shape.batch = end - begin;
  part.in = int64_t(begin * sizeOf(s.in)) * s.inChannels;
  part.out = int64_t(begin * sizeOf(s.out)) * s.outChannels;
  return part;
}

} // namespace

double workOf(const Conv &s) {
  // Output channels share a register: a few cost as much as what fills it.
  const int channels = std::max(s.outChannels, 8);
  return double(s.batch) * channels * sizeOf(s.out) * s.inChannels / s.groups *
         sizeOf(s.kernel);
}
double workOf(const Matmul &s) { return double(s.batch) * s.m * s.n * s.k; }

std::vector<ConvPart> cut(const Conv &s, Lines lines, int maxParts) {
  const int wanted = partsFor(workOf(s), maxParts);
  const int images = std::min(wanted, s.batch);
  const int count = lines == Lines::ofOutput ? s.out[0] : s.in[0];
  // Lines of an image are one piece of memory only where channels come last.
  int pieces = 1;
  if (s.layout == Layout::nhwc && s.batch < maxLineParts)
    pieces = std::clamp(std::min(wanted, maxLineParts) / s.batch, 1, count);
  std::vector<ConvPart> parts;
  for (int i = 0; i < images; ++i)
    for (int piece = 0; piece < pieces; ++piece) {
      ConvPart part = imagesOf(s, beginOf(i, images, s.batch),
                               beginOf(i + 1, images, s.batch));
      const auto cutLines = lines == Lines::ofOutput ? outputLines : inputLines;
      if (pieces > 1 && !cutLines(s, beginOf(piece, pieces, count),
                                  beginOf(piece + 1, pieces, count), part))
        return {{s, 0, 0}};
      parts.push_back(part);
    }
  return parts;
}

int maxFilterParts(const Conv &s) {
  constexpr double maxBytes = 64 << 20, windowsOfPart = 512;
  const double filter = double(s.outChannels) * s.inChannels / s.groups *
                        sizeOf(s.kernel) * sizeof(float);
  const double windows = s.batch * sizeOf(s.out);
  return static_cast<int>(std::clamp(
      std::min(maxBytes / filter, windows / windowsOfPart), 1.0, 64.0));
}

std::vector<MatmulPart> cut(const Matmul &s) {
  // Down to what still fills the registers and is worth packing.
  constexpr int minRows = 32, minColumns = 64;
  const int wanted = partsFor(workOf(s), maxMatmulParts);
  const int groups = std::min(wanted, s.batch);
  int down = 1, across = 1;
  while (groups * down * across * 2 <= wanted) {
    const int rows = s.m / down / 2, columns = s.n / across / 2;
    if (columns >= minColumns && (columns >= rows || rows < minRows))
      across *= 2;
    else if (rows >= minRows)
      down *= 2;
    else
      break;
  }
  std::vector<MatmulPart> parts;
  for (int group = 0; group < groups; ++group)
    for (int i = 0; i < down; ++i)
      for (int j = 0; j < across; ++j) {
        MatmulPart part;
        part.first = beginOf(group, groups, s.batch);
        part.count = beginOf(group + 1, groups, s.batch) - part.first;
        part.row = beginOf(i, down, s.m);
        part.rows = beginOf(i + 1, down, s.m) - part.row;
        part.column = beginOf(j, across, s.n);
        part.columns = beginOf(j + 1, across, s.n) - part.column;
        parts.push_back(part);
      }
  return parts;
}

} // namespace mn::onednn
