"""Relations and types of DBpedia into a store that is already filled."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from trivium.common.iteration import batched
from trivium.common.progress import StageProgress
from trivium.graph.dbpedia.mapping import (
    PRIMARY_TOPIC,
    SUBCLASS,
    TYPE,
    Kinds,
    Mentions,
    Relations,
    Resources,
    Titles,
    relation_type,
)
from trivium.graph.dbpedia.open_source import open_source
from trivium.graph.dbpedia.source import Reporter, Source, Statement
from trivium.graph.protocols import GraphStore
from trivium.graph.schema import page_uri
from trivium.parser.sources.source_items import Problem

_MAX_PROBLEMS = 1_000
_PAGES_A_WRITE = 500
_TYPES_A_WRITE = 20_000


@dataclass(slots=True)
class EnrichReport:
    """What an enrichment did: counts and problems.

    ``read`` statements between resources, the links to Wikipedia aside; ``mapped`` of them are allowed relations
    between two entities of the store. ``relations`` distinct ones have both ends mentioned in one document; ``added``
    counts (page, relation) pairs that the store did not have. For ``types_set`` entities a type of the sources is new.
    The first thousand problems are listed, ``unlisted`` counts the others.
    """

    read: int = 0
    mapped: int = 0
    relations: int = 0
    added: int = 0
    types_set: int = 0
    problems: list[Problem] = field(default_factory=list)
    unlisted: int = 0

    def problem(self, found: Problem) -> None:
        """Add a problem."""
        if len(self.problems) < _MAX_PROBLEMS:
            self.problems.append(found)
        else:
            self.unlisted += 1


def enrich(
    store: GraphStore,
    sources: str | Source | Sequence[str | Source],
    *,
    language: str = "en",
    progress: StageProgress | None = None,
) -> EnrichReport:
    """Add to a store what the sources say of its entities. ``language`` is that of the encyclopaedia (its host at
    wikipedia.org). ``progress`` is called with (stage, done, total).

    A relation is kept where one document mentions both its ends, and recorded with every such page. Nothing is
    written before every source has been read to its end; what is written may be written again, so the same call
    completes an interrupted one. The order of sources and statements does not matter.

    Raises InputError for a source that is not there, MissingExtraError, SparqlError when an endpoint gives up, and
    StoreError when the store refuses.
    """
    listed = [sources] if isinstance(sources, str) or not isinstance(sources, Sequence) else sources
    opened = [open_source(each, language) if isinstance(each, str) else each for each in listed]
    collected = _Collected(store, language)
    report = EnrichReport()
    for source in opened:
        collected.link(source.links(collected.titles, _reporter("links", report, progress)))
    for source in opened:
        collected.take(source.facts(collected.titles, _reporter("facts", report, progress)), report)
    collected.write(store, report, progress)
    return report


class _Collected:
    """What is known of the store's entities so far."""

    def __init__(self, store: GraphStore, language: str) -> None:
        self._mentions = Mentions.of(store.adjacency())
        rows = dict(self._mentions.rows)
        # Entities and aliases are all that store.resolve() knows; kept here, no statement costs a round trip.
        # A page that another process loads meanwhile has names but no row in what was read above.
        rows.update((page_uri(name), rows[entity]) for name, entity in store.names() if entity in rows)
        self._resources = Resources(rows, Titles(language))
        self._relations = Relations(self._mentions)
        self._kinds = Kinds()
        self.titles = sorted(rows)

    def link(self, statements: Iterable[Statement]) -> None:
        for resource, _, page in statements:
            self._resources.link(resource, page)

    def take(self, statements: Iterable[Statement], report: EnrichReport) -> None:
        for subject, predicate, value in statements:
            if predicate == PRIMARY_TOPIC:
                continue
            report.read += 1
            if predicate == TYPE:
                row = self._resources.entity(subject)
                if row is not None:
                    self._kinds.add(row, value)
            elif predicate == SUBCLASS:
                self._kinds.place(subject, value)
            elif (type := relation_type(predicate)) is not None:
                source, target = self._resources.entity(subject), self._resources.entity(value)
                if source is not None and target is not None:
                    report.mapped += 1
                    self._relations.add(source, type, target)

    def write(self, store: GraphStore, report: EnrichReport, progress: StageProgress | None) -> None:
        entities = self._mentions.entities
        types = {entities[row]: type for row, type in self._kinds.choose().items()}
        report.relations = len(self._relations)
        pages = list(self._relations.by_page())
        done = 0
        for part in batched(pages, _PAGES_A_WRITE):
            report.added += store.add_relations(dict(part))
            done += len(part)
            _tell(progress, "relations", done, len(pages))
        done = 0
        for some in batched(types.items(), _TYPES_A_WRITE):
            report.types_set += store.set_types(dict(some))
            done += len(some)
            _tell(progress, "types", done, len(types))


def _reporter(stage: str, report: EnrichReport, progress: StageProgress | None) -> Reporter:
    return Reporter(report.problem, lambda done, total: _tell(progress, stage, done, total))


def _tell(progress: StageProgress | None, stage: str, done: int, total: int) -> None:
    if progress is not None:
        progress(stage, done, total)
