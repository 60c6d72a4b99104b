"""The commands of experiments/thesis on the sample: one a table, and the store that they are meant for."""

from __future__ import annotations

import json
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from tests.built_stores import copy_of_sample
from tests.training.world import needs_tensorflow
from trivium import Engine
from trivium.datasets.gold import Gold
from trivium.datasets.questions import read_questions
from trivium.embedding.late_chunking import is_plain
from trivium.evaluation.evaluator import Evaluator
from trivium.evaluation.leaderboard import read_leaderboard
from trivium.evaluation.trec_files import write_run
from trivium.fusion.hit_lists import hit_list, load_hits
from trivium.fusion.score_table import Table
from trivium.graph.schema import Label
from trivium.sample import folder, pages_folder
from trivium.testing import HashEmbedder

sys.path.insert(0, str(Path(__file__).parents[2] / "experiments" / "thesis"))

import table
import tables
from collect import Source, hit_sets
from plain_store import copy_plain
from systems import naive_ranking

ALL_OF_ONE_HOP, TWO_HOPS = (folder() / f"questions_{name}_hop.jsonl" for name in ("single", "two"))
QUESTIONS = 60
"""Of those with one hop: enough for intervals and for three parts."""


@pytest.fixture(scope="module")
def one_hop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Questions with one hop."""
    some = tmp_path_factory.mktemp("questions") / ALL_OF_ONE_HOP.name
    some.write_text("".join(ALL_OF_ONE_HOP.read_text("utf-8").splitlines(keepends=True)[:QUESTIONS]), "utf-8")
    return some


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample, as anybody has it: the tables need no special store."""
    return copy_of_sample(tmp_path_factory.mktemp("thesis") / "store")


@pytest.fixture(scope="module")
def cache(store: Path, one_hop: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the hit lists of questions with one hop, which several tables are made from."""
    folder = tmp_path_factory.mktemp("hits")
    hit_sets(Source(str(store), [one_hop], cache=folder))
    return folder


def printed(capsys: pytest.CaptureFixture[str], number: str, store: Path, *more: object) -> dict:
    """A table as JSON."""
    table.main([number, "--store", str(store), "--json", *map(str, more)])
    return json.loads(capsys.readouterr().out)


def test_each_retriever_whole(store: Path, one_hop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Table 4.3: more pages, sections and entities give longer lists with no less of the gold, and the same first places;
    hit is recall where there is one right chunk."""
    made = printed(capsys, "4.3", store, "--questions", one_hop)["sets"][one_hop.stem]
    rows = made["rows"]
    assert made["questions"] == QUESTIONS and len(rows) == 11
    for names in (
        [f"page, {n}" for n in ("1 page", "2 pages", "3 pages")],
        [f"section, {n}" for n in ("1 section", "3 sections", "5 sections")],
        [f"entity, {n}" for n in ("1 entity", "3 entities", "5 entities")],
    ):
        for less, more in pairwise(names):
            assert rows[less]["passages"]["mean"] < rows[more]["passages"]["mean"]
            assert rows[less]["recall"]["mean"] <= rows[more]["recall"]["mean"]
            assert rows[less]["hit@1"] == rows[more]["hit@1"]
    vector = rows["vector, 10 chunks"]
    assert vector["passages"]["mean"] == 10 and vector["hit@5"]["mean"] == vector["recall@5"]["mean"]
    assert vector["precision@5"]["mean"] == pytest.approx(vector["hit@5"]["mean"] / 5)
    assert vector["hit@5"]["low"] < vector["hit@5"]["mean"] < vector["hit@5"]["high"]


@needs_tensorflow
def test_one_hop_and_what_was_left_out(
    store: Path, one_hop: Path, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tables 4.1 and 4.4 from the same hit lists, whose lists are whole: more than thirty chunks of a page. One split
    judges a part of the questions, all splits all of them."""
    given = ["--questions", one_hop, "--cache", cache, "--epochs", 1, "--folds", 3]
    made = printed(capsys, "4.1", store, *given, "--rows", "hybrid")
    own = made["sets"][one_hop.stem]
    assert own["questions"] == QUESTIONS and list(own["rows"]) == ["vector", "naive hybrid", "hybrid"]
    assert {"hit@1", "precision@3", "recall@5"} <= set(own["rows"]["hybrid"])
    assert own["published"]["hybrid"]["hit@3"] == 0.756 and made["settings"]["sampling"] == "balanced"
    assert own["differences"]["from"] == "vector"
    assert set(own["differences"]["rows"]) == {"naive hybrid", "hybrid"}
    longest = max(int(hit.table.ranks.max()) for hit in load_hits(cache / f"{one_hop.stem}.npz").hits)
    assert longest > 30
    only = ["no path", "no standardisation"]
    left = printed(capsys, "4.4", store, *given, "--splits", 1, "--rows", "hybrid", *only)["sets"][
        one_hop.stem
    ]
    assert 15 < left["questions"] < 30 and set(left["rows"]) == {"hybrid", *only}


def test_settings_make_other_lists_kept_apart(store: Path, one_hop: Path, tmp_path: Path) -> None:
    """Fewer sections give fewer candidates, and are not mistaken for the lists that are there."""
    few = tmp_path / "few.jsonl"
    few.write_text("\n".join(one_hop.read_text("utf-8").splitlines()[:5]), "utf-8")
    sets = [
        hit_sets(Source(str(store), [few], cache=tmp_path, settings=settings))
        for settings in ((), ("section.sections=1", "entity.entities=1"), ())
    ]
    whole, less, again = (sum(len(hit.table.chunks) for hit in own.hits) for own in sets)
    assert less < whole == again
    assert (tmp_path / "few,entity.entities=1,section.sections=1.npz").exists()


@needs_tensorflow
def test_runs_go_in_and_out(
    store: Path, one_hop: Path, cache: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run that has every right passage first is a row with all of them, also where none of the five retrievers found
    them; runs of the rows have the figures of the table. One about other questions is refused."""
    with Engine.open(store) as engine:
        traced = Evaluator(engine.searcher).trace(read_questions(one_hop))
    right = {key: [(gold.groups[0][0], 1.0)] for key, gold in traced.gold.items()}
    write_run(tmp_path / "right.run", "right", right)
    given = [
        "--questions",
        one_hop,
        "--cache",
        cache,
        "--run-in",
        tmp_path / "right.run",
        "--runs",
        tmp_path / "runs",
    ]
    more = ["--epochs", 1, "--folds", 3, "--splits", 1, "--rows", "no mining"]
    made = printed(capsys, "4.1", store, *given, *more)["sets"][one_hop.stem]["rows"]
    assert list(made) == ["vector", "naive hybrid", "no mining", "right"]
    assert made["right"]["hit@1"]["mean"] == 1
    found = read_leaderboard(tmp_path / "runs" / one_hop.stem, by="hit@3")
    ranked = {place.name: place.means["hit@3"] for place in found.places}
    assert ranked["no mining"] == pytest.approx(made["no mining"]["hit@3"]["mean"])
    write_run(tmp_path / "right.run", "right", {"elsewhere": [("x", 1.0)]})
    with pytest.raises(SystemExit, match=f"expected a run of these {QUESTIONS} questions"):
        table.main(["4.3", "--store", str(store), *map(str, given)])


@needs_tensorflow
@pytest.mark.slow
def test_several_hops(
    store: Path, one_hop: Path, cache: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Table 4.2 with a network of other questions beside; as Markdown with the published rows. Its own hit lists are
    kept."""
    table.main(
        [
            "4.2", "--store", str(store), "--questions", str(TWO_HOPS), "--epochs", "1", "--folds", "2",
            "--cache", str(tmp_path), "--trained-on", str(cache / f"{one_hop.stem}.npz"),
        ]
    )  # fmt: skip
    assert (tmp_path / f"{TWO_HOPS.stem}.npz").exists()
    printed = capsys.readouterr().out
    head = next(line for line in printed.splitlines() if line.startswith("|  |"))
    assert [
        f" {name}@{k} " for name in ("all", "precision", "recall", "f1", "f2", "f3") for k in (4, 6, 8)
    ] == head.split("|")[2:-1]
    assert "| *hybrid, thesis* |" in printed and "| no mining, trained on questions" in printed
    assert ".430" in printed and "less vector" in printed


def test_importance(store: Path, one_hop: Path, cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Table 4.5: five views whose impurities add up to one; what is published stands beside."""
    made = printed(capsys, "4.5", store, "--questions", one_hop, "--cache", cache)
    (own,) = made["importance"].values()
    assert list(own) == ["vector", "page", "section", "entity", "path"] == list(made["published"])
    assert sum(one["impurity"] for one in own.values()) == pytest.approx(1)
    assert all(one["deviation"] >= 0 for one in own.values()) and own["vector"]["permutation"] > 0


def test_a_recorded_selection_makes_the_same_table(
    store: Path, one_hop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Path by a file of selections: what it chose is what the retriever returns."""
    question = json.loads(one_hop.read_text("utf-8").splitlines()[0])
    asked, file = tmp_path / "one.jsonl", tmp_path / "paths.jsonl"
    asked.write_text(json.dumps(question) + "\n", "utf-8")
    chosen = {
        "question": question["question"],
        "selector": "llm:x",
        "offered": [],
        "chosen": ["Solar System"],
    }
    file.write_text(json.dumps(chosen) + "\n", "utf-8")
    made = printed(capsys, "4.3", store, "--questions", asked, "--selector", f"replay:{file}")
    assert made["sets"]["one"]["rows"]["path"]["recall"]["mean"] == 1


def test_what_cannot_be_is_said_in_a_line(store: Path, one_hop: Path) -> None:
    with pytest.raises(SystemExit, match=r"error: .*there is none"):
        table.main(
            ["4.3", "--store", str(store), "--questions", str(one_hop), "--selector", "replay:nowhere"]
        )


def test_the_naive_hybrid_by_hand() -> None:
    """Of four chunks of path the three with the best cosine, then those of vector that are not among them."""
    ranks = np.zeros((6, 5), dtype=np.int64)
    ranks[[0, 1, 2], 0] = [1, 2, 3]
    ranks[[1, 3, 4, 5], 4] = [1, 2, 3, 4]
    raw = np.zeros((6, 5))
    raw[:, 0] = [0.9, 0.8, 0.7, 0.1, 0.6, 0.5]
    made = Table(tuple("abcdef"), ("vector", "page", "section", "entity", "path"), raw, ranks, ({},) * 6)
    hit = hit_list("q", "?", made, [["a"]], ("P",))
    assert [uri for uri, _ in naive_ranking(hit)] == ["b", "e", "f", "a", "c"]


def test_differences_are_between_the_same_questions() -> None:
    """Two of four questions better and none worse is a half; too few documents are resampled by question."""
    gold = [Gold.of([["a"]])] * 4
    good, bad = [("a", 1.0)], [("b", 1.0)]
    rows = tables.rows_of(gold, {"hybrid": [good] * 4, "vector": [good, good, bad, bad]})
    made = tables.one_hop("set", gold, rows)
    assert made.differences()["hybrid"]["hit@1"]["mean"] == 0.5
    assert made.to_json()["rows"]["vector"]["hit@1"]["mean"] == 0.5
    assert "| vector | .500 (" in made.to_markdown()


def test_a_copy_without_headings_holds_what_the_store_holds(tmp_path: Path) -> None:
    """Pages, links, relations and all other vectors; the vectors of chunks are those of their texts alone."""
    with (
        Engine.create(tmp_path / "usual", HashEmbedder()) as source,
        Engine.create(tmp_path / "plain", HashEmbedder()) as target,
    ):
        source.build([pages_folder()], sentences=False)
        copy_plain(source.store, target)
        assert is_plain(target.store.embedder) and not target.store.pending_texts()
        old, new = source.info(), target.info()
        assert (old.nodes, old.relationships) == (new.nodes, new.relationships)
        chunks = list(target.store.adjacency().chunks)[:50]
        texts = [chunk.body for chunk in target.store.fetch(chunks)]
        assert np.array_equal(target.store.vectors(Label.CHUNK, chunks), HashEmbedder().embed(texts))
        assert target.check(full=True).ok
