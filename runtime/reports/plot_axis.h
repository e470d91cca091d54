//===- plot_axis.h - from numbers to places on paper ------------*- C++ -*-===//
//
// An axis has round numbers at its marks: 1, 2 or 5 times a power of ten apart
// (Heckbert, "Nice numbers for graph labels", Graphics Gems, 1990), or at the
// powers of ten themselves.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_REPORTS_PLOT_AXIS_H
#define MNISTRT_REPORTS_PLOT_AXIS_H

#include <string>
#include <vector>

namespace mn {

class PlotAxis {
public:
  struct Tick {
    double value;
    std::string label;
  };

  /// From `low` to `high`, both finite, widened to marks where `widen`; about
  /// `count` marks. Equal ends are moved apart.
  static PlotAxis linear(double low, double high, int count, bool widen);
  /// Of powers of ten; 0 < `low` <= `high`.
  static PlotAxis logarithmic(double low, double high);

  /// 0 at the low end, 1 at the high one.
  double place(double value) const;
  const std::vector<Tick> &ticks() const { return marks; }

private:
  double low = 0, high = 1; ///< logarithms, where logarithmic
  bool powers = false;
  std::vector<Tick> marks;
};

} // namespace mn

#endif // MNISTRT_REPORTS_PLOT_AXIS_H
