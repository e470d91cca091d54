//===- plot.h - loss and accuracy as a picture ------------------*- C++ -*-===//
//
// Draws what a run recorded as one SVG file that needs nothing else: the loss
// on the left axis, the accuracy on the right. The same numbers give the same
// bytes.
//
//===----------------------------------------------------------------------===//

#ifndef MNISTRT_REPORTS_PLOT_H
#define MNISTRT_REPORTS_PLOT_H

#include "core/status.h"
#include <string>
#include <vector>

namespace mn {

struct PlotPoint {
  double x, y;
};

/// A line. Points are in the order of x; NaN and infinity leave a gap. A long
/// one is faint, with its moving mean on top.
struct PlotSeries {
  std::string name;
  bool right = false; ///< of the right axis
  std::vector<PlotPoint> points;
};

struct Plot {
  std::string title;
  std::string xLabel = "epoch";
  std::string leftLabel = "loss", rightLabel = "accuracy, %";
  /// Where it is at most this, the right axis ends here.
  double rightLimit = 100;
  std::vector<PlotSeries> series;
};

/// The left axis has powers of ten where its numbers are positive and the
/// largest is a hundred times the smallest.
std::string drawPlot(const Plot &plot);

/// Writes it whole or not at all.
Status writePlot(const std::string &path, const Plot &plot);

} // namespace mn

#endif // MNISTRT_REPORTS_PLOT_H
