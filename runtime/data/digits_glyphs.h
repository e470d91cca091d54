//===- digits_glyphs.h - the ways to write each digit -----------*- C++ -*-===//
//
// Strokes as control points of quadratic B-splines, in a box 2 wide and 4 high
// with y downwards. Two equal points after each other make a corner.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_DATA_DIGITS_GLYPHS_H
#define MNISTRT_DATA_DIGITS_GLYPHS_H

namespace mn {

struct Point {
  float x, y;
};

/// One movement of the pen.
struct Stroke {
  const Point *points;
  int count;
};

/// A way to write a digit: its strokes, and how often it is taken, of 16.
struct Glyph {
  const Stroke *strokes;
  int count;
  int weight;
};

struct GlyphSet {
  const Glyph *glyphs;
  int count;
};

constexpr int maxPoints = 16; ///< of a stroke
constexpr int maxStrokes = 3; ///< of a glyph

/// The glyphs of a digit from 0 to 9; their weights add up to 16.
GlyphSet glyphsOf(int digit);

} // namespace mn

#endif // MNISTRT_DATA_DIGITS_GLYPHS_H
