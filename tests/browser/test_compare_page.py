"""The page that compares two runs, in a real browser: it asks for nothing, filters, sorts, and fits a phone."""

from __future__ import annotations

from pathlib import Path

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from tests.browser.chrome import dark_mode, wide
from trivium.datasets.gold import Gold
from trivium.evaluation.comparison.page import Setting, Side, comparison_page

HOSTILE = "<script>document.title = 'hostile'</script><img src=http://127.0.0.1:9/x>"
QUESTIONS = {"q1": "Who found Phobos?", "q2": f"Is {HOSTILE} shown?", "q3": "Where is Olympus Mons?"}
RANKS = {"q1": (5, 1), "q2": (1, 2), "q3": (3, 3)}
"""Won by .8, lost by .5, tied."""


@pytest.fixture
def page(chrome: Chrome, tmp_path: Path) -> Chrome:
    """The page, freshly opened on a desktop."""

    def run(side: int) -> dict[str, list[tuple[str, float]]]:
        return {
            question: [
                ("Mars#chunk-1" if n == ranks[side] else f"Page {n}#A heading#chunk-1", 1.0 / n)
                for n in range(1, 9)
            ]
            for question, ranks in RANKS.items()
        }

    gold = {question: Gold.of([["Mars#chunk-1"]]) for question in RANKS}
    setting = Setting(gold, QUESTIONS, {"vector": run(0)}, ["a set"])
    text = comparison_page(
        Side("vector", run(0)),
        Side("default", run(1), lambda _, uris: {uri: {"vector": 0.5} for uri in uris}),
        setting,
        lambda uris: {uri: f"The text of {uri}. {'word ' * 60}" for uri in uris},
    )
    (tmp_path / "page.html").write_text(text, "utf-8")
    wide(chrome, 1280)
    chrome.get((tmp_path / "page.html").as_uri())
    return chrome


def shown(chrome: Chrome) -> list[str]:
    """The ids of the questions to be seen, in order."""
    ids = {text: name for name, text in QUESTIONS.items()}
    texts = [
        item.find_element(By.CSS_SELECTOR, ".question").text
        for item in chrome.find_elements(By.CSS_SELECTOR, "#list > li")
        if item.is_displayed()
    ]
    return [ids[text] for text in texts]


def test_the_page_asks_for_nothing_and_runs_no_script_but_its_own(page: Chrome) -> None:
    """One request, for the file; no complaint of the content security policy; hostile text is text."""
    log = "\n".join(entry["message"] for entry in page.get_log("performance"))
    requested = {part.split('"', 1)[0] for part in log.split('"documentURL":"')[1:]}
    assert all(url.startswith(("file:", "chrome")) for url in requested)
    assert "127.0.0.1:9" not in log and "http://" not in log
    assert page.title == "default against vector"
    assert not [entry for entry in page.get_log("browser") if entry["level"] == "SEVERE"]


def test_filters_and_order(page: Chrome) -> None:
    """By verdict, by words anywhere in a question's card, and by rank."""
    assert shown(page) == ["q1", "q2", "q3"]
    page.find_element(By.CSS_SELECTOR, "input[value=lost]").click()
    assert shown(page) == ["q2"]
    page.find_element(By.CSS_SELECTOR, "input[value=all]").click()
    words = page.find_element(By.NAME, "words")
    words.send_keys("olympus WHERE")
    assert shown(page) == ["q3"]
    assert page.find_element(By.ID, "count").text == "1 shown"
    words.send_keys(" nothing-like-it")
    assert shown(page) == [] and page.find_element(By.ID, "nothing").is_displayed()
    words.clear()
    words.send_keys(Keys.SPACE)
    order = page.find_element(By.NAME, "order")
    order.find_element(By.CSS_SELECTOR, "option[value=first]").click()
    assert shown(page) == ["q2", "q3", "q1"]
    order.find_element(By.CSS_SELECTOR, "option[value=gain]").click()
    assert shown(page) == ["q1", "q2", "q3"]


def test_everything_is_reached_from_the_keyboard(page: Chrome) -> None:
    """Tab leads through the filters to the questions; an arrow chooses what is shown, Enter opens a question."""
    reached = []
    for _ in range(12):
        page.switch_to.active_element.send_keys(Keys.TAB)
        element = page.switch_to.active_element
        reached.append(element.get_attribute("name") or element.tag_name)
        if element.get_attribute("name") == "verdict":
            element.send_keys(Keys.ARROW_RIGHT)
            assert shown(page) == ["q1"]
            page.switch_to.active_element.send_keys(Keys.ARROW_LEFT)
            assert shown(page) == ["q1", "q2", "q3"]
    for name in ("verdict", "words", "order", "summary"):
        assert name in reached
    second = page.find_elements(By.TAG_NAME, "summary")[1]
    second.send_keys(Keys.ENTER)
    assert page.find_elements(By.TAG_NAME, "details")[1].get_attribute("open")


@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_runs_out_of_the_window(page: Chrome, width: int) -> None:
    wide(page, width)
    for details in page.find_elements(By.TAG_NAME, "details"):
        page.execute_script("arguments[0].open = true", details)
    assert page.execute_script("return document.documentElement.scrollWidth") <= width


def test_dark_where_the_reader_wants_it(page: Chrome) -> None:
    """The background is darker than the text, or lighter."""
    brightness = """
        return ['backgroundColor', 'color'].map(
            name => getComputedStyle(document.body)[name].match(/\\d+/g).slice(0, 3).reduce((a, b) => a + +b, 0))
    """
    for dark in (False, True):
        dark_mode(page, dark)
        background, text = page.execute_script(brightness)
        assert (background < text) is dark
