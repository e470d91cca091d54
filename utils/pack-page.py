#!/usr/bin/env python3
"""Makes the page of a report: one HTML file, compressed, of a page with a place for
each of its parts, and the libraries that it uses.

usage: pack-page.py PAGE STYLE SCRIPT... LICENSES -o PACKED

In PAGE, @STYLE@, @SCRIPTS@ and @LICENSES@ are replaced by what the files hold, and
@STYLE_HASH@ and @SCRIPT_HASH@ by what the page's policy allows: just these texts.
"""

import argparse
import base64
import hashlib
import html
import pathlib
import re
import zlib


def policy(text):
    return "'sha256-" + base64.b64encode(
        hashlib.sha256(text.encode()).digest()).decode() + "'"


def script_text(path):
    """A library that is a module becomes a script like the others."""
    text = path.read_text()
    text = re.sub(r"^export .*;$", "", text, flags=re.M)
    text = re.sub(r"^//# sourceMappingURL=.*$", "", text, flags=re.M)
    if "</script" in text.lower() or "<!--" in text:
        raise SystemExit(f"pack-page.py: error: expected a script without "
                         f"'</script' and '<!--', got {path.name}")
    return text.strip()


def page(arguments):
    first, style, *scripts, licenses = arguments.parts
    style = "\n" + style.read_text()
    # One scope: names of the parts do not meet those of browsers.
    script = "\n'use strict';\n" + "\n;\n".join(map(script_text, scripts)) + "\n"
    text = first.read_text()
    for key, value in (("@STYLE_HASH@", policy(style)), ("@SCRIPT_HASH@", policy(script)),
                       ("@LICENSES@", html.escape(licenses.read_text())),
                       ("@STYLE@", style), ("@SCRIPTS@", script)):
        if text.count(key) != 1:
            raise SystemExit(f"pack-page.py: error: expected {key} once in "
                             f"{first.name}, got {text.count(key)}")
        head, tail = text.split(key)
        text = head + value + tail
    return text


parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("parts", nargs="+", type=pathlib.Path)
parser.add_argument("-o", dest="output", type=pathlib.Path, required=True)
options = parser.parse_args()
options.output.write_bytes(zlib.compress(page(options).encode(), 9))
