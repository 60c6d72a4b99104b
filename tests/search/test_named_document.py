"""Of a large document that a question names by its title, more candidates are considered."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from trivium.engine import Engine
from trivium.graph.schema import page_of
from trivium.retrievers.registry import make_retrievers
from trivium.retrievers.signals import SignalSettings
from trivium.search.candidates import DEPTH, LARGE, gather
from trivium.testing.toys import HashEmbedder

LARGE_TITLE = "Acme 2023 Report"


def report(company: str, sections: int) -> str:
    """A report of which one section holds the value, thirty have most words of a question, and the rest none."""
    about = [
        f"## {company} {n}\n\nThe stock of {company} in 2023, part {n}, is in good order.\n"
        for n in range(30)
    ]
    rest = [
        f"## Room {n}\n\nA meal of soup and bread was served to {n} guests.\n" for n in range(sections - 31)
    ]
    gold = "## Shelves\n\nGoods on shelves, in bags, tins, crates and barrels of oak, are of a value of 70.\n"
    return "\n".join([f"# {company} 2023 Report\n", *about, *rest, gold])


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """A large and a small report, and a hundred pages that have the words of the questions more often than the gold."""
    folder = tmp_path_factory.mktemp("named")
    (folder / "Acme 2023 Report.md").write_text(report("Acme", LARGE))
    (folder / "Zenith 2023 Report.md").write_text(report("Zenith", 40))
    others = [
        {"title": f"Note {n}", "text": f"The value of stock {n}: value of stock in hand."} for n in range(100)
    ]
    (folder / "others.jsonl").write_text("".join(json.dumps(row) + "\n" for row in others))
    with Engine.create(folder / "store", HashEmbedder()) as engine:
        engine.build(
            [folder / name for name in ("Acme 2023 Report.md", "Zenith 2023 Report.md", "others.jsonl")]
        )
        yield engine


def found(engine: Engine, question: str, signals: SignalSettings | None) -> dict[str, tuple[int, ...]]:
    """The candidates of vector and lexical, each with its ranks in both."""
    with engine.store.pinned() as store:
        query = engine.searcher.query(question, store=store)
        table = gather(query, make_retrievers(names=["vector", "lexical"]), DEPTH, signals=signals)
    return {uri: tuple(ranks) for uri, ranks in zip(table.chunks, table.ranks.tolist(), strict=True)}


def test_the_lists_of_a_large_document_that_is_named_are_added(engine: Engine) -> None:
    """Behind what was found before, which keeps its ranks."""
    question = "What is the value of the stock of Acme in 2023?"
    gold = f"{LARGE_TITLE}#Shelves#chunk-1"
    before = found(engine, question, None)
    after = found(engine, question, SignalSettings())
    assert gold not in before and gold in after, sorted(after)
    for uri, ranks in before.items():
        assert all(old in (0, new) for old, new in zip(ranks, after[uri], strict=True))
    assert {page_of(uri) for uri in set(after) - set(before)} == {LARGE_TITLE}
    assert max(map(max, after.values())) <= 2 * DEPTH


@pytest.mark.parametrize(
    "question",
    [
        "What is the value of the stock of Zenith in 2023?",  # small
        "What is the value of the stock in 2023?",  # several of that year
        "What is the value of the stock of Acme in 2019?",  # of another year
        "What is the value of the stock?",
    ],
)
def test_otherwise_the_lists_stay_as_they_are(engine: Engine, question: str) -> None:
    assert found(engine, question, SignalSettings()) == found(engine, question, None)
