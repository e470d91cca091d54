"""Times, memory, the roofline, and what a training came to."""

from harness import expect
from pages import data_of


def test_estimates_are_called_estimates(place):
    page = place.browser.open(place.report())
    expect(page.text("#time-text").startswith("Estimated, not measured"),
           page.text("#time-text"))
    expect("estimated" in page.text("#facts") and "estimated" in page.text("#steps"),
           "expected the word")
    expect("Measured" not in page.text("body main"), "expected no measurement")


def test_measured_times(place):
    path, told = place.profiled
    data = data_of(path)
    expect(data["profile"] == told, "expected what --json says")
    page = place.browser.open(path)
    text = page.text("#time-text")
    expect(text.startswith("Measured on CPU") and "2 runs" in text, text)
    row = page.text("#steps tbody tr:nth-child(2)")
    # Python and browsers round halves differently.
    us = told["steps"][1]["us"]
    expect(any(f"{us + way:,.2f}" in row for way in (-1e-3, 1e-3)), row)
    expect("measured" in page.text("#facts"), page.text("#facts"))
    page.click("#plans button:nth-child(1)")  # which nobody has run
    expect(page.text("#time-text").startswith("Estimated"), "expected an estimate")


def test_streams_are_lanes(place):
    page = place.browser.open(place.report())
    plan = next(plan for plan in data_of(place.report())["compiled"]["plans"]
                if plan["name"] == "train_64")
    lanes = {mark.get_attribute("y") for mark in page.all("#lanes .mark")}
    expect(len(lanes) == plan["streams"] > 1, f"expected {plan['streams']} lanes")
    for step in plan["steps"]:
        begin = step["estimated_start_us"]
        for before in step.get("after", ()):
            other = plan["steps"][before - 1]
            expect(begin >= other["estimated_start_us"] + other["estimated_us"],
                   f"expected step {step['step']} after {before}")


def test_arena_and_roof(place):
    """No two tensors are in one place at one time; no estimate beats the roof."""
    page = place.browser.open(place.report())
    for plan in data_of(place.report())["compiled"]["plans"]:
        held = [result for step in plan["steps"] for result in step["results"]]
        for i, a in enumerate(held):
            expect(a["offset"] + a["bytes"] <= plan["arena_bytes"], f"{a}")
            for b in held[:i]:
                apart = (a["offset"] + a["bytes"] <= b["offset"] or
                         b["offset"] + b["bytes"] <= a["offset"])
                expect(apart or a["first"] >= b["last"] or b["first"] >= a["last"],
                       f"expected one of {a} and {b}")
        for step in plan["steps"]:
            expect(0 < step["roof_us"] <= step["estimated_us"], f"{step['name']}")
    expect(len(page.all("#arena .held")) > 10, "expected tensors")
    expect(len(page.all("#roof .mark")) > 10, "expected steps")


def test_training(place):
    path, told = place.trained
    data = data_of(path)["training"]
    rows = sum(map(sum, data["confusion"]))
    right = sum(row[i] for i, row in enumerate(data["confusion"]))
    expect(rows == told["test_rows"] == 500, f"expected 500 rows, got {rows}")
    expect(abs(right / rows - told["test_accuracy"]) < 1e-9,
           f"expected the accuracy {told['test_accuracy']}, got {right / rows}")
    expect(data["rates"][0][1] == 0.02 and data["rates"][-1][1] < 0.001,
           f"expected a cosine, got {data['rates']}")
    page = place.browser.open(path)
    expect(len(page.all("#training .curve")) >= 4, "expected curves")
    expect(len(page.all("#training .cell")) == 100, "expected ten classes twice")
    worst = page.all(".worst img")
    expect(len(worst) == min(24, rows - right), f"expected mistakes, got {len(worst)}")
    page.driver.execute_script("document.querySelectorAll('.worst img')"
                               ".forEach(image => { image.loading = 'eager'; })")
    page.driver.execute_async_script(
        "const done = arguments[0]; Promise.all(Array.from("
        "document.querySelectorAll('.worst img'), i => i.decode())).then(done)")
    sizes = page.ask("Array.from(document.querySelectorAll('.worst img'),"
                     "image => image.naturalWidth)")
    expect(set(sizes) == {28}, f"expected pictures of 28 pixels, got {sizes}")
