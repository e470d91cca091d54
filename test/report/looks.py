"""Light and dark, wide and narrow, on paper."""

import sys

from harness import ROOT, expect, ok
from pages import DARK, LIGHT, NARROW, WIDE


def brightness(page):
    color = page.ask("getComputedStyle(document.body).backgroundColor")
    return sum(int(part) for part in color.strip("rgb()").split(",")[:3]) / 3


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
                expect((brightness(page) > 128) == (scheme == LIGHT),
                       f"expected {scheme}, got {brightness(page)}")
                if width == NARROW:
                    page.driver.execute_script("choose('step', 2)")
                    page.picture(place.screenshots / f"{name}-chosen-{scheme}.png")
                    needed = page.ask("document.documentElement.scrollWidth")
                    expect(needed <= width, f"{name}, chosen: got {needed}")


def test_five_tutorials(place):
    """models/reports.py makes pages of less than 1 MB, on which nothing is wrong."""
    folder = place.path("reports")
    ok(sys.executable, ROOT / "models/reports.py", f"--mnistc={place.mnistc}",
       f"--out={folder}")
    pages = sorted(folder.glob("*.html"))
    expect(len(pages) == 5, f"expected five pages, got {pages}")
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
