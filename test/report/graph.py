"""Nodes, steps, and what is said of each when it is chosen."""

from harness import expect, ok
from pages import TRAIN, data_of


def plan_named(data, name):
    return next(plan for plan in data["plans"] if plan["name"] == name)


def test_every_node_and_step(place):
    explained = place.explained()
    page = place.browser.open(place.report())
    for tab, plan in enumerate(explained["plans"]):
        page.click(f"#plans button:nth-child({tab + 1})")
        nodes = {node["node"] for node in plan["nodes"] if node["operator"]}
        labels = {box.get_attribute("aria-label") for box in page.all("#graph .node")}
        expect(len(labels) == len(nodes), f"expected {len(nodes)} nodes, got {labels}")
        for node in nodes:
            expect(any(node in label for label in labels), f"expected {node}")
        steps = [box.get_attribute("aria-label") for box in page.all("#graph .step")]
        expect(len(steps) == len(plan["steps"]), f"{plan['name']}: {steps}")
        for label, step in zip(steps, plan["steps"]):
            expect(label == f"step {step['step']} {step['name']}, {step['runs_as']}",
                   f"expected {step['name']}, got {label}")
        expect(len(page.all("#steps tbody tr")) == len(steps), "expected all steps")
        expect(len(page.all("#lanes .mark")) == len(steps), "expected all marks")
        lines = {(int(line.get_attribute("data-node")),
                  int(line.get_attribute("data-step")))
                 for line in page.all("#graph .link")}
        for index, node in enumerate(plan["nodes"]):
            for step in node["steps"] if node["operator"] else ():
                expect((index, step) in lines, f"expected a line from {node} to {step}")
    page.quiet()


def test_click_says_why_and_how(place):
    explained = plan_named(place.explained(), "train_64")
    source = ok(place.mnistc, place.model(), *TRAIN, "--emit=source").out
    page = place.browser.open(place.report())
    for number in (1, 2, 3, 12):
        page.click(f"#graph .step[data-id='{number}']")
        told = page.text("#details")
        for reason in explained["steps"][number - 1]["why"].split("; "):
            expect(reason in told, f"expected '{reason}' for step {number}")
        texts = [pre.get_property("textContent") for pre in page.all("#details pre")]
        expect(len(texts) == 2, f"expected kernel and call of step {number}")
        for text in texts:
            for line in text.splitlines()[1:]:
                if not line.startswith("static void step_"):
                    expect(line in source, f"expected '{line}' to be generated")
    page.click("#graph .node[data-id='0']")
    told = page.text("#details")
    expect("conv_0" in told and "ONNX Conv" in told, told[:300])


def test_calls_of_frameworks(place):
    """docs/seeds.md has the facts; here they are where they belong."""
    data = data_of(place.report())["compiled"]
    plan = plan_named(data, "train_64")

    def functions(step):
        rows = [data["frameworks"][row] for row in step["replaces"]]
        return {word for row in rows for word in
                (row["library"], row["pytorch"], row["tensorflow"], row["mxnet"])}

    for name, words in (
            ("maxpool_2", {"cudnnConvolutionForward", "cudnnActivationForward"}),
            ("gemm_9", {"cublasSgemm"}),
            ("conv_0.grad.select", {"cudnnConvolutionBackwardData",
                                    "cudnnActivationBackward"}),
            ("conv2.weight", {"cudnnConvolutionBackwardFilter"}),
            ("conv2.bias.momentum", {"cudnnConvolutionBackwardBias"})):
        step = next(step for step in plan["steps"] if step["name"] == name)
        expect(words <= functions(step), f"{name}: expected {words}, got "
               f"{functions(step)}")
    updates = next(step for step in plan["steps"] if step["name"] == "updates")
    expect(any("sgd_mom_update" in word for word in functions(updates)),
           f"expected the optimizer, got {functions(updates)}")
    page = place.browser.open(place.report())
    page.click("#graph .node[data-id='0']")
    told = page.text("#details .calls")
    for word in ("PyTorch", "TensorFlow", "MXNet", "cudnnConvolutionForward",
                 "cudnnConvolutionBackwardFilter"):
        expect(word in told, f"expected {word}, got {told}")


def test_keyboard(place):
    page = place.browser.open(place.report())
    page.driver.execute_script(
        "document.querySelector('#graph .node[tabindex=\"0\"]').focus()")
    page.press("ARROW_DOWN", "ARROW_DOWN", "ENTER")
    expect("maxpool_2" in page.text("#details .what"), page.text("#details"))
    page.press("ARROW_RIGHT")
    label = page.driver.switch_to.active_element.get_attribute("aria-label")
    expect(label.startswith("step "), f"expected a step, got {label}")
    page.press("END", "SPACE")
    last = page.all("#graph .step")[-1].get_attribute("data-id")
    expect(page.text("#details .what").startswith(f"{last}."), "expected the last step")
    page.press("ESCAPE")
    expect("Nothing" in page.text("#details"), page.text("#details"))
    # The tabs are one stop, too.
    page.driver.execute_script(
        "document.querySelector('#plans [aria-selected=true]').focus()")
    before = page.text("#plans [aria-selected=true]")
    page.press("ARROW_RIGHT")
    expect(page.text("#plans [aria-selected=true]") != before, "expected another plan")


def test_width_of_lines(place):
    page = place.browser.open(place.report("--batch=64"))

    def widths():
        return page.ask("Array.from(document.querySelectorAll('.link'),"
                        "link => link.getAttribute('stroke-width'))")
    by_bytes = widths()
    page.click("#width button:nth-of-type(2)")
    expect(widths() != by_bytes, "expected other widths by time")
