//===- progress.cpp - how far the training is -----------------------------===//

#include "reports/progress.h"
#include "core/array.h"
#include "mnistrt/printable.h"
#include "reports/terminal.h"
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <unistd.h>
#include <vector>

namespace mn {

namespace {

constexpr double redrawSeconds = 0.1;
constexpr int maxBar = 32, minBar = 8;

/// A part of the line. The greater `rank`, the sooner it is left out.
struct LinePart {
  std::string text;
  int rank;
};

std::vector<LinePart> partsOf(const TrainState &state) {
  std::vector<LinePart> parts;
  parts.push_back({text("epoch %lld/%lld", static_cast<long long>(state.epoch),
                        static_cast<long long>(state.epochs)),
                   0});
  parts.push_back({text("%lld/%lld", static_cast<long long>(state.step),
                        static_cast<long long>(state.steps)),
                   5});
  parts.push_back({text("loss %.4f", state.loss), 1});
  if (state.accuracy >= 0)
    parts.push_back({text("%.2f %%", 100 * state.accuracy), 2});
  if (state.imagesPerSecond > 0)
    parts.push_back({rateText(state.imagesPerSecond) + " images/s", 4});
  if (state.secondsLeft >= 0)
    parts.push_back({durationText(state.secondsLeft) + " left", 3});
  return parts;
}

int widthOf(const std::vector<LinePart> &parts) {
  int width = -2; // two blanks between parts
  for (const LinePart &part : parts)
    width += static_cast<int>(part.text.size()) + 2;
  return width;
}

std::string barOf(const TrainState &state, int width, bool color) {
  const double part =
      state.steps > 0 ? static_cast<double>(state.step) / double(state.steps)
                      : 1;
  const int inside = width - 2;
  const int full =
      static_cast<int>(std::lround(std::clamp(part, 0.0, 1.0) * inside));
  std::string done(static_cast<size_t>(full), '=');
  if (full > 0 && full < inside)
    done.back() = '>';
  const std::string rest(static_cast<size_t>(inside - full), ' ');
  if (!color)
    return "[" + done + rest + "]";
  return "[\x1b[32m" + done + "\x1b[0m" + rest + "]";
}

} // namespace

std::string durationText(double seconds) {
  // Longer is as good as never.
  const long long all = std::llround(std::clamp(seconds, 0.0, 1000 * 86400.0));
  const long long days = all / 86400, hours = all / 3600 % 24,
                  minutes = all / 60 % 60, rest = all % 60;
  if (days > 0)
    return text("%lld d %02lld:%02lld:%02lld", days, hours, minutes, rest);
  if (hours > 0)
    return text("%lld:%02lld:%02lld", hours, minutes, rest);
  return text("%lld:%02lld", minutes, rest);
}

std::string rateText(double perSecond) {
  constexpr const char *units[] = {"", "k", "M", "G"};
  size_t unit = 0;
  for (; perSecond >= 999.5 && unit + 1 < std::size(units); ++unit)
    perSecond /= 1000;
  const int digits = unit == 0           ? 0
                     : perSecond < 9.995 ? 2
                     : perSecond < 99.95 ? 1
                                         : 0;
  return text("%.*f%s", digits, perSecond, units[unit]);
}

std::string progressLine(const TrainState &state, int width, bool color) {
  std::vector<LinePart> parts = partsOf(state);
  while (parts.size() > 1 && widthOf(parts) > width)
    parts.erase(std::max_element(
        parts.begin(), parts.end(),
        [](const LinePart &a, const LinePart &b) { return a.rank < b.rank; }));
  const int room = width - widthOf(parts) - 2;
  std::string line = parts[0].text;
  if (room >= minBar)
    line += "  " + barOf(state, std::min(room, maxBar), color);
  for (size_t i = 1; i < parts.size(); ++i)
    line += "  " + parts[i].text;
  if (parts.size() == 1 && static_cast<int>(parts[0].text.size()) > width)
    line.resize(static_cast<size_t>(std::max(width, 0)));
  return line;
}

std::string reportLine(const TrainState &state) {
  std::string line = text("epoch %lld/%lld, step %lld/%lld: loss %.4f",
                          static_cast<long long>(state.epoch),
                          static_cast<long long>(state.epochs),
                          static_cast<long long>(state.step),
                          static_cast<long long>(state.steps), state.loss);
  if (state.accuracy >= 0)
    line += text(", accuracy %.2f %%", 100 * state.accuracy);
  if (state.imagesPerSecond > 0)
    line += ", " + rateText(state.imagesPerSecond) + " images/s";
  if (state.secondsLeft >= 0)
    line += ", " + durationText(state.secondsLeft) + " left";
  return line;
}

Progress::Options Progress::detect(int file) {
  const char *term = std::getenv("TERM");
  const char *noColor = std::getenv("NO_COLOR");
  Options options;
  options.file = file;
  options.terminal =
      ::isatty(file) && term && *term && std::strcmp(term, "dumb") != 0;
  options.color = options.terminal && !(noColor && *noColor);
  return options;
}

int Progress::width() const {
  if (options.width > 0)
    return options.width;
  const int columns = columnsOf(options.file);
  return columns > 0 ? columns : 80;
}

void Progress::update(const TrainState &state, double now) {
  if (!options.terminal || (any && now - drawn < redrawSeconds))
    return;
  any = true;
  drawn = now;
  // The last column stays free: some terminals wrap as soon as it is written.
  const std::string line = progressLine(state, width() - 1, options.color);
  if (line == live)
    return;
  // Erased after it is written, not before, so that nothing flickers.
  mn::put(options.file, "\r" + line + "\x1b[K");
  live = line;
}

void Progress::report(const TrainState &state) {
  if (!options.terminal)
    mn::put(options.file, reportLine(state) + "\n");
}

void Progress::print(std::string_view line) {
  const std::string again = live;
  clear();
  mn::put(options.file,
          wrapped(printable(line), options.terminal ? width() : 0, 4) + "\n" +
              again);
  live = again;
}

void Progress::clear() {
  if (live.empty())
    return;
  mn::put(options.file, "\r\x1b[K");
  live.clear();
}

} // namespace mn
