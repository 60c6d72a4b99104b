"""Questions are reviewed in the page: shown one by one, decided on with keys and buttons, kept in the run's log."""

from __future__ import annotations

from pathlib import Path

from selenium.webdriver import Chrome
from selenium.webdriver.common.keys import Keys

from tests.browser.chrome import soon, wide
from tests.browser.thread import all_of, one, severe, visit
from tests.server.test_review import decisions, judged_run
from tests.server.world import listening
from trivium.cli.review_page import RunReview
from trivium.server.keys import new_key
from trivium.server.settings import ServerSettings


def note(chrome: Chrome) -> str:
    return one(chrome, "#review-note").text


def question(chrome: Chrome) -> str:
    return one(chrome, ".review-question").text


def press(chrome: Chrome, key: str) -> None:
    chrome.switch_to.active_element.send_keys(key)


def open_review(chrome: Chrome, address: str) -> None:
    visit(chrome, address)
    soon(lambda: one(chrome, "#open-review").is_displayed(), "the way to the review")
    one(chrome, "#open-review").click()
    soon(lambda: all_of(chrome, ".review-question"), "a question")


def test_questions_are_decided_on_by_keyboard_and_taken_back(
    store: Path, tmp_path: Path, chrome: Chrome
) -> None:
    """A, R, U and the arrows; answer and bridge stand out in the passages; what is decided is in the log at once, and a
    page that is opened anew goes on with what is left."""
    run = judged_run(tmp_path / "run")
    wide(chrome, 1280)
    with listening(store, extracts=True, reviewing=RunReview(run.folder, 2, 7)) as address:
        open_review(chrome, address)
        first = question(chrome)
        assert note(chrome) == "0 kept of 2, 3 to decide on"
        assert len(all_of(chrome, ".review-passage")) == 2
        answer = one(chrome, "#review-body > p .answer-mark").text
        assert answer in [mark.text for mark in all_of(chrome, ".review-passage .answer-mark")]
        assert all_of(chrome, ".review-passage .name-mark")
        press(chrome, "a")
        soon(lambda: note(chrome) == "1 kept of 2, 2 to decide on")
        second = question(chrome)
        press(chrome, "r")
        soon(lambda: note(chrome) == "1 kept of 2, 1 to decide on")
        third = question(chrome)
        assert len({first, second, third}) == 3
        press(chrome, "u")
        soon(lambda: question(chrome) == second and note(chrome).endswith("2 to decide on"), "taken back")
        press(chrome, Keys.ARROW_RIGHT)
        assert question(chrome) == third
        press(chrome, Keys.ARROW_LEFT)
        press(chrome, Keys.ARROW_LEFT)
        assert question(chrome) == first and one(chrome, ".decision").text == "Accepted"
        assert decisions(run) == [("accept", first), ("reject", second), ("edit", second)]
        open_review(chrome, address)
        assert question(chrome) == second, "the first that nobody has decided on"
        one(chrome, "#review-reject").click()
        soon(lambda: question(chrome) == third)
        one(chrome, "#review-accept").click()
        soon(lambda: "Every question is decided on" in one(chrome, "#review-body").text)
        press(chrome, Keys.ESCAPE)
        assert not one(chrome, "#review").is_displayed() and severe(chrome) == []
    assert [kind for kind, _ in decisions(run)] == ["accept", "reject", "edit", "reject", "accept"]


def test_a_wording_is_changed_and_letters_typed_decide_nothing(
    store: Path, tmp_path: Path, chrome: Chrome
) -> None:
    """While it is edited, a and r are letters. What then fails a check is said."""
    run = judged_run(tmp_path / "run", 1)
    wide(chrome, 390)
    with listening(store, extracts=True, reviewing=RunReview(run.folder, 1, 7)) as address:
        open_review(chrome, address)
        press(chrome, "e")
        field = soon(lambda: one(chrome, "#review-new-question"))
        field.clear()
        field.send_keys("A rare raft?")
        one(chrome, ".review-form .primary").click()
        soon(lambda: question(chrome) == "A rare raft?", "the new wording")
        assert "5 to 60 words" in one(chrome, ".caution").text
        assert decisions(run) == [("edit", "A rare raft?")]
        assert chrome.execute_script("return document.documentElement.scrollWidth") <= 390


def test_who_may_only_read_is_told_and_without_a_run_there_is_no_review(
    store: Path, tmp_path: Path, chrome: Chrome
) -> None:
    run = judged_run(tmp_path / "run", 1)
    text, key = new_key("reader", "read")
    wide(chrome, 1280)
    with listening(
        store, ServerSettings(api_keys=(key,)), extracts=True, reviewing=RunReview(run.folder, 1, 7)
    ) as address:
        chrome.get(address)
        soon(lambda: one(chrome, "#key-box").is_displayed())
        one(chrome, "#key").send_keys(text, Keys.ENTER)
        soon(lambda: one(chrome, "#open-review").is_displayed())
        one(chrome, "#open-review").click()
        soon(lambda: all_of(chrome, ".review-question"))
        press(chrome, "a")
        failed = soon(lambda: all_of(chrome, "#review .failed"), "why not")[0]
        assert "may only read" in failed.text and decisions(run) == []
    with listening(store, extracts=True) as address:
        visit(chrome, address)
        assert not one(chrome, "#open-review").is_displayed()
