//===- plot.cpp - loss and accuracy as a picture --------------------------===//

#include "reports/plot.h"
#include "core/array.h"
#include "formats/atomic_file.h"
#include "reports/plot_axis.h"
#include <algorithm>
#include <cmath>
#include <optional>

namespace mn {

namespace {

// Places, in the SVG's units.
constexpr double width = 960, height = 540;
constexpr double left = 76, right = width - 76, top = 72, bottom = height - 60;

// Okabe and Ito's colours, which colour-blind people tell apart.
constexpr const char *leftColors[] = {"#0072b2", "#56b4e9", "#cc79a7"};
constexpr const char *rightColors[] = {"#d55e00", "#009e73", "#e69f00"};

/// Longer series are smoothed; shorter ones have a dot at each point.
constexpr size_t manyPoints = 200, fewPoints = 25;

std::string escaped(const std::string &text) {
  std::string result;
  for (const char c : text)
    switch (c) {
    case '&':
      result += "&amp;";
      break;
    case '<':
      result += "&lt;";
      break;
    case '>':
      result += "&gt;";
      break;
    case '"':
      result += "&quot;";
      break;
    default: // what XML has no place for becomes a blank
      result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  return result;
}

/// Points without the gaps between them.
using Run = std::vector<PlotPoint>;

std::vector<Run> runsOf(const PlotSeries &series) {
  std::vector<Run> runs(1);
  for (const PlotPoint &point : series.points) {
    if (std::isfinite(point.x) && std::isfinite(point.y))
      runs.back().push_back(point);
    else if (!runs.back().empty())
      runs.emplace_back();
  }
  if (runs.back().empty())
    runs.pop_back();
  return runs;
}

/// The mean of each point and its neighbours, over a fiftieth of the run.
Run smoothed(const Run &run) {
  std::vector<double> sums = {0};
  for (const PlotPoint &point : run)
    sums.push_back(sums.back() + point.y);
  const size_t reach = run.size() / 100;
  Run result = run;
  for (size_t i = 0; i < run.size(); ++i) {
    const size_t begin = i - std::min(i, reach);
    const size_t end = std::min(i + reach + 1, run.size());
    result[i].y = (sums[end] - sums[begin]) / static_cast<double>(end - begin);
  }
  return result;
}

struct Range {
  double low, high;
};

std::optional<Range> rangeOf(const Plot &plot, bool onRight,
                             double PlotPoint::*of) {
  std::optional<Range> range;
  for (const PlotSeries &series : plot.series)
    for (const PlotPoint &point : series.points)
      if (series.right == onRight && std::isfinite(point.x) &&
          std::isfinite(point.y))
        range = range ? Range{std::min(range->low, point.*of),
                              std::max(range->high, point.*of)}
                      : Range{point.*of, point.*of};
  return range;
}

class Drawing {
public:
  explicit Drawing(const Plot &plot) : plot(plot) { chooseAxes(); }
  std::string draw();

private:
  void chooseAxes();
  void frame();
  void verticalAxis(const PlotAxis &axis, bool onRight);
  void horizontalAxis();
  void series(const PlotSeries &series, const char *color);
  void line(const Run &run, bool onRight, const char *color, const char *style);
  void legend();
  const char *colorOf(size_t series) const;
  void label(double x, double y, const char *anchor, const std::string &text,
             const char *more = "");

  double x(double value) const {
    return left + (right - left) * horizontal.place(value);
  }
  double y(double value, bool onRight) const {
    const PlotAxis &axis = onRight ? rightAxis : leftAxis;
    return bottom - (bottom - top) * axis.place(value);
  }

  const Plot &plot;
  PlotAxis horizontal, leftAxis, rightAxis;
  bool hasLeft = false, hasRight = false;
  std::string svg;
};

void Drawing::chooseAxes() {
  const std::optional<Range> xLeft = rangeOf(plot, false, &PlotPoint::x);
  const std::optional<Range> xRight = rangeOf(plot, true, &PlotPoint::x);
  const Range none = {0, 1};
  Range xs = xLeft ? *xLeft : xRight ? *xRight : none;
  if (xRight)
    xs = {std::min(xs.low, xRight->low), std::max(xs.high, xRight->high)};
  horizontal = PlotAxis::linear(xs.low, xs.high, 10, false);

  const std::optional<Range> ys = rangeOf(plot, false, &PlotPoint::y);
  hasLeft = ys.has_value();
  const Range loss = ys.value_or(none);
  if (loss.low > 0 && loss.high >= 100 * loss.low)
    leftAxis = PlotAxis::logarithmic(loss.low, loss.high);
  else // from 0, unless that would leave most of the paper blank
    leftAxis = PlotAxis::linear(
        loss.low > 0 && loss.low < 0.5 * loss.high ? 0 : loss.low, loss.high, 6,
        true);

  const std::optional<Range> parts = rangeOf(plot, true, &PlotPoint::y);
  hasRight = parts.has_value();
  Range accuracy = parts.value_or(none);
  if (hasRight && accuracy.high <= plot.rightLimit)
    accuracy.high = plot.rightLimit;
  rightAxis = PlotAxis::linear(accuracy.low, accuracy.high, 6, true);
}

void Drawing::label(double x, double y, const char *anchor,
                    const std::string &words, const char *more) {
  svg += text("<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\"%s>", x, y, anchor,
              more) +
         escaped(words) + "</text>\n";
}

void Drawing::frame() {
  svg += text("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" "
              "width=\"%g\" height=\"%g\" font-family=\"Helvetica, Arial, "
              "'DejaVu Sans', sans-serif\" font-size=\"13\" fill=\"#444\">\n",
              width, height, width, height);
  svg += "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n";
  label(left, 28, "start", plot.title,
        " font-size=\"17\" font-weight=\"bold\" fill=\"#111\"");
}

void Drawing::verticalAxis(const PlotAxis &axis, bool onRight) {
  const double edge = onRight ? right : left;
  for (const PlotAxis::Tick &tick : axis.ticks()) {
    const double at = y(tick.value, onRight);
    // One grid is enough; the left axis has it where there is one.
    if (!onRight || !hasLeft)
      svg += text("<line x1=\"%g\" x2=\"%g\" y1=\"%.1f\" y2=\"%.1f\" "
                  "stroke=\"#e4e4e4\"/>\n",
                  left, right, at, at);
    else
      svg += text("<line x1=\"%g\" x2=\"%g\" y1=\"%.1f\" y2=\"%.1f\" "
                  "stroke=\"#888\"/>\n",
                  right, right + 5, at, at);
    label(onRight ? edge + 9 : edge - 9, at + 4.5, onRight ? "start" : "end",
          tick.label);
  }
  const double x = onRight ? width - 18 : 20, middle = (top + bottom) / 2;
  label(x, middle, "middle", onRight ? plot.rightLabel : plot.leftLabel,
        text(" transform=\"rotate(%d %g %g)\" fill=\"%s\"", onRight ? 90 : -90,
             x, middle, onRight ? rightColors[0] : leftColors[0])
            .c_str());
}

void Drawing::horizontalAxis() {
  svg += text("<line x1=\"%g\" x2=\"%g\" y1=\"%g\" y2=\"%g\" "
              "stroke=\"#888\"/>\n",
              left, right, bottom, bottom);
  for (const PlotAxis::Tick &tick : horizontal.ticks()) {
    svg += text("<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%g\" y2=\"%g\" "
                "stroke=\"#888\"/>\n",
                x(tick.value), x(tick.value), bottom, bottom + 5);
    label(x(tick.value), bottom + 21, "middle", tick.label);
  }
  label((left + right) / 2, height - 14, "middle", plot.xLabel);
}

const char *Drawing::colorOf(size_t number) const {
  const bool onRight = plot.series[number].right;
  size_t before = 0;
  for (size_t i = 0; i < number; ++i)
    before += plot.series[i].right == onRight;
  return onRight ? rightColors[before % std::size(rightColors)]
                 : leftColors[before % std::size(leftColors)];
}

/// The points of a run, of which only the lowest and the highest stay in each
/// column of the paper: more cannot be seen.
Run thinned(const Run &run, size_t columns) {
  if (run.size() <= 4 * columns)
    return run;
  Run result;
  for (size_t column = 0; column < columns; ++column) {
    const auto begin =
        run.begin() + std::ptrdiff_t(run.size() * column / columns);
    const auto end =
        run.begin() + std::ptrdiff_t(run.size() * (column + 1) / columns);
    const auto lower = [](PlotPoint a, PlotPoint b) { return a.y < b.y; };
    const auto [low, high] = std::minmax_element(begin, end, lower);
    result.push_back(*std::min(low, high));
    result.push_back(*std::max(low, high));
  }
  return result;
}

void Drawing::line(const Run &run, bool onRight, const char *color,
                   const char *style) {
  svg += text("<polyline fill=\"none\" stroke=\"%s\" stroke-linejoin=\"round\" "
              "stroke-linecap=\"round\" %s points=\"",
              color, style);
  for (const PlotPoint &point : thinned(run, static_cast<size_t>(right - left)))
    svg += text("%.1f,%.1f ", x(point.x), y(point.y, onRight));
  svg.back() = '"';
  svg += "/>\n";
}

void Drawing::series(const PlotSeries &series, const char *color) {
  const bool many = series.points.size() > manyPoints;
  for (const Run &run : runsOf(series)) {
    if (many)
      line(run, series.right, color, "stroke-width=\"1\" opacity=\"0.3\"");
    line(many ? smoothed(run) : run, series.right, color,
         "stroke-width=\"2.2\"");
    if (series.points.size() <= fewPoints || run.size() == 1)
      for (const PlotPoint &point : run)
        svg += text("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.2\" fill=\"%s\"/>\n",
                    x(point.x), y(point.y, series.right), color);
  }
}

void Drawing::legend() {
  double at = left;
  for (size_t i = 0; i < plot.series.size(); ++i) {
    svg += text("<line x1=\"%.1f\" x2=\"%.1f\" y1=\"49\" y2=\"49\" "
                "stroke=\"%s\" stroke-width=\"3\" "
                "stroke-linecap=\"round\"/>\n",
                at, at + 22, colorOf(i));
    label(at + 30, 53.5, "start", plot.series[i].name);
    // About as wide as letters are.
    at += 30 + 7.2 * static_cast<double>(plot.series[i].name.size()) + 24;
  }
}

std::string Drawing::draw() {
  frame();
  if (hasLeft)
    verticalAxis(leftAxis, false);
  if (hasRight)
    verticalAxis(rightAxis, true);
  horizontalAxis();
  if (!hasLeft && !hasRight)
    label((left + right) / 2, (top + bottom) / 2, "middle",
          "nothing was recorded");
  for (size_t i = 0; i < plot.series.size(); ++i)
    series(plot.series[i], colorOf(i));
  legend();
  return std::move(svg) + "</svg>\n";
}

} // namespace

std::string drawPlot(const Plot &plot) { return Drawing(plot).draw(); }

Status writePlot(const std::string &path, const Plot &plot) {
  return writeAtomically(path, drawPlot(plot));
}

} // namespace mn
