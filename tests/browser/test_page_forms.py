"""A table, steps and code in the page at three widths: each as such, and nothing is cut off or scrolls sideways."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.remote.webelement import WebElement

from tests.browser.chrome import wide
from tests.browser.thread import all_of, one, pose, visit
from tests.form_files import BOATS, CODE, CODED, FILES, HEADS, LIST, PRICES, ROW, ROWS, STEPS
from tests.server.world import listening
from trivium.engine import Engine

WIDTHS = (360, 768, 1280)
_CUT = """
const inside = [...document.querySelectorAll(':is(.answer, .hit), :is(.answer, .hit) *:not(.hidden)')];
return [document.documentElement, ...inside]
  .filter(one => one.checkVisibility() && getComputedStyle(one).display !== 'inline')
  .filter(one => one.scrollWidth > one.clientWidth + 1)
  .map(one => `${one.tagName}.${one.className}`);
"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    store = tmp_path_factory.mktemp("forms") / "store"
    with Engine.create(store, "minilm") as engine:
        engine.add_files(FILES, workers=1)
    with listening(store, extracts=True) as address:
        yield address


@pytest.mark.parametrize("width", WIDTHS)
def test_each_form_is_shown_as_such(address: str, chrome: Chrome, width: int) -> None:
    """A row has a line for each cell; so have several where their columns do not fit, as on a phone."""
    wide(chrome, width)
    visit(chrome, address)

    def answer(question: str) -> WebElement:
        found = one(pose(chrome, question), ".answer-text")
        assert chrome.execute_script(_CUT) == [] and all_of(found, ".cite"), question
        return found

    def cells(found: WebElement) -> list[list[str]]:
        return [[cell.text for cell in all_of(row, "td")[:-1]] for row in all_of(found, "tbody tr")]

    row = answer(ROW)
    assert cells(row) == [PRICES[2]] and all_of(row, ".stacked")
    rows = answer(ROWS)
    assert cells(rows) == BOATS[1:3] and bool(all_of(rows, ".stacked")) is (width == 360)
    assert [head.get_property("textContent") for head in all_of(rows, "th")] == [*HEADS, "Source"]
    steps = [item.text.splitlines() for item in all_of(answer(LIST), "li")]
    assert [" ".join(lines[: 1 if lines[-1] == "2" else None]).removesuffix(" 2") for lines in steps] == STEPS
    code = answer(CODED)
    assert one(code, "pre").get_property("textContent") == CODE
    assert one(code, "p").text == "Book a berth from a terminal:"
