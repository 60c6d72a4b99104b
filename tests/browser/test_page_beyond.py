"""The page where more is asked than the collection and the question: live sources, and the second query of a model."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from selenium.webdriver import Chrome

from tests.browser.chrome import soon
from tests.browser.thread import all_of, one, pose, press_on, visit
from tests.fakes.chat_model import ScriptedModel
from tests.fakes.live_server import ARXIV, Known, Reply, live_server
from tests.server.world import listening
from trivium.llm.chat_model import Message
from trivium.server.settings import ServerSettings

TITAN = Known("Titan", "Titan is the largest moon of Saturn. Christiaan Huygens discovered it in 1655.")
OF_TITAN = "Who discovered Titan, the largest moon of Saturn?"
MATCH, RECALL = "When did Christiaan Huygens discover Titan?", "Christiaan Huygens discovery Titan year"


def say(messages: Sequence[Message]) -> str:
    """An answer, or the two queries of a follow-up."""
    if "JSON" in messages[-1].content:
        return json.dumps({"match_query": MATCH, "search_query": RECALL})
    return "Christiaan Huygens did [1]."


@pytest.fixture(scope="module")
def address(store: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch, live_server(TITAN) as web:
        web.replies[ARXIV] = Reply(b"", 500)
        patch.setenv("TRIVIUM_SEARXNG_URL", f"{web.address}/searxng")
        patch.setenv("TRIVIUM_ARXIV_URL", f"{web.address}{ARXIV}")
        patch.setenv("TRIVIUM_LIVE_PAGES", "0")
        patch.setenv("TRIVIUM_HOME", str(tmp_path_factory.mktemp("home")))
        with listening(store, ServerSettings(live="allow"), model=ScriptedModel(say)) as address:
            yield address


def sent_to(page: Chrome, path: str) -> list[dict[str, Any]]:
    """What the page has sent there since the last look."""
    messages = [json.loads(entry["message"])["message"] for entry in page.get_log("performance")]
    requests = [m["params"]["request"] for m in messages if m["method"] == "Network.requestWillBeSent"]
    return [json.loads(request["postData"]) for request in requests if request["url"].endswith(path)]


def test_live_passages_say_where_and_when_and_why_and_the_second_query_is_shown(
    address: str, chrome: Chrome
) -> None:
    """A source that failed is named; an alias is offered once; what a percentage means is said where it stands."""
    visit(chrome, address)
    one(chrome, "#options > summary").click()
    boxes = soon(lambda: all_of(chrome, "#live label:has([name=source])"), "the sources")
    offered = {box.text: box for box in boxes}
    assert "web (searxng)" in offered and "searxng" not in offered
    for name in ("web (searxng)", "arxiv"):
        offered[name].click()
    chrome.execute_script("document.querySelector('#options').open = false")

    turn = pose(chrome, OF_TITAN)
    assert "searxng found 1; arxiv failed (" in one(turn, ".answer-note").text
    (origin,) = all_of(turn, ".hit .live")
    assert "searxng, not from the collection, published 2026-02-03" in origin.text
    item = next(hit for hit in all_of(turn, ".hit") if all_of(hit, ".live"))
    press_on(chrome, one(item, ".why > summary"))
    soon(lambda: all_of(item, ".contributions tbody rect"), "which views moved it")
    assert "no link leads to it" in one(item, ".body").text and not all_of(item, ".failed")
    press_on(chrome, one(turn, ".legend > summary"))
    assert "How likely" in one(turn, ".legend p").text
    press_on(chrome, one(turn, ".more"))
    soon(lambda: len(all_of(turn, ".hit")) > 6, "more passages")
    assert all_of(turn, ".hit .live"), "more passages are of the same sources"

    sent_to(chrome, "/search")
    turn = pose(chrome, "When did he discover it?")
    assert one(turn, ".searched").text.splitlines()[0].startswith("Searched for")
    assert [quoted.text.strip("“”") for quoted in all_of(turn, ".searched q")] == [MATCH, RECALL]
    assert [(given["question"], given["recall_query"]) for given in sent_to(chrome, "/search")] == [
        (MATCH, RECALL)
    ]
