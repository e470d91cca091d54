"""scripts/docs: the same bytes each time, whole, and shown without a server."""

import filecmp
import re
import shutil
import time

from harness import ROOT, expect, fails, ok
from pages import DARK, LIGHT, NARROW, WIDE

LIMIT_S = 20


def built(place, name="site"):
    def make():
        ok(ROOT / "scripts/docs", f"--out={place.path(name)}")
        return place.path(name)
    return place.once(name, make)


def names(folder):
    return sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())


def test_same_bytes(place):
    first, second = built(place), built(place, "again")
    expect(names(first) == names(second), "expected the same files")
    different = [name for name in names(first)
                 if not filecmp.cmp(first / name, second / name, shallow=False)]
    expect(not different, f"expected the same bytes, not in {different}")


def test_every_document(place):
    """Each has a page, and each page that is no source is reached from the first."""
    site = built(place)
    documents = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    first = (site / "index.html").read_text()
    for document in documents:
        page = document.relative_to(ROOT).with_suffix(".html")
        page = "index.html" if str(page) == "README.html" else page
        expect((site / page).exists(), f"expected {page}")
        expect(f'href="{page}"' in first, f"expected {page} among the links of all pages")


def test_no_network(place):
    """Nothing but links that a reader may follow leads elsewhere."""
    for path in built(place).rglob("*.html"):
        if path.parent.name == "reports":
            continue  # test/report looks at these
        loaded = re.findall(r'<(?:script|link|img|iframe)\b[^>]*(?:src|href)="([^"]+)"',
                            path.read_text())
        foreign = [url for url in loaded if re.match(r"(\w+:)?//", url)]
        expect(loaded and not foreign, f"{path.name}: expected no {foreign}")


def tree(place, name):
    """What scripts/docs needs of the tree, to be changed."""
    folder = place.path(name)
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(
        ".git", "build*", "out", "test", "lib", "__pycache__"))
    return folder


def test_broken_links(place):
    """Each is a line, and nothing is written; nor if a document is not among the links of
    all pages."""
    folder, out = tree(place, "broken"), place.path("none")
    document, links = folder / "docs/limits.md", ("nowhere.md", "../runtime/nowhere.h",
                                                  "runtime.md#nowhere")
    text = document.read_text()
    document.write_text(text + "".join(f"\n[one]({link})\n" for link in links))
    fails(1, folder / "scripts/docs", f"--out={out}", lines=len(links),
          parts=("'docs/limits.md'", *links))
    document.write_text(text)
    (folder / "docs/new.md").write_text("# New\n")
    fails(1, folder / "scripts/docs", f"--out={out}", parts=("nav", "docs/new.md"))
    expect(not out.exists(), "expected nothing to be written")


def test_wrong_usage(place):
    fails(2, ROOT / "scripts/docs", "--to=x", parts=("--out=DIR",))
    full = place.path("full")
    full.mkdir()
    (full / "file").write_text("mine")
    fails(1, ROOT / "scripts/docs", f"--out={full}", parts=("empty folder",))
    expect((full / "file").read_text() == "mine", "expected the file to be left")


def test_pages(place):
    site = built(place)
    for name in ("index", "docs/seeds", "runtime/include/mnist.h", "docs/zh/seeds"):
        for width in (WIDE, NARROW):
            for scheme in (LIGHT, DARK):
                page = place.browser.open(site / f"{name}.html", width, scheme)
                page.picture(place.screenshots /
                             f"{name.replace('/', '-')}-{width}-{scheme}.png")
                needed = page.ask("document.documentElement.scrollWidth")
                expect(needed <= width, f"{name}: expected {width} pixels, got {needed}")
                expect((page.brightness() > 128) == (scheme == LIGHT),
                       f"{name}: expected {scheme}, got {page.brightness()}")
                broken = page.ask("Array.from(document.images, image => "
                                  "image.naturalWidth).filter(width => !width)")
                expect(not broken, f"{name}: expected all pictures")
                page.quiet()


def test_every_page_on_a_phone(place):
    site = built(place)
    for path in sorted(site.rglob("*.html")):
        page = place.browser.open(path, NARROW)
        needed = page.ask("document.documentElement.scrollWidth")
        expect(needed <= NARROW, f"{path.relative_to(site)}: got {needed} pixels")


def await_answer(page, said):
    """Until the search says so."""
    end = time.monotonic() + LIMIT_S
    while time.monotonic() < end:
        answer = page.text(".md-search-result__meta")
        if said in answer:
            return
        time.sleep(0.05)
    raise AssertionError(f"expected the search to say '{said}', got '{answer.strip()}'")


def found(page, word):
    """The pages that a search finds, for a word that comes as a whole: `lr-`, on the
    way to `lr-find`, is no query, and the page would say so on the console."""
    page.driver.execute_script("document.querySelector('.md-search__input').focus()")
    await_answer(page, "Type to start")
    page.driver.execute_script("document.activeElement.value = arguments[0]", word)
    page.press("SHIFT")
    await_answer(page, "matching document")
    return [link.get_attribute("href").partition("?")[0]
            for link in page.all(".md-search-result__link")]


def test_search(place):
    site = built(place)
    for start, word, name in (("index", "lr-find", "docs/training.html"),
                              ("docs/results/index", "sgd_update", "docs/seeds.html"),
                              ("README.zh", "掩码", "docs/zh/seeds.html")):
        page = place.browser.open(site / f"{start}.html", WIDE)
        pages = found(page, word)
        expect(f"file://{site / name}" in pages, f"expected {name} for '{word}', got {pages}")
        page.quiet()
    page = place.browser.open(site / "index.html", WIDE)
    expect(not found(page, "frobnicate"), "expected nothing for 'frobnicate'")


def test_languages(place):
    """The switch leads to the same document in the other language, and back."""
    page = place.browser.open(built(place) / "docs/seeds.html", WIDE)
    for language, title in (("zh", "五个模型"), ("en", "What five models")):
        page.driver.get(page.one(f"a[hreflang={language}]").get_property("href"))
        expect(title in page.text("h1"), page.text("h1"))
        expect(page.ask("document.documentElement.lang") == language, language)
