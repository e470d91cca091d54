#!/usr/bin/env python3
"""Draws the steps of a plan as a picture, beside what the machine could do; or
one run of a plan as it was, with kernels beside each other.

usage: timeline.py PROFILE OUT.svg [--row=US] [--bandwidth=GB/s] [--rate=GFLOP/s]
                   [--least=US]

PROFILE is what `app profile` prints, as JSON (--json) or as its table. Steps
follow each other from left to right, then from row to row; a step is as wide as
it takes, and its dark part is what it would take at the machine's limits: the
larger of its bytes by --bandwidth and its operations by --rate, where a launch
takes --least. The defaults are those of an NVIDIA H100: 5500 from its L2 cache,
165000 as three products of tf32 for one of f32, 3.5 of an empty step between
two events, as `profile` times it.

Or PROFILE is the trace that `app profile --timeline=FILE` writes. A row of the
picture has --row microseconds of the run (60, of a run that would have more than
twenty rows 600, and so on) and a lane for each track of the trace that has a
kernel there: a stream, or several where its kernels are there at the same time.
The light part of a kernel waits for others, and where no kernel computes the row
is red.
"""

import argparse
import html
import json
import math
import pathlib
import re
import sys

ROW_US, WIDTH, HEIGHT, GAP, MARGIN, TOP = 60, 960, 34, 18, 10, 45
COLORS = {"conv": "#7aa6d8", "matmul": "#9bc48a", "rows": "#e3b36a",
          "pool": "#c79ad0", "other": "#c4c4c4"}
LIMIT, IDLE, WAIT = "#444", "#f6dede", .35  # the last: how opaque
LINE = re.compile(r"\s*\d+  (\S+) +(\S+(?: \w+)?) +(\[[^]]*\]|\d+ elements) +"
                  r"([\d.]+) +[\d.]+ % +([\d.]*) *([\d.]*)  (\w.*)$")


def steps_of(text):
    """[{name, us, flops, bytes, ops}] of JSON or of a table."""
    if text.lstrip().startswith("{"):
        return json.loads(text)["steps"]
    steps = []
    for line in text.splitlines():
        if match := LINE.match(line):
            name, _, _, us, flops, rate, ops = match.groups()
            steps.append({"name": name, "us": float(us), "ops": ops,
                          "flops": float(flops or 0) * float(us) * 1e3,
                          "bytes": float(rate or 0) * float(us) * 1e3})
    return steps


def kind_of(ops):
    words = ops.split()
    for kind in ("conv", "matmul"):
        if any(word.startswith(kind) for word in words):
            return kind
    if any("pool" in word for word in words):
        return "pool"
    return "rows" if any("reduce" in word for word in words) else "other"


def floor_of(step, options):
    return max(step["bytes"] / options.bandwidth, step["flops"] / options.rate) \
        / 1e3 + options.least


def rectangle(x, y, width, color, title="", height=HEIGHT, more=""):
    return (f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, .4):.1f}" '
            f'height="{height}" fill="{color}" stroke="#fff" stroke-width=".6"'
            f"{more}><title>{html.escape(title)}</title></rect>")


def name_in(name, x, y, width):
    """A name where it fits, or what of it fits."""
    letters = int(width / 6.2)
    if letters < min(len(name), 4):
        return []
    return [f'<text x="{x + 3:.1f}" y="{y}">{html.escape(name[:letters])}</text>']


def legend_of(colors, summary):
    """The colors, and below them a summary; what they are of begins at TOP."""
    legend, at = [], MARGIN
    for kind, color, *opacity in colors:
        more = f' fill-opacity="{opacity[0]}"' if opacity else ""
        legend.append(f'<rect x="{at}" y="6" width="11" height="11" fill="{color}"'
                      f'{more}/>'
                      f'<text x="{at + 15}" y="15">{html.escape(kind)}</text>')
        at += 40 + 7 * len(kind)
    return legend + [f'<text x="{MARGIN}" y="30">{html.escape(summary)}</text>']


def page(height, shapes):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
            'font-family="sans-serif" font-size="10"><style>.us{fill:#333;font-size:'
            '9px}</style><rect width="100%" height="100%" fill="#fff"/>\n'
            + "\n".join(shapes) + "\n</svg>\n")


def picture(steps, options):
    length = options.row or ROW_US
    scale = (WIDTH - 2 * MARGIN) / length
    x = y = 0
    shapes, total, least = [], 0, 0
    for step in steps:
        if x and x + step["us"] > length:
            x, y = 0, y + 1
        floor = min(floor_of(step, options), step["us"])
        total, least = total + step["us"], least + floor
        left, top = MARGIN + x * scale, TOP + y * (HEIGHT + GAP)
        title = f'{step["name"]}: {step["us"]:.1f} us, at least {floor:.1f}'
        shapes.append(rectangle(left, top, step["us"] * scale,
                                COLORS[kind_of(step["ops"])], title))
        shapes.append(f'<rect x="{left:.1f}" y="{top + HEIGHT - 6}" height="6" '
                      f'width="{floor * scale:.1f}" fill="{LIMIT}"/>')
        if step["us"] * scale > 6.2 * len(step["name"]):
            shapes.append(f'<text x="{left + 3:.1f}" y="{top + 14}">'
                          f'{html.escape(step["name"])}</text>')
        shapes.append(f'<text x="{left + 3:.1f}" y="{top + 25}" class="us">'
                      f'{step["us"]:.1f}</text>')
        x += step["us"]
    legend = legend_of([*COLORS.items(), ("at the machine's limits", LIMIT)],
                       f"steps one by one: {total:.0f} us, at the limits {least:.0f} us")
    return page(TOP + (y + 1) * (HEIGHT + GAP), legend + shapes)


LANE, LEFT = 22, 60  # how high a track is; where time begins


class Row:
    """So many microseconds of a run, from `begin` on, with a lane for each track
    that has one of its kernels there."""

    def __init__(self, begin, length, top, kernels):
        self.begin, self.length, self.top = begin, length, top
        self.scale = (WIDTH - LEFT - MARGIN) / length
        self.kernels = [event for event in kernels if self.span(
            event["ts"], event["ts"] + event["dur"])]
        tracks = sorted({event["tid"] for event in self.kernels})
        self.lanes = {track: lane for lane, track in enumerate(tracks)}
        self.height = LANE * len(tracks)

    def span(self, begin, end):
        """Where a span of time is here, as x and width; none where it is not."""
        begin = max(begin, self.begin)
        end = min(end, self.begin + self.length)
        return (LEFT + (begin - self.begin) * self.scale,
                (end - begin) * self.scale) if end > begin else None


def kernel_shapes(event, row):
    """A kernel's light part, dark part and name, as far as they are in a row."""
    about = event["args"]
    start, end = event["ts"], event["ts"] + event["dur"]
    ready = start + about["wait_us"]
    top, color = row.top + row.lanes[event["tid"]] * LANE, COLORS[kind_of(about["ops"])]
    step = f'step {about["step"]}, ' if about["step"] else ""
    title = (f'{event["name"]} ({step}{about["blocks"]} blocks on '
             f'{about["multiprocessors"]} SMs): {start:.1f} to {end:.1f} us, waits '
             f'{about["wait_us"]:.1f}, computes {about["us"]:.1f}, alone '
             f'{about["alone_us"]:.1f}')
    shapes = []
    for begin, until, more in ((start, ready, f' fill-opacity="{WAIT}"'),
                               (ready, end, "")):
        if place := row.span(begin, until):
            shapes.append(rectangle(place[0], top, place[1], color, title, LANE - 3,
                                    more))
            if not more:
                shapes += name_in(event["name"], place[0], top + 13, place[1])
    return shapes


def idle_spans(kernels, run_us):
    """When no kernel computes: before one, and after the last of the run, which
    is before the first of the next."""
    for event in kernels:
        ready = event["ts"] + event["args"]["wait_us"]
        begin = ready - event["args"]["idle_before_us"]
        yield max(begin, 0), ready
        if begin < 0:
            yield run_us + begin, run_us


def row_shapes(row, kernels, tracks, run_us):
    """Where no kernel computes, ticks, the kernels, and the names of tracks."""
    height, shapes = row.height, []
    for begin, end in idle_spans(kernels, run_us):
        if idle := row.span(begin, end):
            shapes.append(rectangle(idle[0], row.top - 3, idle[1], IDLE,
                                    "no kernel computes", height + 3))
    for tick in range(7):
        time = row.length * tick / 6
        x, anchor = LEFT + time * row.scale, "end" if tick == 6 else "middle"
        shapes.append(f'<path d="M{x:.1f} {row.top - 3}v{height + 3}" '
                      'stroke="#ccc" stroke-width=".5"/>'
                      f'<text x="{x:.1f}" y="{row.top + height + 9}" class="us" '
                      f'text-anchor="{anchor}">{row.begin + time:g}</text>')
    if row.begin < run_us <= row.begin + row.length:
        end = LEFT + (run_us - row.begin) * row.scale
        shapes.append(f'<path d="M{end:.1f} {row.top - 3}v{height + 3}" '
                      f'stroke="{LIMIT}"><title>the next run begins</title></path>')
    for event in row.kernels:
        shapes += kernel_shapes(event, row)
    for track, lane in row.lanes.items():
        shapes.append(f'<text x="{MARGIN}" y="{row.top + lane * LANE + 13}" '
                      f'class="us">{html.escape(tracks[track])}</text>')
    return shapes


def short(us):
    return f"{us:.{1 if us < 1000 else 0}f}"


def row_length(run_us):
    """As many microseconds that twenty rows are enough."""
    length = ROW_US
    while run_us > 20 * length:
        length *= 10
    return length


def run_picture(trace, options):
    events, run = trace["traceEvents"], trace["otherData"]
    length = options.row or row_length(run["run_us"])
    kernels = [event for event in events if event.get("cat") == "kernel"]
    tracks = {event["tid"]: event["args"]["name"] for event in events
              if event["name"] == "thread_name"}
    count = max(math.ceil(run["run_us"] / length), 1)
    shapes = legend_of(
        [*COLORS.items(), ("light: waits", COLORS["conv"], WAIT), ("no kernel computes", IDLE)],
        f'{run["plan"]}: {short(run["run_us"])} us; computing: one kernel '
        f'{short(run["alone_us"])}, several {short(run["several_us"])}, none '
        f'{short(run["idle_us"])}')
    top = TOP
    for number in range(count):
        row = Row(number * length, length, top, kernels)
        shapes += row_shapes(row, kernels, tracks, run["run_us"])
        top += row.height + 20
    return page(top, shapes)


def drawn(text, options):
    """The picture of what a file has; null where that is nothing."""
    if text.lstrip().startswith("{") and "otherData" in (trace := json.loads(text)):
        return run_picture(trace, options)
    steps = steps_of(text)
    return picture(steps, options) if steps else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("profile", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--row", type=float)
    parser.add_argument("--bandwidth", type=float, default=5500)
    parser.add_argument("--rate", type=float, default=165000)
    parser.add_argument("--least", type=float, default=3.5)
    options = parser.parse_args()
    svg = drawn(options.profile.read_text(), options)
    if svg is None:
        sys.exit(f"timeline.py: error: {options.profile}: expected what 'profile' "
                 "prints, got no step")
    options.out.write_text(svg)


if __name__ == "__main__":
    main()
