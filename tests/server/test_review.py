"""Candidate questions are decided on over HTTP: in the log of the run, by who may write, and only where there are any."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.chat_model import ScriptedModel
from tests.server.world import build_store, serving
from tests.synthetic.world import GOOD, many, question_of
from trivium.cli.review_page import RunReview
from trivium.errors import InputError
from trivium.server.keys import new_key
from trivium.server.settings import ServerSettings
from trivium.synthetic.generate import generate
from trivium.synthetic.judge import judge
from trivium.synthetic.records import Decision
from trivium.synthetic.review import REVIEW_SETTINGS, Review
from trivium.synthetic.run import Run
from trivium.synthetic.sample import Sampling, draw


def judged_run(folder: Path, count: int = 3) -> Run:
    """A run with so many questions to decide on, all with the same scores."""
    run, store, sampling = Run(folder), many(count), Sampling(entities=count)
    generate(run, store, ScriptedModel(*map(question_of, draw(store, sampling))), sampling)
    judge(run, ScriptedModel(json.dumps(GOOD)))
    return run


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_store(tmp_path_factory.mktemp("reviewed"))


def decisions(run: Run) -> list[tuple[str, str]]:
    """Everything that was decided, as it stands in the log."""
    return [(record.decision.value, record.question) for record in run.reviewed.records()]


def test_decisions_are_kept_in_the_log_of_the_run(store: Path, tmp_path: Path) -> None:
    """Accepted, rejected, taken back, reworded; a review in the terminal goes on from there, and the other way round."""
    run = judged_run(tmp_path / "run")
    with serving(store, reviewing=RunReview(run.folder, 2, 7)) as client:
        assert client.get("/stats").json()["review"] is True
        state = client.get("/review").json()
        assert (state["keep"], state["kept"], state["waiting"], len(state["questions"])) == (2, 0, 3, 3)
        first, second, third = state["questions"]
        assert first["scores"] == GOOD and len(first["passages"]) == 2 and first["decision"] is None

        def decide(asked: dict[str, Any], decision: str, **more: str) -> dict[str, Any]:
            answer = client.post("/review", json={"id": asked["id"], "decision": decision, **more})
            assert answer.status_code == 200, answer.text
            return dict(answer.json())

        assert decide(first, "accept")["kept"] == 1
        assert decide(second, "reject")["waiting"] == 1
        taken_back = decide(first, "undo")
        assert (taken_back["kept"], taken_back["waiting"]) == (0, 2)
        assert taken_back["question"]["decision"] is None
        edited = decide(third, "edit", question="Who, then?", answer=third["answer"])["question"]
        assert edited["question"] == "Who, then?" and "5 to 60 words" in edited["cautions"][0]
        assert decide(third, "accept")["question"]["question"] == "Who, then?"
    assert [kind for kind, _ in decisions(run)] == ["accept", "reject", "edit", "edit", "accept"]
    with run.reviewed.writing(REVIEW_SETTINGS) as save:
        review = Review(run.candidates(), save, 9)
        assert (review.kept, review.waiting) == (1, 1)
        review.decide(Decision.ACCEPT)
    with serving(store, reviewing=RunReview(run.folder, 2, 7)) as client:
        assert client.get("/review").json()["kept"] == 2


def test_it_takes_a_key_that_may_write(store: Path, tmp_path: Path) -> None:
    """A key for reading may look at questions; without a key nothing is shown."""
    run = judged_run(tmp_path / "run")
    reader, reading = new_key("reader", "read")
    writer, writing = new_key("writer", "write")
    settings = ServerSettings(api_keys=(reading, writing))
    with serving(store, settings, reviewing=RunReview(run.folder, 2, 7)) as client:
        assert client.get("/review").status_code == 401
        question = client.get("/review", headers={"X-API-Key": reader}).json()["questions"][0]
        given = {"id": question["id"], "decision": "accept"}
        assert client.post("/review", json=given, headers={"X-API-Key": reader}).status_code == 403
        assert client.post("/review", json=given).status_code == 401 and decisions(run) == []
        assert client.post("/review", json=given, headers={"X-API-Key": writer}).status_code == 200
    assert [kind for kind, _ in decisions(run)] == ["accept"]


def test_without_a_run_there_is_no_such_part_of_the_server(store: Path) -> None:
    with serving(store) as client:
        assert client.get("/review").status_code == client.post("/review", json={}).status_code == 404
        assert client.get("/stats").json()["review"] is False
        assert "/review" not in client.get("/openapi.json").json()["paths"]


def test_what_cannot_be_decided_is_said(store: Path, tmp_path: Path) -> None:
    """An unknown question, another decision, and a log that a review in a terminal holds; no message names a folder."""
    run = judged_run(tmp_path / "run")
    with serving(store, reviewing=RunReview(run.folder, 2, 7)) as client:
        assert client.post("/review", json={"id": "bridge-0", "decision": "accept"}).status_code == 404
        assert client.post("/review", json={"id": "bridge-0", "decision": "burn"}).status_code == 422
        question = client.get("/review").json()["questions"][0]
        with run.reviewed.writing(REVIEW_SETTINGS):
            answer = client.post("/review", json={"id": question["id"], "decision": "accept"})
        assert answer.status_code == 409 and str(tmp_path) not in answer.text
    with pytest.raises(InputError, match="expected the folder of a run"):
        RunReview(tmp_path / "nothing", 2, 7)
