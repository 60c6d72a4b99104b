"""Asking an endpoint that is busy, slow, strict, broken or not one at all."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from tests.graph.dbpedia.world import fact, ntriples, resource

pytest.importorskip("pyoxigraph")

from tests.fakes.sparql_server import Fault, SparqlServer
from trivium.graph.dbpedia.sparql_client import SparqlClient, SparqlError, TooMuchError
from trivium.graph.dbpedia.sparql_source import facts_query, valid_iri

FACTS = [fact("Einstein", "birthPlace", "Ulm"), fact("Einstein", "deathPlace", "Princeton")]
QUERY = "SELECT ?s ?o WHERE { ?s ?p ?o } LIMIT 100"
ROWS = {(s, o) for s, _, o in FACTS}


class Clock:
    """Time that passes only when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 100.0
        self.naps: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.naps.append(seconds)
        self.now += seconds


@pytest.fixture
def server() -> Iterator[SparqlServer]:
    with SparqlServer(ntriples(FACTS) + '<http://a/1> <http://a/p> "a literal" .\n') as running:
        yield running


@pytest.fixture
def clock() -> Clock:
    return Clock()


def client(server: SparqlServer, clock: Clock, **options: float) -> SparqlClient:
    return SparqlClient(server.url, sleep=clock.sleep, clock=clock, **options)  # type: ignore[arg-type]


def ask(asker: SparqlClient, *, insist: bool = False) -> set[tuple[str, ...]]:
    return set(asker.select(QUERY, ("s", "o"), 100, insist=insist).rows)


def test_rows_are_those_of_iris_and_requests_say_who_asks(server: SparqlServer, clock: Clock) -> None:
    """By POST (the server answers a GET with a page for people), in JSON, with a user agent and a contact."""
    asker = SparqlClient(server.url, "me@example.org", sleep=clock.sleep, clock=clock)
    assert ask(asker) == ROWS
    (request,) = server.requests
    assert request.headers["User-Agent"].startswith("trivium/")
    assert "(me@example.org)" in request.headers["User-Agent"]
    assert "application/sparql-results+json" in request.headers["Accept"]


def test_requests_keep_their_distance(server: SparqlServer, clock: Clock) -> None:
    """The first waits for nothing, the second half a second, the third only for what is left."""
    asker = client(server, clock, pause=0.5)
    ask(asker)
    ask(asker)
    clock.now += 0.3
    ask(asker)
    assert clock.naps == pytest.approx([0.5, 0.2])


@pytest.mark.parametrize("status", [429, 500, 502, 503, 507, 520, 523, None])
def test_overload_and_broken_connections_are_tried_again_with_growing_waits(
    server: SparqlServer, clock: Clock, status: int | None
) -> None:
    """0.5, 1, 2 s times a factor of 0.5 to 1."""
    server.script.extend([Fault(status)] * 3)
    assert ask(client(server, clock, pause=0.0)) == ROWS
    assert [0.25 <= clock.naps[0] <= 0.5, 0.5 <= clock.naps[1] <= 1, 1 <= clock.naps[2] <= 2] == [True] * 3


@pytest.mark.parametrize("status", [429, 500, 503])
@pytest.mark.parametrize(
    ("header", "least", "most"),
    [
        ("7", 7, 7),
        ("99999", 120, 120),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0, 0),
        ("-3", 0.25, 0.5),
        ("soon", 0.25, 0.5),
    ],
)
def test_what_the_endpoint_asks_for_is_waited(
    server: SparqlServer, clock: Clock, status: int, header: str, least: float, most: float
) -> None:
    """Seconds or a date (this one has passed), at most two minutes; nonsense is as if it had not asked."""
    server.script.append(Fault(status, headers={"Retry-After": header}))
    assert ask(client(server, clock, pause=0.0)) == ROWS
    assert least <= sum(clock.naps) <= most


@pytest.mark.parametrize(
    "body", [b"<html>", b"{}", b'{"results": {"bindings": [1]}}', b'{"results": {"bind', b"[" * 50_000]
)
def test_garbled_answers_are_tried_again_and_then_refused(
    server: SparqlServer, clock: Clock, body: bytes
) -> None:
    server.script.extend([Fault(200, body)] * 3)
    with pytest.raises(SparqlError, match=r"not SPARQL results in JSON \(3 attempts\)"):
        ask(client(server, clock, retries=2))
    assert ask(client(server, clock)) == ROWS


@pytest.mark.parametrize("status", [401, 403, 404, 405, 406, 501])
def test_a_refusal_is_final(server: SparqlServer, clock: Clock, status: int) -> None:
    server.script.append(Fault(status, b"go \x1b[31maway"))
    with pytest.raises(SparqlError, match=f"{status}: .*go .*away") as raised:
        ask(client(server, clock))
    assert not isinstance(raised.value, TooMuchError)
    assert str(raised.value).isprintable()
    assert len(server.requests) == 1 and clock.naps == []


TOO_MUCH = [
    Fault(400, b"Virtuoso 37000 Error SP031"),
    Fault(413),
    Fault(414),
    Fault(504),
    Fault(500, b"Virtuoso 42000 Error The estimated execution time 1200 (sec) exceeds the limit"),
]


@pytest.mark.parametrize("fault", TOO_MUCH, ids=lambda fault: str(fault.status))
def test_a_query_that_is_too_much_is_said_to_be(server: SparqlServer, clock: Clock, fault: Fault) -> None:
    """At once, since a smaller one may do."""
    server.script.append(fault)
    with pytest.raises(TooMuchError):
        ask(client(server, clock))
    assert len(server.requests) == 1


@pytest.mark.parametrize(("fault", "requests"), [(Fault(414), 1), (Fault(504), 3)])
def test_one_that_cannot_be_smaller_is_tried_again_where_time_may_help(
    server: SparqlServer, clock: Clock, fault: Fault, requests: int
) -> None:
    server.script.extend([fault] * 5)
    with pytest.raises(TooMuchError):
        ask(client(server, clock), insist=True)
    assert len(server.requests) == requests


def test_an_answer_that_does_not_come_is_too_much(server: SparqlServer, clock: Clock) -> None:
    server.script.append(Fault(200, delay=1.5))
    started = time.monotonic()
    with pytest.raises(TooMuchError, match="did not answer within 1 s"):
        ask(client(server, clock, timeout=1))
    assert time.monotonic() - started < 1.4


def test_a_cut_answer_is_not_taken_for_whole(server: SparqlServer, clock: Clock) -> None:
    """By its own limit, by the endpoint's, or because the endpoint's time was up."""
    asker = client(server, clock)
    assert asker.select(QUERY, ("s", "o"), 100, insist=False).complete
    assert not asker.select("SELECT ?s ?o WHERE { ?s ?p ?o } LIMIT 2", ("s", "o"), 2, insist=False).complete
    server.most_rows = 2
    assert not asker.select(QUERY, ("s", "o"), 100, insist=False).complete
    empty = b'{"results": {"bindings": []}}'
    server.script.append(Fault(200, empty, {"X-SQL-State": "S1TAT"}))
    assert not asker.select(QUERY, ("s", "o"), 100, insist=False).complete


def test_nobody_there_is_an_error_that_says_so(clock: Clock) -> None:
    asker = SparqlClient("http://127.0.0.1:9/sparql", retries=2, sleep=clock.sleep, clock=clock)
    with pytest.raises(SparqlError, match=r"127.0.0.1:9 cannot be reached .*ConnectionRefused.*3 attempts"):
        ask(asker)


def test_a_redirect_that_loses_the_query_names_the_other_address(server: SparqlServer, clock: Clock) -> None:
    server.script.extend([Fault(301, headers={"Location": server.url + "/"})] * 2)
    with pytest.raises(SparqlError, match=r"it sent us on to http://127.0.0.1:\d+/sparql/"):
        ask(client(server, clock, retries=1))


HOSTILE = [
    "http://a/x> . } DROP ALL #",
    'http://a/"quote"',
    "http://a/{brace}",
    "http://a/back\\slash",
    "http://a/line\nbreak",
    "http://a/\x00",
    "http://a/\ud800",
    "http://a/ space",
    "http://a/%zz",
    "relative",
    "",
]


@pytest.mark.parametrize("iri", HOSTILE, ids=repr)
def test_nothing_but_a_valid_iri_enters_a_query(iri: str) -> None:
    assert not valid_iri(iri)
    with pytest.raises(ValueError, match=r"IRI|scheme|surrogates"):
        facts_query([resource("Ulm"), iri], 10)


def test_facts_are_relations_and_types_of_the_resources(server: SparqlServer, clock: Clock) -> None:
    query = facts_query([resource("Einstein")], 10)
    assert set(client(server, clock).select(query, ("s", "p", "o"), 10, insist=True).rows) == set(FACTS)
