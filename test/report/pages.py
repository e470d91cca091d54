"""Reports that several tests look at, and the browser that they look with."""

import base64
import json
import re
import shutil
import sys

import harness
from harness import ROOT, Skip, expect, ok

LIGHT, DARK = "light", "dark"
WIDE, NARROW = 1280, 390
TRAIN = ("--train", "--optimizer=momentum", "--lr=0.02", "--batch=64")
RUN = ("--data=digits", "--limit=1280", "--test-limit=500", "--epochs=2",
       "--schedule=cosine")


class Browser:
    """Chromium, without a window."""

    def __init__(self):
        try:
            from selenium import webdriver
        except ImportError as error:
            raise Skip("no selenium") from error
        chromium = shutil.which("chromium")
        driver = shutil.which("chromedriver")
        if not chromium or not driver:
            raise Skip("no chromium with its driver")
        options = webdriver.ChromeOptions()
        options.binary_location = chromium
        # Its sandbox refuses root; and /dev/shm of a container is small.
        for flag in ("--headless=new", "--no-sandbox", "--disable-gpu",
                     "--disable-dev-shm-usage", "--hide-scrollbars"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(
            options=options, service=webdriver.ChromeService(driver))

    def close(self):
        self.driver.quit()

    def open(self, path, width=WIDE, scheme=LIGHT):
        """Errors of the console are the test's."""
        tell = self.driver.execute_cdp_cmd
        tell("Emulation.setDeviceMetricsOverride",
             {"width": width, "height": 1000, "deviceScaleFactor": 1,
              "mobile": False})
        tell("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": scheme}]})
        self.driver.get(f"file://{path}")
        self.quiet()
        return self

    def quiet(self):
        said = [entry["message"] for entry in self.driver.get_log("browser")]
        expect(not said, f"expected no message on the console, got {said}")

    def ask(self, script, *arguments):
        return self.driver.execute_script(f"return {script}", *arguments)

    def brightness(self):
        color = self.ask("getComputedStyle(document.body).backgroundColor")
        return sum(int(part) for part in color.strip("rgb()").split(",")[:3]) / 3

    def all(self, selector):
        return self.driver.find_elements("css selector", selector)

    def one(self, selector):
        found = self.all(selector)
        expect(found, f"expected '{selector}' on the page, got none")
        return found[0]

    def text(self, selector):
        return self.one(selector).get_property("textContent")

    def press(self, *keys):
        """To what has the focus."""
        from selenium.webdriver.common.keys import Keys
        for key in keys:
            self.driver.switch_to.active_element.send_keys(getattr(Keys, key))

    def click(self, selector):
        """Where the page is, as a mouse would."""
        self.driver.execute_script(
            "arguments[0].scrollIntoView({block: 'center', inline: 'center'})",
            self.one(selector))
        self.one(selector).click()

    def picture(self, path, height=1400):
        shot = self.driver.execute_cdp_cmd("Page.captureScreenshot", {
            "format": "png", "captureBeyondViewport": True,
            "clip": {"x": 0, "y": 0, "width": self.ask("innerWidth"),
                     "height": height, "scale": 1}})
        path.write_bytes(base64.b64decode(shot["data"]))
        expect(path.stat().st_size > 10000, f"expected a picture in {path}")


class Place(harness.Place):
    def __init__(self, folder, options):
        super().__init__(folder, options)
        self.screenshots = options.screenshots or folder / "screenshots"
        self.screenshots.mkdir(parents=True, exist_ok=True)

    def close(self):
        if "browser" in self.made:
            self.made["browser"].close()

    @property
    def browser(self):
        return self.once("browser", Browser)

    def model(self, name="pytorch-simplecnn"):
        def make():
            path = self.path(f"{name}.onnx")
            ok(sys.executable, ROOT / "models/make.py", name, path)
            return path
        return self.once(("model", name), make)

    def report(self, *flags):
        """The compiler's, of a model to train on a GPU unless `flags` differ."""
        flags = flags or TRAIN

        def make():
            path = self.path(f"report-{len(self.made)}.html")
            ok(self.mnistc, self.model(), *flags, f"--report={path}")
            return path
        return self.once(("report", flags), make)

    def explained(self, *flags):
        return json.loads(ok(self.mnistc, self.model(), *(flags or TRAIN),
                             "--explain=json").out)

    @property
    def program(self):
        def make():
            path = self.path("app")
            ok(self.mnistc, self.model(), *TRAIN, "--target=cpu", "-o", path)
            return path
        return self.once("program", make)

    @property
    def profiled(self):
        def make():
            path = self.path("profiled.html")
            done = ok(self.program, "profile", "--plan=train", "--repeat=2",
                      f"--report={path}", "--json")
            return path, json.loads(done.out)
        return self.once("profiled", make)

    @property
    def trained(self):
        def make():
            path = self.path("trained.html")
            done = ok(self.program, "train", *RUN, f"--report={path}", "--json")
            return path, json.loads(done.out)
        return self.once("trained", make)


def data_of(path):
    """What a page shows, as JSON."""
    found = re.search(r'<script type="application/json" id="data">(.*)</script>\n',
                      path.read_text())
    expect(found, f"expected data in {path}")
    return json.loads(found[1])
