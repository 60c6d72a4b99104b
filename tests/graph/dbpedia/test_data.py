"""The DBpedia fixtures of the evaluation data, checked against a plain reading of them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.graph.dbpedia.world import store_of
from trivium.graph.dbpedia import enrich
from trivium.graph.dbpedia.mapping import readable

DATA = Path(os.environ.get("TRIVIUM_DATA", Path(__file__).parents[4] / "shared" / "data")) / "dbpedia"
NTRIPLES, ROWS = DATA / "dbpedia50_for_crawl.nt", DATA / "db100k_for_crawl.tsv"

pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(not DATA.is_dir(), reason="the evaluation data is not there (TRIVIUM_DATA)"),
]

Triples = set[tuple[str, str, str]]


def named(iri: str) -> str:
    return unquote(iri.rsplit("/resource/", 1)[1]).replace("_", " ")


def ntriples() -> Triples:
    pattern = re.compile(r"<([^>]*)> <http://dbpedia.org/ontology/([^>]*)> <([^>]*)> \.")
    rows = [pattern.fullmatch(line) for line in NTRIPLES.read_text(encoding="utf-8").splitlines()]
    return {(named(row[1]), readable(row[2]), named(row[3])) for row in rows if row is not None}


def tab_separated() -> Triples:
    rows = [line.split("\t") for line in ROWS.read_text(encoding="utf-8").splitlines()]
    return {(a.replace("_", " "), readable(p), b.replace("_", " ")) for _, a, p, _, b in rows if a and b}


@pytest.mark.parametrize(
    ("path", "statements", "oracle"), [(NTRIPLES, 2_436, ntriples), (ROWS, 5_680, tab_separated)]
)
def test_every_relation_of_the_fixture_arrives(
    path: Path, statements: int, oracle: Callable[[], Triples]
) -> None:
    """In a store whose pages mention what they are related to (the subjects in every fourth place of the alphabet; the
    rest is about documents that are not there)."""
    pytest.importorskip("pyoxigraph")
    triples = oracle()
    pages = sorted({subject for subject, _, _ in triples})[::4]
    cites = {page: sorted({b for a, _, b in triples if a == page}) for page in pages}
    store = store_of(cites)
    report = enrich(store, str(path))
    together = {title: {title, *targets} for title, targets in cites.items()}
    expected = {
        (a, p, b) for a, p, b in triples if a != b and any({a, b} <= names for names in together.values())
    }
    found = {
        (edge.source, edge.type, edge.target) for edge in store.relations(list(store.adjacency().entities))
    }
    assert found == expected and len(expected) > 50
    assert (report.read, report.relations, report.problems) == (statements, len(expected), [])
