"""Tasks of long documents and how experiments/embedders ranks and counts: hand-computed, and end to end."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from experiments.embedders.compare import (
    Row,
    compare,
    document_vectors,
    main,
    mean_over_tasks,
    measure,
    plot,
    rank,
)
from experiments.embedders.tasks import Task, make_task, read_task, task_of_store
from trivium.chunking.split_by_length import count
from trivium.errors import InputError
from trivium.testing import HashEmbedder, toy_store


def _write(file: Path, rows: list[dict[str, object]]) -> None:
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def _folder(place: Path, *, lengths: bool) -> Path:
    own = [{"context_length": 256}, {"context_length": 512}] if lengths else [{}, {}]
    place.mkdir()
    _write(place / "corpus.jsonl", [{"doc_id": f"d{i}", "text": f"text {i}", **own[i]} for i in range(2)])
    _write(place / "queries.jsonl", [{"qid": f"q{i}", "text": f"question {i}", **own[i]} for i in range(2)])
    _write(place / "qrels.jsonl", [{"qid": f"q{i}", "doc_id": f"d{i}"} for i in range(2)])
    return place


def test_a_task_is_read_as_it_is(tmp_path: Path) -> None:
    (task,) = read_task(_folder(tmp_path / "qmsum", lengths=False))
    assert task == Task(
        "qmsum",
        {"d0": "text 0", "d1": "text 1"},
        {"q0": "question 0", "q1": "question 1"},
        {"q0": frozenset(["d0"]), "q1": frozenset(["d1"])},
    )


def test_each_length_is_a_task_of_its_own(tmp_path: Path) -> None:
    """So that a question is asked of documents of its length only."""
    tasks = list(read_task(_folder(tmp_path / "needle", lengths=True)))
    assert [(task.length, list(task.documents), list(task.questions)) for task in tasks] == [
        (256, ["d0"], ["q0"]),
        (512, ["d1"], ["q1"]),
    ]


@pytest.mark.parametrize(
    ("file", "rows", "says"),
    [
        (
            "qrels",
            [{"qid": "q0", "doc_id": "d0"}],
            "expected documents for every question, got none for 'q1'",
        ),
        ("queries", [{"id": "q0", "text": "x"}], "queries.jsonl, line 1: expected qid and text, got"),
    ],
)
def test_what_is_of_another_form_is_named(
    tmp_path: Path, file: str, rows: list[dict[str, object]], says: str
) -> None:
    folder = _folder(tmp_path / "qmsum", lengths=False)
    _write(folder / f"{file}.jsonl", rows)
    with pytest.raises(InputError, match=says):
        list(read_task(folder))
    (folder / f"{file}.jsonl").unlink()
    with pytest.raises(InputError, match=f"got no {file}.jsonl"):
        list(read_task(folder))


@pytest.mark.parametrize("name", ["needle", "passkey"])
def test_made_documents_are_as_long_as_asked_and_hold_one_answer_each(name: str) -> None:
    """No longer, and shorter by less than a sentence; the same every time."""
    task = make_task(name, 512, documents=12)
    assert task == make_task(name, 512, documents=12)
    assert all(512 - 15 < count(text) <= 512 for text in task.documents.values())
    assert len(set(task.documents.values())) == len(set(task.questions.values())) == 12
    if name == "passkey":
        for key, question in task.questions.items():
            (answering,) = [uri for uri, text in task.documents.items() if question[13:-1] in text]
            assert answering == key


def test_a_document_is_ranked_by_its_best_vector() -> None:
    vectors = {
        "a": np.array([[0.6, 0.8], [0.0, 1.0]], np.float32),
        "b": np.array([[0.8, 0.6]], np.float32),
        "c": np.array([[0.8, 0.6]], np.float32),
    }
    assert rank(np.array([1.0, 0.0], np.float32), vectors) == ["b", "c", "a"]


def test_measures_are_means_over_questions() -> None:
    """The one right document is the fourth; of two right ones the first is the first and the other the twentieth."""
    names = [f"d{number:02}" for number in range(30)]
    gold = {"q": frozenset(["d03"]), "r": frozenset(["d29", "d10"])}
    assert measure({"q": names, "r": names[::-1]}, gold) == {
        "recall@1": 0.25,
        "recall@5": 0.75,
        "recall@10": 0.75,
        "recall@25": 1.0,
        "mrr@1": 0.5,
        "mrr@5": 0.625,
        "mrr@10": 0.625,
        "mrr@25": 0.625,
    }


def test_ways_give_one_vector_or_one_a_chunk() -> None:
    embedder = HashEmbedder()
    texts = ["one two three four five", "six", ""]
    assert [len(v) for v in document_vectors(embedder, texts, "whole")] == [1, 1, 1]
    chunks = document_vectors(embedder, texts, "chunks:2")
    assert [len(v) for v in chunks] == [3, 1, 1]
    assert np.array_equal(chunks[0][1], embedder.embed(["three four"])[0])
    with pytest.raises(InputError, match="gives no vectors of tokens"):
        document_vectors(embedder, texts, "late:2")
    for wrong in ("late", "chunks:0", "half", "whole:3"):
        with pytest.raises(InputError, match="expected whole, chunks:N or late:N"):
            document_vectors(embedder, texts, wrong)


def test_tasks_of_several_lengths_count_once_in_the_mean(tmp_path: Path) -> None:
    def row(task: str, length: int, value: float) -> Row:
        return Row(
            task,
            length,
            "e",
            "whole",
            1,
            1,
            0.0,
            dict.fromkeys(measure({"q": ["d"]}, {"q": frozenset("d")}), value),
        )

    rows = [row("needle", 256, 1.0), row("needle", 512, 0.0), row("qmsum", 0, 1.0)]
    assert mean_over_tasks(rows)["recall@1"] == 0.75
    plot(rows, tmp_path / "plot.svg")
    drawn = (tmp_path / "plot.svg").read_text("utf-8")
    assert "needle" in drawn
    assert "qmsum" not in drawn


def test_chunks_find_what_lies_behind_the_window() -> None:
    """A real model: of a number at the end of a long document, its first words know nothing."""
    from trivium.embedding.registry import open_embedder

    task = make_task("passkey", 1024, documents=6, seed=3)
    embedder = open_embedder("minilm")
    whole, cut = (compare(task, embedder, way).measures["mrr@25"] for way in ("whole", "chunks:200"))
    assert cut > whole
    embedder.close()


@pytest.fixture
def toys(tmp_path: Path) -> tuple[Path, Path]:
    """A store of four pages and a file with a question about one of them."""
    with toy_store(tmp_path / "toys"):
        pass
    questions = tmp_path / "moons.jsonl"
    _write(questions, [{"question": "Who discovered it?", "page": "Phobos", "answers": ["Asaph Hall"]}])
    return tmp_path / "toys" / "store", questions


def test_the_command_prints_a_row_for_each_way(
    toys: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    store, questions = map(str, toys)
    made = ["--make", "needle", "--lengths", "256", "512", "--documents", "4"]
    rest = ["--embedders", "minilm", "--ways", "whole", "chunks:200", "--json"]
    main([*made, "--store", store, "--questions", questions, *rest])
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(row["task"], row["length"], row["way"], row["questions"]) for row in rows] == [
        (task, length, way, count)
        for task, length, count in (("needle", 256, 4), ("needle", 512, 4), ("moons", 0, 1))
        for way in ("whole", "chunks:200")
    ]
    assert all(row["recall@25"] == 1 for row in rows)


def test_pages_of_a_store_are_documents(toys: tuple[Path, Path]) -> None:
    store, questions = toys
    task = task_of_store(str(store), questions)
    assert sorted(task.documents) == ["Asaph Hall", "Deimos", "Mars", "Phobos"]
    assert list(task.gold.values()) == [frozenset(["Phobos"])]
