"""The page and its server: documents are added and deleted, the graph is explored, what cannot be done is said."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

from selenium.webdriver import ActionChains, Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.select import Select

from tests.browser.chrome import soon, wide
from tests.browser.thread import all_of, drop, marked, one, pose, press_on, ranking, settled, visit
from tests.server.world import HTML, QUESTION, Script, build_store, listening
from trivium.engine import Engine
from trivium.server.keys import new_key
from trivium.server.settings import ServerSettings
from trivium.speech import Speech


def titles(chrome: Chrome) -> list[str]:
    return [title.text for title in all_of(chrome, "#documents-list .title")]


def test_an_empty_collection_leads_to_adding_documents_and_what_fails_says_why(
    tmp_path: Path, chrome: Chrome
) -> None:
    """FINDINGS, tried as a new user would, 4 and 5: an empty store said "add documents" and had no way to; there was no
    upload and no list of documents."""
    with Engine.create(tmp_path / "store", "minilm"):
        pass
    (tmp_path / "vulcan.html").write_text(HTML)
    wide(chrome, 1280)
    with listening(tmp_path / "store", extracts=True) as address:
        visit(chrome, address)
        assert one(chrome, "#start").is_displayed() and not one(chrome, "#try").is_displayed()
        one(chrome, "#add-first").click()
        soon(lambda: one(chrome, "#documents").is_displayed())
        one(chrome, "#files").send_keys(str(tmp_path / "vulcan.html"))
        soon(lambda: titles(chrome) == ["Vulcan"], "the document in the list")
        assert one(chrome, ".upload[data-state=done] .state").text == "added"
        record = {"title": "Janus", "text": "Janus is a moon of Saturn, found by Audouin Dollfus in 1966."}
        drop(chrome, ("janus.jsonl", json.dumps(record)), ("broken.pdf", "no PDF"))
        soon(lambda: titles(chrome) == ["Janus", "Vulcan"], "what was dropped")
        failed = soon(lambda: all_of(chrome, ".upload[data-state=failed]"), "what could not be read")[0]
        assert "could not be read" in failed.text and "broken.pdf" in one(failed, ".problems").text
        one(chrome, "#documents-close").click()
        assert not one(chrome, "#start").is_displayed()
        examples = soon(
            lambda: [one for one in all_of(chrome, ".example") if "Janus" in one.text],
            "questions drawn from the collection, with what was dropped",
        )
        examples[0].click()
        assert ranking(settled(chrome))[0].startswith("Janus")
        assert "1966" in one(pose(chrome, "When was Janus found?"), ".answer").text


def test_documents_are_searched_filtered_and_deleted_after_asking_once_more(
    tmp_path: Path, chrome: Chrome
) -> None:
    (tmp_path / "notes.md").write_text("# Notes on Vulcan\n\nNobody has seen it.\n")
    store = build_store(tmp_path)
    with Engine.open(store) as engine:
        engine.build([tmp_path / "notes.md"])
    with listening(store, extracts=True) as address:
        visit(chrome, address)
        one(chrome, "#open-documents").click()
        soon(lambda: len(titles(chrome)) == 5)
        one(chrome, "#documents-search").send_keys("ho")
        assert titles(chrome) == ["Phobos"]
        one(chrome, "#documents-search").clear()
        one(chrome, "#documents-search").send_keys(" ")
        Select(one(chrome, "#documents-format")).select_by_value("markdown")
        assert titles(chrome) == ["Notes on Vulcan"]
        Select(one(chrome, "#documents-format")).select_by_value("")
        row = chrome.find_element(By.XPATH, "//li[button[text()='Deimos']]")
        assert "1 passage · added 20" in one(row, ".note").text
        one(row, ".remove").click()
        keep, delete = one(row, ".confirm button:last-child"), one(row, ".confirm .danger")
        assert chrome.switch_to.active_element == keep, "the harmless one is nearest"
        keep.click()
        assert "Deimos" in titles(chrome)
        one(row, ".remove").click()
        delete = one(row, ".confirm .danger")
        delete.click()
        soon(lambda: titles(chrome) == ["Asaph Hall", "Mars", "Notes on Vulcan", "Phobos"])


def test_documents_that_disagree_are_listed_with_the_one_in_force_first(
    tmp_path: Path, chrome: Chrome
) -> None:
    """A press on a document opens it at the passage."""
    said = {
        "prices 2025.md": "# Hut prices\n\nThe guest room costs 32 euros per night.\n",
        "prices 2026.md": "# Prices\n\nThe guest room costs 41 euros per night.\n",
    }
    with Engine.create(tmp_path / "store", "minilm") as engine:
        engine.add_files(said, workers=1)
    with listening(tmp_path / "store", extracts=True) as address:
        visit(chrome, address)
        one(chrome, "#open-documents").click()
        soon(lambda: one(chrome, "#conflicts").is_displayed())
        one(chrome, "#conflicts summary").click()
        first, second = soon(lambda: all_of(chrome, "#conflicts-list p"), "what they disagree on")
        assert "prices 2026.md" in first.text and "in force" in first.text and "41 euros" in first.text
        assert "prices 2025.md" in second.text and "older" in second.text and "32 euros" in second.text
        one(first, ".title").click()
        assert "41 euros" in soon(lambda: marked(chrome), "the passage").text


def test_a_key_is_asked_for_and_one_that_may_only_read_is_told_so(tmp_path: Path, chrome: Chrome) -> None:
    text, reading = new_key("reader", "read")
    settings = ServerSettings(api_keys=(reading.line,))
    with listening(build_store(tmp_path), settings) as address:
        chrome.get(address)
        soon(lambda: one(chrome, "#key-box").is_displayed(), "the question for a key")
        one(chrome, "#key").send_keys("a-wrong-key-that-is-long", Keys.ENTER)
        soon(
            lambda: (
                one(chrome, "#key").get_attribute("value") == "" and one(chrome, "#key-box").is_displayed()
            )
        )
        one(chrome, "#key").send_keys(text, Keys.ENTER)
        soon(lambda: one(chrome, "#facts").text)
        pose(chrome, QUESTION)
        chrome.refresh()
        settled(chrome)  # with the key that was kept
        drop(chrome, ("more.jsonl", json.dumps({"title": "Io", "text": "A moon."})))
        soon(lambda: "may only read" in one(chrome, ".upload .state").text, "that it may not")
        press_on(chrome, all_of(chrome, "#documents-list .remove")[0])
        one(chrome, "#documents-list .danger").click()
        said = soon(lambda: all_of(chrome, "#documents-list .failed"), "that it may not delete either")
        assert "may only read" in said[0].text
        chrome.execute_script("sessionStorage.clear()")


def test_a_server_that_stopped_is_named_and_can_be_asked_again(tmp_path: Path, chrome: Chrome) -> None:
    """FINDINGS 4: "Failed to fetch" stood above the passages of the question before."""
    store = build_store(tmp_path)
    with listening(store) as address:
        visit(chrome, address)
        first = pose(chrome, QUESTION)
    turn = pose(chrome, "What is Deimos?", "failed")
    note = one(turn, ".answer-note")
    assert "cannot be reached" in note.text and "fetch" not in note.text
    assert not all_of(turn, ".hit") and not one(first, ".hit").is_displayed()
    with listening(store, port=urlsplit(address).port or 0):
        one(turn, ".again").click()
        settled(chrome)
        assert all_of(turn, ".hit") and "cannot" not in note.text


def test_old_passages_are_dimmed_while_they_are_asked_for_anew_and_errors_are_plain(
    tmp_path: Path, chrome: Chrome
) -> None:
    """FINDINGS 4: old passages stayed while a new question was under way."""
    script = Script()
    settings = ServerSettings(rate_limit=60)
    with listening(build_store(tmp_path), settings, script) as address:
        visit(chrome, address)
        turn = pose(chrome, QUESTION)

        def opacity() -> float:
            return float(one(turn, ".results").value_of_css_property("opacity"))

        assert opacity() == 1
        held = threading.Event()
        search = Engine.search

        def slow(self: Engine, *args: object, **options: object) -> object:
            held.wait(20)
            return search(self, *args, **options)  # type: ignore[arg-type]

        Engine.search = slow  # type: ignore[method-assign, assignment]
        try:
            one(chrome, "#options > summary").click()
            one(chrome, "input[value=walk]").click()
            soon(lambda: opacity() < 0.6, "dimmed")
            soon(lambda: "the server is busy" in one(turn, ".answer-note").text, "that it takes long")
        finally:
            Engine.search = search  # type: ignore[method-assign]
            held.set()
        settled(chrome)
        assert opacity() == 1
        script.error = RuntimeError("broken")
        broken = pose(chrome, "What is Deimos?", "failed")
        assert "Its log has the details" in one(broken, ".answer-note").text
        assert all_of(broken, ".hit"), "passages need no answer"
        deadline = time.monotonic() + 20
        while "more than this server allows" not in one(broken, ".answer-note").text:
            assert time.monotonic() < deadline
            again = all_of(broken, ".again")
            if again:
                chrome.execute_script("arguments[0].click()", again[0])
            time.sleep(0.1)
        assert "Try again in" in one(broken, ".answer-note").text


def test_the_graph_is_looked_up_unfolded_filtered_and_shows_an_answers_way(
    tmp_path: Path, chrome: Chrome
) -> None:
    """FINDINGS 5: there was no explorer of the graph."""
    wide(chrome, 1280)
    with listening(build_store(tmp_path)) as address:
        visit(chrome, address)
        one(chrome, "#open-graph").click()
        name = one(chrome, "#explorer-name")
        name.send_keys("Nowhere", Keys.ENTER)
        soon(lambda: "o entity is called" in one(chrome, "#explorer-note").text)
        name.clear()
        name.send_keys("deimos", Keys.ENTER)
        soon(lambda: all_of(chrome, ".dot.chosen"))
        few = len(all_of(chrome, ".dot"))
        assert one(chrome, "#explorer-about h3").text == "Deimos"
        mars = one(chrome, ".dot[data-id=Mars]")
        chrome.execute_script("arguments[0].focus()", mars)
        ActionChains(chrome).send_keys(Keys.ENTER, Keys.ENTER).perform()
        soon(lambda: len(all_of(chrome, ".dot")) > few, "unfolded from the keyboard")
        assert one(chrome, "#explorer-about h3").text == "Mars"
        before = one(chrome, "#explorer-canvas").get_dom_attribute("viewBox")
        one(chrome, "#explorer-in").click()
        assert one(chrome, "#explorer-canvas").get_dom_attribute("viewBox") != before
        relation = Select(one(chrome, "#explorer-relation"))
        lines = len(all_of(chrome, ".link"))
        relation.select_by_index(1)
        assert 0 < len(all_of(chrome, ".link")) <= lines
        one(chrome, "#explorer-close").click()
        turn = pose(chrome, QUESTION)
        press_on(chrome, one(turn, ".actions button:last-child"))
        soon(lambda: all_of(chrome, ".dot.lit.dot-question") and all_of(chrome, ".link.lit"), "the way, lit")
        passage = one(chrome, ".dot-chunk")
        ActionChains(chrome).click(one(passage, ".shape")).perform()
        soon(lambda: all_of(chrome, ".dot-chunk.chosen"))
        one(chrome, "#explorer-about .actions button").click()
        assert marked(chrome)
        one(chrome, "#reader-close").click()
        wide(chrome, 390)
        one(chrome, "#explorer-fit").click()
        assert "Question 1" in one(chrome, "#explorer-legend").text
        frame = one(chrome, "#explorer-canvas").rect
        for text in all_of(chrome, "#explorer-canvas .name:not(.crowded)"):  # also on a phone names are whole
            assert frame["x"] <= text.rect["x"], text.text
            assert text.rect["x"] + text.rect["width"] <= frame["x"] + frame["width"], text.text


_ABLE = """
const [done, original] = [arguments[0], window.fetch];
const answer = body => Promise.resolve(new Response(JSON.stringify(body), {status: 200}));
window.sent = [];
const sources = [{name: 'arxiv', stands_for: 'arxiv', ready: true, lacks: null}];
window.fetch = (path, options = {}) => {
  window.sent.push([path, options.body ?? '']);
  if (path === '/transcribe') return answer({text: ' ', language: 'en', seconds: 1});
  if (path === '/live') return answer({mode: options.method === 'POST' ? JSON.parse(options.body).mode : 'off', sources});
  return original(path, options);
};
navigator.mediaDevices.getUserMedia = async () => ({getTracks: () => []});
window.MediaRecorder = class extends EventTarget {
  static isTypeSupported() { return true; }
  mimeType = 'audio/webm';
  start() { this.state = 'recording'; }
  stop() { this.state = 'inactive'; this.dispatchEvent(new Event('stop')); }
};
import('/page/speech.js').then(speech => {
  speech.prepareSpeech({transcribe: true, speak: true, seconds: 30}, text => window.sent.push(['heard', text]));
  done(speech.listenButton('Mars.')?.textContent);
});
"""


class Mute(Speech):
    """Where nothing of what speech needs is installed."""

    hears = speaks = False  # type: ignore[assignment]


def test_speech_and_live_sources_are_offered_only_where_the_server_has_them(
    tmp_path: Path, chrome: Chrome
) -> None:
    """And silence is no question. What servers with and without them say of themselves, as stand-ins."""
    with listening(build_store(tmp_path), speech=Mute()) as address:
        visit(chrome, address)
        assert not one(chrome, "#microphone").is_displayed()
        turn = pose(chrome, QUESTION)
        assert "Listen" not in [button.text for button in all_of(turn, ".actions button")]
        assert chrome.execute_async_script(_ABLE) == "Listen"
        microphone, notice = one(chrome, "#microphone"), one(chrome, "#notice")
        microphone.click()
        soon(lambda: notice.text.startswith("Listening."))
        microphone.click()
        soon(lambda: notice.text.startswith("No words were made out"), "a word on silence")
        one(chrome, "#open-documents").click()
        switch = one(chrome, "#live-switch")
        soon(switch.is_displayed, "the switch, beside what everybody shares")
        assert not switch.is_selected()
        switch.click()
        one(chrome, "#documents-close").click()
        one(chrome, "#options > summary").click()
        source = soon(lambda: all_of(chrome, "#live input[name=source]"), "the source")[0]
        source.click()
        chrome.execute_script("document.querySelector('#options').open = false")
        one(chrome, "#question").send_keys("What is Deimos?", Keys.ENTER)
        sent = soon(
            lambda: [
                json.loads(body)
                for path, body in chrome.execute_script("return window.sent")
                if path == "/ask" and json.loads(body).get("stream")
            ]
        )
        assert sent[-1]["sources"] == ["arxiv"]


def test_headings_are_shown_once_and_brackets_in_quoted_code_are_no_citations(
    tmp_path: Path, chrome: Chrome
) -> None:
    code = "apples = crates[1]\npress(apples)"
    notes = (
        f"# Cider\n\n## Pressing\n\n### Small press\n\nTo press a crate of apples:\n\n```py\n{code}\n```\n"
    )
    with Engine.create(tmp_path / "store", "minilm") as engine:
        engine.add_files({"cider.md": notes}, workers=1)
    wide(chrome, 1280)
    with listening(tmp_path / "store", extracts=True) as address:
        visit(chrome, address)
        turn = pose(chrome, "How do I press a crate of apples?")
        answer = one(turn, ".answer-text")
        assert "crates[1]" in answer.text
        assert [mark.text for mark in all_of(answer, "button")] == ["1"]
        assert one(turn, ".snippet").text.startswith("To press a crate")
        press_on(chrome, one(turn, ".hit .head"))
        passage = marked(chrome)
        assert "To press" in passage.text and "Small press" not in passage.text
        assert [h.text for h in all_of(chrome, "#reader-text h3, #reader-text h4")].count("Small press") == 1
