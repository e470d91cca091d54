#!/usr/bin/env python3
"""Draws how long training steps of networks take beside PyTorch, as measured.

usage: ratios.py OUT.svg RESULTS.md...

RESULTS are pages of docs/results. A table counts that has a column PyTorch and
right of it one of ratios ("ratio", "ratio now", "... by PyTorch", or "now" after
"ratio before"), unless its page or section is about a CPU; of it the rows of
networks that are drawn at random, random-7, blocks-7 or large-7, or of
models/written.py, such as written-gpt, microseconds a step. Of a network that was
measured several times in one precision, a written one with one batch, the last day
counts, of a day the least: changes follow measurements. Prints a summary, with the
names of those that are slower than PyTorch.
"""

import argparse
import html
import math
import pathlib
import re
import statistics
import sys

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760, 360, 52, 24, 30, 40
LEAST_US, MOST_US, MOST_RATIO = 50, 20000, 1.6
COLORS = {"random": "#4878a8", "blocks": "#d58a3c", "large": "#5c9e58",
          "written": "#a05195"}
NAME = re.compile(r"\b(random|blocks|large)-\d+\b|\b(written)-[\w-]+(?:, \d+)?")
PRECISION = re.compile(r"\b(?:fp32|tf32|bf16)\b")


def cells_of(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def time_in(cell):
    """The first number, or None."""
    found = re.search(r"\d[\d,]*\.?\d*", cell)
    return float(found[0].replace(",", "")) if found else None


def ratio_in(cell):
    """The last one outside of parentheses, which is the latest, or None."""
    found = re.findall(r"\b\d\.\d\d\b", re.sub(r"\([^)]*\)", "", cell))
    return float(found[-1]) if found else None


def pairs_in(header):
    """Columns of PyTorch's times, and of the ratios that belong to them."""
    pairs = []
    for i, cell in enumerate(header):
        is_ratio = cell in ("ratio", "ratio now") or cell.endswith(" by PyTorch") or \
            (cell == "now" and i > 0 and header[i - 1] == "ratio before")
        peers = [j for j in range(i) if header[j].startswith("PyTorch")]
        if is_ratio and peers:
            pairs.append((peers[-1], i))
    return pairs


def tables_in(text):
    """(section, text before, header, rows) of each table; a section has its
    parents' names, and the text is the section's."""
    sections, before, lines = [], "", text.splitlines()
    for i, line in enumerate(lines):
        if heading := re.match(r"(#+) (.*)", line):
            sections = sections[:len(heading[1]) - 1] + [heading[2]]
            before = ""
        elif re.fullmatch(r"\|[-| ]+\|", line.strip()) and i > 0:
            rows = []
            for row in lines[i + 1:]:
                if not row.startswith("|"):
                    break
                rows.append(cells_of(row))
            yield " / ".join(sections), before, cells_of(lines[i - 1]), rows
        elif not line.startswith("|"):
            before += line + "\n"


def points_in(page):
    """{(network, precision): (PyTorch's us, ratio, page)}"""
    points = {}
    for section, before, header, rows in tables_in(page.read_text()):
        if re.search(r"\bCPU\b|\bcores\b", section) or "cpu" in page.name:
            continue
        for peer, ratio in pairs_in(header):
            for row in rows:
                name = NAME.search(row[0])
                if not name or len(row) <= ratio:
                    continue
                us, value = time_in(row[peer]), ratio_in(row[ratio])
                if us and value:
                    texts = (*row[:2], *header[:peer][::-1])
                    key = (name[0], precision_of(texts, before, page))
                    points[key] = (us, value, page.stem)
    return points


def latest_of(pages):
    points = {}
    for page in sorted(pages, key=day_of):
        for key, point in points_in(page).items():
            known = points.get(key)
            if not known or day_of(known[2]) != day_of(page) or point[1] < known[1]:
                points[key] = point
    return points


def day_of(page):
    return getattr(page, "name", page)[:len("2026-11-22")]


def precision_of(texts, before, page):
    """Of a row, its columns, or else what is said last before the table."""
    of_row = PRECISION.findall(" ".join(texts))
    of_page = PRECISION.findall(page.stem.replace("-", " ") + "\n" + before)
    return of_row[0] if of_row else of_page[-1] if of_page else "fp32"


def x_of(us):
    part = math.log(us / LEAST_US) / math.log(MOST_US / LEAST_US)
    return LEFT + min(max(part, 0), 1) * (WIDTH - LEFT - RIGHT)


def y_of(ratio):
    return HEIGHT - BOTTOM - min(ratio / MOST_RATIO, 1) * (HEIGHT - TOP - BOTTOM)


def text_at(x, y, text, anchor="middle"):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{html.escape(text)}</text>'


def line_of(x0, y0, x1, y1, color):
    return (f'<line x1="{x0:.1f}" y1="{y0:.1f}" x2="{x1:.1f}" y2="{y1:.1f}" '
            f'stroke="{color}"/>')


def axes():
    parts = []
    for us in (50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000):
        parts += [line_of(x_of(us), TOP, x_of(us), HEIGHT - BOTTOM, "#eee"),
                  text_at(x_of(us), HEIGHT - BOTTOM + 15, f"{us:,}")]
    for tenths in range(0, round(MOST_RATIO * 10) + 1, 2):
        ratio = tenths / 10
        parts += [line_of(LEFT, y_of(ratio), WIDTH - RIGHT, y_of(ratio),
                          "#888" if ratio == 1 else "#eee"),
                  text_at(LEFT - 6, y_of(ratio) + 4, f"{ratio:.1f}", "end")]
    parts.append(text_at((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8,
                         "PyTorch, microseconds a training step"))
    parts.append(text_at(LEFT - 40, 18, "mnistc's time / PyTorch's", "start"))
    return parts


def legend(points):
    parts, x = [], 300
    for family, color in COLORS.items():
        count = sum(name.startswith(family) for name, _ in points)
        parts += [f'<circle cx="{x}" cy="14" r="4" fill="{color}"/>',
                  text_at(x + 9, 18, f"{family} ({count})", "start")]
        x += 110
    return parts


def picture(points):
    dots = []
    for (name, precision), (us, ratio, page) in sorted(points.items()):
        dots.append(
            f'<circle cx="{x_of(us):.1f}" cy="{y_of(ratio):.1f}" r="4" '
            f'fill="{COLORS[name.split("-")[0]]}" fill-opacity=".75">'
            f"<title>{name}, {precision}: {ratio:.2f} of {us:,.0f} us, {page}"
            "</title></circle>")
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
            f'width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" font-size="12">\n'
            f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>\n'
            + "\n".join(axes() + legend(points) + dots) + "\n</svg>\n")


def summary(points):
    ratios = [ratio for _, ratio, _ in points.values()]
    slower = sorted(" in ".join(key) for key, (_, ratio, _) in points.items() if ratio > 1)
    return (f"{len(points)} measurements: {min(ratios):.2f} to {max(ratios):.2f} of "
            f"PyTorch's time, half of them at most {statistics.median(ratios):.2f}\n"
            f"slower than PyTorch: {', '.join(slower) or 'none'}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("pages", type=pathlib.Path, nargs="+")
    options = parser.parse_args()
    points = latest_of(options.pages)
    if not points:
        sys.exit("ratios.py: error: expected tables with PyTorch and ratio, got none")
    options.out.write_text(picture(points))
    print(summary(points))


if __name__ == "__main__":
    main()
