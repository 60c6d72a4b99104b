"""The page as a person uses it: ask, look, press, drop."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlsplit

from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

from tests.browser.chrome import soon

HOSTILE = "<img src=http://127.0.0.1:9/x onerror=\"document.title='hostile'\"><script>document.title='hostile'</script>"
"""Text that would do something if it were taken for markup."""

_LAST_STATE = "return [...document.querySelectorAll('.turn')].at(-1)?.dataset.state"
_DROP = """
const data = new DataTransfer();
for (const [name, text] of arguments[0]) data.items.add(new File([text], name));
for (const type of ['dragenter', 'dragover', 'drop']) {
  document.body.dispatchEvent(new DragEvent(type, {dataTransfer: data, bubbles: true, cancelable: true}));
}
"""
_INSIDE = """
const [inner, outer] = [...arguments].map(element => element.getBoundingClientRect());
return inner.top >= outer.top - 1 && inner.bottom <= outer.bottom + 1;
"""
_CONTRAST = """
const channels = colour => {
  const context = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  context.fillStyle = colour;
  context.fillRect(0, 0, 1, 1);
  return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3).map(value => value / 255);
};
const luminance = colour => channels(colour)
  .map(value => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
  .reduce((sum, value, place) => sum + value * [0.2126, 0.7152, 0.0722][place], 0);
let ground = arguments[0];
while (getComputedStyle(ground).backgroundColor === 'rgba(0, 0, 0, 0)') ground = ground.parentElement;
const [text, behind] = [getComputedStyle(arguments[0]).color, getComputedStyle(ground).backgroundColor].map(luminance);
return [(Math.max(text, behind) + 0.05) / (Math.min(text, behind) + 0.05), behind];
"""


def all_of(page: Chrome | WebElement, selector: str) -> list[WebElement]:
    return page.find_elements(By.CSS_SELECTOR, selector)


def one(page: Chrome | WebElement, selector: str) -> WebElement:
    return page.find_element(By.CSS_SELECTOR, selector)


def visit(page: Chrome, address: str) -> None:
    """Open the page with nothing stored from earlier visits, and wait until it shows what the collection holds."""
    page.get("about:blank")
    origin = "{0.scheme}://{0.netloc}".format(urlsplit(address))
    page.execute_cdp_cmd("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "local_storage"})
    page.get(address)
    soon(lambda: one(page, "#facts").get_attribute("textContent"), "what the collection holds")
    if not one(page, "#facts").is_displayed():
        # What the page before had just stored came back after it was removed from outside: a conversation is open.
        page.execute_script("localStorage.clear()")
        page.get("about:blank")  # the address has a question in it by now
        page.get(address)
        soon(lambda: one(page, "#facts").text, "what the collection holds")


def pose(page: Chrome, question: str, state: str = "done") -> WebElement:
    """Type a question and wait until its turn has come that far, with the reasons of its passages."""
    before = len(all_of(page, ".turn"))
    one(page, "#question").send_keys(question, Keys.ENTER)
    soon(lambda: len(all_of(page, ".turn")) > before, "a new turn")
    return settled(page, state)


def settled(page: Chrome, state: str = "done") -> WebElement:
    """The newest turn, when it is in that state and its passages have their reasons."""
    soon(lambda: page.execute_script(_LAST_STATE) == state, f"a turn that is {state}")
    turn = all_of(page, ".turn")[-1]
    if state == "done":
        soon(lambda: not all_of(turn, ".hit") or all_of(turn, "[data-explained]"), "the reasons")
    return turn


def ranking(turn: WebElement) -> list[str]:
    """The uris of the passages that a turn shows."""
    return [item.get_attribute("data-uri") or "" for item in all_of(turn, ".hit")]


def press_on(page: Chrome, element: WebElement) -> None:
    """Click where it can be seen: head and foot of the page cover what a driver scrolls to."""
    page.execute_script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", element)
    element.click()


def open_why(page: Chrome, turn: WebElement, place: int = 0) -> WebElement:
    """Ask why a passage is here, and wait until all of it is there."""
    item = all_of(turn, ".hit")[place]
    press_on(page, one(item, ".why > summary"))
    soon(lambda: all_of(item, ".contributions") and all_of(item, ".graph"), "the reasons in detail")
    return item


def marked(page: Chrome) -> WebElement:
    """The passage that the reader marks, which has to be in view."""
    soon(lambda: all_of(page, "#reader[open] .marked"), "the marked passage")
    found = one(page, "#reader .marked")
    assert page.execute_script(_INSIDE, found, one(page, "#reader-text")), "the marked passage is out of view"
    return found


def drop(page: Chrome, *files: tuple[str, str]) -> None:
    """Let files (name, text) fall onto the page."""
    page.execute_script(_DROP, files)


def contrast(page: Chrome, element: WebElement) -> tuple[float, float]:
    """Of its text and what is behind it, and the luminance of that."""
    text, ground = page.execute_script(_CONTRAST, element)
    return text, ground


def requested(page: Chrome) -> list[str]:
    """The addresses that were asked for since the last look."""
    messages: list[dict[str, Any]] = [
        json.loads(entry["message"])["message"] for entry in page.get_log("performance")
    ]
    return [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]


def severe(page: Chrome) -> list[str]:
    """What the browser complained of since the last look."""
    return [entry["message"] for entry in page.get_log("browser") if entry["level"] == "SEVERE"]
