"""A real browser, with the network off, and the pages that it opens."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from immigrate import ImmigrateClassifier, Report
from immigrate.datasets import make_trial

FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
]
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
HOSTILE = [
    "<script>window.broken = 1</script>",
    "\"quotes\" 'and' `ticks`",
    "</style><b>bold</b>",
    "</script><img src=x onerror='window.broken=1'>",
    "\u202eright to left\u202c",
    "שלום עולם",
    "=HYPERLINK(1)",
    "x" * 300,
]


def why_no_browser() -> str:
    try:
        import axe_core_python  # noqa: F401
        import selenium  # noqa: F401
    except ImportError as error:
        return f"{error.name} is not installed: make browser"
    if not shutil.which("chromedriver") or not any(map(shutil.which, BROWSERS)):
        return "there is no browser: apt-get install chromium chromium-driver"
    return ""


class Page:
    """One page, opened from disk."""

    def __init__(self, driver):
        self.driver = driver

    def open(self, path, *, width=1280, height=900, dark=False, media=""):
        self.looks(width=width, height=height, dark=dark, media=media)
        self.driver.get_log("browser"), self.driver.get_log("performance")
        self.driver.get(Path(path).as_uri())
        return self

    def looks(self, *, width=1280, height=900, dark=False, media=""):
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        wanted = {"media": media, "features": [scheme]}
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", wanted)

    def js(self, code, *values):
        return self.driver.execute_script(code, *values)

    def all(self, selector):
        return self.driver.find_elements("css selector", selector)

    def one(self, selector):
        return self.driver.find_element("css selector", selector)

    def texts(self, selector):
        return [node.text for node in self.all(selector)]

    def click(self, selector):
        node = self.one(selector)
        self.js("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", node)
        node.click()

    def press(self, x, y):
        for kind in ("mousePressed", "mouseReleased"):
            event = {"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1}
            self.driver.execute_cdp_cmd("Input.dispatchMouseEvent", event)

    @property
    def messages(self):
        return self.driver.get_log("browser")

    @property
    def requests(self):
        said = (
            json.loads(one["message"])["message"] for one in self.driver.get_log("performance")
        )
        return [
            one["params"]["request"]["url"]
            for one in said
            if one["method"] == "Network.requestWillBeSent"
        ]


@pytest.fixture(scope="session")
def driver(tmp_path_factory):
    reason = why_no_browser()
    if reason and os.environ.get("IMMIGRATE_NEEDS_BROWSER"):
        pytest.fail(reason)
    if reason:
        pytest.skip(reason)
    driver = started(tmp_path_factory.mktemp("profile"))
    yield driver
    driver.quit()


def started(profile):
    """The browser, with the network off and a profile of its own."""
    from selenium import webdriver
    from selenium.webdriver.chrome.options import Options
    from selenium.webdriver.chrome.service import Service

    options = Options()
    options.binary_location = next(filter(None, map(shutil.which, BROWSERS)))
    for flag in [*FLAGS, f"--user-data-dir={profile}"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    offline = {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
    driver.execute_cdp_cmd("Network.enable", {})
    driver.execute_cdp_cmd("Network.emulateNetworkConditions", offline)
    return driver


@pytest.fixture
def page(driver):
    return Page(driver)


def saved(folder, name, *given, **options):
    return Report.of(*given, ImmigrateClassifier(), cv=3, **options).save(folder / f"{name}.html")


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("pages")


@pytest.fixture(scope="session")
def trial(driver, folder):
    """A page with one pair and two features found."""
    return saved(folder, "trial", make_trial(300, random_state=0), "outcome", title="A trial")


@pytest.fixture(scope="session")
def noise(driver, folder):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.standard_normal((80, 5)), columns=list("abcde"))
    return saved(folder, "noise", table.assign(y=rng.integers(0, 2, 80)), "y", title="Noise")


@pytest.fixture(scope="session")
def four_classes(driver, folder):
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.standard_normal((200, 4)), columns=["red", "green", "blue", "grey"])
    y = 2 * (X["red"] > 0) + (X["green"] > 0)
    return saved(folder, "four", X, y.map(dict(enumerate("KLMN"))), title="Four classes")


@pytest.fixture(scope="session")
def hostile(driver, folder):
    """Names, labels and a title that try to be markup."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((150, len(HOSTILE))), columns=HOSTILE)
    y = np.where(X.iloc[:, 0] * X.iloc[:, 1] > 0, HOSTILE[3], HOSTILE[4])
    return saved(folder, "hostile", X, y, title=HOSTILE[2] + HOSTILE[3])


@pytest.fixture
def hostile_names():
    return HOSTILE


@pytest.fixture(scope="session")
def many_pairs(driver, folder):
    """142 features have 10,011 pairs."""
    X = np.random.default_rng(0).standard_normal((60, 142))
    return saved(folder, "many", X, X[:, 0] > 0, title="Many pairs")
