"""The graph of the page, opened on the people whom files name."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest
from selenium.webdriver import ActionChains, Chrome
from selenium.webdriver.common.keys import Keys

from tests.browser.chrome import dark_mode, soon, wide
from tests.browser.test_page_looks import findings
from tests.browser.thread import all_of, marked, one, pose, press_on, severe, visit
from tests.server.world import build_named_store, listening
from trivium.engine import Engine


def test_the_graph_opens_on_people_and_tells_what_is_said_of_one(tmp_path: Path, chrome: Chrome) -> None:
    wide(chrome, 1280)
    dark_mode(chrome, False)
    with listening(build_named_store(tmp_path), extracts=True) as address:
        visit(chrome, address)
        one(chrome, "#open-graph").click()
        soon(lambda: all_of(chrome, ".dot-person"), "who is mentioned")
        names = [dot.get_attribute("aria-label") for dot in all_of(chrome, ".dot-person[role=button]")]
        assert names == ["Person: Mary Somerville", "Person: Charles Babbage"]
        assert len(all_of(chrome, ".link")) == 1, "two passages name both"
        mary = one(chrome, ".dot[data-id='Mary Somerville']")
        chrome.execute_script("arguments[0].focus()", mary)
        ActionChains(chrome).send_keys(Keys.ENTER).perform()
        card = one(chrome, "#explorer-about")
        soon(lambda: "Mentioned in 4 passages" in card.text, "the card")
        said = "Mary Somerville — chair of — Quarry Books\nIn the end, Mary Somerville was the chair of Quarry Books."
        assert said in card.text
        assert one(card, "h3").text == "Mary Somerville" and "Person" in card.text
        assert "Somerville" in card.text.partition("Also: ")[2]
        assert "won <b>a prize</b>." in card.text, "text, not markup"
        assert "in 2 passages with Charles Babbage" in card.text
        assert findings(chrome) == []
        person = one(chrome, "#explorer-legend button")
        assert person.text == "Person 2"
        person.click()
        soon(lambda: one(chrome, "#explorer-legend button").get_attribute("aria-pressed") == "true")
        press_on(chrome, one(chrome, ".dot-person .shape"))
        soon(lambda: "After lunch Mrs Somerville" in card.text)
        press_on(chrome, one(card, "li:nth-child(2) .crumb"))
        assert "Somerville" in marked(chrome).text
        one(chrome, "#reader-close").click()
        one(chrome, "#explorer-close").click()
        turn = pose(chrome, "What did Mary Somerville ask for after lunch?")
        press_on(chrome, one(turn, ".actions button:last-child"))
        soon(lambda: all_of(chrome, ".dot-person.lit"), "the person between question and passage")
        one(chrome, ".dot-chunk .shape").click()
        soon(lambda: "Found through Mary Somerville" in card.text)
        assert not severe(chrome)


@pytest.mark.parametrize("width", [390, 1280])
def test_names_in_the_graph_lie_on_nothing_and_kinds_differ_in_shape(
    store: Path, chrome: Chrome, width: int
) -> None:
    """Around a document whose relations have a direction: arrows, and names where there is room."""
    wide(chrome, width)
    with listening(store, extracts=True) as address:
        visit(chrome, address)
        one(chrome, "#open-graph").click()
        one(chrome, "#explorer-name").send_keys("Mars", Keys.ENTER)
        soon(lambda: all_of(chrome, ".dot.chosen"))
        one(chrome, "#explorer-fit").click()
        soon(lambda: chrome.execute_script("return document.getAnimations().length === 0"))
        written = [text for text in all_of(chrome, "#explorer-canvas .name") if text.is_displayed()]
        assert len(written) > 5 and "Mars" in [text.text for text in written]
        for a, b in combinations([text.rect for text in written], 2):
            assert (
                a["x"] + a["width"] <= b["x"] + 1
                or b["x"] + b["width"] <= a["x"] + 1
                or a["y"] + a["height"] <= b["y"] + 1
                or b["y"] + b["height"] <= a["y"] + 1
            ), "two names lie on each other"
        assert all((line.get_attribute("d") or "").count("M") == 2 for line in all_of(chrome, ".link"))
        one(chrome, "#explorer-close").click()
        turn = pose(chrome, "Who found the moons of Mars?")
        press_on(chrome, one(turn, ".actions button:last-child"))
        soon(lambda: all_of(chrome, ".dot-chunk"), "passages")
        assert {one(dot, ".shape").tag_name for dot in all_of(chrome, ".dot-page")} == {"rect"}
        assert {one(dot, ".shape").tag_name for dot in all_of(chrome, ".dot-chunk, .dot-section")} == {"path"}
        assert {one(dot, ".shape").tag_name for dot in all_of(chrome, ".dot-question")} == {"circle"}


def test_the_graph_of_documents_that_mention_nothing_shows_the_documents(
    tmp_path: Path, chrome: Chrome
) -> None:
    wide(chrome, 1280)
    for name, text in (("tides.txt", "the water rises and falls"), ("bread.txt", "flour and salt are mixed")):
        (tmp_path / name).write_text(text)
    with Engine.create(tmp_path / "store", "minilm") as engine:
        engine.build([tmp_path / "tides.txt", tmp_path / "bread.txt"])
    with listening(tmp_path / "store") as address:
        visit(chrome, address)
        one(chrome, "#open-graph").click()
        soon(lambda: len(all_of(chrome, ".dot-page")) == 2, "the documents")
        assert "no passage mentions" in one(chrome, "#explorer-note").text
        press_on(chrome, one(chrome, "#explorer-about .crumb"))
        soon(lambda: all_of(chrome, ".dot.chosen"))
