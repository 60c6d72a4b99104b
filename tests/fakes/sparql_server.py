"""A SPARQL endpoint on a local port: real queries over real triples (pyoxigraph), with faults on request.

Each scripted :class:`Fault` is used up by one request, in order; without any left, queries are answered. Like
DBpedia's, the endpoint can be limited: ``most_keys`` refuses queries about more IRIs than that as too long, and
``most_rows`` cuts answers and says so in a header.
"""

from __future__ import annotations

import re
import time
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from urllib.parse import parse_qs

from pyoxigraph import QueryResultsFormat, QuerySolutions, RdfFormat, Store

from tests.fakes.local_server import LocalServer, QuietHandler

_VALUES = re.compile(r"VALUES \?\w+ \{([^}]*)\}")
_LIMIT = re.compile(r"LIMIT \d+$")


@dataclass(frozen=True)
class Fault:
    """What the endpoint does instead of answering. ``delay`` is seconds before it; status 200 sends ``body`` as if it
    were results, None hangs up."""

    status: int | None = 503
    body: bytes = b"no"
    headers: Mapping[str, str] = field(default_factory=dict)
    delay: float = 0.0


@dataclass(frozen=True)
class Request:
    """What a client sent."""

    query: str
    headers: Mapping[str, str]

    @property
    def keys(self) -> list[str]:
        """The IRIs the query is about."""
        return [iri for values in _VALUES.findall(self.query) for iri in values.split()]


class SparqlServer(LocalServer):
    """A context manager. ``requests`` are those received so far, ``script`` holds the faults to come."""

    def __init__(self, triples: str | bytes, *, most_keys: int | None = None, most_rows: int | None = None):
        self.requests: list[Request] = []
        self.script: deque[Fault] = deque()
        self.most_keys = most_keys
        self.most_rows = most_rows
        self._triples = Store()
        self._triples.load(input=triples, format=RdfFormat.N_TRIPLES)
        super().__init__(self._handler())

    @property
    def url(self) -> str:
        """The address of the endpoint."""
        return f"{self.address}/sparql"

    @property
    def asked(self) -> list[str]:
        """Every IRI that was asked about, in order."""
        return [key for request in self.requests for key in request.keys]

    def _reply(self, request: Request) -> Fault:
        self.requests.append(request)
        if self.script:
            return self.script.popleft()
        if self.most_keys is not None and len(request.keys) > self.most_keys:
            return Fault(
                400, b"Virtuoso 37000 Error SP031: the length of generated SQL text has exceeded 10000"
            )
        query, headers = request.query, {}
        if self.most_rows is not None:
            query = _LIMIT.sub(f"LIMIT {self.most_rows}", query)
            headers["X-SPARQL-MaxRows"] = str(self.most_rows)
        try:
            solutions = self._triples.query(query)
        except SyntaxError as error:
            return Fault(400, str(error).encode())
        assert isinstance(solutions, QuerySolutions)
        body = solutions.serialize(format=QueryResultsFormat.JSON)
        assert body is not None
        return Fault(200, body, {"Content-Type": "application/sparql-results+json", **headers})

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        outer = self

        class Handler(QuietHandler):
            def do_POST(self) -> None:
                form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
                reply = outer._reply(Request(form["query"][0], dict(self.headers)))
                time.sleep(reply.delay)
                if reply.status is None:
                    return
                with suppress(ConnectionError):  # of a client that has given up, as in some tests
                    self.send_response(reply.status)
                    for name, value in reply.headers.items():
                        self.send_header(name, value)
                    self.send_header("Content-Length", str(len(reply.body)))
                    self.end_headers()
                    self.wfile.write(reply.body)

            def do_GET(self) -> None:  # where a redirected POST ends up
                body = b"<html>a page for people</html>"
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        return Handler
