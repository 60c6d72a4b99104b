"""The commands of experiments/thesis on the sample: one a table, and the store that they are meant for."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from experiments import command
from tests.built_stores import copy_of_sample
from tests.training.world import needs_tensorflow
from trivium import Engine
from trivium.datasets.gold import Gold
from trivium.datasets.questions import read_questions
from trivium.embedding.late_chunking import is_plain
from trivium.errors import InputError, TriviumError
from trivium.evaluation.evaluator import Evaluator
from trivium.evaluation.leaderboard import read_leaderboard
from trivium.evaluation.trec_files import write_run
from trivium.fusion.hit_lists import hit_list
from trivium.fusion.network import Network
from trivium.fusion.score_table import Table
from trivium.graph.schema import Label, page_of
from trivium.llm.chat_model import Message
from trivium.sample import folder, pages_folder
from trivium.search.ranking import own_ranking
from trivium.testing import HashEmbedder
from trivium.training.fit import Trained

sys.path.insert(0, str(Path(__file__).parents[2] / "experiments" / "thesis"))

import answers
import fuser
import table
import tables
from collect import Source, hit_sets
from fuser_network import Sample
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


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Networks that add up their features: of tables, not of training (test_thesis_fuser.py)."""

    def train(sample: Sample, *_: object) -> Trained:
        width = sample.rows.shape[1]
        layer = np.ones((1, width, 1), np.float32), np.zeros((1, 1), np.float32)
        return Trained(Network(np.zeros(width, np.float32), np.ones(width, np.float32), (layer,)), (), 1)

    monkeypatch.setattr(fuser, "train", train)


def printed(capsys: pytest.CaptureFixture[str], number: str, store: Path, *more: object) -> list[dict]:
    """Tables as JSON."""
    table.main([*number.split(), "--store", str(store), "--format", "json", *map(str, more)])
    return json.loads(capsys.readouterr().out)["tables"]


def rows_of(made: dict) -> dict[tuple[str, str], dict]:
    """The rows of a table by method and what is retrieved."""
    return {(row["method"], row["retrieved"]): row for row in made["rows"]}


def test_a_judgement_by_hand() -> None:
    """Of the groups {a, b} and {c} the list a, x, b, y has two of three right chunks in four: P .5, R one of two groups;
    of its first one P 1; of an empty list nothing. F2 is that of the means: of P .5 and R .25, 5 PR / (4 P + R)."""
    gold = [Gold((("a", "b"), ("c",))), Gold((("d",),))]
    lists = [[("a", 1.0), ("x", 0.9), ("b", 0.5), ("y", 0.1)], []]
    whole = tables.Row("m", "all", tables.judge(gold, lists))
    assert whole.values["chunks"].tolist() == [4, 0] and whole.values["P"].tolist() == [0.5, 0]
    assert whole.values["R"].tolist() == [0.5, 0] and whole.values["hit"].tolist() == [1, 0]
    assert whole.values["coverage"].tolist() == [0, 0]
    first = tables.judge(gold, lists, 1)
    assert first["P"].tolist() == [1, 0] and first["R"].tolist() == [0.5, 0]
    assert tables.judge(gold, [lists[0], [("d", 1.0)]], 3)["P"] == pytest.approx([2 / 3, 1 / 3])
    assert whole.mean("F2") == pytest.approx(5 * 0.25 * 0.25 / (4 * 0.25 + 0.25))
    published = tables.published.ONE_HOP["vector", "3 chunks"]
    row = tables.Row("m", "", {"P": np.array([published["P"]]), "R": np.array([published["R"]])})
    assert [row.mean(f"F{n}") for n in (1, 2, 3)] == pytest.approx([0.330, 0.426, 0.472], abs=1e-3)


def test_whole_lists_are_all_chunks_of_their_pages(store: Path, one_hop: Path, cache: Path) -> None:
    """One page is all its chunks, in the store's count; more pages, sections and entities are longer lists that begin
    alike, and are kept beside the hit lists."""
    _, lists = hit_sets(Source(str(store), [one_hop], cache=cache))
    assert (cache / f"{one_hop.stem}.lists.json").exists() and len(lists) == QUESTIONS
    with Engine.open(store) as engine:
        sizes = {graph.uri: len(graph.chunks) for graph in engine.store.page_graphs()}
    for own in lists.values():
        (page,) = {page_of(uri) for uri in own["1 page"]}
        assert len(own["1 page"]) == sizes[page]
        assert len({page_of(uri) for uri in own["3 pages"]}) == 3
        for less, more in (("1 page", "3 pages"), ("1 section", "5 sections"), ("1 entity", "5 entities")):
            assert own[more][: len(own[less])] == own[less] and len(own[more]) >= len(own[less])


@needs_tensorflow
@pytest.mark.usefixtures("quick")
def test_seven_methods_steps_and_few_rows(
    store: Path, one_hop: Path, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tables 4.1, 4.4 and 4.5 in one go, from the same hit lists: rows and columns as published, more pages with more
    chunks and no less recall, differences from vector search, the split by question beside the one by document."""
    given = ["--questions", one_hop, "--cache", cache, "--epochs", 1, "--folds", 3]
    one, four, five = printed(capsys, "4.1 4.4 4.5", store, *given)
    assert [made["table"] for made in (one, four, five)] == ["4.1", "4.4", "4.5"]
    assert one["questions"] == QUESTIONS and one["resampled"] == "clusters" and one["clusters"] > 5
    rows = rows_of(one)
    methods = list(dict.fromkeys(method for method, _ in rows))
    assert methods == [
        *("vector", "page", "section", "entity", "path", "naive hybrid", "hybrid", "hybrid by question")
    ]
    known = {key: row["published"] for key, row in rows.items() if "published" in row}
    assert known.pop(("hybrid by question", "3 chunks"))["hit"] == 0.756
    assert len(known) == 14 + 2 and ("hybrid", "3 chunks") not in known
    for less, more in pairwise(["1 page", "2 pages", "3 pages"]):
        assert rows["page", less]["chunks"] < rows["page", more]["chunks"]
        assert rows["page", less]["R"] <= rows["page", more]["R"]
    vector = rows["vector", "5 chunks"]
    assert vector["P"] == pytest.approx(vector["hit"] / 5) and vector["hit"] == pytest.approx(vector["R"])
    assert vector["intervals"]["hit"][0] < vector["hit"] < vector["intervals"]["hit"][1]
    assert {(row["method"], row["retrieved"]) for row in one["differences"]} == {
        ("naive hybrid", "5 chunks"),
        *((method, f"{k} chunk{'s' * (k > 1)}") for method in methods[-2:] for k in (1, 3, 5)),
    }
    assert [row["method"] for row in four["rows"]] == [
        *("vector", "global, no mining", "local, no mining", "hybrid", "no path", "global mining")
    ]
    assert [row.get("published", {}).get("hit") for row in four["rows"]] == [
        0.622,
        0.693,
        0.745,
        0.756,
        0.71,
        None,
    ]
    assert (
        four["less"] == "hybrid"
        and rows["hybrid", "3 chunks"]["R"] == rows_of(four)["hybrid", "3 chunks"]["R"]
    )
    assert rows_of(five)["200 rows", "3 chunks"]["published"] == {"P": 0.256, "R": 0.560, "hit": 0.657}


@needs_tensorflow
@pytest.mark.usefixtures("quick")
def test_forms_of_a_table(
    store: Path, one_hop: Path, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Text fits 80 columns and has the thesis's figures in rows of their own; Markdown, LaTeX and CSV have the same
    figures. One split judges a part of the questions."""
    given = ["4.1", "--store", str(store), "--questions", str(one_hop), "--cache", str(cache)]
    given += ["--epochs", "1", "--folds", "3", "--splits", "1"]
    said = {}
    for form in ("text", "markdown", "latex", "csv"):
        table.main([*given, "--format", form])
        said[form] = capsys.readouterr().out
    lines = said["text"].splitlines()
    assert max(map(len, lines)) <= 80
    assert ["thesis", "3", "pages", "108", ".018", ".885", ".885", ".035", ".083", ".152"] in [
        line.split() for line in lines
    ]
    assert "| thesis | 3 pages | 108 | .018 | .885 | .885 | .035 | .083 | .152 |" in said["markdown"]
    assert r"thesis & 3 pages & 108 & .018 & .885 & .885 & .035 & .083 & .152 \\" in said["latex"]
    assert said["latex"].count(r"\begin{tabular}") == said["latex"].count(r"\end{tabular}") == 3
    records = list(csv.DictReader(io.StringIO(said["csv"])))
    (one,) = [
        r for r in records if (r["retrieved"], r["source"], r["column"]) == ("3 pages", "published", "R")
    ]
    assert float(one["value"]) == 0.885
    measured = [
        r for r in records if r["source"] == "measured" and r["method"] == "hybrid" and r["column"] == "hit"
    ]
    assert len(measured) == 3 and all(
        float(r["low"]) <= float(r["value"]) <= float(r["high"]) for r in measured
    )
    assert all(r["less"] == "vector" and 0 <= float(r["p"]) <= 1 for r in measured)


def test_settings_make_other_lists_kept_apart(store: Path, one_hop: Path, tmp_path: Path) -> None:
    """Fewer sections give fewer candidates, and are not mistaken for the lists that are there."""
    few = tmp_path / "few.jsonl"
    few.write_text("\n".join(one_hop.read_text("utf-8").splitlines()[:5]), "utf-8")
    sets = [
        hit_sets(Source(str(store), [few], cache=tmp_path, settings=settings))[0]
        for settings in ((), ("section.sections=1", "entity.entities=1"), ())
    ]
    whole, less, again = (sum(len(hit.table.chunks) for hit in own.hits) for own in sets)
    assert less < whole == again
    assert (tmp_path / "few,entity.entities=1,section.sections=1.npz").exists()


@needs_tensorflow
@pytest.mark.usefixtures("quick")
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
    more = ["--epochs", 1, "--folds", 3, "--splits", 1]
    (made,) = printed(capsys, "4.1", store, *given, *more)
    assert rows_of(made)["right", "1 chunk"]["hit"] == 1
    found = read_leaderboard(tmp_path / "runs" / one_hop.stem, by="hit@3")
    ranked = {place.name: place.means["hit@3"] for place in found.places}
    assert ranked["hybrid"] == pytest.approx(rows_of(made)["hybrid", "3 chunks"]["hit"])
    write_run(tmp_path / "right.run", "right", {"elsewhere": [("x", 1.0)]})
    with pytest.raises(TriviumError, match=f"expected a run of these {QUESTIONS} questions"):
        table.main(["4.1", "--store", str(store), *map(str, [*given, *more])])


@needs_tensorflow
@pytest.mark.usefixtures("quick")
def test_several_hops(store: Path, cache: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Table 4.2 by the network of other questions, also of a set that is one cluster: two questions. Its own hit lists
    are kept."""
    two = tmp_path / "two.jsonl"
    two.write_text("\n".join(TWO_HOPS.read_text("utf-8").splitlines()[:2]), "utf-8")
    given = ["--questions", two, "--epochs", 1, "--cache", tmp_path]
    with pytest.raises(InputError, match="is by a network of questions with one hop"):
        table.main(["4.2", "--store", str(store), *map(str, given)])
    (made,) = printed(capsys, "4.2", store, *given, "--trained-on", cache / f"{ALL_OF_ONE_HOP.stem}.npz")
    assert (tmp_path / "two.npz").exists()
    assert made["questions"] == 2 and made["clusters"] <= 2 and made["resampled"] == "questions"
    rows = rows_of(made)
    assert list(rows) == [(m, f"{k} chunks") for m in ("vector", "naive hybrid", "hybrid") for k in (4, 6, 8)]
    assert rows["hybrid", "6 chunks"]["published"]["coverage"] == 0.43
    assert all(0 <= row["coverage"] <= row["R"] <= 1 for row in rows.values())


def test_importance(
    store: Path, one_hop: Path, cache: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Figure 4.2: five views whose impurities add up to one, in a table beside the published ones, and as a picture whose
    longest bar is the largest value."""
    picture = tmp_path / "figure.svg"
    given = ["figure", "--store", str(store), "--questions", str(one_hop), "--cache", str(cache)]
    table.main([*given, "--picture", str(picture), "--format", "json"])
    (own,) = json.loads(capsys.readouterr().out)["importance"].values()
    assert list(own) == ["vector", "page", "section", "entity", "path"]
    assert sum(one["impurity"] for one in own.values()) == pytest.approx(1)
    assert all(one["deviation"] >= 0 for one in own.values()) and own["vector"]["permutation"] > 0
    drawn = ElementTree.fromstring(picture.read_text("utf-8"))
    bars = [
        float(one.get("width"))
        for one in drawn.iter("{http://www.w3.org/2000/svg}rect")
        if one.get("x") == "70"
    ]
    values = [v for view in own for v in (tables.published.IMPORTANCE[view], own[view]["impurity"])]
    assert np.argmax(bars[:10]) == np.argmax(values)
    table.main([*given, "--picture", str(picture)])
    assert "section    .244" in capsys.readouterr().out


def test_a_recorded_selection_makes_the_same_lists(store: Path, one_hop: Path, tmp_path: Path) -> None:
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
    (hit,) = hit_sets(Source(str(store), [asked], selector=f"replay:{file}"))[0].hits
    paths = {uri.split("#")[0] for uri, _ in own_ranking(hit.table, "path")}
    assert paths == {"Solar System"}


class Reader:
    """Copies the first word of the passage on top, refuses every third question, and counts what it was asked."""

    name, context_tokens = "copier", 8192

    def __init__(self) -> None:
        self.asked: list[str] = []

    def complete(self, messages: Sequence[Message], **_: object) -> str:
        self.asked.append(messages[-1].content)
        if len(self.asked) % 3 == 0:
            return "Not in the collection. Sorry."
        return messages[-1].content.split(": ", 1)[1].split()[0]


@needs_tensorflow
@pytest.mark.usefixtures("quick")
def test_answers_are_always_asked_and_refusals_counted(
    store: Path,
    one_hop: Path,
    cache: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Table 4.3: every question goes to the reader with three passages; every third refusal is a share of .333 and wrong.
    A second run asks nothing again."""
    pytest.importorskip("rouge_score")
    reader = Reader()
    monkeypatch.setattr(table, "find_chat_model", lambda _: reader)
    monkeypatch.setattr(table, "open_chat_model", lambda _: reader)
    for file in cache.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    given = ["--questions", one_hop, "--cache", tmp_path, "--epochs", 1, "--folds", 3, "--sample", 12]
    (made,) = printed(capsys, "4.3", store, *given)
    assert made["questions"] == 12 and len(reader.asked) <= 24
    assert all(said.count("<passage ") == 3 for said in reader.asked)
    rows = rows_of(made)
    assert list(rows) == [("vector", "3 chunks"), ("hybrid", "3 chunks")]
    assert rows["vector", "3 chunks"]["refused"] == pytest.approx(1 / 3)
    assert rows["vector", "3 chunks"]["published"]["EM"] == 0.355
    before = len(reader.asked)
    assert rows_of(printed(capsys, "4.3", store, *given)[0]).keys() == rows.keys()
    assert len(reader.asked) == before


def test_an_answer_by_hand() -> None:
    """Exact match after normalisation; ROUGE-L of "the moon Phobos" with "Phobos": P 1/3, R 1, F 1/2; a refusal is
    wrong."""
    pytest.importorskip("rouge_score")
    overlap, embedder = answers.rouge(), HashEmbedder()
    exact, _, cosine, factual, refused = answers._measured(
        "the Phobos.", ["Deimos", "Phobos"], overlap, embedder, 0.5
    )
    assert (exact, factual, refused) == (1, 0.5, 0) and 0 < cosine <= 1 + 1e-6
    assert answers._measured("the moon Phobos", ["Phobos"], overlap, embedder, 0)[1] == pytest.approx(0.5)
    assert answers._measured("Not in the collection.", ["Phobos"], overlap, embedder, 0.0) == [0, 0, 0, 0, 1]


@needs_tensorflow
def test_from_rows_of_natural_questions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One command: rows become a store without headings and sentences, lists, and a table."""
    rows = tmp_path / "rows.jsonl"
    names = ("Mars", "Jupiter", "Saturn", "Venus")
    rows.write_text(
        "".join(json.dumps(nq_row(number, name)) + "\n" for number, name in enumerate(names)), "utf-8"
    )
    given = ["--nq", str(rows), "--cache", str(tmp_path / "work"), "--epochs", "1", "--folds", "2"]
    table.main(["4.1", *given, "--splits", "1", "--format", "json"])
    said = capsys.readouterr()
    (made,) = json.loads(said.out)["tables"]
    assert made["questions"] == 2 and "not as in the thesis" not in said.err
    assert rows_of(made)["page", "3 pages"]["hit"] == 1
    with Engine.open(tmp_path / "work" / "store") as engine:
        assert is_plain(engine.store.embedder)


def nq_row(number: int, name: str) -> dict:
    """A simplified row about a planet: two paragraphs, of which the second answers."""
    first, answer = (
        f"{name} is a planet of the Sun.",
        f"The day of {name} lasts {number + 9} hours at the equator .",
    )
    words = f"<H1> {name} </H1> <P> {first} </P> <P> {answer} </P>".split(" ")
    start = len(words) - len(answer.split(" ")) - 2
    return {
        "example_id": number,
        "document_title": name,
        "document_url": f"https://en.wikipedia.org/wiki/{name}",
        "question_text": f"how long is a day of {name}",
        "document_text": " ".join(words),
        "long_answer_candidates": [{"start_token": start, "end_token": len(words), "top_level": True}],
        "annotations": [
            {
                "long_answer": {"start_token": start, "end_token": len(words), "candidate_index": 0},
                "short_answers": [{"start_token": len(words) - 6, "end_token": len(words) - 4}],
                "yes_no_answer": "NONE",
            }
        ],
    }


def test_what_is_missing_is_said_in_a_line(
    store: Path,
    one_hop: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Before anything takes long: files, the reader, packages; and a store that is not as in the thesis is named."""
    monkeypatch.delenv("TRIVIUM_CHAT_MODEL", raising=False)
    usual = ["--store", str(store), "--questions", str(one_hop)]
    for given, said in (
        (["4.1"], "expected --store STORE"),
        (["4.1", "--nq", str(one_hop)], "expected --nq with --cache FOLDER"),
        (["4.1", "--store", str(store), "--questions", "nowhere.jsonl"], "got nowhere.jsonl: there is none"),
        (["4.3", *usual], "table 4.3 needs a reader"),
        (["figure", *usual, "--selector", "replay:nowhere"], "there is none"),
        *([(["4.1", *usual, "--share", "2"], "a share in")] if find_spec("tensorflow") else []),
    ):
        with pytest.raises(SystemExit) as ended:
            command.run(lambda given=given: table.main(given))  # type: ignore[misc]
        assert ended.value.code == 2 and re.search(f"^error: .*{said}", capsys.readouterr().err, re.MULTILINE)
    few = tmp_path / "few.jsonl"
    few.write_text("\n".join(one_hop.read_text("utf-8").splitlines()[:3]), "utf-8")
    with pytest.raises(InputError, match="3 questions"):
        table.main(["figure", "--store", str(store), "--questions", str(few)])
    assert "is not as in the thesis: its chunks are embedded with their headings" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "sklearn.ensemble", None)
    with pytest.raises(InputError, match="pip install scikit-learn"):
        table.main(["figure", *usual])


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


def test_differences_are_between_the_same_questions_by_cluster() -> None:
    """Two of four questions better and none worse is a half, with an exact p of .5. Twelve questions in six clusters that
    share a page are resampled by cluster, four in one by question; the published row stands below its method."""
    good, bad = [("a", 1.0)], [("b", 1.0)]
    rankings = {"vector": [good, good, bad, bad], "hybrid": [good] * 4}
    gold = [Gold((("a",),))] * 4
    rows = [row for method, own in rankings.items() for row in tables.cut_rows(method, gold, own, (1,))]
    shape = ("P", "R", "hit"), ("hit",), tables.published.ONE_HOP
    made = tables.SetTable("4.1", "set", rows, np.zeros(4, dtype=np.int64), *shape)
    ((row, column, one, p),) = made.differences
    assert (row.method, column, one.mean, p) == ("hybrid", "hit", 0.5, 0.5)
    means = [[cell.text for cell in row] for row in made.tables()[0].rows]
    assert means == [
        ["vector", "1 chunk", ".500", ".500", ".500"],
        ["  thesis", "1 chunk", ".398", ".308", ".398"],
        ["hybrid", "1 chunk", "1.000", "1.000", "1.000"],
        ["  thesis", "1 chunk", ".478", ".371", ".478"],
    ]
    assert (
        "4 questions in 1 clusters that share no page, too few: intervals by question"
        in made.tables()[0].title
    )
    several = [
        tables.Row("vector", "1 chunk", {name: np.tile(row.values[name], 3) for name in shape[0]})
        for row in rows[:1]
    ]
    six = tables.SetTable("4.1", "set", several, np.repeat(np.arange(6), 2), *shape)
    assert six.to_json()["clusters"] == 6 and six.to_json()["resampled"] == "clusters"
    # A cluster of the first six questions is right or wrong as a whole, so the interval is wider than by question.
    by_question = tables.SetTable("4.1", "set", several, np.arange(12), *shape)
    wide, narrow = (one.interval(several[0], "hit") for one in (six, by_question))
    assert wide.high - wide.low > narrow.high - narrow.low


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
