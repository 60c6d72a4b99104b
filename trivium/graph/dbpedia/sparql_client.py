"""A client of a SPARQL endpoint: one query at a time, with a user agent, pauses and retries."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import requests
from pydantic import BaseModel
from urllib3.exceptions import ReadTimeoutError

from trivium.common.fetching import user_agent
from trivium.common.retries import Pace, PassingError, retried, retry_after, wait_between
from trivium.errors import TriviumError
from trivium.graph.dbpedia.source import Statement
from trivium.text.normalise import has_lone_surrogate


class AskedFor(BaseModel):
    """What was answered about some keys, in a ``stage`` of a run: a line of the file of answers."""

    stage: str
    asked: list[str]
    rows: list[Statement]


_LONGEST_WAIT = 120.0
_MOST_BYTES = 64 << 20
_MOST_CHARACTERS = 200
_BLOCK = 1 << 16
_SLOW_RETRIES = 2
# The query is wrong or too long: a smaller one may work.
_TOO_LONG = frozenset({400, 413, 414, 431})
# It took too long: a smaller one may work, or the same one later.
_TOO_SLOW = frozenset({408, 504, 524})
_TOO_MANY_REQUESTS = 429
_NOT_IMPLEMENTED = 501
# How Virtuoso, which serves DBpedia, words its limits, with status 500.
_LIMITS = ("timeout", "timed out", "estimated execution time", "too long", "exceeded", "too many")


class SparqlError(TriviumError):
    """An endpoint refuses, does not answer, or answers with something other than results."""


class TooMuchError(SparqlError):
    """The endpoint could not answer this query; it may answer a smaller one."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Rows of a SELECT, each the IRIs bound to the variables asked for; rows with other terms are left out.
    ``complete`` is False where the endpoint says that it cut the answer, or where it is as long as allowed."""

    rows: tuple[tuple[str, ...], ...]
    complete: bool


class _FailedError(PassingError):
    """An attempt failed. ``smaller``: a smaller query may do; ``later``: the same one may do later. ``wait`` is what the
    endpoint asked for, in seconds."""

    def __init__(
        self, message: str, *, smaller: bool = False, later: bool = False, wait: float | None = None
    ) -> None:
        super().__init__(message, wait)
        self.smaller = smaller
        self.later = later


@dataclass
class SparqlClient:
    """A client of one endpoint. ``pause`` is the least time between two requests and ``timeout`` that without a
    byte, in seconds; ``retries`` counts attempts after the first."""

    url: str
    contact: str | None = None
    pause: float = 0.5
    timeout: int = 60
    retries: int = 6
    sleep: Callable[[float], None] = field(default=time.sleep, repr=False)
    clock: Callable[[], float] = field(default=time.monotonic, repr=False)

    def __post_init__(self) -> None:
        self._pace = Pace(self.pause, self.sleep, self.clock)
        self._session = requests.Session()
        self._session.headers.update(
            {"User-Agent": user_agent(self.contact), "Accept": "application/sparql-results+json"}
        )

    @property
    def host(self) -> str:
        """Host and port, for messages."""
        return urlsplit(self.url).netloc.rpartition("@")[2]

    def select(self, query: str, variables: tuple[str, ...], limit: int, *, insist: bool) -> Answer:
        """The answer to a SELECT that ends in ``LIMIT limit``.

        Overload (429, 5xx but 501), broken connections and garbled answers are tried again: after the time that the
        endpoint asks for (Retry-After), else after 0.5 s, 1 s, 2 s ... times a random factor of 0.5 to 1, at most two
        minutes. So are timeouts, twice, when the caller ``insist``s because the query cannot be made smaller.
        Raises TooMuchError, and SparqlError when it is no use asking on.
        """

        def worth_repeating(failed: _FailedError, attempts: int) -> bool:
            return not failed.smaller or (insist and failed.later and attempts <= _SLOW_RETRIES)

        def again(error: PassingError, number: int) -> bool:
            return isinstance(error, _FailedError) and worth_repeating(error, number)

        try:
            return retried(
                lambda: self._attempt(query, variables, limit),
                self.retries,
                wait_between(_LONGEST_WAIT),
                sleep=self._pace.postpone,
                again=again,
            )
        except _FailedError as error:
            if worth_repeating(error, error.attempts):
                raise SparqlError(f"{error} ({error.attempts} attempts)") from error
            raise TooMuchError(str(error)) from error

    def _attempt(self, query: str, variables: tuple[str, ...], limit: int) -> Answer:
        """Raises _FailedError where a smaller query or another attempt may do, SparqlError where none will."""
        self._pace.wait()
        try:
            with self._session.post(
                self.url, data={"query": query}, timeout=self.timeout, stream=True
            ) as response:
                content = bytearray()
                for block in response.iter_content(_BLOCK):
                    content += block
                    if len(content) > _MOST_BYTES or (not response.ok and len(content) > _BLOCK):
                        break
        except requests.RequestException as error:
            if isinstance(error, requests.Timeout) or _timed_out(error):
                raise _FailedError(
                    f"{self.host} did not answer within {self.timeout:g} s", smaller=True, later=True
                ) from error
            raise _FailedError(
                f"{self.host} cannot be reached or hung up ({_origin(error)})", later=True
            ) from error
        if not response.ok:
            raise self._refused(response, _said(bytes(content[: _MOST_CHARACTERS * 4])))
        if len(content) > _MOST_BYTES:
            raise _FailedError(f"{self.host} answered with more than {_MOST_BYTES >> 20} MB", smaller=True)
        rows = _rows(bytes(content), variables)
        if rows is None:
            elsewhere = (
                f" (it sent us on to {response.url}: is that the address to use?)"
                if response.url != self.url
                else ""
            )
            raise _FailedError(
                f"{self.host} answered with something that is not SPARQL results in JSON{elsewhere}",
                later=True,
            )
        # Virtuoso cuts answers at a number of rows of its own, or where its time is up, and says so in a header.
        server_limit = response.headers.get("X-SPARQL-MaxRows", "")
        cap = (
            min(limit, int(server_limit))
            if server_limit.isascii() and server_limit.isdigit() and int(server_limit) > 0
            else limit
        )
        return Answer(rows[1], complete=rows[0] < cap and "X-SQL-State" not in response.headers)

    def _refused(self, response: requests.Response, message_text: str) -> SparqlError | _FailedError:
        """What an HTTP status means."""
        status = response.status_code
        message = f"{self.host} answered {status}: {message_text or response.reason}"
        wait = retry_after(response.headers.get("Retry-After"))
        if status in _TOO_LONG:
            return _FailedError(message, smaller=True)
        if status in _TOO_SLOW or (status == 500 and any(words in message_text.lower() for words in _LIMITS)):
            return _FailedError(message, smaller=True, later=True, wait=wait)
        if status == _TOO_MANY_REQUESTS or (status >= 500 and status != _NOT_IMPLEMENTED):
            return _FailedError(message, later=True, wait=wait)
        return SparqlError(message)


def _rows(content: bytes, variables: tuple[str, ...]) -> tuple[int, tuple[tuple[str, ...], ...]] | None:
    """How many rows there are, and those that bind IRIs to all variables; None where these are no results."""
    try:
        bindings = json.loads(content)["results"]["bindings"]
        rows = [tuple(_iri(binding.get(name)) for name in variables) for binding in bindings]
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        return None
    return len(rows), tuple(tuple(map(str, row)) for row in rows if None not in row)


def _iri(term: object) -> str | None:
    if not isinstance(term, dict) or term.get("type") != "uri" or not isinstance(term.get("value"), str):
        return None
    iri: str = term["value"]
    # Halves of surrogate pairs, which JSON can carry and nothing else can.
    return None if has_lone_surrogate(iri) else iri


def _timed_out(error: requests.RequestException) -> bool:
    """Whether time ran out in the middle of an answer, which requests takes for a broken connection."""
    return bool(error.args) and isinstance(error.args[0], ReadTimeoutError)


def _origin(error: BaseException) -> str:
    """The name of the error that others were made of: why a connection failed."""
    while (before := error.__cause__ or error.__context__) is not None:
        error = before
    return type(error).__name__


def _said(content: bytes) -> str:
    """An endpoint's words in one printable line."""
    text = content.decode("utf-8", "replace")
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())[:_MOST_CHARACTERS]
