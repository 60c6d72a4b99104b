"""Neo4j Browser as a person uses it, in a Chromium without a window that reaches nothing but this machine."""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from selenium.common.exceptions import (
    ElementClickInterceptedException,
    ElementNotInteractableException,
    NoSuchElementException,
    StaleElementReferenceException,
)
from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
ARGUMENTS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-proxy-server",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
    "--window-size=1600,1000",
)
PATIENCE = 120.0
"""Seconds; a machine busy with other tests draws slowly."""
NOT_YET = (
    NoSuchElementException,
    StaleElementReferenceException,  # drawn anew meanwhile
    ElementNotInteractableException,
    ElementClickInterceptedException,  # behind something
)
"""What a click raises before there is a button to click on."""
T = TypeVar("T")

# What pasting from the clipboard and dropping a file do; a driver has neither a clipboard nor files.
_PASTE = """
const field = document.querySelector('.monaco-editor textarea'), data = new DataTransfer();
data.setData('text/plain', arguments[0]);
field.focus();
field.dispatchEvent(new ClipboardEvent('paste', {clipboardData: data, bubbles: true, cancelable: true}));
"""
_DROP = """
const data = new DataTransfer(), target = document.querySelector('[data-testid=main]');
data.items.add(new File([arguments[1]], arguments[0]));
for (const kind of ['dragenter', 'dragover', 'drop'])
  target.dispatchEvent(new DragEvent(kind, {dataTransfer: data, bubbles: true, cancelable: true}));
"""
_DRAWN = """
const frame = arguments[0], all = selector => Array.from(frame.querySelectorAll(selector));
return {
  nodes: all('g.node').map(node => [node.getAttribute('transform'), node.textContent,
    getComputedStyle(node.querySelector('circle.b-outline')).fill]),
  relationships: all('g.relationship').length,
  text: frame.innerText,
};
"""


@dataclass(frozen=True, slots=True)
class Node:
    """A circle: the text in it and its colour, as in ``rgb(47, 109, 181)``."""

    caption: str
    colour: str


@dataclass(frozen=True, slots=True)
class Drawing:
    """A graph as Browser shows it; ``legend`` counts the nodes of each label and the relationships of each type."""

    nodes: list[Node]
    relationships: int
    legend: dict[str, int]


class Neo4jBrowser:
    """A page of Neo4j Browser."""

    def __init__(self, chrome: Chrome) -> None:
        self._chrome = chrome

    def open(self, address: str) -> None:
        """Go to an address of Browser and wait for the form that asks for the password."""
        self._chrome.get(address)
        self._find("input[type=password]")

    def form(self) -> dict[str, str]:
        """What the form for logging in holds by now."""
        names = ("boltaddress", "username", "password")
        return {name: self._find(f"input[data-testid={name}]").get_attribute("value") or "" for name in names}

    def log_in(self, password: str) -> None:
        """Fill in the password and wait until Browser is connected."""
        self._find("input[type=password]").send_keys(password, Keys.ENTER)
        self._until(lambda: "You are connected" in self._find("[data-testid=stream]").text)

    def run(self, command: str) -> WebElement:
        """Paste a query or command into the editor and run it; returns the frame with its result."""
        before = self._frames()
        self._chrome.execute_script(_PASTE, command)
        self._until(lambda: self._find("[data-testid=editor-Run]").is_enabled())
        self._click("[data-testid=editor-Run]")
        return self._until(lambda: next((frame for frame in self._frames() if frame not in before), None))

    @contextmanager
    def drawn(self, query: str) -> Iterator[Drawing]:
        """Run a query that returns a graph, fill the window with it, and wait until the drawing has come to rest;
        closed at the end."""
        frame = self.run(query)
        self._until(lambda: frame.find_elements(By.CSS_SELECTOR, "g.node"), "a drawing")
        self._click("[title=Fullscreen]", frame)
        frame = self._frames()[0]
        try:
            self._at_rest(lambda: self._chrome.execute_script(_DRAWN, frame))
            self._click("[aria-label=zoom-to-fit]", frame)
            found = self._at_rest(lambda: self._chrome.execute_script(_DRAWN, frame))
            legend = re.findall(r"(\w+) \((\d+)\)", found["text"].partition("Node labels")[2])
            yield Drawing(
                [Node(caption, colour) for _, caption, colour in found["nodes"]],
                found["relationships"],
                {name: int(count) for name, count in legend},
            )
        finally:
            self._click("[title=Close]", frame)

    def drop(self, file: Path) -> None:
        """Drop a file on the window."""
        self._chrome.execute_script(_DROP, file.name, file.read_text("utf-8"))

    def comes_to_remember(self, what: str, value: Callable[[Any], object]) -> bool:
        """Wait until ``value`` holds of what Browser keeps for the next visit: ``settings``, or the style as ``grass``
        (selector -> property -> value; None before there is one)."""
        script = f"return localStorage['neo4j.{what}'] || 'null'"
        return bool(self._until(lambda: value(json.loads(self._chrome.execute_script(script))), what))

    def screenshot(self, target: Path) -> None:
        """The window as a PNG."""
        assert self._chrome.save_screenshot(str(target))

    def _frames(self) -> list[WebElement]:
        return self._chrome.find_elements(By.CSS_SELECTOR, "article[data-testid=frame]")

    def _find(self, selector: str) -> WebElement:
        return self._until(
            lambda: next(iter(self._chrome.find_elements(By.CSS_SELECTOR, selector)), None), selector
        )

    def _click(self, selector: str, within: WebElement | None = None) -> None:
        """Click on a button as soon as it is there, in front of everything, and enabled."""

        def clicked() -> bool:
            try:
                (within or self._chrome).find_element(By.CSS_SELECTOR, selector).click()
            except NOT_YET:
                return False
            return True

        self._until(clicked, selector)

    def _until(self, ready: Callable[[], T | None], what: str = "Browser") -> T:
        deadline = time.monotonic() + PATIENCE
        while not (value := ready()):
            assert time.monotonic() < deadline, f"waited {PATIENCE:.0f} s for {what}"
            time.sleep(0.1)
        return value

    def _at_rest(self, look: Callable[[], T]) -> T:
        deadline, before = time.monotonic() + PATIENCE, look()
        while True:
            time.sleep(1.0)
            if (now := look()) == before:
                return now
            assert time.monotonic() < deadline, "the drawing does not come to rest"
            before = now


@contextmanager
def neo4j_browser(profile: Path) -> Iterator[Neo4jBrowser]:
    """Browser with a fresh profile in a folder."""
    assert CHROMIUM is not None
    assert DRIVER is not None
    options = ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in (*ARGUMENTS, f"--user-data-dir={profile}"):
        options.add_argument(argument)
    chrome = Chrome(options=options, service=Service(DRIVER))
    try:
        yield Neo4jBrowser(chrome)
    finally:
        chrome.quit()
