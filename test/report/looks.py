"""Light and dark, wide and narrow, on paper."""

import re
import sys

from harness import ROOT, expect, ok
from pages import DARK, LIGHT, NARROW, WIDE


def test_widths_and_schemes(place):
    for name, path in (("plan", place.report("--batch=64")),
                       ("train", place.report()), ("trained", place.trained[0])):
        for width in (WIDE, NARROW):
            for scheme in (LIGHT, DARK):
                page = place.browser.open(path, width, scheme)
                page.picture(place.screenshots / f"{name}-{width}-{scheme}.png")
                needed = page.ask("document.documentElement.scrollWidth")
                expect(needed <= width, f"{name}: expected {width} pixels, "
                       f"got {needed}")
                expect((page.brightness() > 128) == (scheme == LIGHT),
                       f"expected {scheme}, got {page.brightness()}")
                if width == NARROW:
                    page.driver.execute_script("choose('step', 2)")
                    page.picture(place.screenshots / f"{name}-chosen-{scheme}.png")
                    needed = page.ask("document.documentElement.scrollWidth")
                    expect(needed <= width, f"{name}, chosen: got {needed}")


def five(place):
    """The pages of the five tutorials, as models/reports.py makes them."""
    def make():
        folder = place.path("reports")
        ok(sys.executable, ROOT / "models/reports.py", f"--mnistc={place.mnistc}",
           f"--out={folder}")
        pages = sorted(folder.glob("*.html"))
        expect(len(pages) == 5, f"expected five pages, got {pages}")
        return pages
    return place.once("five", make)


def ours(path):
    """A page without the libraries that draw, which are the system's, and without
    what its policy says of them."""
    before, *scripts = path.read_text().split("\n;\n")
    number = len(list((ROOT / "runtime/reports/html").glob("*.js")))
    head = re.sub("'sha256-[^']*'", "", before.partition("'use strict'")[0])
    return head, scripts[-number:]


def test_five_in_documents(place):
    """docs/reports has what the compiler makes now."""
    written = ROOT / "docs/reports"
    expect({path.name for path in written.iterdir()} == {path.name for path in five(place)},
           f"expected five pages in {written}")
    old = [path.name for path in five(place) if ours(path) != ours(written / path.name)]
    expect(not old, f"models/reports.py --out=docs/reports: expected it to change "
           f"nothing, got a new {', '.join(old)}")


def test_five_tutorials(place):
    """Of less than 1 MB, and nothing is wrong on them."""
    pages = five(place)
    for path in pages:
        expect(path.stat().st_size < 1_000_000, f"expected less than 1 MB: {path}")
        page = place.browser.open(path, NARROW)
        page.picture(place.screenshots / f"{path.stem}.png")
        needed = page.ask("document.documentElement.scrollWidth")
        expect(needed <= NARROW, f"{path.stem}: got {needed} pixels")


def test_text_fits_its_box(place):
    for width in (WIDE, NARROW):
        page = place.browser.open(place.report(), width)
        over = page.ask("""Array.from(document.querySelectorAll('#graph .box')).filter(box => {
            const frame = box.querySelector('.frame').getBoundingClientRect();
            return Array.from(box.querySelectorAll('text')).some(
                text => text.getBoundingClientRect().right > frame.right);
        }).map(box => box.getAttribute('aria-label'))""")
        expect(not over, f"expected text inside of its box, got {over}")


def test_paper(place):
    page = place.browser.open(place.trained[0])
    printed = page.driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})
    expect(len(printed["data"]) > 10000, "expected a printed page")
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    shown = page.ask("getComputedStyle(document.getElementById('details')).display")
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    expect(shown == "none", "expected no panel on paper")
