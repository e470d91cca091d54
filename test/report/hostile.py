"""Names of a model are text, whatever they say."""

import numpy as np
from onnx import helper

from harness import expect, ok, save_model
from pages import data_of

HIT = "window.hit = (window.hit || 0) + 1"
NAMES = [
    f"</script><script>{HIT}</script>",
    f'<img src=x onerror="{HIT}">',
    f"<!--<script>{HIT}",
    f'"><svg onload="{HIT}">',
    "line\u2028separator\u2029\\u003c/script>",
    "@DATA@ @SCRIPTS@",
    "${hit} `hit` javascript:hit",
]


def hostile_model(path):
    nodes, x = [], NAMES[-1] + "in"
    for name in NAMES:
        nodes.append(helper.make_node("Relu", [x], [name], name=name))
        nodes.append(helper.make_node("Add", [name, "w"], [name + "+"],
                                      name=name + "+"))
        x = name + "+"
    return save_model(path, nodes, [(NAMES[-1] + "in", [2, 8])], [(x, [2, 8])],
                      [("w", np.ones(8, np.float32))])


def test_names_are_text(place):
    model = hostile_model(place.path("</h1><b>model&.onnx".replace("/", "")))
    for flags in (("-O0",), ()):
        path = place.path("hostile.html")
        ok(place.mnistc, model, *flags, f"--report={path}")
        names = {node["node"] for node in data_of(path)["compiled"]["plans"][0]["nodes"]}
        expect(set(NAMES) <= names, f"expected the names as they are, got {names}")
        page = place.browser.open(path)
        expect(page.ask("window.hit") is None, "expected nothing to be executed")
        expect(not page.all("img") and not page.all("b"), "expected no new elements")
        for step in range(len(page.all("#graph .step"))):
            page.driver.execute_script("choose('step', arguments[0])", step + 1)
        for index, name in enumerate(NAMES):
            page.driver.execute_script("choose('node', arguments[0])", 2 * index)
            expect(name in page.text("#details"), f"expected '{name}'")
        expect(page.ask("window.hit") is None, "expected nothing to be executed")
        expect(page.ask("performance.getEntriesByType('resource').length") == 0,
               "expected no request")
        page.quiet()


def test_policy_stops_scripts_and_requests(place):
    """If a name did become an element, it could do nothing."""
    page = place.browser.open(place.report())
    page.driver.execute_script("""
        const script = document.createElement('script');
        script.textContent = 'window.hit = 1';
        document.body.append(script);
        const image = document.createElement('img');
        image.setAttribute('onerror', 'window.hit = 2');
        image.src = 'http://127.0.0.1:9/x.png';
        document.body.append(image);""")
    said = [entry["message"] for entry in page.driver.get_log("browser")]
    expect(page.ask("window.hit") is None, "expected the policy to refuse")
    expect(any("Content Security Policy" in message for message in said),
           f"expected the policy, got {said}")
