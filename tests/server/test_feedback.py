"""What readers think of answers: kept beside the store, as a file of questions."""

from __future__ import annotations

import json
from pathlib import Path

from tests.server.world import QUESTION, build_store, serving
from trivium.datasets.questions import read_questions

REASON = "it names him"


def test_good_and_bad_answers_are_kept_as_a_file_of_questions(tmp_path: Path) -> None:
    """A good one has what it cites as gold: text of the store, whatever the client says."""
    store = build_store(tmp_path)
    with serving(store) as client:
        uri = client.post("/search", json={"question": QUESTION}).json()["hits"][0]["uri"]
        for good in (True, False):
            given = {"question": QUESTION, "good": good, "reason": REASON, "passages": [uri]}
            assert client.post("/feedback", json=given).status_code == 204
    kept = store / "jobs" / "feedback.jsonl"
    good, bad = (json.loads(line) for line in kept.read_text("utf-8").splitlines())
    assert (good["good"], bad["good"], bad["reason"], bad["passages"]) == (True, False, REASON, [uri])
    first, second = read_questions(kept)
    assert first.text == second.text == QUESTION
    (gold,) = first.gold_passages
    assert gold.title == uri.split("#")[0] and gold.text and not second.gold_passages


def test_feedback_that_is_none_is_refused_and_a_passage_that_is_none_keeps_nothing(tmp_path: Path) -> None:
    store = build_store(tmp_path)
    given = {"question": QUESTION, "good": True, "passages": []}
    with serving(store) as client:
        for wrong in ({"question": " "}, {"good": "yes"}, {"reason": "a" * 1001}, {"stars": 5}):
            assert client.post("/feedback", json=given | wrong).status_code == 422, wrong
        assert client.post("/feedback", json=given | {"passages": ["Vulcan#chunk-1"]}).status_code == 404
    assert not (store / "jobs" / "feedback.jsonl").exists()


def test_where_nothing_can_be_written_it_is_said(tmp_path: Path) -> None:
    store = build_store(tmp_path)
    with serving(store) as client:
        (store / "jobs" / "feedback.jsonl").mkdir()
        answer = client.post("/feedback", json={"question": QUESTION, "good": True, "passages": []})
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "read_only")
