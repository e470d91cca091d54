//===- rows.cpp - steps that reduce rows ----------------------------------===//

#include "case.h"
#include "kernels.h"

namespace test {

static void normalize(const mn::Reduce &s, const Numbers &x, Numbers &y) {
  for (int64_t o = 0; o < s.outputs; ++o) {
    double sum = 0, squares = 0;
    for (int64_t r = 0; r < s.size; ++r)
      sum += x[reference::element(s, o, r)];
    const double mean = sum / double(s.size);
    for (int64_t r = 0; r < s.size; ++r) {
      const double difference = x[reference::element(s, o, r)] - mean;
      squares += difference * difference;
    }
    for (int64_t r = 0; r < s.size; ++r) {
      const size_t at = reference::element(s, o, r);
      y[at] = (x[at] - mean) / std::sqrt(squares / double(s.size) + 1);
    }
    y[size_t(s.outputs * s.size + o)] = sum;
  }
}

std::vector<Case> rowCases() {
  std::vector<Case> cases;
#define MN_CASE_ROW(NAME)                                                      \
  {                                                                            \
    constexpr int64_t count = NAME.outputs * NAME.size;                        \
    Case c;                                                                    \
    c.name = "rows " #NAME;                                                    \
    c.run = [](mn::Context &ctx) {                                             \
      const Pointers<float, float> p(ctx, count + NAME.outputs, count);        \
      mn::rows(ctx, "rows_" #NAME, NAME, Normalize<NAME>{p.y, p.a});           \
    };                                                                         \
    c.operands = {{typeOf<float>(), count + NAME.outputs},                     \
                  {typeOf<float>(), count},                                    \
                  {typeOf<float>(), 0}};                                       \
    c.tolerance = 1e-5;                                                        \
    c.reference = [](const std::vector<Numbers> &in, Numbers &y) {             \
      normalize(NAME, in[0], y);                                               \
    };                                                                         \
    cases.push_back(c);                                                        \
  }
  MN_TEST_ROWS(MN_CASE_ROW)
#undef MN_CASE_ROW
  return cases;
}

} // namespace test
