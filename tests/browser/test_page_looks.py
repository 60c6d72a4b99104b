"""The page at three widths, light and dark: nothing runs out, all is legible, axe finds nothing, little is loaded."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver import ActionChains, Chrome
from selenium.webdriver.common.keys import Keys

from tests.browser.chrome import dark_mode, soon, wide
from tests.browser.thread import all_of, contrast, one, open_why, pose, press_on, requested, visit
from tests.server.world import listening
from trivium.engine import Engine
from trivium.server.app import PAGE

MOST_BYTES = 195_000
"""Of everything the page loads before it is used, uncompressed."""
MOST_LINES = 400

_AXE = """
const done = arguments[arguments.length - 1];
axe.run(document, {resultTypes: ['violations']}).then(
  ({violations}) => done(violations.map(({id, nodes}) => `${id}: ${nodes.map(node => node.target.join(' '))}`)),
  error => done([`axe failed: ${error}`]));
"""


def findings(chrome: Chrome) -> list[str]:
    """What axe finds in the page as it is."""
    if not chrome.execute_script("return 'axe' in window"):
        axe = Path(pytest.importorskip("axe_core_python").__file__).with_name("axe.min.js")
        chrome.execute_script(axe.read_text("utf-8"))
    soon(lambda: chrome.execute_script("return document.getAnimations().length === 0"))
    found: list[str] = chrome.execute_async_script(_AXE)
    return found


@pytest.fixture(scope="module")
def address(store: Path) -> Iterator[str]:
    with listening(store, extracts=True) as address:
        yield address


def test_it_is_small_and_in_files_of_a_readable_length(address: str, chrome: Chrome) -> None:
    visit(chrome, address)
    loaded = chrome.execute_script(
        "return performance.getEntriesByType('resource')"
        ".filter(entry => new URL(entry.name).pathname.startsWith('/page/'))"
        ".reduce((sum, entry) => sum + entry.decodedBodySize, 0)"
    )
    assert 20_000 < loaded < MOST_BYTES
    for file in PAGE.iterdir():
        assert len(file.read_text("utf-8").splitlines()) <= MOST_LINES, file.name


@pytest.mark.parametrize("width", [390, pytest.param(820, marks=pytest.mark.slow), 1280])
def test_nothing_runs_out_of_the_window(address: str, chrome: Chrome, width: int) -> None:
    def fits() -> bool:
        return bool(chrome.execute_script("return document.documentElement.scrollWidth <= innerWidth"))

    wide(chrome, width)
    visit(chrome, address)
    assert fits(), "the welcome"
    turn = pose(chrome, "Who found the moons of Mars?")
    assert fits(), "an answer"
    item = open_why(chrome, turn)
    assert fits(), "an explanation"
    written = all_of(item, ".graph .node text")
    assert all_of(item, ".graph .second") and all(line.is_displayed() for line in written), "lines of a label"
    for opener, dialog in (("#open-documents", "#documents"), ("#open-graph", "#explorer")):
        one(chrome, opener).click()
        box = one(chrome, dialog)
        soon(box.is_displayed)
        assert fits() and box.rect["width"] <= width, dialog
        assert box.get_property("scrollHeight") <= box.get_property("clientHeight"), (
            f"{dialog} scrolls as a whole"
        )
        one(chrome, f"{dialog}-close").click()
    one(chrome, "#options > summary").click()
    body = one(chrome, ".options-body").rect
    assert body["x"] >= 0 and body["x"] + body["width"] <= width and fits()


def test_what_another_document_says_instead_fits_a_phone(chrome: Chrome, tmp_path: Path) -> None:
    """Its button names the file, however long that is."""
    wide(chrome, 390)
    text = "# {}\n\nThe guest room of the hut costs {} euros per night.\n"
    files = {
        "prices 2025 of the hut and its guest room, second and final edition.md": text.format("Hut", 32),
        "prices 2026 of the hut and its guest room, second and final edition.md": text.format("Hut", 41),
    }
    with Engine.create(tmp_path / "store", "minilm") as engine:
        engine.add_files(files, workers=1)
    with listening(tmp_path / "store", extracts=True) as address:
        visit(chrome, address)
        turn = pose(chrome, "What does the guest room of the hut cost per night?")
        note, button = one(turn, ".otherwise"), one(turn, ".otherwise button")
        assert button.rect["x"] + button.rect["width"] <= note.rect["x"] + note.rect["width"] + 1
        assert chrome.execute_script("return document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_nothing_and_small_print_is_legible(address: str, chrome: Chrome, dark: bool) -> None:
    """Each part of the page in turn. The contrast of text and ground is at least 4.5 (WCAG AA)."""
    wide(chrome, 1280)
    dark_mode(chrome, dark)
    visit(chrome, address)

    def clean(where: str) -> None:
        assert findings(chrome) == [], where

    soon(lambda: all_of(chrome, ".example"))
    clean("the welcome")
    pose(chrome, "What is Deimos?")
    turn = pose(chrome, "Who found the moons of Mars?")
    for place in (0, 1):
        open_why(chrome, turn, place)
    clean("a thread")
    for selector in (".reason", ".snippet", ".score", ".contributions .source", ".cited", "#ask"):
        assert contrast(chrome, one(turn if selector != "#ask" else chrome, selector))[0] >= 4.5, selector
    assert (contrast(chrome, one(chrome, "body"))[1] < 0.2) is dark
    one(chrome, "#options > summary").click()
    clean("the options")
    ActionChains(chrome).send_keys(Keys.ESCAPE).perform()
    assert not one(chrome, ".options-body").is_displayed()
    press_on(chrome, one(turn, ".head"))
    soon(lambda: all_of(chrome, "#reader .marked"))
    clean("the reader")
    one(chrome, "#reader-close").click()
    one(chrome, "#open-documents").click()
    soon(lambda: all_of(chrome, "#documents-list .title"))
    clean("the documents")
    one(chrome, "#documents-close").click()
    chrome.execute_script("document.querySelector('#open-graph').click()")
    one(chrome, "#explorer-name").send_keys("Mars\n")
    soon(lambda: len(all_of(chrome, ".dot")) > 3)
    clean("the graph")


def test_who_wants_less_motion_gets_none(address: str, chrome: Chrome) -> None:
    features = [{"name": "prefers-reduced-motion", "value": "reduce"}]
    chrome.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    visit(chrome, address)
    pose(chrome, "Who found the moons of Mars?")
    one(chrome, "#options > summary").click()
    one(chrome, "input[value=vector]").click()
    soon(lambda: all_of(chrome, ".move"), "what moved")
    assert chrome.execute_script("return document.getAnimations().length") == 0
    dark_mode(chrome, False)


def test_the_api_is_described_for_people(address: str, chrome: Chrome) -> None:
    """Each request, its fields and the types they lead to, from this server alone; legible on a phone, to axe too."""
    wide(chrome, 390)
    requested(chrome)
    chrome.get(f"{address}/docs")
    soon(lambda: all_of(chrome, ".operation"), "what can be asked")
    listed = {
        " ".join(summary.text.split("\n")[0].split()) for summary in all_of(chrome, ".operation > summary")
    }
    assert {"POST /search", "POST /ask", "GET /documents", "DELETE /documents/{page}"} <= listed
    chrome.execute_script("document.querySelectorAll('details').forEach(one => (one.open = true))")
    assert "curl http://127.0.0.1" in one(chrome, "#search_search_post pre, .operation pre").text
    link = next(found for found in all_of(chrome, ".operation .kind a") if found.text == "PastTurn")
    press_on(chrome, link)
    assert "question" in one(chrome, "#type-PastTurn[open]").text
    assert chrome.execute_script("return document.documentElement.scrollWidth <= innerWidth")
    for dark in (False, True):
        dark_mode(chrome, dark)
        assert findings(chrome) == []
    assert all(place.startswith(address) for place in requested(chrome) if place.startswith("http"))
    dark_mode(chrome, False)
