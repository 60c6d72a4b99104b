"""The page in a real browser: ask, read, follow a citation, switch a view off, ask on; with the mouse and without."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from itertools import combinations
from pathlib import Path

import pytest
from selenium.webdriver import ActionChains, Chrome
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

from tests.browser.chrome import dark_mode, soon, wide
from tests.browser.thread import (
    HOSTILE,
    all_of,
    marked,
    one,
    open_why,
    pose,
    press_on,
    ranking,
    requested,
    settled,
    severe,
    visit,
)
from tests.pictures import drawn
from tests.server.world import QUESTION, Script, listening
from trivium.engine import Engine
from trivium.retrievers.registry import RETRIEVERS
from trivium.server.settings import ServerSettings

PIECES = ("Asaph Hall found both of them [1]. ", f"They are made of {HOSTILE} cheese.")


@pytest.fixture(scope="module")
def script() -> Script:
    return Script(pieces=PIECES)


@pytest.fixture(scope="module")
def address(store: Path, script: Script) -> Iterator[str]:
    with listening(store, script=script) as address:
        yield address


@pytest.fixture(scope="module")
def extracting(store: Path) -> Iterator[str]:
    """The address of a server that answers by itself, with sentences of what it finds."""
    with listening(store, extracts=True) as address:
        yield address


@pytest.fixture
def page(chrome: Chrome, address: str, script: Script) -> Chrome:
    """The page, freshly opened on a desk."""
    script.gate.set()
    wide(chrome, 1280)
    dark_mode(chrome, False)
    visit(chrome, address)
    chrome.get_log("performance")
    return chrome


def test_the_page_asks_only_its_server_and_hostile_text_stays_text(page: Chrome, address: str) -> None:
    """In a title, a passage, a question and an answer; read, explained, and drawn."""
    turn = pose(page, HOSTILE)
    place = next(i for i, uri in enumerate(ranking(turn)) if "<" in uri)
    item = open_why(page, turn, place)
    press_on(page, one(item, ".head"))
    assert HOSTILE in marked(page).text
    assert one(page, "#reader-title").text == HOSTILE
    one(page, "#reader-close").click()
    assert HOSTILE in one(turn, ".answer-text").text and one(turn, "h2").text == HOSTILE
    one(page, "#open-documents").click()
    soon(lambda: HOSTILE in [title.text for title in all_of(page, "#documents-list .title")])
    one(page, "#documents-close").click()
    one(page, "#open-graph").click()
    one(page, "#explorer-name").send_keys(HOSTILE, Keys.ENTER)
    soon(lambda: HOSTILE in one(page, "#explorer-about").text)
    addresses = requested(page)
    assert addresses and all(url.startswith((address, "blob:", "about:")) for url in addresses)
    assert page.title == f"{HOSTILE} · Trivium"
    assert not severe(page)


def test_a_passage_says_in_words_why_it_is_here_and_in_bars_when_asked(page: Chrome) -> None:
    turn = pose(page, QUESTION)
    assert len(all_of(turn, ".hit")) == 6
    for item in all_of(turn, ".hit"):
        assert one(item, ".reason").text.endswith(".")
        word, number = one(item, ".score").text.rsplit(" ", 2)[0], one(item, ".score small").text
        assert word.split("<")[0].strip() in ("sure", "likely", "maybe", "unlikely", "one of these")
        assert number.endswith(" %") and not all_of(item, ".contributions"), "on demand"
    reasons = " ".join(reason.text.lower() for reason in all_of(turn, ".reason"))
    assert "words match" in reasons and "near in meaning" in reasons and "link" in reasons
    assert any("moons" in term.text for term in all_of(turn, ".snippet .term")), "words of the question"
    item = open_why(page, turn)
    rows = all_of(item, ".contributions tbody tr")
    widths = [float(one(row, "rect").get_attribute("width") or 0) for row in rows]
    assert 1 < len(rows) <= len(RETRIEVERS) and max(widths) == 100 and min(widths) > 4, "what mattered"
    assert all(one(row, ".moved").text in ("up", "down") for row in rows)
    assert {one(row, ".named").text for row in rows} <= set(RETRIEVERS)
    assert all(len(one(row, "th:first-child").text.split()) > 1 for row in rows), "words come first"


def test_the_way_through_the_graph_is_drawn_and_an_entity_opens_in_the_graph(page: Chrome) -> None:
    item = open_why(page, pose(page, QUESTION))
    graph = one(item, ".graph")
    assert len(all_of(graph, ".node-question")) == 1 and len(all_of(graph, ".edge")) >= 1
    for a, b in combinations([node.rect for node in all_of(graph, ".node rect")], 2):
        assert (
            a["x"] + a["width"] <= b["x"] + 1
            or b["x"] + b["width"] <= a["x"] + 1
            or a["y"] + a["height"] <= b["y"] + 1
            or b["y"] + b["height"] <= a["y"] + 1
        ), "two nodes lie on each other"
    page.execute_script("arguments[0].focus()", one(graph, ".node-page, .node-entity"))
    page.switch_to.active_element.send_keys(Keys.ENTER)
    soon(lambda: all_of(page, "#explorer[open] .dot.chosen"))
    assert len(all_of(page, ".dot")) > 3


def test_the_answer_is_seen_while_it_is_written_and_can_be_stopped(page: Chrome, script: Script) -> None:
    script.gate.clear()
    turn = pose(page, QUESTION, "busy")
    soon(lambda: all_of(turn, ".hit"), "the passages, before the answer")
    text = one(turn, ".answer-text")
    assert text.get_attribute("aria-busy") == "true" and not all_of(turn, ".statement")
    script.gate.set()
    settled(page)
    assert text.get_attribute("aria-busy") == "false"
    assert text.text.startswith("Asaph Hall found both of them")
    soon(lambda: "found both of them" in (one(page, "#announce").get_attribute("textContent") or ""))
    script.gate.clear()
    script.closed.clear()
    stopped = pose(page, "What is Deimos?", "busy")
    soon(lambda: all_of(stopped, ".hit"))
    one(page, "#ask").click()
    soon(lambda: "Stopped" in one(stopped, ".answer-note").text)
    script.gate.set()
    assert script.closed.wait(20), "the server was told"
    one(stopped, ".again").click()
    settled(page)


def test_what_nothing_bears_out_is_marked_and_a_citation_opens_its_source(page: Chrome) -> None:
    turn = pose(page, QUESTION)
    supported, unsupported = all_of(turn, ".statement")
    assert "unsupported" not in (supported.get_attribute("class") or "")
    assert "unsupported" in (unsupported.get_attribute("class") or "") and "cheese" in unsupported.text
    cite, card = one(turn, ".cite"), one(page, "#card")
    ActionChains(page).move_to_element(cite).perform()
    soon(card.is_displayed)
    snippet = one(turn, ".hit .snippet").text.removesuffix("…").strip()
    assert " ".join(card.text.split("\n", 1)[1].split()).startswith(" ".join(snippet.split())[:100])
    assert one(turn, ".hit .cited").text == cite.text, "the passage carries the number too"
    cite.click()
    found = marked(page)
    assert not card.is_displayed()
    assert " ".join(found.text.split()).startswith(" ".join(snippet.split())[:60])
    assert one(page, "#reader-title").text == ranking(turn)[0].split("#")[0]
    assert all_of(found, ".term"), "words of the question"
    ActionChains(page).send_keys(Keys.ESCAPE).perform()
    soon(lambda: not one(page, "#reader").is_displayed())
    focused = page.execute_script("return document.activeElement.className")
    assert focused == "cite", "back where one was"


def test_a_citation_that_the_answer_does_not_name_is_shown_at_its_sentence(
    store: Path, chrome: Chrome
) -> None:
    """A model that cites nothing by itself is cited for, sentence by sentence."""
    script = Script(pieces=("Asaph Hall found them. ", "They are made of cheese."), unnamed="Asaph")
    with listening(store, script=script) as address:
        visit(chrome, address)
        borne_out, cheese = all_of(pose(chrome, QUESTION), ".statement")
        assert [mark.text for mark in all_of(borne_out, ".cite")] == ["1"]
        assert not all_of(cheese, ".cite")


@pytest.mark.parametrize("width", [390, pytest.param(820, marks=pytest.mark.slow), 1280])
def test_every_passage_opens_marked_and_in_view(page: Chrome, width: int) -> None:
    """FINDINGS, tried as a new user would, 4: it lay outside its box in four of five tries. On every width."""
    wide(page, width)
    turn = pose(page, "How was Phobos discovered?")
    for item in all_of(turn, ".hit")[:5]:
        press_on(page, one(item, ".head"))
        found = marked(page).text
        words = one(item, ".snippet").get_attribute("textContent") or ""
        assert found.split()[0] in words
        one(page, "#reader-close").click()


def test_tables_are_tables_and_titles_are_links(page: Chrome) -> None:
    """FINDINGS 5: no links to originals, and a table was a line of words."""
    page.execute_script("document.querySelector('#open-documents').click()")
    soon(lambda: all_of(page, "#documents-list .title"))
    next(title for title in all_of(page, "#documents-list .title") if title.text == "Mars").click()
    soon(lambda: all_of(page, "#reader .rows tbody tr"))
    assert [head.text for head in all_of(page, "#reader .rows thead th")] == ["Feature", "Kind", "Remark"]
    assert "Olympus Mons" in [cell.text for cell in all_of(page, "#reader .rows tbody td:first-child")]
    assert "687 days" in one(page, "#reader .facts-table").text
    link = next(
        link for link in all_of(page, "#reader-text .crumb") if link.text in ("Phobos", "Phobos (moon)")
    )
    press_on(page, link)
    soon(lambda: one(page, "#reader-title").text == "Phobos (moon)")
    # The title stands there before the document is read.
    soon(lambda: "Discovery" in [entry.text for entry in all_of(page, "#reader-outline button")])


WRITTEN = (
    "The moons [1]:\n\n| Moon | Radius |\n|---|---|\n| **Phobos** | 11 km [1] |\n| Deimos | 6 km |\n\n",
    f"Ask with `curl`:\n\n```sh\ncurl {HOSTILE} [1]\n\necho done\n```\n",
)


def test_tables_and_code_of_a_model_are_such(store: Path, chrome: Chrome) -> None:
    """Also with citations in cells; markup stays text."""
    wide(chrome, 390)
    with listening(store, script=Script(pieces=WRITTEN)) as address:
        visit(chrome, address)
        text = one(pose(chrome, QUESTION), ".answer-text")
        assert [head.text for head in all_of(text, "th")] == ["Moon", "Radius"]
        assert [one(text, f"tbody tr:nth-child({row}) td").text for row in (1, 2)] == ["Phobos", "Deimos"]
        assert one(text, "td b").text == "Phobos" and one(text, "td .cite").text == "1"
        assert one(text, "p code").text == "curl"
        assert one(text, "pre").get_property("textContent") == f"curl {HOSTILE} [1]\n\necho done"
        assert "|" not in text.text.replace(one(text, "pre").text, "") and "`" not in text.text
        assert chrome.title == f"{QUESTION} · Trivium"


def test_passages_show_the_rows_that_match_and_code_as_code(tmp_path: Path, chrome: Chrome) -> None:
    (tmp_path / "prices.csv").write_text(
        "Item,Price\n" + "".join(f"Bolt {number},{number}.50\n" for number in range(20)) + "Cartridge,23\n"
    )
    (tmp_path / "berth.md").write_text(
        "# Berths\n\nBook a berth with this command:\n\n```\nberth --book 4\n```\n"
    )
    with Engine.create(tmp_path / "store", "minilm") as engine:
        engine.build([tmp_path / "prices.csv", tmp_path / "berth.md"])
    wide(chrome, 390)
    with listening(tmp_path / "store", extracts=True) as address:
        visit(chrome, address)
        hit = one(pose(chrome, "What does the cartridge cost?"), ".hit")
        rows = [row.text.split() for row in all_of(hit, ".rows tbody tr")]
        assert ["Cartridge", "23"] in rows and len(rows) == 4
        assert "more rows" in one(hit, ".snippet").text
        hit = one(pose(chrome, "With which command is a berth booked?"), ".hit")
        assert one(hit, ".snippet pre").text == "berth --book 4"
        press_on(chrome, one(hit, ".snippet p"))
        assert one(marked(chrome), "pre").text == "berth --book 4"


def test_without_a_view_the_question_is_answered_anew(page: Chrome) -> None:
    """FINDINGS 4: switching a view off left the citations of the old order. What moved says so."""
    turn = pose(page, QUESTION)
    first = before = ranking(turn)
    one(page, "#options > summary").click()
    for name in ("vector", "walk", "page", "section"):
        one(page, f"input[value={name}]").click()
        soon(
            lambda name=name: any(  # type: ignore[misc]
                name not in (found.get_attribute("data-explained") or name)
                for found in all_of(turn, "[data-explained]")
            )
        )
        settled(page)
        after = ranking(turn)
        for rank, item in enumerate(all_of(turn, ".hit")):
            up = before.index(after[rank]) - rank if after[rank] in before else None
            # Not the visible text: what has just come is still fading in.
            moves = [move.get_attribute("textContent") for move in all_of(item, ".move")]
            assert moves == (
                ["new"] if up is None else [] if up == 0 else [f"{'▲' if up > 0 else '▼'}{abs(up)}"]
            )
        cited = one(turn, ".hit:has(.cited)").get_attribute("data-uri")
        assert cited == after[0], "the script cites the first passage"
        before = after
    assert before != first and len(all_of(page, ".turn")) == 1
    one(page, "#all-views").click()
    soon(lambda: ranking(turn) == first, "the ranking of before")
    assert all(box.is_selected() for box in all_of(page, "input[name=view]"))
    for name in RETRIEVERS:
        one(page, f"input[value={name}]").click()
    assert [box.get_attribute("value") for box in all_of(page, "#views input:checked")] == ["walk"], (
        "one view always stays on"
    )


def test_everything_can_be_done_from_the_keyboard(page: Chrome) -> None:
    def press(*keys: str) -> None:
        ActionChains(page).send_keys(*keys).perform()

    def focused(selector: str) -> bool:
        return bool(page.execute_script("return document.activeElement.matches(arguments[0])", selector))

    assert focused("#question"), "one can type at once"
    press(Keys.ESCAPE)
    assert not focused("#question")
    press("/")
    assert focused("#question") and one(page, "#question").get_attribute("value") == ""
    press(QUESTION, Keys.ENTER)
    settled(page)
    press(Keys.ARROW_DOWN)
    assert focused(".hit:nth-child(1) .head")
    press(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ARROW_UP)
    assert focused(".hit:nth-child(2) .head")
    press(Keys.ENTER)
    marked(page)
    assert focused(".marked"), "it is read from there"
    press(Keys.ESCAPE)
    assert focused(".hit:nth-child(2) .head")
    press(Keys.TAB, Keys.ENTER)
    soon(lambda: all_of(page, ".hit:nth-child(2) .contributions"))
    press(Keys.ESCAPE)
    assert not one(page, ".hit:nth-child(2) .contributions").is_displayed()
    press("/")
    assert focused("#question")


def test_the_address_holds_the_question_so_that_going_back_works(page: Chrome, address: str) -> None:
    first = pose(page, QUESTION)
    kept = page.current_url
    assert kept.startswith(f"{address}/#q=")
    pose(page, "What is Deimos?")
    page.back()
    soon(lambda: page.title == f"{QUESTION} · Trivium")
    assert len(all_of(page, ".turn")) == 2 and one(first, ".hit").is_displayed(), (
        "its passages are open again"
    )
    page.get("about:blank")
    page.get(kept)
    settled(page)
    assert one(page, ".turn h2").text == QUESTION
    one(page, "#home").click()
    soon(lambda: one(page, "#welcome").is_displayed())
    assert not all_of(page, ".turn")


def test_the_address_of_a_citation_shows_its_passage(page: Chrome, address: str) -> None:
    """As other clients link to it; the thread that is there stays."""

    def follow() -> None:
        page.get("about:blank")
        page.get(f"{address}/#source=Phobos%20%28moon%29%23chunk-1")
        assert "Phobos" in marked(page).text
        one(page, "#reader-close").click()

    follow()
    soon(lambda: one(page, "#welcome").is_displayed())
    pose(page, QUESTION)
    follow()
    assert one(page, ".turn h2").text == QUESTION


def test_a_thread_keeps_its_turns_is_passed_on_and_can_be_saved(page: Chrome, script: Script) -> None:
    """FINDINGS 5: there was no thread."""
    first = pose(page, QUESTION)
    shown = ranking(first)
    second = pose(page, "When did he live?")
    question, history = script.asked[-1]
    assert question == "When did he live?" and [turn.question for turn in history] == [QUESTION]
    assert one(first, ".answer-text").is_displayed() and ranking(first) == shown
    assert not one(first, ".hit").is_displayed() and one(second, ".hit").is_displayed()
    press_on(page, one(first, ".cite"))
    assert marked(page)
    one(page, "#reader-close").click()
    page.execute_script(
        "window.saved = []; URL.createObjectURL = blob => (blob.text().then(t => window.saved.push(t)), '#')"
    )
    one(page, "#open-conversations").click()
    for name in ("save-markdown", "save-json"):
        one(page, f"#{name}").click()
    one(page, "#conversations-close").click()
    soon(lambda: page.execute_script("return window.saved.length") == 2)
    markdown, exported = page.execute_script("return window.saved")
    assert markdown.startswith(f"## {QUESTION}\n") and "- [1] " in markdown
    assert [turn["question"] for turn in json.loads(exported)["turns"]] == [QUESTION, "When did he live?"]
    one(page, "#new-thread").click()
    assert not all_of(page, ".turn")
    pose(page, "What is Deimos?")
    assert script.asked[-1][1] == ()


def test_passages_answer_and_explanation_belong_to_the_question_searched_for(
    extracting: str, chrome: Chrome
) -> None:
    """FINDINGS 3: a follow-up had the passages of its literal words while the answer was of the rewritten ones, which
    nobody was told."""
    wide(chrome, 1280)
    visit(chrome, extracting)
    pose(chrome, "Who discovered Phobos?")
    turn = pose(chrome, "When did he die?")
    searched = one(turn, ".searched q").text
    assert "Asaph Hall" in searched or "Phobos" in searched
    cited = [item.get_attribute("data-uri") for item in all_of(turn, ".hit:has(.cited)")]
    assert cited, "what the answer cites is among the passages shown"
    graph = one(open_why(chrome, turn), ".graph")
    asked = one(graph, ".node-question title").get_attribute("textContent") or ""
    assert searched in asked, "explained for the same question"
    press_on(chrome, one(turn, ".searched button"))
    soon(lambda: not one(turn, ".searched").is_displayed())
    settled(chrome)
    assert len(all_of(chrome, ".turn")) == 2, "in its place"


def test_outcomes_look_different_and_a_greeting_has_no_passages(extracting: str, chrome: Chrome) -> None:
    visit(chrome, extracting)
    absent = pose(chrome, "What is the price of milk in Peru?")
    assert one(absent, ".outcome").text == "Not in the collection"
    assert one(absent, ".sources summary").text.startswith("Nearest passages")
    greeting = pose(chrome, "hello")
    assert not one(greeting, ".outcome").is_displayed() and not all_of(greeting, ".hit")
    assert "nothing was searched for" in one(greeting, ".searched").text
    press_on(chrome, one(greeting, ".searched button"))
    soon(lambda: all_of(greeting, ".hit"), "it is searched for all the same")


def _drawn_wide(chrome: Chrome, selector: str) -> list[WebElement]:
    """Looked for anew each time: passages are drawn again when the answer has come."""
    return [picture for picture in all_of(chrome, selector) if picture.get_property("naturalWidth") == 320]


def test_a_picture_is_shown_beside_its_passage(tmp_path: Path, chrome: Chrome) -> None:
    """Described, and in its document, where it is in view; also where the server asks for a key."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "chair.png").write_bytes(drawn(size=(640, 480)))
    (tmp_path / "docs" / "page.md").write_text(
        f"# Chairs\n\n{'Desks are round. ' * 300}\n\n![The office chair{', of oak' * 90}](chair.png)\n"
    )
    with Engine.create(tmp_path / "store", "minilm") as engine:
        engine.build([tmp_path / "docs"])
    key = "a-key-of-some-length"
    wide(chrome, 390)
    for settings in (ServerSettings(), ServerSettings(api_keys=(key,))):
        with listening(tmp_path / "store", settings, extracts=True) as address:
            chrome.get(address)
            if settings.api_keys:
                chrome.execute_script("sessionStorage.setItem('trivium-key', arguments[0])", key)
                chrome.refresh()
            pose(chrome, "Which office chair is shown?")
            for selector, where in ((".hit .snippet img", "beside"), ("#reader img", "in its document")):
                picture = soon(partial(_drawn_wide, chrome, selector), where)[0]
                assert (picture.get_attribute("alt") or "").startswith("The office chair")
                if where == "beside":
                    press_on(chrome, one(chrome, ".hit .head:has(img)"))
                else:
                    frame = one(chrome, "#reader-text").rect["y"]
                    soon(lambda picture=picture, frame=frame: 0 <= picture.rect["y"] - frame < 300, "in view")  # type: ignore[misc]
            chrome.execute_script("sessionStorage.clear()")
