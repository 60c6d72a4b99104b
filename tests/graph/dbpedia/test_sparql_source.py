"""A store enriched from an endpoint learns what it would from the same triples in a file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.graph.dbpedia.world import (
    ONTOLOGY,
    SUBCLASS,
    TOPIC,
    TYPE,
    Given,
    fact,
    ntriples,
    resource,
    store_of,
    wiki,
)

pytest.importorskip("pyoxigraph")

from tests.fakes.memory_store import MemoryStore
from tests.fakes.sparql_server import Fault, Request, SparqlServer
from trivium.errors import InputError
from trivium.graph.dbpedia import EnrichReport, enrich, open_source
from trivium.graph.dbpedia.sparql_client import SparqlClient, SparqlError
from trivium.graph.dbpedia.sparql_source import SparqlSource

EVIL = 'Evil "} > . DROP ALL #'
PAGES = {
    "Albert Einstein": ["Princeton, New Jersey", "Ulm", "Nobel Prize", EVIL, "Kurt Gödel", "Who?"],
    "Marie Curie": ["Nobel Prize", "Warsaw", "Phobos"],
    "Ulm": [],
}
STATEMENTS = [
    (resource("A1"), TOPIC, wiki("Albert_Einstein")),
    (resource("Phobos"), TOPIC, wiki("Phobos_(film)")),
    (resource("Kurt_Gödel"), TOPIC, "https://en.wikipedia.org/wiki/Kurt_G%C3%B6del"),
    fact("A1", "birthPlace", "Ulm"),
    fact("A1", "deathPlace", "Princeton,_New_Jersey"),
    fact("A1", "influenced", "Kurt_Gödel"),
    fact("Kurt_Gödel", "residence", "Princeton,_New_Jersey"),
    fact("A1", "wikiPageWikiLink", "Nobel_Prize"),
    fact("A1", "related", "Evil_%22%7D_%3E_._DROP_ALL_%23"),
    fact("Evil_%22%7D_%3E_._DROP_ALL_%23", "related", "Who%3F"),
    fact("Marie_Curie", "award", "Nobel_Prize"),
    fact("Phobos", "award", "Nobel_Prize"),
    fact("Albert_Einstein", "birthPlace", "Warsaw"),
    (resource("A1"), TYPE, ONTOLOGY + "Agent"),
    (resource("A1"), TYPE, ONTOLOGY + "Scientist"),
    (resource("Marie_Curie"), TYPE, ONTOLOGY + "Agent"),
    (resource("Marie_Curie"), TYPE, "http://www.w3.org/2002/07/owl#Thing"),
    (resource("Ulm"), TYPE, ONTOLOGY + "Town"),
    (ONTOLOGY + "Scientist", SUBCLASS, ONTOLOGY + "Agent"),
]
TRIPLES = ntriples(STATEMENTS) + f'<{resource("Ulm")}> <{ONTOLOGY}population> "126000" .\n'


def learned(store: MemoryStore) -> tuple[object, ...]:
    return [page.relations for page in store.page_graphs()], store.types()


@pytest.fixture
def expected() -> tuple[object, ...]:
    store = store_of(PAGES)
    report = enrich(store, Given(*STATEMENTS))
    assert (report.relations, report.types_set) == (7, 3)
    return learned(store)


@pytest.fixture
def server() -> Iterator[SparqlServer]:
    with SparqlServer(TRIPLES) as running:
        yield running


def source(server: SparqlServer, answers: Path, **options: int) -> SparqlSource:
    client = SparqlClient(server.url, pause=0.0, timeout=2, sleep=lambda seconds: None)
    return SparqlSource(client, answers, "en", **options)


def run(server: SparqlServer, answers: Path, **options: int) -> tuple[tuple[object, ...], EnrichReport]:
    store = store_of(PAGES)
    report = enrich(store, source(server, answers, **options))
    return learned(store), report


def test_an_endpoint_teaches_what_a_file_of_the_same_triples_does(
    server: SparqlServer, tmp_path: Path, expected: tuple[object, ...]
) -> None:
    """Mapping by Wikipedia page, by name where there is none, types, hierarchy; no triple is asked for in vain."""
    found, report = run(server, tmp_path / "answers.jsonl")
    assert found == expected
    assert report.problems == []
    assert len(server.requests) == 3  # links, facts, classes
    assert "wikiPageWikiLink" not in (tmp_path / "answers.jsonl").read_text()


@pytest.mark.parametrize("batch", [1, 3])
def test_the_size_of_batches_changes_nothing(
    server: SparqlServer, tmp_path: Path, expected: tuple[object, ...], batch: int
) -> None:
    assert run(server, tmp_path / "answers.jsonl", batch=batch)[0] == expected


def test_titles_are_asked_about_as_iris_that_end_where_they_end(server: SparqlServer, tmp_path: Path) -> None:
    """The title with a quote, a brace and an angle is one IRI like the others."""
    run(server, tmp_path / "answers.jsonl")
    evil = [iri for iri in server.asked if "DROP" in iri]
    assert evil
    assert all(re.fullmatch(r"<https?://[^<>\"{}|\\^`\s]+>", iri) for iri in server.asked)
    assert f"<{resource('Evil_%22%7D_%3E_._DROP_ALL_%23')}>" in evil


def test_faults_on_the_way_change_nothing(
    server: SparqlServer, tmp_path: Path, expected: tuple[object, ...]
) -> None:
    server.script.extend(
        [Fault(503), Fault(429, headers={"Retry-After": "1"}), Fault(None), Fault(500), Fault(504)]
    )
    found, report = run(server, tmp_path / "answers.jsonl", batch=2)
    assert (found, report.problems) == (expected, [])


def test_batches_are_halved_until_the_endpoint_takes_them_and_grow_again(
    tmp_path: Path, expected: tuple[object, ...]
) -> None:
    """A title is at most six IRIs (four addresses of its page, two spellings of the resource)."""
    with SparqlServer(TRIPLES, most_keys=6) as strict:
        found, report = run(strict, tmp_path / "answers.jsonl")
        assert (found, report.problems) == (expected, [])
        assert max(len(request.keys) for request in strict.requests) > 6
    pages: dict[str, list[str]] = {f"Page {number}": [] for number in range(60)}
    with SparqlServer("") as server:
        server.script.extend([Fault(504), Fault(504)])
        enrich(store_of(pages), source(server, tmp_path / "more.jsonl", batch=16))
        sizes = [len(request.keys) // 3 for request in server.requests if "UNION" in request.query]
        assert sizes[:3] == [16, 8, 4] and sizes[3:11] == [4] * 8
        assert sum(sizes[2:]) == 60 and max(sizes[11:]) == 8


def test_answers_cut_by_the_endpoint_are_asked_for_in_parts(
    tmp_path: Path, expected: tuple[object, ...]
) -> None:
    """Einstein has six rows: an endpoint that gives seven cuts no single resource."""
    with SparqlServer(TRIPLES, most_rows=7) as server:
        assert run(server, tmp_path / "answers.jsonl") == (expected, EnrichReport(13, 7, 7, 7, 3))


def test_a_resource_with_more_than_the_endpoint_gives_is_reported_each_time(tmp_path: Path) -> None:
    """What came is used; it is not kept, since it is not all."""
    with SparqlServer(TRIPLES, most_rows=3) as server:
        for _ in range(2):
            report = run(server, tmp_path / "answers.jsonl")[1]
            assert [problem.location for problem in report.problems] == [resource("A1")]
            assert "left out others" in report.problems[0].reason
            assert 0 < report.relations < 7


class Allergic(SparqlServer):
    """Cannot answer for some IRIs, whatever else is asked with them."""

    def __init__(self, triples: str, pattern: str) -> None:
        super().__init__(triples)
        self._pattern = re.compile(pattern)

    def _reply(self, request: Request) -> Fault:
        fault = super()._reply(request)
        return Fault(400) if self._pattern.search(request.query) else fault


def test_a_resource_the_endpoint_cannot_answer_for_is_reported_and_the_others_are_asked(
    tmp_path: Path, expected: tuple[object, ...]
) -> None:
    with Allergic(TRIPLES, "resource/Phobos>") as server:
        found, report = run(server, tmp_path / "answers.jsonl")
        assert found == expected
        assert {problem.location for problem in report.problems} == {"Phobos", resource("Phobos")}


def test_failures_that_do_not_follow_one_another_do_not_end_the_run(tmp_path: Path) -> None:
    """Every second title is one the endpoint cannot answer for."""
    with Allergic("", "Page_[02468]>") as server:
        pages: dict[str, list[str]] = {f"Page {number}": [] for number in range(10)}
        report = enrich(store_of(pages), source(server, tmp_path / "answers.jsonl", batch=1))
        assert len(report.problems) == 10  # five titles, then the five resources of that name


def test_an_endpoint_that_answers_nothing_is_given_up(server: SparqlServer, tmp_path: Path) -> None:
    """After three single titles in a row, not after all of them."""
    server.script.extend([Fault(400)] * 100)
    with pytest.raises(SparqlError, match="run the same command again"):
        run(server, tmp_path / "answers.jsonl", batch=4)
    assert len(server.requests) == 5  # 4, 2 and 1 titles, then two more


def test_an_interrupted_run_goes_on_where_it_was(
    server: SparqlServer, tmp_path: Path, expected: tuple[object, ...]
) -> None:
    """Nothing that was answered is asked again, and the store is as it would have been."""
    answers = tmp_path / "answers.jsonl"
    with SparqlServer(TRIPLES) as whole:
        run(whole, tmp_path / "other.jsonl", batch=2)
        all_asked = whole.asked
    store = store_of(PAGES)
    cut = len(all_asked) // 2
    original = server._reply

    def failing(request: Request) -> Fault:
        return original(request) if len(server.asked) < cut else Fault(403)

    server._reply = failing  # type: ignore[method-assign]
    with pytest.raises(SparqlError, match=re.escape(str(answers))):
        enrich(store, source(server, answers, batch=2))
    assert store.types() == {}
    server._reply = original  # type: ignore[method-assign]
    assert run(server, answers, batch=2)[0] == expected
    assert server.asked == all_asked
    assert run(server, answers, batch=2)[0] == expected
    assert server.asked == all_asked


def test_answers_of_an_earlier_store_serve_another_that_shares_titles(
    server: SparqlServer, tmp_path: Path
) -> None:
    """Only new titles are asked about."""
    run(server, tmp_path / "answers.jsonl")
    before = len(server.asked)
    store = store_of({"Ulm": ["Marie Curie", "Bern"]})
    enrich(store, source(server, tmp_path / "answers.jsonl"))
    assert store.types() == {"Marie Curie": "agent", "Ulm": "town"}
    assert {iri.rsplit("/", 1)[1] for iri in server.asked[before:]} == {"Bern>"}


def test_progress_counts_titles_and_resources(server: SparqlServer, tmp_path: Path) -> None:
    calls: list[tuple[str, int, int]] = []
    enrich(
        store_of(PAGES),
        source(server, tmp_path / "answers.jsonl", batch=4),
        progress=lambda stage, done, total: calls.append((stage, done, total)),
    )
    links = [(done, total) for stage, done, total in calls if stage == "links"]
    assert links == [(0, 10), (4, 10), (8, 10), (10, 10)]


def test_an_endpoint_is_told_by_its_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is no endpoint is refused, and its password not told; answers of earlier months are gone."""
    monkeypatch.setenv("TRIVIUM_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    answers = open_source("http://127.0.0.1:1/sparql")._answers.path  # type: ignore[attr-defined]
    (tmp_path / "dbpedia").mkdir()
    for month in (earlier := answers.with_name(f"{answers.stem[:-7]}2000-01.jsonl"), answers):
        month.touch()
    assert isinstance(open_source("http://127.0.0.1:1/sparql"), SparqlSource)
    assert isinstance(open_source("https://127.0.0.1:1/query"), SparqlSource)
    assert answers.exists() and not earlier.exists()
    for address in ("ftp://a/sparql", "http:///sparql", "http://me:secret@a/sparql", "http://a/dump.nt.bz2"):
        with pytest.raises(InputError) as raised:
            open_source(address)
        assert "secret" not in str(raised.value)
