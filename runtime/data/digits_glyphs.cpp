//===- digits_glyphs.cpp - the ways to write each digit -------------------===//

#include "data/digits_glyphs.h"
#include <iterator>

namespace mn {

namespace {

#define STROKE(NAME, ...)                                                      \
  constexpr Point NAME[] = {__VA_ARGS__};                                      \
  static_assert(std::size(NAME) <= maxPoints)
#define OF(NAME) {NAME, static_cast<int>(std::size(NAME))}
#define GLYPH(NAME, ...)                                                       \
  constexpr Stroke NAME[] = {__VA_ARGS__};                                     \
  static_assert(std::size(NAME) <= maxStrokes)
#define TAKEN(NAME, WEIGHT) {NAME, static_cast<int>(std::size(NAME)), WEIGHT}

// 0: closed ovals, begun at the top or at the right shoulder; a narrow one that
// is left open.
STROKE(zeroOval, {1.1f, 0}, {0.2f, 0}, {-0.1f, 1.2f}, {-0.1f, 2.8f},
       {0.3f, 4.1f}, {1.6f, 4.1f}, {2.1f, 2.8f}, {2.1f, 1.1f}, {1.7f, -0.1f},
       {0.9f, 0});
STROKE(zeroShoulder, {1.6f, 0.4f}, {1, -0.3f}, {0, 0.8f}, {-0.1f, 2.9f},
       {0.6f, 4.2f}, {1.7f, 3.8f}, {2.2f, 2}, {1.9f, 0.5f}, {1.2f, 0.2f});
STROKE(zeroOpen, {1.3f, 0.1f}, {0.5f, 0.2f}, {0.2f, 1.5f}, {0.2f, 3},
       {0.7f, 4.1f}, {1.6f, 3.9f}, {1.9f, 2.4f}, {1.7f, 0.8f}, {1.2f, 0.3f});
GLYPH(zeroA, OF(zeroOval));
GLYPH(zeroB, OF(zeroShoulder));
GLYPH(zeroC, OF(zeroOpen));
constexpr Glyph zeros[] = {TAKEN(zeroA, 7), TAKEN(zeroB, 6), TAKEN(zeroC, 3)};

// 1: a bar; with a flag; with a flag and a foot.
STROKE(oneBar, {1.1f, 0}, {1, 2}, {1, 4});
STROKE(oneFlag, {0.3f, 1}, {0.8f, 0.6f}, {1.1f, 0}, {1.1f, 0}, {1.1f, 2},
       {1.1f, 4});
STROKE(oneFoot, {0.4f, 4}, {1, 3.95f}, {1.8f, 4});
GLYPH(oneA, OF(oneBar));
GLYPH(oneB, OF(oneFlag));
GLYPH(oneC, OF(oneFlag), OF(oneFoot));
constexpr Glyph ones[] = {TAKEN(oneA, 9), TAKEN(oneB, 5), TAKEN(oneC, 2)};

// 2: with a corner below; with a loop below; flat on top.
STROKE(twoCorner, {0, 1.1f}, {0.2f, 0}, {1.2f, -0.2f}, {2, 0.4f}, {1.9f, 1.6f},
       {1, 2.8f}, {0, 4}, {0, 4}, {1, 3.95f}, {2.1f, 4});
STROKE(twoLoop, {0.1f, 0.9f}, {0.4f, -0.1f}, {1.5f, -0.2f}, {2, 0.8f},
       {1.5f, 2.3f}, {0.6f, 3.8f}, {-0.1f, 3.9f}, {0, 3.1f}, {0.8f, 3.2f},
       {1.4f, 4.1f}, {2.2f, 3.7f});
GLYPH(twoA, OF(twoCorner));
GLYPH(twoB, OF(twoLoop));
constexpr Glyph twos[] = {TAKEN(twoA, 9), TAKEN(twoB, 7)};

// 3: two bows; with a flat top.
STROKE(threeBows, {0.1f, 0.6f}, {0.6f, -0.2f}, {1.9f, -0.1f}, {2, 1.4f},
       {0.8f, 1.9f}, {0.8f, 1.9f}, {2.2f, 2}, {2.2f, 3.9f}, {0.9f, 4.3f},
       {0, 3.4f});
STROKE(threeFlat, {0.1f, 0.1f}, {0.9f, 0.05f}, {1.9f, 0}, {1.9f, 0},
       {1.5f, 0.8f}, {0.9f, 1.6f}, {0.9f, 1.6f}, {2.3f, 1.9f}, {2.1f, 3.9f},
       {0.9f, 4.2f}, {0, 3.5f});
GLYPH(threeA, OF(threeBows));
GLYPH(threeB, OF(threeFlat));
constexpr Glyph threes[] = {TAKEN(threeA, 12), TAKEN(threeB, 4)};

// 4: open, as two strokes; closed, as one.
STROKE(fourArm, {0.4f, 0}, {0.2f, 1}, {-0.1f, 2.3f}, {0, 2.3f}, {0.8f, 2.4f},
       {2.1f, 2.1f});
STROKE(fourStem, {1.8f, 0.2f}, {1.6f, 2}, {1.5f, 4});
STROKE(fourClosed, {1.5f, 4}, {1.55f, 2}, {1.6f, 0}, {1.6f, 0}, {0.8f, 1.3f},
       {0, 2.7f}, {0, 2.7f}, {1, 2.7f}, {2.2f, 2.6f});
GLYPH(fourA, OF(fourArm), OF(fourStem));
GLYPH(fourB, OF(fourClosed));
constexpr Glyph fours[] = {TAKEN(fourA, 10), TAKEN(fourB, 6)};

// 5: with a separate hat; in one movement.
STROKE(fiveBody, {0.4f, 0.1f}, {0.35f, 0.8f}, {0.2f, 1.6f}, {0.3f, 1.6f},
       {1.7f, 1.4f}, {2.3f, 2.9f}, {1.5f, 4.2f}, {0.6f, 4.1f}, {-0.1f, 3.6f});
STROKE(fiveHat, {0.4f, 0.1f}, {1.1f, 0.1f}, {2, 0});
STROKE(fiveWhole, {2, 0}, {1.2f, 0.05f}, {0.5f, 0.1f}, {0.5f, 0.1f},
       {0.3f, 0.9f}, {0.2f, 1.8f}, {0.2f, 1.8f}, {1.6f, 1.3f}, {2.3f, 2.6f},
       {1.6f, 4.3f}, {0, 3.9f});
GLYPH(fiveA, OF(fiveBody), OF(fiveHat));
GLYPH(fiveB, OF(fiveWhole));
constexpr Glyph fives[] = {TAKEN(fiveA, 9), TAKEN(fiveB, 7)};

// 6: from a long bow; with a straight back.
STROKE(sixBow, {1.7f, 0}, {0.8f, 0.4f}, {0, 1.8f}, {-0.1f, 3.4f}, {0.8f, 4.3f},
       {2, 3.9f}, {2.1f, 2.6f}, {1.2f, 1.9f}, {0.3f, 2.5f}, {0.1f, 3});
STROKE(sixStraight, {1, 0}, {0.5f, 1.2f}, {-0.1f, 2.8f}, {0.2f, 4.2f},
       {1.5f, 4.2f}, {1.9f, 3}, {1.2f, 2.2f}, {0.4f, 2.6f}, {0.1f, 3.2f});
GLYPH(sixA, OF(sixBow));
GLYPH(sixB, OF(sixStraight));
constexpr Glyph sixes[] = {TAKEN(sixA, 10), TAKEN(sixB, 6)};

// 7: plain; with a serif on the left; with a bar across.
STROKE(sevenPlain, {0, 0.2f}, {1, 0.1f}, {2.1f, 0}, {2.1f, 0}, {1.5f, 1.6f},
       {0.8f, 4});
STROKE(sevenSerif, {0, 0.8f}, {0.1f, 0}, {0.1f, 0}, {1, 0.2f}, {2, 0.1f},
       {2, 0.1f}, {1.4f, 1.9f}, {1, 4});
STROKE(sevenBar, {0.6f, 2}, {1.2f, 1.95f}, {1.9f, 1.9f});
GLYPH(sevenA, OF(sevenPlain));
GLYPH(sevenB, OF(sevenSerif));
GLYPH(sevenC, OF(sevenPlain), OF(sevenBar));
constexpr Glyph sevens[] = {TAKEN(sevenA, 9), TAKEN(sevenB, 3),
                            TAKEN(sevenC, 4)};

// 8: one movement that crosses itself; two rings.
STROKE(eightCross, {1.8f, 0.5f}, {1, -0.3f}, {-0.1f, 0.4f}, {0.3f, 1.5f},
       {1.6f, 2.3f}, {2.2f, 3.4f}, {1, 4.5f}, {-0.2f, 3.5f}, {0.3f, 2.4f},
       {1.6f, 1.5f}, {1.9f, 0.5f});
STROKE(eightTop, {1, 1.9f}, {0.1f, 1.6f}, {0.2f, 0}, {1.1f, -0.1f},
       {1.9f, 0.2f}, {1.8f, 1.6f}, {1, 1.9f});
STROKE(eightBottom, {1, 1.9f}, {0, 2.2f}, {-0.1f, 3.8f}, {1, 4.2f},
       {2.1f, 3.8f}, {2, 2.2f}, {1, 1.9f});
GLYPH(eightA, OF(eightCross));
GLYPH(eightB, OF(eightTop), OF(eightBottom));
constexpr Glyph eights[] = {TAKEN(eightA, 11), TAKEN(eightB, 5)};

// 9: with a bent tail; with a straight one.
STROKE(nineBent, {1.9f, 0.9f}, {1.3f, -0.3f}, {0, 0.2f}, {0, 1.7f},
       {1.2f, 2.2f}, {1.9f, 1.1f}, {1.9f, 0.7f}, {2, 2.4f}, {1.6f, 4.2f},
       {0.3f, 3.9f});
STROKE(nineStraight, {1.8f, 0.5f}, {1.1f, -0.2f}, {0, 0.3f}, {0.1f, 1.7f},
       {1.1f, 2}, {1.8f, 1}, {1.8f, 0.4f}, {1.7f, 2.2f}, {1.5f, 4});
GLYPH(nineA, OF(nineBent));
GLYPH(nineB, OF(nineStraight));
constexpr Glyph nines[] = {TAKEN(nineA, 6), TAKEN(nineB, 10)};

constexpr GlyphSet sets[] = {
    {zeros, std::size(zeros)},   {ones, std::size(ones)},
    {twos, std::size(twos)},     {threes, std::size(threes)},
    {fours, std::size(fours)},   {fives, std::size(fives)},
    {sixes, std::size(sixes)},   {sevens, std::size(sevens)},
    {eights, std::size(eights)}, {nines, std::size(nines)}};

constexpr bool weightsAddUp() {
  for (const GlyphSet &set : sets) {
    int sum = 0;
    for (int i = 0; i < set.count; ++i)
      sum += set.glyphs[i].weight;
    if (sum != 16)
      return false;
  }
  return std::size(sets) == 10;
}
static_assert(weightsAddUp());

} // namespace

GlyphSet glyphsOf(int digit) { return sets[digit]; }

} // namespace mn
