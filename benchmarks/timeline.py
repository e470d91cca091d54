#!/usr/bin/env python3
"""Draws the steps of a plan as a picture, beside what the machine could do.

usage: timeline.py PROFILE OUT.svg [--bandwidth=GB/s] [--rate=GFLOP/s] [--least=US]

PROFILE is what `app profile` prints, as JSON (--json) or as its table. Steps
follow each other from left to right, then from row to row; a step is as wide as
it takes, and its dark part is what it would take at the machine's limits: the
larger of its bytes by --bandwidth and its operations by --rate, where a launch
takes --least. The defaults are those of an NVIDIA H100: 5500 from its L2 cache,
165000 as three products of tf32 for one of f32, 3.5 of an empty step between
two events, as `profile` times it.
"""

import argparse
import html
import json
import pathlib
import re
import sys

ROW_US, WIDTH, HEIGHT, GAP, MARGIN = 60, 960, 34, 18, 10
COLORS = {"conv": "#7aa6d8", "matmul": "#9bc48a", "rows": "#e3b36a",
          "pool": "#c79ad0", "other": "#c4c4c4"}
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


def kind_of(step):
    words = step["ops"].split()
    for kind in ("conv", "matmul"):
        if any(word.startswith(kind) for word in words):
            return kind
    if any("pool" in word for word in words):
        return "pool"
    return "rows" if any("reduce" in word for word in words) else "other"


def floor_of(step, options):
    return max(step["bytes"] / options.bandwidth, step["flops"] / options.rate) \
        / 1e3 + options.least


def rectangle(x, y, width, color, title=""):
    return (f'<rect x="{x:.1f}" y="{y}" width="{max(width, .4):.1f}" '
            f'height="{HEIGHT}" fill="{color}" stroke="#fff" stroke-width=".6">'
            f"<title>{html.escape(title)}</title></rect>")


def picture(steps, options):
    scale = (WIDTH - 2 * MARGIN) / ROW_US
    x = y = 0
    shapes, total, least = [], 0, 0
    for step in steps:
        if x and x + step["us"] > ROW_US:
            x, y = 0, y + 1
        floor = min(floor_of(step, options), step["us"])
        total, least = total + step["us"], least + floor
        left, top = MARGIN + x * scale, 26 + y * (HEIGHT + GAP)
        title = f'{step["name"]}: {step["us"]:.1f} us, at least {floor:.1f}'
        shapes.append(rectangle(left, top, step["us"] * scale,
                                COLORS[kind_of(step)], title))
        shapes.append(f'<rect x="{left:.1f}" y="{top + HEIGHT - 6}" height="6" '
                      f'width="{floor * scale:.1f}" fill="#444"/>')
        if step["us"] * scale > 6.2 * len(step["name"]):
            shapes.append(f'<text x="{left + 3:.1f}" y="{top + 14}">'
                          f'{html.escape(step["name"])}</text>')
        shapes.append(f'<text x="{left + 3:.1f}" y="{top + 25}" class="us">'
                      f'{step["us"]:.1f}</text>')
        x += step["us"]
    height = 26 + (y + 1) * (HEIGHT + GAP)
    legend, at = [], MARGIN
    for kind, color in [*COLORS.items(), ("at the machine's limits", "#444")]:
        legend.append(f'<rect x="{at}" y="6" width="11" height="11" fill="{color}"/>'
                      f'<text x="{at + 15}" y="15">{html.escape(kind)}</text>')
        at += 40 + 7 * len(kind)
    legend.append(f'<text x="{WIDTH - MARGIN}" y="15" text-anchor="end">steps one by '
                  f"one: {total:.0f} us, at the limits {least:.0f} us</text>")
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
            'font-family="sans-serif" font-size="10"><style>.us{fill:#333;font-size:'
            '9px}</style><rect width="100%" height="100%" fill="#fff"/>\n'
            + "\n".join(legend + shapes) + "\n</svg>\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("profile", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--bandwidth", type=float, default=5500)
    parser.add_argument("--rate", type=float, default=165000)
    parser.add_argument("--least", type=float, default=3.5)
    options = parser.parse_args()
    steps = steps_of(options.profile.read_text())
    if not steps:
        sys.exit(f"timeline.py: error: {options.profile}: expected what 'profile' "
                 "prints, got no step")
    options.out.write_text(picture(steps, options))


if __name__ == "__main__":
    main()
