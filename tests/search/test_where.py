"""Conditions act inside every retriever, through the doors of the engine: all hits fulfil them, and there are k if there
are k."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from trivium.engine import Engine
from trivium.errors import InputError
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


def test_hits_and_citations_know_their_documents(engine: Engine) -> None:
    """What a record says beside its text, and what was said of all of them."""
    (hit,) = engine.search("net sales", 1, where="title = 'Paper 7'")
    assert hit.metadata == {"year": 2000, "class": "note", "team": "finance"}
    assert hit.document.endswith("records.jsonl")
    assert hit.pages == ()
    answer = engine.ask("Which net sales rose?", where="year = 2001")
    assert all(found.metadata["year"] == 2001 for found in answer.hits)
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
