"""The page over time: threads that are there again, who answers, and pages of PDF files beside their text."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.select import Select

from tests.browser.chrome import dark_mode, soon, wide
from tests.browser.test_page_looks import findings
from tests.browser.thread import all_of, marked, one, pose, press_on, ranking, settled, severe, visit
from tests.fakes.chat_model import ScriptedModel
from tests.fakes.pdf_writer import PdfFile
from tests.server.world import QUESTION, Script, build_store, listening
from trivium.engine import Engine
from trivium.server.settings import ServerSettings

SECOND = "What is Deimos?"
FERRY = "When did the ferry to Skagen sink?"
REASON = "document.querySelector('#reader .no-original')?.textContent ?? ''"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store, beside it the folder that it was built from."""
    folder = tmp_path_factory.mktemp("pages")
    file = PdfFile()
    lines = [f"The keepers of the lighthouse counted {number} geese." for number in range(40)]
    file.page().lines(72, 700, lines[:20], leading=24)
    page = file.page()
    page.lines(72, 740, lines[20:36], leading=24)
    page.text(72, 330, "The ferry", 18, bold=True)
    page.text(72, 300, "The ferry to Skagen sank in the storm of 1911, and all were saved.", 12)
    file.page().text(72, 700, "Nobody has counted any geese since the lighthouse was closed.", 12)
    (folder / "docs").mkdir()
    (folder / "docs" / "ferry report.pdf").write_bytes(file.data())
    with Engine.create(folder / "store", "minilm") as engine:
        engine.build([folder / "docs"])
    return folder


@pytest.fixture(scope="module")
def reports(folder: Path) -> Iterator[str]:
    with listening(folder / "store", extracts=True) as address:
        yield address


def page_shown(chrome: Chrome) -> str:
    """Which page the reader shows, once its picture is there."""
    loaded = (
        "const i = document.querySelector('#original .paper img'); return i?.complete && i.naturalWidth > 0"
    )
    soon(lambda: chrome.execute_script(loaded), "the picture of the page")
    return one(chrome, "#original-page").text


@pytest.mark.parametrize("width", [390, pytest.param(820, marks=pytest.mark.slow), 1440])
def test_the_page_of_a_pdf_is_shown_beside_its_text_with_the_passage_marked(
    reports: str, chrome: Chrome, width: int
) -> None:
    """FINDINGS 5: a page was named, not shown. Both places are in view, whatever the width."""
    wide(chrome, width)
    visit(chrome, reports)
    press_on(chrome, one(pose(chrome, FERRY), ".cite"))
    assert page_shown(chrome) == "Page 2 of 3"
    assert "1911" in marked(chrome).text
    picture = one(chrome, "#original .paper img")
    assert "Page 2 of ferry report" in (picture.get_attribute("alt") or "")
    paper, body = one(chrome, ".paper").rect, one(chrome, "#original-body").rect
    assert paper["height"] / paper["width"] == pytest.approx(792 / 612, abs=0.01)
    mark = chrome.find_elements("css selector", ".paper rect")[-1].rect  # below that of the heading
    assert (mark["y"] + mark["height"] - paper["y"]) / paper["height"] == pytest.approx(
        (792 - 300) / 792, abs=0.02
    )
    assert body["y"] <= mark["y"] and mark["y"] + mark["height"] <= body["y"] + body["height"]
    text = one(chrome, "#reader-text").rect
    beside = text["x"] + text["width"] <= body["x"] + 1
    assert beside if width > 500 else text["y"] + text["height"] <= body["y"] + 1
    assert chrome.execute_script("return document.documentElement.scrollWidth <= innerWidth")
    assert not severe(chrome)


def test_pages_are_turned_enlarged_hidden_and_opened_from_the_text(reports: str, chrome: Chrome) -> None:
    wide(chrome, 1280)
    visit(chrome, reports)
    press_on(chrome, one(pose(chrome, FERRY), ".cite"))
    assert page_shown(chrome) == "Page 2 of 3"
    one(chrome, "#original-after").click()
    soon(lambda: one(chrome, "#original-page").text == "Page 3 of 3")
    assert not one(chrome, "#original-after").is_enabled() and not all_of(chrome, ".paper rect")
    first = soon(lambda: all_of(chrome, "#reader .page-number button"), "numbers that open their page")[0]
    press_on(chrome, first)
    soon(lambda: one(chrome, "#original-page").text == "Page 1 of 3")
    before = one(chrome, ".paper").rect["width"]
    one(chrome, "#original-larger").click()
    assert one(chrome, ".paper").rect["width"] > 1.5 * before
    assert one(chrome, "#original-larger").get_attribute("aria-pressed") == "true"
    toggle = one(chrome, "#reader-note button")
    toggle.click()
    assert not one(chrome, "#original").is_displayed()
    assert (toggle.text, toggle.get_attribute("aria-expanded")) == ("Show the page", "false")
    toggle.click()
    assert one(chrome, "#original").is_displayed()


@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_nothing_in_a_page_beside_its_text(reports: str, chrome: Chrome, dark: bool) -> None:
    for width in (1280, 390):
        wide(chrome, width)
        dark_mode(chrome, dark)
        visit(chrome, reports)
        press_on(chrome, one(pose(chrome, FERRY), ".cite"))
        page_shown(chrome)
        assert findings(chrome) == []
    dark_mode(chrome, False)


def test_a_file_that_changed_is_read_as_text_with_a_word_on_why(
    folder: Path, reports: str, chrome: Chrome
) -> None:
    wide(chrome, 1280)
    file = folder / "docs" / "ferry report.pdf"
    times = file.stat().st_atime, file.stat().st_mtime
    os.utime(file, (times[0], times[1] + 60))
    try:
        visit(chrome, reports)
        press_on(chrome, one(pose(chrome, FERRY), ".cite"))
        soon(lambda: "has changed" in chrome.execute_script(f"return {REASON}"))
        assert not one(chrome, "#original").is_displayed() and "1911" in marked(chrome).text
    finally:
        os.utime(file, times)


@pytest.fixture(scope="module")
def moons(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_store(tmp_path_factory.mktemp("moons"))


def reopened(chrome: Chrome, address: str) -> None:
    """Close the page and open its address again, as on a later visit."""
    chrome.get("about:blank")
    chrome.get(address)
    soon(lambda: one(chrome, "#count").get_attribute("textContent"), "the page")


def test_a_thread_is_there_again_until_a_new_one_is_begun(moons: Path, chrome: Chrome) -> None:
    """With its answers, sources and reasons, without asking again; and it goes on."""
    wide(chrome, 1280)
    script = Script()
    with listening(moons, script=script) as address:
        visit(chrome, address)
        first = pose(chrome, QUESTION)
        answer, passages = one(first, ".answer-text").text, ranking(first)
        pose(chrome, SECOND)
        asked = len(script.asked)
        reopened(chrome, address)
        newest = settled(chrome)
        assert [turn.text for turn in all_of(chrome, ".turn h2")] == [QUESTION, SECOND]
        first = all_of(chrome, ".turn")[0]
        assert (one(first, ".answer-text").text, ranking(first)) == (answer, passages)
        assert all_of(newest, ".hit .reason") and one(newest, ".hit").is_displayed()
        assert not one(first, ".hit").is_displayed() and len(script.asked) == asked
        press_on(chrome, one(first, ".sources > summary"))
        soon(lambda: all_of(first, "[data-explained]"), "reasons, once somebody looks")
        press_on(chrome, one(first, ".cite"))
        assert marked(chrome)
        one(chrome, "#reader-close").click()
        pose(chrome, "When did he live?")
        assert [turn.question for turn in script.asked[-1][1]] == [QUESTION, SECOND]
        one(chrome, "#new-thread").click()
        assert one(chrome, "#welcome").is_displayed() and not all_of(chrome, ".turn")
        reopened(chrome, address)
        assert not all_of(chrome, ".turn") and not one(chrome, "#new-thread").is_displayed()


def test_conversations_are_listed_searched_named_opened_again_and_deleted(
    moons: Path, chrome: Chrome
) -> None:
    """Each with its own turns; going back leads to the conversation that a question was asked in."""

    def listed() -> list[str]:
        return [title.text for title in all_of(chrome, "#conversations-list .title")]

    wide(chrome, 390)
    with listening(moons, extracts=True) as address:
        visit(chrome, address)
        pose(chrome, QUESTION)
        one(chrome, "#new-thread").click()
        pose(chrome, SECOND)
        reopened(chrome, address)
        settled(chrome)
        one(chrome, "#open-conversations").click()
        assert listed() == [SECOND, QUESTION]
        assert findings(chrome) == []
        one(chrome, "#conversations-search").send_keys("found 1877")
        assert listed() == [QUESTION], "questions and answers are searched"
        press_on(chrome, one(chrome, "[aria-label^='Rename']"))
        chrome.switch_to.active_element.send_keys("Moons & <b>more</b>", Keys.ENTER)
        one(chrome, "#conversations-search").clear()
        one(chrome, "#conversations-search").send_keys("more")
        soon(lambda: listed() == ["Moons & <b>more</b>"])
        one(chrome, "#conversations-list .title").click()
        assert [turn.text for turn in all_of(chrome, ".turn h2")] == [QUESTION]
        chrome.back()
        soon(lambda: [turn.text for turn in all_of(chrome, ".turn h2")] == [SECOND])
        chrome.forward()
        soon(lambda: [turn.text for turn in all_of(chrome, ".turn h2")] == [QUESTION])
        pose(chrome, "Who is Asaph Hall?")
        one(chrome, "#open-conversations").click()
        assert "2 questions" in one(chrome, "#conversations-list li").text
        press_on(chrome, one(chrome, "[aria-label^='Delete Moons']"))
        assert one(chrome, ".confirm").text.startswith("Delete it?")
        press_on(chrome, one(chrome, ".confirm .danger"))
        assert listed() == [SECOND]
        one(chrome, "#conversations-close").click()
        assert one(chrome, "#welcome").is_displayed() and not all_of(chrome, ".turn")
        reopened(chrome, address)
        assert not all_of(chrome, ".turn")


def test_an_address_is_asked_by_itself_below_the_thread_that_was_kept(moons: Path, chrome: Chrome) -> None:
    """What a link asks is the same for everybody, and does not cost anybody their thread."""
    script = Script()
    with listening(moons, script=script) as address:
        visit(chrome, address)
        pose(chrome, QUESTION)
        reopened(chrome, f"{address}/#q=What+is+Phobos%3F")
        soon(lambda: len(all_of(chrome, ".turn")) == 2)
        settled(chrome)
        assert [turn.text for turn in all_of(chrome, ".turn h2")] == [QUESTION, "What is Phobos?"]
        assert script.asked[-1] == ("What is Phobos?", ())


def test_threads_of_collections_are_never_mixed(tmp_path: Path, moons: Path, chrome: Chrome) -> None:
    """Also where one address serves one after the other; each is there again with its own."""
    (tmp_path / "other").mkdir()
    other = build_store(tmp_path / "other")
    with listening(moons) as address:
        visit(chrome, address)
        pose(chrome, QUESTION)
    port = urlsplit(address).port or 0
    with listening(other, port=port):
        reopened(chrome, address)
        assert not all_of(chrome, ".turn")
        pose(chrome, SECOND)
    with listening(moons, port=port):
        reopened(chrome, address)
        assert [turn.text for turn in all_of(chrome, ".turn h2")] == [QUESTION]


def test_what_needed_a_key_goes_with_the_key(moons: Path, chrome: Chrome) -> None:
    """It is kept as long as that: until the tab is closed."""
    key = "a-key-of-more-than-16-characters"
    with listening(moons, ServerSettings(api_keys=(key,))) as address:
        chrome.get(address)
        chrome.execute_script("sessionStorage.setItem('trivium-key', arguments[0])", key)
        reopened(chrome, address)
        pose(chrome, QUESTION)
        assert chrome.execute_script("return Object.keys(localStorage)") == []
        reopened(chrome, address)
        assert len(all_of(chrome, ".turn")) == 1, "the tab is still open"
        chrome.execute_script("sessionStorage.clear()")


_FAILING = """
for (const name of ['localStorage', 'sessionStorage'])
  Object.defineProperty(window, name, {get() { throw new DOMException('no', 'SecurityError'); }});
"""
_FULL = "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError'); };"


@pytest.mark.parametrize("fault", [_FAILING, _FULL])
def test_a_browser_that_keeps_nothing_works_as_ever(moons: Path, chrome: Chrome, fault: str) -> None:
    added = chrome.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": fault})
    try:
        with listening(moons) as address:
            visit(chrome, address)
            severe(chrome)  # of other tests
            pose(chrome, QUESTION)
            assert "keeps nothing" in one(chrome, "#notice").text
            one(chrome, "#open-conversations").click()
            assert one(chrome, "#conversations-note").text == "No conversation is kept."
            one(chrome, "#conversations-close").click()
            one(chrome, "#new-thread").click()
            assert not all_of(chrome, ".turn")
            pose(chrome, SECOND)
            assert not severe(chrome)
    finally:
        chrome.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)


def test_what_is_kept_is_bounded(moons: Path, chrome: Chrome) -> None:
    """Thirty turns and a million characters each, three million together; what is no conversation is no harm."""
    with listening(moons) as address:
        visit(chrome, address)
        sizes = chrome.execute_async_script("""
          const done = arguments[0];
          import('/page/keeping.js').then(async ({conversation, conversations, keep}) => {
            const none = {citations: [], statements: [], passages: []};
            const turn = size => ({question: 'q', done: {answer: 'a'.repeat(size), ...none}});
            localStorage.setItem('trivium-thread-c-broken', '{"version":2,"turns":[null,{"question":3}]}');
            for (let n = 0; n < 120; n += 1) keep('c', `short${n}`, [turn(1)]);
            const short = conversations('c').length;
            await new Promise(then => setTimeout(then, 20)); // what is kept later has a later time
            keep('c', 'many', Array.from({length: 100}, () => turn(1)));
            for (let n = 0; n < 6; n += 1) {
              keep('c', `large${n}`, Array.from({length: 10}, () => turn(300000)));
              await new Promise(then => setTimeout(then, 5));
            }
            const turns = id => conversation('c', id)?.turns.length ?? 0;
            done([short, turns('large5'), turns('large0'), turns('many'), turns('broken'), conversations('c').length]);
          });
        """)
        assert sizes == [100, 3, 0, 0, 0, 3]


def test_who_answers_is_chosen_where_there_is_a_choice(moons: Path, chrome: Chrome) -> None:
    """Quietly, among the options; the newest question is then answered anew."""
    large, small = ScriptedModel("Asaph Hall found them [1]."), ScriptedModel("Hall did [1].")
    large.name, small.name = "large", "small"
    wide(chrome, 390)
    with listening(moons, extracts=True) as address:
        visit(chrome, address)
        one(chrome, "#options > summary").click()
        assert not one(chrome, "#model-choice").is_displayed(), "there is no choice"
    with listening(moons, model=large, models=(small,)) as address:
        visit(chrome, address)
        turn = pose(chrome, QUESTION)
        assert "Written by large" in one(turn, ".answer-note").text
        one(chrome, "#options > summary").click()
        choice = Select(one(chrome, "#model"))
        assert [option.text for option in choice.options] == [
            "written by large",
            "written by small",
            "quoted from the passages",
        ]
        assert one(chrome, "#model-choice label").text == "Answers"
        choice.select_by_value("small")
        soon(lambda: "Written by small" in one(turn, ".answer-note").text)
        choice.select_by_value("none")
        settled(chrome)
        soon(
            lambda: (
                "Written" not in one(turn, ".answer-note").text and turn.get_attribute("data-state") == "done"
            )
        )
        body = one(chrome, ".options-body")
        assert body.get_property("scrollWidth") <= body.get_property("clientWidth")
        chrome.find_element(By.CSS_SELECTOR, "#options > summary").click()
    assert len(all_of(chrome, ".turn")) == 1
