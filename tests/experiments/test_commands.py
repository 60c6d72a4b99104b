"""Commands of experiments/ run as a reader of their README runs them, on the sample, with scripted replies."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from experiments.chunkers import compare as chunkers
from experiments.embedders import compare as embedders
from tests.built_stores import EMBEDDER, copy_of_sample
from tests.fakes.chat_model import ScriptedModel
from tests.fakes.openai_server import OpenAIServer, Request, chat, streamed
from trivium import Engine
from trivium.datasets.questions import read_questions
from trivium.errors import InputError
from trivium.evaluation.leaderboard import read_leaderboard
from trivium.evaluation.trec_files import read_run, write_run
from trivium.llm.chat_model import Message
from trivium.sample import folder, pages_folder

sys.path.insert(0, str(Path(__file__).parents[2] / "experiments" / "diffusion"))
sys.path.insert(0, str(Path(__file__).parents[2] / "experiments" / "rerankers"))
sys.path.insert(0, str(Path(__file__).parents[2] / "experiments" / "synthetic"))

import judged
import measure as rerankers
import sweep as diffusion
import yields

ONE_HOP = folder() / "questions_single_hop.jsonl"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The sample."""
    return str(copy_of_sample(tmp_path_factory.mktemp("commands") / "store"))


@pytest.fixture(scope="module")
def questions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Six of its questions."""
    file = tmp_path_factory.mktemp("asked") / "six.jsonl"
    file.write_text("\n".join(ONE_HOP.read_text("utf-8").splitlines()[::20][:6]), "utf-8")
    return file


@pytest.fixture(scope="module")
def right_last(questions: Path, store: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run of another system: two passages about something else, then the right one."""
    with Engine.open(store) as engine:
        gold = engine.evaluate(questions, ["lexical"]).traced.gold
        every = [chunk.uri for graph in engine.store.page_graphs() for chunk in graph.chunks]
    right = {uri for one in gold.values() for group in one.groups for uri in group}
    wrong = [uri for uri in every if uri not in right][:2]
    lists = {key: [*wrong, one.groups[0][0]] for key, one in gold.items()}
    run = tmp_path_factory.mktemp("run") / "theirs.run"
    write_run(
        run, "theirs", {key: [(uri, -float(n)) for n, uri in enumerate(own)] for key, own in lists.items()}
    )
    return run


def graded(request: Request) -> str:
    """The grade of a passage: 9 where it has a known answer to the question, else 2."""
    said = request.body["messages"][-1]["content"]
    asked = next(one for one in read_questions(ONE_HOP) if one.text in said)
    passage = said.replace(asked.text, "")
    return json.dumps({"score": 9 if any(answer in passage for answer in asked.answers) else 2})


def test_rerankers_after_any_first_stage_and_as_runs(
    store: str,
    questions: Path,
    right_last: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A model that grades right puts the right passage of a run from the third place to the first, in the printed table
    and in the runs that are kept."""
    with OpenAIServer(lambda r: (streamed if r.body.get("stream") else chat)(graded(r))) as server:
        monkeypatch.setenv("TRIVIUM_CHAT_BASE_URL", server.base_url)
        rerankers.main(
            [
                "rerankers", "--store", store, "--questions", str(questions), "--first", "vector", str(right_last),
                "--rerank", "bm25", "llm-pointwise:openai:x", "--set", "rerank.passages=3", "--runs", str(tmp_path),
            ]
        )  # fmt: skip
    printed = capsys.readouterr().out
    assert "six: 6 questions" in printed and "failures" not in printed
    own = tmp_path / "six"
    for uris in (read_run(own / "theirs.run"), read_run(right_last)):
        assert all(len(ranking) == 3 for ranking in uris.values())
    board = {place.name: place.means["hit@1"] for place in read_leaderboard(own).places}
    assert set(board) == {
        *("vector", "vector > bm25", "vector > llm-pointwise:openai:x"),
        *("theirs", "theirs > bm25", "theirs > llm-pointwise:openai:x"),
    }
    assert board["theirs"] == 0 and board["theirs > llm-pointwise:openai:x"] == 1


def test_cuts_and_their_runs(
    store: str, questions: Path, right_last: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of scores 0, -1 and -2 nearness by half keeps two passages, and the right one is lost."""
    rerankers.main(
        [
            "cuts",
            "--store",
            store,
            "--questions",
            str(questions),
            "--first",
            str(right_last),
            "--runs",
            str(tmp_path),
        ]
    )
    rows = [line.split() for line in capsys.readouterr().out.splitlines() if "near:0.5:1-10" in line]
    assert rows and "2.00" in rows[0] and "0.000" in rows[0]
    kept = read_run(tmp_path / "six" / "theirs %3E near%3A0.5%3A1-10.run")
    assert all(len(ranking) == 2 for ranking in kept.values()) and len(kept) == 6


def test_diffusion_after_any_first_stage(
    store: str, questions: Path, right_last: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All settings after BM25 and after the run of another system; what was asked is kept and printed again."""
    save = ["--save", str(tmp_path)]
    diffusion.main([*save, "--set", "Six", store, str(questions), "--first", "bm25", str(right_last)])
    printed = capsys.readouterr().out
    assert "### After bm25" in printed and "### After theirs" in printed
    assert "| Six (3) |" in printed and "Chosen on all tuning halves" in printed
    diffusion.main(save)
    assert capsys.readouterr().out == printed


def test_chunkers_on_documents_of_ones_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two ways of cutting three pages, each after two systems; all evidence is found in the chunks. Questions that do not
    say where their evidence is are left out, and where all are that is said."""
    wanted = ("Phobos (moon)", "Mars", "Io (moon)")
    rows = [json.loads(line) for line in ONE_HOP.read_text("utf-8").splitlines()]
    file = tmp_path / "own.jsonl"
    lines = [row for row in rows if row["page"] in wanted]
    file.write_text("\n".join(map(json.dumps, [*lines, {"question": "Why?", "page": "Ceres"}])), "utf-8")
    pages = [str(path) for path in pages_folder().iterdir() if path.stem.replace("_", " ") in wanted]
    own = ["own", "--documents", *pages, "--rows", "blocks", "fixed:60/10", "--json", "--file"]
    chunkers.main([*own, str(file)])
    made = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(row["chunker"], row["system"]) for row in made] == [
        (chunker, system) for chunker in ("blocks", "fixed:60/10") for system in ("vector", "default")
    ]
    assert len(pages) == 3 and all(
        row["questions"] == len(lines) > 3 and row["untraced"] == 0 for row in made
    )
    assert all(0 < row["hit@1"] <= row["hit@5"] <= 1 for row in made)
    file.write_text(json.dumps({"question": "Why?", "page": "Ceres"}), "utf-8")
    with pytest.raises(InputError, match="expected questions with evidence"):
        chunkers.main([*own, str(file)])


def test_embedders_as_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The leaderboard of the runs has the figures of the table."""
    given = ["--make", "passkey", "--lengths", "256", "512", "--documents", "4", "--embedders", EMBEDDER]
    embedders.main([*given, "--ways", "whole", "--json", "--runs", str(tmp_path)])
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    for row in rows:
        board = read_leaderboard(tmp_path / f"passkey-{row['length']}", by="recall@1")
        assert board.places[0].means["recall@1"] == pytest.approx(row["recall@1"], abs=1e-4)


def write(messages: Sequence[Message]) -> str:
    """Declines to ask about several passages; of one it asks for a word of its first sentence."""
    said = messages[-1].content
    if "Write" not in said:
        return '{"declined": "nothing joins them"}'
    sentence = re.search(r"^\W*1\W+(.*)$", said, re.MULTILINE)
    assert sentence is not None, said
    answer = max(re.findall(r"[A-Za-z]+", sentence[1]), key=len)
    asked = (
        f"Which word of this passage has exactly {len(answer)} letters and comes first in {len(said)} cases?"
    )
    return json.dumps({"questions": [{"question": asked, "answer": answer, "sentence": 1}]})


def test_what_a_model_gets_past_the_checks(
    store: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A row for each way of writing, then the questions; once more nothing is asked again."""
    model = ScriptedModel(write)
    given = [
        "--store",
        store,
        "--model",
        "x",
        "--out",
        str(tmp_path),
        "--entities",
        "4",
        "--ways",
        "hops",
        "plain",
    ]
    yields.main(given, lambda _: model)
    table = capsys.readouterr().out
    rows = [line.split(" | ") for line in table.splitlines() if line.startswith(("| hops", "| plain"))]
    assert [row[0] for row in rows] == ["| hops", "| plain"]
    assert rows[0][1:6] == ["4", "0", "4", "0", "0"]  # asked, pass, declined, fail, malformed
    assert int(rows[1][1]) >= 2 and int(rows[1][5]) == 0
    before = len(model.asked)
    yields.main(given, lambda _: model)
    assert len(model.asked) == before


def test_whether_a_model_tells_two_hops_from_one(capsys: pytest.CaptureFixture[str]) -> None:
    """A judge that gives every question a 9 passes all of both kinds; one that says nothing has no means."""
    scores = dict.fromkeys(("multi_hop", "clear", "unambiguous", "one_answer"), 9)
    for reply, row in (
        (json.dumps(scores), "| 3 | 3 | 9.0 | 9.0 | 9.0 | 9.0 | 3 |"),
        ("no", "| 3 | 0 | - | - | - | - | 0 |"),
    ):
        judged.main(["--model", "x", "--questions", "3"], lambda _, reply=reply: ScriptedModel(reply))
        printed = capsys.readouterr().out.splitlines()
        assert printed[2:] == [f"| two hops {row}", f"| one hop {row}"] and "scripted" in printed[0]
