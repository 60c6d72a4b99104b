"""The graph of the page, opened on the people whom files name."""

from __future__ import annotations

from pathlib import Path

from selenium.webdriver import ActionChains, Chrome
from selenium.webdriver.common.keys import Keys

from tests.browser.chrome import dark_mode, soon, wide
from tests.browser.test_page_looks import findings
from tests.browser.thread import all_of, marked, one, pose, press_on, severe, visit
from tests.server.world import build_named_store, listening


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
        press_on(chrome, one(chrome, ".dot-person circle"))
        soon(lambda: "After lunch Mrs Somerville" in card.text)
        press_on(chrome, one(card, "li:nth-child(2) .crumb"))
        assert "Somerville" in marked(chrome).text
        one(chrome, "#reader-close").click()
        one(chrome, "#explorer-close").click()
        turn = pose(chrome, "What did Mary Somerville ask for after lunch?")
        press_on(chrome, one(turn, ".actions button:last-child"))
        soon(lambda: all_of(chrome, ".dot-person.lit"), "the person between question and passage")
        one(chrome, ".dot-chunk circle").click()
        soon(lambda: "Found through Mary Somerville" in card.text)
        assert not severe(chrome)
