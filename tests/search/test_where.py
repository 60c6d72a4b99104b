"""Conditions act inside every retriever, through the doors of the engine: all hits fulfil them, and there are k if there
are k."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from trivium.common.arrays import Floats
from trivium.engine import Engine
from trivium.errors import InputError
from trivium.fusion.score_table import Fused, Table
from trivium.retrievers.query import Candidate, Query
from trivium.retrievers.registry import RETRIEVERS
from trivium.testing.toys import HashEmbedder
from trivium.types import Hit

KINDS = ("report", "note", "letter")


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Sixty records that mention each other; what is asked for stands in all of them, best in those of 2000."""
    folder = tmp_path_factory.mktemp("where")
    lines = [
        {
            "title": f"Paper {number}",
            "text": f"Net sales of Paper {(number + 1) % 60} rose{'' if number >= 20 else ' and rose: net sales'}.",
            "year": 2000 + number // 20,
            "class": KINDS[number % 3],
        }
        for number in range(60)
    ]
    (folder / "records.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    with Engine.create(folder / "store", HashEmbedder()) as engine:
        engine.build([folder / "records.jsonl"], meta={"team": "finance"})
        yield engine


def _fits(hit: Hit) -> bool:
    return hit.metadata["year"] == 2002 and hit.metadata["class"] == "note"


@pytest.mark.parametrize("names", [*([name] for name in RETRIEVERS), None])
def test_every_hit_fulfils_the_condition(engine: Engine, names: list[str] | None) -> None:
    """Though all better hits do not."""
    hits = engine.search("net sales rose", 30, names, where="year = 2002 and class = note")
    assert all(map(_fits, hits))
    if names in (None, ["vector"], ["lexical"], ["diffusion"]):
        assert (
            len(hits) == 7
        )  # 40 to 59: 40, 43, ... are notes where the number is 1 more than a multiple of three
    assert engine.search("net sales rose", 30, names, where="year = 1066") == []


@dataclass(frozen=True)
class Outside:
    """A retriever of one's own that does not look at the condition: it proposes chunks in the order of their uris."""

    name: str = "outside"

    def retrieve(self, query: Query, depth: int | None = None) -> list[Candidate]:
        uris = sorted(f"Paper {number}#chunk-1" for number in range(60))
        return [Candidate(uri, -float(place)) for place, uri in enumerate(uris)][:depth]

    def score(self, query: Query, chunks: Sequence[str]) -> Floats:
        return np.zeros(len(chunks))


@pytest.mark.parametrize(
    ("names", "fusion"), [(["outside"], None), (["outside", "page"], "rrf"), (None, None)]
)
def test_a_retriever_that_does_not_look_at_the_condition_finds_nothing_else(
    engine: Engine, names: list[str] | None, fusion: str | None
) -> None:
    """Alone it still finds as many as there are: it is asked for more."""
    assert engine.search("net sales", 1)[0].uri.endswith("#chunk-1")
    searcher = Engine(engine.store, HashEmbedder(), retrievers=[Outside()])
    hits = searcher.search("net sales", 7, names, fusion, where="year = 2002 and class = note")
    assert len(hits) == 7 or fusion == "rrf"
    assert hits and all(map(_fits, hits))
    assert len(searcher.search("net sales", 7, ["outside"])) == 7


@pytest.mark.parametrize("name", ["vector", "page", "section", "diffusion", "walk", "lexical", "entity"])
@pytest.mark.parametrize("where", ["class = note", "year = 2001"])
def test_one_retriever_finds_as_many_as_are_asked_for(engine: Engine, name: str, where: str) -> None:
    """Three pages and five sections are where it looks first; twenty records match. The first hits are the same however
    many are asked for, and scores do not rise."""
    hits = engine.search("net sales rose", 20, [name], where=where)
    assert len(hits) == 20
    assert all(one.score >= next_one.score for one, next_one in pairwise(hits))
    few = engine.search("net sales rose", 6, [name], where=where)
    assert [hit.uri for hit in few] == [hit.uri for hit in hits][:6]
    assert len(engine.search("net sales rose", 30, [name], where=where)) == 20


class LogOdds:
    """A fusion that claims to be calibrated."""

    name = "odds"
    needs_signals = False
    log_odds = True

    def fuse(self, table: Table) -> Fused:
        rows = len(table.chunks)
        return Fused(
            np.arange(rows, dtype=float), lambda asked: np.zeros((len(asked), len(table.columns))), 0.0
        )


def test_under_a_condition_no_score_is_called_a_probability(engine: Engine) -> None:
    """What a network was calibrated on are the candidates of all passages."""
    searcher = Engine(engine.store, HashEmbedder(), fusion=LogOdds())
    assert all(hit.probability is not None for hit in searcher.search("net sales", 3))
    assert all(hit.probability is None for hit in searcher.search("net sales", 3, where="year = 2001"))
    answer = searcher.ask("Which net sales rose?", where="year = 2001")
    assert all(hit.probability is None for hit in answer.passages)


def test_hits_and_citations_know_their_documents(engine: Engine) -> None:
    """What a record says beside its text, and what was said of all of them."""
    (hit,) = engine.search("net sales", 1, where="title = 'Paper 7'")
    assert hit.metadata == {"year": 2000, "class": "note", "team": "finance"}
    assert hit.document.endswith("records.jsonl")
    assert hit.pages == ()
    answer = engine.ask("Which net sales rose?", where="year = 2001")
    assert all(found.metadata["year"] == 2001 for found in answer.passages)
    with pytest.raises(InputError, match="cannot be read"):
        engine.ask("Which net sales rose?", where="year =")


def test_metadata_that_is_given_again_replaces_what_was_said(engine: Engine, tmp_path: Path) -> None:
    """And wins over what the document says of itself."""
    (tmp_path / "one.jsonl").write_text(
        json.dumps({"title": "Other", "text": "Something else.", "year": 1}) + "\n"
    )
    assert engine.build([tmp_path / "one.jsonl"], meta={"year": 2}).added == 1
    assert engine.build([tmp_path / "one.jsonl"], meta={"year": 2}).unchanged == 1
    assert engine.build([tmp_path / "one.jsonl"], meta={"year": 3}).replaced == 1
    assert [hit.page for hit in engine.search("something", 9, where="year = 3")] == ["Other"]
    engine.remove(["Other"])


def test_hits_and_citations_do_not_say_where_files_lie_on_this_machine(engine: Engine) -> None:
    """Records, and pages of a MediaWiki, keep as their source the path that they were read from."""
    assert Path(engine.store.pages(limit=1)[0].source.removeprefix("records:")).is_absolute()
    assert {hit.document for hit in engine.search("net sales", k=5)} == {"records.jsonl"}
    citations = engine.ask("Which net sales rose?", model=None).citations
    assert {citation.document for citation in citations} <= {"records.jsonl"}
