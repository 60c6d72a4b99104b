"""Natural Questions from original rows to a graph with questions, to measures and to question files, by the command.

What the chunks are was read off the page (:mod:`tests.nq_rows`): the table stands in Tarn#Moons#chunk-2 to -6.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from neo4j import GraphDatabase

from tests.built_stores import EMBEDDER
from tests.e2e.conftest import Run
from tests.graph.neo4j.stores import OLDER_SLOW
from tests.neo4j_servers import Server
from tests.neo4j_wipe import wipe
from tests.nq_rows import ONA, TARN, write_rows
from trivium.engine import Engine
from trivium.errors import InputError

DATA = Path(os.environ.get("TRIVIUM_DATA", Path(__file__).parents[3] / "shared" / "data"))
P1, SOME_TABLE = TARN.element("p", 1), TARN.element("table")
TRAIN = TARN.row(1, "who found the rings of tarn", TARN.annotation(P1, TARN.words("Mira Lund", P1)))
DEV = TARN.row(
    2,
    "what moons of tarn are known and when were they found",
    TARN.annotation(SOME_TABLE, TARN.words("1700", SOME_TABLE)),
    TARN.annotation(),
    TARN.annotation(SOME_TABLE),
    TARN.annotation(),
    TARN.annotation(),
)
FEW = TARN.row(
    3, "is tarn a planet", TARN.annotation(TARN.element("p", 0), yes_no="YES"), *[TARN.annotation()] * 4
)
ON_ONA = ONA.row(4, "is ona yellow", ONA.annotation(ONA.element("p", 0), yes_no="YES"))
TABLE = [f"Tarn#Moons#chunk-{n}" for n in range(2, 7)]
ANSWERS = {
    *(("Tarn#chunk-2", "nq-1") for _ in "1"),
    *((chunk, "nq-2") for chunk in TABLE),
    ("Ona#chunk-1", "nq-4"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rows as they come: a file of training rows, and a packed one of rows with five annotators, with a broken row."""
    folder = tmp_path_factory.mktemp("nq") / "rows"
    folder.mkdir()
    write_rows(folder / "train.jsonl", [TRAIN, "{broken", ON_ONA])
    lines = "".join(f"{json.dumps(row)}\n" for row in (DEV, FEW))
    (folder / "dev.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    return folder


@pytest.fixture(scope="module")
def kept(trivium: Run, folder: Path) -> Path:
    """A store of them, with their questions."""
    store = folder.parent / "store"
    done = trivium("build", folder, "--store", store, "--embedder", EMBEDDER, "--questions", "--json")
    assert done.code == 3, done.err  # the broken row
    assert [problem["location"] for problem in done.json["problems"]] == [f"{folder}/train.jsonl, line 2"]
    asked = done.json["questions"]
    assert (asked["asked"], asked["traced"], asked["relations"], asked["changed"]) == (4, 3, 7, 3)
    assert asked["untraced"] == [
        {
            "id": "nq-3",
            "location": f"{folder}/dev.jsonl.gz, line 2",
            "reason": "1 of 5 annotators marked a long answer, 2 are needed",
        }
    ]
    return store


@pytest.fixture
def store(kept: Path, tmp_path: Path) -> Path:
    """A copy to change."""
    return Path(shutil.copytree(kept, tmp_path / "store"))


def _answers(store: Path) -> set[tuple[str, str]]:
    with closing(sqlite3.connect(store / "graph.db")) as database:
        return set(database.execute("SELECT source, target FROM is_answer_of"))


def test_the_graph_says_which_chunks_answer_which_question(trivium: Run, kept: Path) -> None:
    assert _answers(kept) == ANSWERS
    counted = trivium("stats", "--store", kept, "--json").json
    assert (counted["nodes"]["Question"], counted["relationships"]["is_answer_of"]) == (3, 7)
    assert "is_answer_of" in trivium("stats", "--store", kept).out
    with Engine.open(kept) as engine:
        (ona, tarn) = engine.store.page_graphs()
        assert [(q.uri, q.text, q.answers, q.chunks) for q in (*ona.questions, *tarn.questions)] == [
            ("nq-4", "is ona yellow", ("yes",), ("Ona#chunk-1",)),
            ("nq-1", "who found the rings of tarn", ("Mira Lund",), ("Tarn#chunk-2",)),
            ("nq-2", DEV["question_text"], ("1700",), tuple(TABLE)),
        ]


def test_without_the_option_there_are_no_questions(trivium: Run, folder: Path, tmp_path: Path) -> None:
    done = trivium("build", folder, "--store", tmp_path / "plain", "--no-embed", "--json")
    assert "questions" not in done.json
    assert "Question" not in done.json["nodes"]
    assert "is_answer_of" not in done.json["relationships"]


def test_building_again_adds_nothing_and_other_annotators_may_count(
    trivium: Run, folder: Path, store: Path
) -> None:
    again = trivium("build", folder, "--store", store, "--questions", "--json").json
    assert (again["pages"]["unchanged"], again["questions"]["changed"]) == (2, 0)
    assert _answers(store) == ANSWERS
    with Engine.open(store) as engine:
        engine.build([folder], questions=True, annotators="any")
        with pytest.raises(InputError, match="majority, any, agreed, first"):
            engine.build([folder], questions=True, annotators="most")
    assert _answers(store) == {*ANSWERS, ("Tarn#chunk-1", "nq-3")}
    back = trivium("build", folder, "--store", store, "--questions", "--json").json
    assert back["questions"]["changed"] == 1
    assert _answers(store) == ANSWERS


def test_removing_a_document_removes_what_it_answers(trivium: Run, store: Path) -> None:
    assert trivium("remove", "Tarn", "--store", store).code == 0
    assert _answers(store) == {("Ona#chunk-1", "nq-4")}
    assert trivium("stats", "--store", store, "--json").json["nodes"]["Question"] == 1
    trivium("remove", "Ona", "--store", store)
    assert "Question" not in trivium("stats", "--store", store, "--json").json["nodes"]


def test_check_backup_and_export_know_them(trivium: Run, kept: Path, tmp_path: Path) -> None:
    assert trivium("check", kept).code == 0
    trivium("backup", kept, tmp_path / "nq.backup")
    done = trivium("restore", tmp_path / "nq.backup", tmp_path / "again")
    assert done.code == 0, done.err
    assert _answers(tmp_path / "again") == ANSWERS
    exported = trivium("export", tmp_path / "files", "--store", kept, "--json").json
    assert (exported["nodes"]["Question"], exported["relationships"]["is_answer_of"]) == (3, 7)
    lines = (tmp_path / "files" / "questions.csv").read_text()
    assert '"nq-1","who found the rings of tarn","Mira Lund"' in lines


def test_rows_are_measured_with_the_gold_of_their_annotations(
    trivium: Run, folder: Path, kept: Path, tmp_path: Path
) -> None:
    """Broken rows are listed, and the exit code says so."""
    names = ("--retriever", "vector", "lexical", "--json")
    direct = trivium("evaluate", folder, "--store", kept, *names, "--runs", tmp_path / "a")
    assert direct.code == 3
    assert [problem["location"] for problem in direct.json["problems"]] == [f"{folder}/train.jsonl, line 2"]
    assert direct.json["untraceable"] == [
        {
            "id": "nq-3",
            "cause": "too few annotators marked a long answer",
            "reason": "1 of 5 annotators marked a long answer, 2 are needed",
        }
    ]
    assert (direct.json["questions"], direct.json["traced"]) == (4, 3)
    qrels = {tuple(line.split()) for line in (tmp_path / "a" / "qrels.txt").read_text().splitlines()}
    assert {(line[2], line[0]) for line in qrels if line[3] != "0"} == {
        (chunk.replace(" ", "%20"), id) for chunk, id in ANSWERS
    }
    shown = trivium("evaluate", folder, "--store", kept, "--retriever", "lexical").out
    assert "3 of 4 questions traced" in shown
    assert "1 row could not be read" in shown
    with Engine.open(kept) as engine:
        everyone = engine.evaluate(folder, ["lexical"], annotators="any").to_json()
    assert (everyone["questions"], everyone["traced"]) == (4, 4)


def test_sweeps_take_rows_too(trivium: Run, kept: Path, tmp_path: Path) -> None:
    """Here from a data set of the hub."""
    (tmp_path / "one.jsonl").write_text(json.dumps(DEV) + "\n", "utf-8")
    hub, store = f"hf:json:{tmp_path / 'one.jsonl'}", json.dumps(str(kept))
    (tmp_path / "sweep.toml").write_text(
        f"""
        questions = {json.dumps(hub)}
        store = {store}
        retrievers = ["lexical"]
        [[model]]
        name = "none"
        """
    )
    swept = trivium("sweep", tmp_path / "sweep.toml", "--out", tmp_path / "swept", "--json")
    assert swept.code == 0 and swept.json["questions"] == 1, swept.err


def test_short_answers_are_what_answers_are_measured_by(
    trivium: Run, folder: Path, kept: Path, tmp_path: Path
) -> None:
    done = trivium(
        *("evaluate", "answers", folder, "--store", kept, "--fusion", "default", "--out", tmp_path / "out"),
        *("--model", "none", "--gold", "--json"),
    )
    assert done.code == 3, done.err
    assert done.json["problems"][0]["location"] == f"{folder}/train.jsonl, line 2"
    assert set(done.json["rows"]) == {"default", "gold"}


@pytest.mark.parametrize("fixture", OLDER_SLOW)
def test_questions_are_nodes_in_neo4j(
    request: pytest.FixtureRequest, trivium: Run, folder: Path, fixture: str
) -> None:
    server: Server = request.getfixturevalue(fixture)
    wipe(server)
    who = {"NEO4J_USER": server.user, "NEO4J_PASSWORD": server.password}
    build = ("build", folder, "--store", server.bolt, "--no-embed", "--questions", "--json")
    assert trivium(*build, **who).json["questions"]["changed"] == 3
    assert trivium(*build, **who).json["questions"]["changed"] == 0
    query = "MATCH (c:Chunk)-[:is_answer_of]->(q:Question) RETURN c.uri, q.uri"
    with GraphDatabase.driver(server.bolt, auth=server.auth, notifications_min_severity="OFF") as driver:
        found = driver.execute_query(query, database_="neo4j").records
        assert len(found) == 7 and {(row[0], row[1]) for row in found} == ANSWERS
        (asked,) = driver.execute_query(
            "MATCH (q:Question {uri: 'nq-1'}) RETURN q.text, q.answers, labels(q)", database_="neo4j"
        ).records
        assert list(asked[:2]) == ["who found the rings of tarn", ["Mira Lund"]]
        assert set(asked[2]) == {"Question", "TriviumQuestion"}
        counted = trivium("stats", "--store", server.bolt, "--json", **who).json
        assert (counted["nodes"]["Question"], counted["relationships"]["is_answer_of"]) == (3, 7)
        assert trivium("check", server.bolt, **who).code == 0
        assert trivium("remove", "Tarn", "--store", server.bolt, **who).code == 0
        left = driver.execute_query("MATCH (q:Question) RETURN q.uri", database_="neo4j").records
        assert [row[0] for row in left] == ["nq-4"]


@pytest.mark.data
@pytest.mark.skipif(not DATA.is_dir(), reason="the evaluation data is not there (TRIVIUM_DATA)")
def test_the_original_rows_that_there_are(trivium: Run, tmp_path: Path) -> None:
    """Read by a person: one row's answer is a paragraph, one's a table of five chunks, one's the lead; of one nobody of
    five, of another nobody of one marked anything."""
    rows, store = DATA / "nq" / "original_format", tmp_path / "store"
    done = trivium("build", rows, "--store", store, "--no-embed", "--questions", "--json")
    assert done.code == 0, done.err
    assert _answers(store) == {
        ("Trade winds#chunk-2", "nq-5225754983651766092"),
        ("Persephone#chunk-2", "nq--2543388002166163252"),
        *((f"The Walking Dead (season 8)#Episodes#chunk-{n}", "nq-4549465242785278785") for n in range(1, 6)),
    }
    assert sorted(one["reason"] for one in done.json["questions"]["untraced"]) == [
        "its annotator marked no long answer",
        "none of its 5 annotators marked a long answer",
    ]
