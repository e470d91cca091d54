//===- train-plot.cpp - loss and accuracy as a picture --------------------===//

#include "reports/plot.h"
#include "reports/plot_axis.h"
#include "train-folder.h"
#include <cmath>
#include <gtest/gtest.h>

namespace {

using mn::PlotAxis;

std::string labels(const PlotAxis &axis) {
  std::string text;
  for (const PlotAxis::Tick &tick : axis.ticks())
    text += (text.empty() ? "" : " ") + tick.label;
  return text;
}

size_t count(const std::string &text, const std::string &what) {
  size_t found = 0;
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; ++at)
    ++found;
  return found;
}

TEST(Plot, MarksAreRound) {
  EXPECT_EQ(labels(PlotAxis::linear(0, 2.31, 6, true)),
            "0.0 0.5 1.0 1.5 2.0 2.5");
  EXPECT_EQ(labels(PlotAxis::linear(0, 0.3, 6, true)),
            "0.00 0.05 0.10 0.15 0.20 0.25 0.30");
  EXPECT_EQ(labels(PlotAxis::linear(90.3, 100, 6, true)), "90 92 94 96 98 100");
  EXPECT_EQ(labels(PlotAxis::linear(1, 5, 10, false)),
            "1.0 1.5 2.0 2.5 3.0 3.5 4.0 4.5 5.0");
  EXPECT_EQ(labels(PlotAxis::linear(-0.2, 0.2, 4, true)),
            "-0.2 -0.1 0.0 0.1 0.2");
  EXPECT_EQ(labels(PlotAxis::logarithmic(0.002, 2.3)), "0.001 0.01 0.1 1 10");
}

TEST(Plot, EqualEndsAreMovedApart) {
  for (const double value : {0.0, 1.0, -5.0, 1e-30}) {
    const PlotAxis axis = PlotAxis::linear(value, value, 6, true);
    EXPECT_GE(axis.ticks().size(), 2u);
    EXPECT_LT(axis.ticks().size(), 20u);
    EXPECT_TRUE(std::isfinite(axis.place(value)));
  }
}

TEST(Plot, PlacesRunFromZeroToOne) {
  const PlotAxis linear = PlotAxis::linear(0, 10, 5, true);
  EXPECT_DOUBLE_EQ(linear.place(0), 0);
  EXPECT_DOUBLE_EQ(linear.place(5), 0.5);
  const PlotAxis powers = PlotAxis::logarithmic(0.01, 100);
  EXPECT_DOUBLE_EQ(powers.place(0.01), 0);
  EXPECT_DOUBLE_EQ(powers.place(1), 0.5);
}

TEST(Plot, DrawsALineForEachRun) {
  mn::Plot plot;
  plot.title = "a <b> & \"c\"";
  plot.series = {{"loss", false, {{1, 2}, {2, NAN}, {3, 1}, {4, .5}}},
                 {"accuracy", true, {{1, 50}, {2, 90}}}};
  const std::string svg = mn::drawPlot(plot);
  EXPECT_EQ(count(svg, "<polyline"), 3u);
  EXPECT_EQ(count(svg, "<circle"), 5u);
  EXPECT_EQ(count(svg, ">a &lt;b&gt; &amp; &quot;c&quot;</text>"), 1u);
  EXPECT_EQ(count(svg, "nan"), 0u);
  EXPECT_EQ(svg, mn::drawPlot(plot));
}

TEST(Plot, LongSeriesAreThinnedAndSmoothed) {
  mn::Plot plot;
  plot.series = {{"loss", false, {}}};
  for (int i = 0; i < 100000; ++i)
    plot.series[0].points.push_back({i / 1000.0, std::exp(-i * 1e-4)});
  const std::string svg = mn::drawPlot(plot);
  EXPECT_EQ(count(svg, "<polyline"), 2u);
  EXPECT_EQ(count(svg, "opacity"), 1u);
  EXPECT_LT(svg.size(), 80000u);
}

TEST(Plot, WithoutNumbers) {
  mn::Plot plot;
  EXPECT_EQ(count(mn::drawPlot(plot), "nothing was recorded"), 1u);
  plot.series = {{"loss", false, {{1, NAN}, {INFINITY, 1}}}};
  EXPECT_EQ(count(mn::drawPlot(plot), "nothing was recorded"), 1u);
}

TEST(Plot, IsWritten) {
  test::Folder folder;
  mn::Plot plot;
  plot.series = {{"loss", false, {{1, 2}}}};
  ASSERT_TRUE(mn::writePlot(folder / "a.svg", plot).ok());
  EXPECT_EQ(test::contentOf(folder / "a.svg"), mn::drawPlot(plot));
}

} // namespace
