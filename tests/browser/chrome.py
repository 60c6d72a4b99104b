"""A Chromium without a window, which reaches nothing but this machine and notes what it asks for."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service

from tests.browser.neo4j_browser import ARGUMENTS, CHROMIUM, DRIVER, PATIENCE

T = TypeVar("T")


@contextmanager
def open_chrome(profile: Path) -> Iterator[Chrome]:
    """Start a browser with an empty profile."""
    options = ChromeOptions()
    options.binary_location = CHROMIUM or ""
    options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
    for argument in (*ARGUMENTS, f"--user-data-dir={profile}"):
        options.add_argument(argument)
    browser = Chrome(options=options, service=Service(DRIVER))
    try:
        yield browser
    finally:
        browser.quit()


def wide(chrome: Chrome, width: int) -> None:
    """As wide a window; a narrow one is a phone's."""
    metrics = {"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": width < 500}
    chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


def dark_mode(chrome: Chrome, dark: bool) -> None:
    """What the reader's system prefers."""
    features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
    chrome.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def soon(look: Callable[[], T], what: str = "", patience: float = PATIENCE) -> T:
    """What ``look`` finds, once it finds something. Raises AssertionError where it never does."""
    deadline, pause = time.monotonic() + patience, 0.02
    while True:
        found: Any = None
        with suppress(StaleElementReferenceException):  # it was drawn anew while it was looked at
            found = look()
        if found:
            return found
        assert time.monotonic() < deadline, f"waited in vain for {what or look}"
        time.sleep(pause)
        pause = min(1.5 * pause, 0.1)  # each look costs the browser, which has something to do
