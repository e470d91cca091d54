//===- plot_axis.cpp - from numbers to places on paper --------------------===//

#include "reports/plot_axis.h"
#include "core/array.h"
#include <algorithm>
#include <cmath>

namespace mn {

namespace {

/// The number of 1, 2, 5, 10 times a power of ten nearest to `value`.
double niceStep(double value) {
  const double power = std::pow(10, std::floor(std::log10(value)));
  const double first = value / power;
  return power * (first < 1.5 ? 1 : first < 3.5 ? 2 : first < 7.5 ? 5 : 10);
}

/// `value` with as many decimals as marks `step` apart need.
std::string labelOf(double value, double step) {
  if (std::abs(value) < step / 1000)
    value = 0; // not -0, and not what subtraction left
  const double largest = std::max(std::abs(value), step);
  if (largest >= 1e6 || step < 1e-5)
    return text("%g", value);
  const int decimals =
      std::max(0, -static_cast<int>(std::floor(std::log10(step) + 1e-9)));
  return text("%.*f", decimals, value);
}

} // namespace

PlotAxis PlotAxis::linear(double low, double high, int count, bool widen) {
  if (!(high > low)) {
    const double apart = std::max(std::abs(low) * 0.1, 1e-6);
    low -= apart;
    high += apart;
  }
  const double step = niceStep((high - low) / count);
  // A little tolerance, so that 0.3 / 0.1 is three steps.
  const double first =
      widen ? std::floor(low / step + 1e-9) : std::ceil(low / step - 1e-9);
  const double last =
      widen ? std::ceil(high / step - 1e-9) : std::floor(high / step + 1e-9);
  PlotAxis axis;
  for (double i = first; i <= last; ++i)
    axis.marks.push_back({i * step, labelOf(i * step, step)});
  axis.low = widen ? first * step : low;
  axis.high = widen ? last * step : high;
  return axis;
}

PlotAxis PlotAxis::logarithmic(double low, double high) {
  PlotAxis axis;
  axis.powers = true;
  axis.low = std::floor(std::log10(low) + 1e-9);
  axis.high = std::max(std::ceil(std::log10(high) - 1e-9), axis.low + 1);
  const double every = std::max(1.0, std::ceil((axis.high - axis.low) / 8));
  for (double power = axis.low; power <= axis.high; power += every)
    axis.marks.push_back(
        {std::pow(10, power), text("%g", std::pow(10, power))});
  return axis;
}

double PlotAxis::place(double value) const {
  const double at = powers ? std::log10(value) : value;
  return (at - low) / (high - low);
}

} // namespace mn
