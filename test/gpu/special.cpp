//===- special.cpp - operands that are infinite, no numbers, or huge ------===//
//
// Sums of these, and their gradients, are what FMA units would make of them.
//
//===----------------------------------------------------------------------===//

#include "contractions.h"
#include <limits>

namespace test {

static bool has(const Case &c, const char *text) {
  return c.name.find(text) != std::string::npos;
}

/// Few results are numbers then, whose errors are no mean of many.
static void addNotFinite(std::vector<Case> &cases, Case c) {
  c.tolerance *= 2;
  c.name += " infinite";
  c.hasInfinity = true;
  cases.push_back(c);
  c.name += " nan";
  c.hasNan = true;
  cases.push_back(c);
}

/// Where a window is in the padding, 0 times infinity is no reference.
static bool staysInside(const Case &c) {
  return c.name.starts_with("matmul ") ||
         (c.name.starts_with("conv ") && has(c, "_inside"));
}

/// Whose tensor cores multiply by 0 for the taps that a phase or a folded
/// window has not got.
static bool lacksTaps(const Case &c) {
  return c.name.starts_with("conv-input-grad by_patches_phases") ||
         c.name.starts_with("conv by_patches_folded");
}

/// Of one operand: products of two such are infinite. Rounded to nearest, the
/// largest float is infinite, which tf32x3 may not show; of numbers with one
/// part it is the largest that both tf32 and bf16 have.
static void addLargest(std::vector<Case> &cases, Case c) {
  constexpr double f32 = std::numeric_limits<float>::max(), bf16 = 0x1.fep127;
  c.largest = has(c, "tf32x3") ? f32 : bf16;
  const std::string name = c.name;
  for (c.special = 1; c.special <= 2; ++c.special) {
    c.name = name + (c.special == 1 ? " large inputs" : " large filters");
    cases.push_back(c);
  }
}

void addSpecial(std::vector<Case> &cases) {
  for (size_t i = 0, count = cases.size(); i < count; ++i) {
    Case c = cases[i];
    if (staysInside(c))
      addNotFinite(cases, c);
    if (has(c, "by_patches_inside"))
      addLargest(cases, c);
    if (lacksTaps(c)) {
      c.special = 1;
      addNotFinite(cases, c);
    }
  }
}

} // namespace test
