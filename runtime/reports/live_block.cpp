//===- live_block.cpp - lines of a terminal that are redrawn --------------===//

#include "reports/live_block.h"
#include "core/array.h"
#include "mnistrt/printable.h"
#include "reports/terminal.h"
#include <algorithm>
#include <sys/ioctl.h>
#include <unistd.h>

namespace mn {

int LiveBlock::width() const {
  if (options.width > 0)
    return options.width;
  const int columns = columnsOf(options.file);
  return columns > 0 ? columns : options.terminal ? 80 : 0;
}

int LiveBlock::height() const {
  struct winsize size = {};
  return ::ioctl(options.file, TIOCGWINSZ, &size) == 0 && size.ws_row > 0
             ? size.ws_row
             : 24;
}

void LiveBlock::draw(const std::string &text) {
  if (!options.terminal || text == shown)
    return;
  // Each line erases what stood behind it, and the last what stood below, so
  // that nothing flickers.
  std::string drawn;
  if (const auto lines = std::count(shown.begin(), shown.end(), '\n'))
    drawn = mn::text("\x1b[%ldA", static_cast<long>(lines));
  drawn += "\r";
  for (const char c : text)
    drawn += c == '\n' ? "\x1b[K\n" : std::string(1, c);
  mn::put(options.file, drawn + "\x1b[J");
  shown = text;
}

void LiveBlock::print(std::string_view line) {
  write(wrapped(printable(line), options.terminal ? width() : 0, 4) + "\n");
}

void LiveBlock::write(std::string_view lines) {
  const std::string again = shown;
  clear();
  mn::put(options.file, lines);
  draw(again);
}

void LiveBlock::clear() {
  if (const auto lines = std::count(shown.begin(), shown.end(), '\n'))
    mn::put(options.file, text("\x1b[%ldA\r\x1b[J", static_cast<long>(lines)));
  shown.clear();
}

} // namespace mn
