"""A SPARQL endpoint as a source: asked for the store's entities in batches, its answers kept in a file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from pyoxigraph import Literal, NamedNode

from trivium.common.safe_files import JsonLines
from trivium.graph.dbpedia.mapping import ONTOLOGY, PRIMARY_TOPIC, PROPERTY, SUBCLASS, TYPE, Titles
from trivium.graph.dbpedia.source import Reporter, Statement
from trivium.graph.dbpedia.sparql_client import AskedFor, SparqlClient, SparqlError, TooMuchError
from trivium.parser.sources.source_items import Problem


def valid_iri(iri: str) -> bool:
    """Whether this is an absolute IRI (RFC 3987), which holds no quote, brace, angle or space."""
    try:
        NamedNode(iri)
    except (ValueError, UnicodeEncodeError):
        return False
    return True


def links_query(pages: Iterable[str], resources: Iterable[str], limit: int) -> str:
    """(s, o): resources whose primary topic is one of the pages, and the pages of the resources."""
    topic = NamedNode(PRIMARY_TOPIC)
    return (
        "SELECT DISTINCT ?s ?o WHERE {"
        f" {{ VALUES ?o {_values(pages)} ?s {topic} ?o }} UNION"
        f" {{ VALUES ?s {_values(resources)} ?s {topic} ?o }} }} LIMIT {limit}"
    )


def facts_query(resources: Iterable[str], limit: int) -> str:
    """(s, p, o): relations and types of the resources within the allowed namespaces."""
    kind = NamedNode(TYPE)
    return (
        f"SELECT DISTINCT ?s ?p ?o WHERE {{ VALUES ?s {_values(resources)} ?s ?p ?o ."
        f" FILTER(isIRI(?o) && ((?p = {kind} && {_within('?o', ONTOLOGY)})"
        f" || (({_within('?p', ONTOLOGY)} || {_within('?p', PROPERTY)})"
        f" && !CONTAINS(STR(?p), {Literal('/wikiPage')})))) }} LIMIT {limit}"
    )


def classes_query(limit: int) -> str:
    """(s, o): which class of the ontology is directly below which."""
    return (
        f"SELECT DISTINCT ?s ?o WHERE {{ ?s {NamedNode(SUBCLASS)} ?o ."
        f" FILTER({_within('?s', ONTOLOGY)}) }} LIMIT {limit}"
    )


def _values(iris: Iterable[str]) -> str:
    return "{ " + " ".join(str(NamedNode(iri)) for iri in iris) + " }"


def _within(variable: str, namespace: str) -> str:
    return f"STRSTARTS(STR({variable}), {Literal(namespace)})"


_LINKS, _FACTS, _CLASSES = "links", "facts", "classes"
_ROWS = 10_000
"""Rows a query asks for; DBpedia gives no more than these."""
_FAILURES = 3
_GROWTH = 10
"""A query asks for half as many keys after one that was too large, for twice as many after so many that succeeded."""

Query = Callable[[Sequence[str]], str]


class SparqlSource:
    """Statements about the store's entities from an endpoint.

    ``answers`` is the file in which answers are kept, so that an interrupted run goes on. ``batch`` is the
    largest number of titles or resources one query is about.
    """

    def __init__(
        self, client: SparqlClient, answers: Path, language: str = "en", *, batch: int = 100
    ) -> None:
        self._client = client
        self._titles = Titles(language)
        self._batch = batch
        self._answers = JsonLines(answers, AskedFor)
        self._subjects: dict[str, list[str]] = {}

    def links(self, titles: Sequence[str], reporter: Reporter) -> Iterator[Statement]:
        """See :class:`trivium.graph.dbpedia.source.Source`."""

        def query(part: Sequence[str]) -> str:
            pages = [iri for title in part for iri in self._titles.pages(title) if valid_iri(iri)]
            named = [iri for title in part for iri in self._titles.resources(title) if valid_iri(iri)]
            return links_query(pages, named, _ROWS)

        for subject, predicate, page in self._ask(_LINKS, titles, query, reporter):
            title = self._titles.of_page(page)
            if title is not None:
                self._subjects.setdefault(title, []).append(subject)
            yield subject, predicate, page

    def facts(self, titles: Sequence[str], reporter: Reporter) -> Iterator[Statement]:
        """See :class:`trivium.graph.dbpedia.source.Source`: what is said of the linked resources, and where a
        title has none, of the resource of that name."""

        def query(part: Sequence[str]) -> str:
            return facts_query(part, _ROWS)

        found = dict.fromkeys(
            iri
            for title in titles
            for iri in sorted(set(self._subjects.get(title, ()))) or self._titles.resources(title)
        )
        yield from self._ask(_FACTS, [iri for iri in found if valid_iri(iri)], query, reporter)
        yield from self._ask(_CLASSES, [ONTOLOGY], lambda _: classes_query(_ROWS), reporter)

    def _ask(self, stage: str, keys: Sequence[str], query: Query, reporter: Reporter) -> Iterator[Statement]:
        """Statements about the keys: those in the file, then those the endpoint gives for the other keys.

        Raises SparqlError when the endpoint gives up, or cannot answer for several single keys in a row; one that it
        cannot answer for among others is reported."""
        open_keys = dict.fromkeys(keys)
        for entry in self._answers.records():
            known = [key for key in entry.asked if key in open_keys] if entry.stage == stage else []
            for key in known:
                del open_keys[key]
            if known:
                yield from entry.rows
        todo, total = list(open_keys), len(set(keys))
        size, good, start, failures = self._batch, 0, 0, 0
        while start < len(todo):
            reporter.advance(total - len(todo) + start, total)
            part = todo[start : start + size]
            try:
                rows, complete = self._select(stage, query(part), part)
            except TooMuchError as error:
                if len(part) > 1:
                    size, good = max(1, len(part) // 2), 0
                    continue
                failures += 1
                if failures == _FAILURES:
                    raise self._gave_up(error) from error
                reporter.problem(Problem(part[0], str(error)))
            except SparqlError as error:
                raise self._gave_up(error) from error
            else:
                failures = 0
                good += 1
                size = size if good % _GROWTH else min(self._batch, 2 * size)
                if complete:
                    self._answers.append(AskedFor(stage=stage, asked=list(part), rows=rows))
                else:
                    reason = f"{self._client.host} gave {len(rows)} statements and left out others"
                    reporter.problem(Problem(part[0], reason))
                yield from rows
            start += len(part)
        reporter.advance(total, total)

    def _select(self, stage: str, query: str, part: Sequence[str]) -> tuple[list[Statement], bool]:
        """Statements, and whether they are all. Raises TooMuchError where asking about less would give more."""
        single = len(part) == 1
        if stage == _FACTS:
            answer = self._client.select(query, ("s", "p", "o"), _ROWS, insist=single)
            rows = [(s, p, o) for s, p, o in answer.rows]
        else:
            predicate = PRIMARY_TOPIC if stage == _LINKS else SUBCLASS
            answer = self._client.select(query, ("s", "o"), _ROWS, insist=single)
            rows = [(s, predicate, o) for s, o in answer.rows]
        if not (answer.complete or single):
            raise TooMuchError(f"{self._client.host} cut an answer")
        return sorted(rows), answer.complete

    def _gave_up(self, error: SparqlError) -> SparqlError:
        return SparqlError(
            f"{error}; the answers so far are kept in {self._answers.path}: run the same command again to go on"
        )
