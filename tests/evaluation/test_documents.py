"""Documents as what is found: by their best passages, in runs of other systems, with the ids of a benchmark. And
retrievers and fusions as objects.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from tests.datasets.test_beir import benchmark
from trivium import Engine
from trivium.common.arrays import Floats
from trivium.datasets.gold import Gold
from trivium.errors import InputError
from trivium.evaluation.documents import DocumentRankings
from trivium.evaluation.trec_files import read_qrels, read_run, write_runs
from trivium.fusion.rrf import ReciprocalRank
from trivium.retrievers.query import Candidate, Query


@pytest.fixture(scope="module")
def beir(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Engine]]:
    folder = tmp_path_factory.mktemp("beir")
    with Engine.create(folder / "store", "minilm") as engine:
        engine.build([benchmark(folder / "set")], workers=1)
        yield folder / "set", engine


def test_a_document_has_the_score_of_its_best_passage_or_the_mean_of_three(
    beir: tuple[Path, Engine],
) -> None:
    """By hand: the mean of document 8 is (.9 + .3 + .3) / 3, since the last score stands for what is missing."""
    passages = [("8", 0.9), *((f"Ferry#chunk-{n}", 0.9 - n / 10) for n in (1, 2, 3)), ("9", 0.3)]
    best = DocumentRankings(beir[1].store, "best").ranked(passages)
    assert [name for name, _ in best] == ["8", "7", "9"] and [score for _, score in best] == [0.9, 0.8, 0.3]
    mean = DocumentRankings(beir[1].store, "mean").ranked(passages)
    assert [name for name, _ in mean] == ["7", "8", "9"]
    assert [score for _, score in mean] == pytest.approx([0.7, 0.5, 0.3])


def test_a_run_of_documents_is_measured_and_written_with_their_ids(
    beir: tuple[Path, Engine], tmp_path: Path
) -> None:
    folder, engine = beir
    run = tmp_path / "theirs.run"
    run.write_text("q1 Q0 8 1 2.0 x\nq1 Q0 7 2 1.0 x\n2 Q0 7 1 2.0 x\n2 Q0 nowhere 2 1.0 x\n")
    report = engine.evaluate(folder, ["lexical"], runs=[run], documents="best", measure="ndcg@3")
    assert report.rows["theirs"].values["ndcg@3"].tolist() == [1.0, 0.0]
    assert report.rows["lexical"].values["ndcg@3"][0] > 0.9
    assert report.warnings == (
        "theirs: 1 of 3 documents is not a document of the store, such as 'nowhere': they count as wrong",
    )
    write_runs(report, tmp_path / "runs")
    assert read_qrels(tmp_path / "runs" / "qrels.txt") == {
        "q1": Gold((("7",), ("8",)), (1, 3)),
        "2": Gold((("9",),)),
    }
    assert [name for name, _ in read_run(tmp_path / "runs" / "theirs.run")["q1"]] == ["8", "7"]
    assert read_run(tmp_path / "runs" / "lexical.run")["q1"][0][0] == "8"


class Longest:
    """Finds the longest passages, whatever is asked."""

    name = "longest"

    def retrieve(self, query: Query, depth: int | None = None) -> list[Candidate]:
        uris = list(query.store.chunk_uris())
        scores = self.score(query, uris)
        return sorted(map(Candidate, uris, scores.tolist()), key=lambda one: -one.score)[:depth]

    def score(self, query: Query, chunks: Sequence[str]) -> Floats:
        return np.array([float(len(one.text)) for one in query.store.fetch(list(chunks))])


def test_retrievers_and_fusions_may_be_objects(beir: tuple[Path, Engine]) -> None:
    """The object changes nothing for the others, though it finds other passages."""
    folder, engine = beir
    fusions = ["rrf", ReciprocalRank(1.0, name="steep"), ReciprocalRank(60.0, name="as usual")]
    report = engine.evaluate(folder, ["lexical", Longest()], fusions)
    assert list(report.rows) == ["lexical", "longest", "rrf", "steep", "as usual"]
    assert report.rankings["as usual"] == report.rankings["rrf"] != report.rankings["steep"]
    assert report.rankings["longest"][0][0][0].startswith("⟦Document 9⟧")
    assert report.rankings["rrf"] == engine.evaluate(folder, [], ["rrf"]).rankings["rrf"]
    with pytest.raises(InputError, match="named unlike the systems measured, got rrf"):
        engine.evaluate(folder, [], ["rrf", ReciprocalRank()])
