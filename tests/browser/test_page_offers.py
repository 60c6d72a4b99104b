"""What the page offers: examples and questions to go on with, which were tried, and options of the HTTP contract."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.keys import Keys

from tests.browser.chrome import dark_mode, soon, wide
from tests.browser.test_page_beyond import sent_to
from tests.browser.test_page_looks import findings
from tests.browser.thread import all_of, one, pose, press_on, ranking, requested, settled, visit
from tests.server.world import QUESTION, listening

NO_ANSWER = """
const real = window.fetch;
window.fetch = async (path, options) => {
  const answer = await real(path, options);
  if (path !== '/ask' || JSON.parse(options.body).stream) return answer;
  return new Response(JSON.stringify({...await answer.json(), outcome: 'closest'}));
};
"""


@pytest.fixture(scope="module")
def address(store: Path) -> Iterator[str]:
    with listening(store, extracts=True) as address:
        yield address


def outcome(address: str, question: str) -> str:
    """What the server answers to it."""
    body = json.dumps({"question": question, "rewrite": False}).encode()
    request = Request(f"{address}/ask", body, {"Content-Type": "application/json"})
    with urlopen(request) as answer:
        found: str = json.load(answer)["outcome"]
    return found


def test_what_is_offered_to_ask_is_answered(address: str, chrome: Chrome) -> None:
    """At the beginning and below the newest answer; what was asked is not offered again."""
    wide(chrome, 390)
    dark_mode(chrome, False)
    visit(chrome, address)
    examples = soon(
        lambda: len(all_of(chrome, "#examples .example")) > 2 and all_of(chrome, "#examples .example")
    )
    assert {outcome(address, example.text) for example in examples} == {"answered"}
    turn = pose(chrome, "Who discovered Phobos?")
    offered = soon(lambda: len(all_of(turn, ".next .example")) == 3 and all_of(turn, ".next .example"))
    questions = [example.text for example in offered]
    assert {outcome(address, question) for question in questions} == {"answered"}
    assert len(set(questions)) == 3
    # On a phone it comes in below the passages: above, it would move them away from under a finger.
    assert one(turn, ".next").location["y"] > all_of(turn, ".hit")[-1].location["y"]
    press_on(chrome, offered[0])
    soon(lambda: len(all_of(chrome, ".turn")) == 2)
    second = settled(chrome)
    assert one(second, "h2").text == questions[0] and not one(turn, ".next").is_displayed()
    soon(lambda: all_of(second, ".next .example"))
    assert questions[0] not in [example.text for example in all_of(second, ".next .example")]
    assert findings(chrome) == []


def test_opening_asks_for_little(address: str, chrome: Chrome) -> None:
    """Two requests say what there is; each of four documents is read once, and asked at most twice."""
    wide(chrome, 1280)
    requested(chrome)
    visit(chrome, address)
    soon(lambda: len(all_of(chrome, "#examples .example")) > 2)
    chrome.execute_async_script("setTimeout(arguments[0], 500)")
    assert 6 < len([url for url in requested(chrome) if "/page/" not in url]) <= 2 + 4 * 3 + 2


def test_what_is_not_answered_is_not_offered(address: str, chrome: Chrome) -> None:
    added = chrome.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": NO_ANSWER})
    try:
        visit(chrome, address)
        sent_to(chrome, "/ask")
        turn = pose(chrome, QUESTION)
        tried: list[dict[str, Any]] = []

        def over() -> bool:
            tried.extend(given for given in sent_to(chrome, "/ask") if "stream" not in given)
            return len(tried) > 3

        soon(over, "questions that are tried")
        assert all(given["model"] == "none" for given in tried)
        assert not all_of(turn, ".next .example") and not one(chrome, "#try").is_displayed()
    finally:
        chrome.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)


def test_a_good_answer_is_told_with_a_reason(address: str, store: Path, chrome: Chrome) -> None:
    """And kept with the question that was searched for and the passages that it cites."""
    wide(chrome, 390)
    visit(chrome, address)
    turn = pose(chrome, "Who discovered Phobos?")
    good = next(one for one in all_of(turn, ".actions button") if one.text == "Good answer")
    press_on(chrome, good)
    assert findings(chrome) == []
    chrome.switch_to.active_element.send_keys("it is <b>right</b>", Keys.ENTER)
    soon(lambda: "It was kept" in one(turn, ".actions").text)
    row = json.loads((store / "jobs" / "feedback.jsonl").read_text("utf-8").splitlines()[-1])
    assert (row["question"], row["good"], row["reason"]) == (
        "Who discovered Phobos?",
        True,
        "it is <b>right</b>",
    )
    cited = [hit.get_attribute("data-uri") for hit in all_of(turn, ".hit:has(.cited)")]
    assert sorted(row["passages"]) == sorted(str(uri) for uri in cited)
    assert [gold["title"] for gold in row["gold_passages"]] == [uri.split("#")[0] for uri in row["passages"]]


def test_options_of_a_search_are_passed_on_and_a_wrong_one_is_explained(address: str, chrome: Chrome) -> None:
    wide(chrome, 390)
    visit(chrome, address)
    turn = pose(chrome, QUESTION)
    assert len(ranking(turn)) == 6
    sent_to(chrome, "/ask")
    one(chrome, "#options > summary").click()
    known = soon(lambda: all_of(chrome, "#rerank-known option"), "what the server names")
    assert "bm25" in [option.get_attribute("value") for option in known]
    assert all_of(chrome, "#cut-known option") and not one(chrome, "#prompt").is_displayed(), "nobody writes"
    assert findings(chrome) == []
    one(chrome, "#k").send_keys("3", Keys.TAB)
    soon(lambda: len(ranking(turn)) == 3, "three passages")
    one(chrome, "#rerank").send_keys("bm25", Keys.TAB)
    one(chrome, "#cut").send_keys("near:1-2", Keys.TAB)
    soon(lambda: len(ranking(turn)) in (1, 2), "fewer, as the cut says")
    asked = [given for given in sent_to(chrome, "/ask") if given.get("stream")][-1]
    assert (asked["k"], asked["rerank"], asked["cut"]) == (3, "bm25", "near:1-2")
    settled(chrome)
    one(chrome, "#rerank").clear()
    one(chrome, "#rerank").send_keys("nobody", Keys.TAB)
    soon(lambda: "unknown reranker 'nobody'" in one(turn, ".answer-note").text, "what is wrong")
