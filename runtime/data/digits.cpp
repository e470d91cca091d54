//===- digits.cpp - a data set that needs no download ---------------------===//
//
// Only additions, multiplications, divisions and square roots of floats are
// used, which IEEE 754 defines to the last bit; the build keeps the compiler
// from fusing them.
//
//===----------------------------------------------------------------------===//

#include "data/digits.h"
#include "data/digits_glyphs.h"
#include "mnistrt/philox.h"
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>
#include <thread>
#include <vector>

namespace mn {

namespace {

/// The random numbers of one image, one after another.
class Draw {
public:
  Draw(uint64_t seed, DigitPart part, int64_t number)
      : random{seed, 0x44494730u + static_cast<uint32_t>(part)}, // "DIG0"
        number(static_cast<uint64_t>(number)) {}

  uint32_t bits() {
    if (used == 4) {
      words = random.block(number, next++);
      used = 0;
    }
    return words.word[used++];
  }
  float uniform(float from, float to) {
    return from + (to - from) * unitFloat(bits());
  }
  /// About normal: the sum of four uniform numbers of 16 bits, which has
  /// variance 2^32 / 3. Never further than 3.5 deviations out, so that no digit
  /// is torn apart.
  float normal(float deviation) {
    const uint32_t a = bits(), b = bits();
    const uint32_t sum = (a >> 16) + (a & 0xffff) + (b >> 16) + (b & 0xffff);
    return (static_cast<float>(sum) - 131070) * (1.7320508f / 65536) *
           deviation;
  }
  bool chance(float probability) { return unitFloat(bits()) < probability; }

private:
  Random random;
  uint64_t number;
  uint64_t next = 0;
  Words4 words = {};
  int used = 4;
};

struct Segment {
  Point from, to;
  float pen; ///< radius, in pixels
};

/// Ends of a B-spline's pieces, one for each point but the last two, with this
/// many segments each.
constexpr int segmentsOfPiece = 3;
constexpr int maxSegments = maxStrokes * maxPoints * segmentsOfPiece;

struct Drawing {
  Segment segments[maxSegments];
  int count = 0;
};

/// From the box of a glyph to pixels: a wave, then an affine map.
struct Map {
  float xx, xy, yx, yy;
  float shiftX, shiftY;
  float bow, lean; ///< bends of vertical and horizontal lines

  Point operator()(Point p) const {
    const float x = p.x - 1, y = (p.y - 2) * 0.5f;
    const float bentX = x + bow * (1 - y * y);
    const float bentY = y + lean * (1 - x * x);
    return {xx * bentX + xy * bentY + shiftX, yx * bentX + yy * bentY + shiftY};
  }
};

Map drawMap(Draw &draw) {
  const float turn = draw.normal(0.16f), shear = draw.normal(0.2f);
  const float width = draw.uniform(3.3f, 6.0f);
  const float height = draw.uniform(7.2f, 10.2f);
  // Sine and cosine of a small angle, exactly the same everywhere.
  const float s = turn - turn * turn * turn / 6;
  const float c = 1 - turn * turn / 2;
  Map map;
  map.xx = c * width;
  map.xy = (-shear * c - s) * height;
  map.yx = s * width;
  map.yy = (-shear * s + c) * height;
  map.shiftX = 13.5f + draw.normal(1.4f);
  map.shiftY = 13.5f + draw.normal(1.1f);
  map.bow = draw.normal(0.13f);
  map.lean = draw.normal(0.06f);
  return map;
}

const Glyph &drawGlyph(Draw &draw, int digit) {
  const GlyphSet set = glyphsOf(digit);
  int left = static_cast<int>(draw.bits() >> 28);
  int i = 0;
  for (; left >= set.glyphs[i].weight; ++i)
    left -= set.glyphs[i].weight;
  return set.glyphs[i];
}

/// Point `t` of a quadratic Bezier curve.
Point onCurve(Point a, Point b, Point c, float t) {
  const float u = 1 - t;
  return {u * u * a.x + 2 * u * t * b.x + t * t * c.x,
          u * u * a.y + 2 * u * t * b.y + t * t * c.y};
}

Point middle(Point a, Point b) {
  return {(a.x + b.x) * 0.5f, (a.y + b.y) * 0.5f};
}

/// Adds a stroke: a quadratic B-spline through the middles of its control
/// points, from the first to the last.
void addStroke(Drawing &drawing, const Point *points, int count, float penFrom,
               float penTo) {
  const int pieces = count - 2;
  for (int piece = 0; piece < pieces; ++piece) {
    const Point *p = points + piece;
    const Point begin = piece == 0 ? p[0] : middle(p[0], p[1]);
    const Point end = piece == pieces - 1 ? p[2] : middle(p[1], p[2]);
    Point from = begin;
    for (int i = 1; i <= segmentsOfPiece; ++i) {
      const Point to = onCurve(begin, p[1], end, float(i) / segmentsOfPiece);
      const float along = (float(piece) + float(i) / segmentsOfPiece) /
                          static_cast<float>(pieces);
      drawing.segments[drawing.count++] = {from, to,
                                           penFrom + (penTo - penFrom) * along};
      from = to;
    }
  }
}

Drawing drawStrokes(Draw &draw, int digit) {
  const Glyph &glyph = drawGlyph(draw, digit);
  const Map map = drawMap(draw);
  const float pen = draw.uniform(0.75f, 1.9f);
  const float wobble = draw.uniform(0.02f, 0.16f);
  Drawing drawing;
  for (int i = 0; i < glyph.count; ++i) {
    const Stroke &stroke = glyph.strokes[i];
    const Point offset = {draw.normal(0.06f), draw.normal(0.08f)};
    Point points[maxPoints];
    for (int j = 0; j < stroke.count; ++j) {
      // The two points of a corner move together.
      if (j > 0 && stroke.points[j].x == stroke.points[j - 1].x &&
          stroke.points[j].y == stroke.points[j - 1].y) {
        points[j] = points[j - 1];
        continue;
      }
      const float x = stroke.points[j].x + draw.normal(wobble) + offset.x;
      const float y = stroke.points[j].y + draw.normal(wobble) + offset.y;
      points[j] = map({x, y});
    }
    const float penFrom = pen * draw.uniform(0.8f, 1.15f);
    const float penTo = pen * draw.uniform(0.8f, 1.15f);
    addStroke(drawing, points, stroke.count, penFrom, penTo);
  }
  return drawing;
}

/// The softest edge fades over this many pixels, half of them outside.
constexpr float softest = 1.7f;
constexpr float reach = softest / 2;

/// A row is done in blocks that fit every machine's vector registers.
constexpr int block = 4;
static_assert(digitSide % block == 0);

/// Lowers `edges`, each pixel's distance from the nearest stroke's edge, for
/// the pixels around one segment. Inside of the ink it is negative.
void addSegment(float *edges, const Segment &segment) {
  const Point a = segment.from, b = segment.to;
  const float margin = segment.pen + reach;
  const auto first = [&](float p, float q) {
    return static_cast<int>(
        std::clamp(std::min(p, q) - margin, 0.0f, float(digitSide)));
  };
  const auto last = [&](float p, float q) {
    return static_cast<int>(
        std::clamp(std::max(p, q) + margin + 1, 0.0f, float(digitSide)));
  };
  const int x0 = first(a.x, b.x) / block * block, x1 = last(a.x, b.x);
  const int y0 = first(a.y, b.y), y1 = last(a.y, b.y);
  const float dx = b.x - a.x, dy = b.y - a.y;
  const float scale = 1 / (dx * dx + dy * dy + 1e-12f);
  for (int y = y0; y < y1; ++y) {
    const float py = static_cast<float>(y) - a.y;
    float *row = edges + y * digitSide;
    for (int x = x0; x < x1; x += block)
      for (int i = x; i < x + block; ++i) {
        const float px = static_cast<float>(i) - a.x;
        float along = (px * dx + py * dy) * scale;
        along = along < 0 ? 0 : along;
        along = along > 1 ? 1 : along;
        const float fx = px - along * dx, fy = py - along * dy;
        const float edge = std::sqrt(fx * fx + fy * fy) - segment.pen;
        row[i] = edge < row[i] ? edge : row[i];
      }
  }
}

/// From distances to bytes: dark inside, a soft edge, grain on the ink.
void ink(Draw &draw, const float *edges, uint8_t *image) {
  const float soft = draw.uniform(0.8f, softest);
  const float dark = draw.uniform(180, 255);
  const float grain = draw.uniform(4, 40) * (1.0f / 128);
  const float scale = 1 / soft;
  for (int i = 0; i < digitPixels; i += block) {
    if (*std::min_element(edges + i, edges + i + block) >= reach) {
      std::memset(image + i, 0, block);
      continue;
    }
    const uint32_t bits = draw.bits();
    for (int j = 0; j < block; ++j) {
      const float noise = static_cast<float>((bits >> (8 * j)) & 255) - 127.5f;
      float full = 0.5f - edges[i + j] * scale;
      full = full < 0 ? 0 : full > 1 ? 1 : full;
      float value = full * (dark + grain * noise);
      value = value < 0 ? 0 : value > 255 ? 255 : value;
      image[i + j] =
          static_cast<uint8_t>(value + 0.5f > 255 ? 255 : value + 0.5f);
    }
  }
}

/// On one image of four: specks of ink and holes in it.
void addSpecks(Draw &draw, uint8_t *image) {
  if (!draw.chance(0.25f))
    return;
  const int count = 1 + static_cast<int>(draw.bits() >> 29);
  for (int i = 0; i < count; ++i) {
    const uint32_t bits = draw.bits();
    image[(bits >> 8) % digitPixels] = static_cast<uint8_t>(bits);
  }
}

} // namespace

uint8_t digitLabel(uint64_t seed, DigitPart part, int64_t number) {
  // The first number of the image's own: 2^32 is all but divisible by 10.
  return static_cast<uint8_t>(uint64_t(Draw(seed, part, number).bits()) * 10 >>
                              32);
}

void drawDigit(uint64_t seed, DigitPart part, int64_t number, uint8_t *image) {
  Draw draw(seed, part, number);
  const int digit = static_cast<int>(uint64_t(draw.bits()) * 10 >> 32);
  const Drawing drawing = drawStrokes(draw, digit);
  float edges[digitPixels];
  std::fill(edges, edges + digitPixels, std::numeric_limits<float>::max());
  for (int i = 0; i < drawing.count; ++i)
    addSegment(edges, drawing.segments[i]);
  ink(draw, edges, image);
  addSpecks(draw, image);
}

void drawDigits(uint64_t seed, DigitPart part, int64_t first, int64_t count,
                uint8_t *images, uint8_t *labels, int threads) {
  constexpr int64_t chunk = 256;
  std::atomic<int64_t> next = 0;
  const auto work = [&] {
    for (int64_t begin; (begin = next.fetch_add(chunk)) < count;)
      for (int64_t i = begin; i < std::min(begin + chunk, count); ++i) {
        labels[i] = digitLabel(seed, part, first + i);
        drawDigit(seed, part, first + i, images + i * digitPixels);
      }
  };
  if (threads <= 0)
    threads =
        static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  threads = static_cast<int>(
      std::clamp<int64_t>((count + chunk - 1) / chunk, 1, threads));
  std::vector<std::thread> others;
  // This thread works too, or is the only one where no other can be made.
  try {
    while (static_cast<int>(others.size()) < threads - 1)
      others.emplace_back(work);
  } catch (const std::system_error &) {
  }
  work();
  for (std::thread &other : others)
    other.join();
}

} // namespace mn
