"""The step of a build of several stores that sees all documents: a load of their outlines, by the code of a plain load,
so that names, copies, redirects and links between files come out as there.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import chain

from trivium.common.progress import StageProgress
from trivium.index.file_pages import FilePages
from trivium.index.load import FoundDocuments, named
from trivium.index.merge import Merge
from trivium.index.parsing import Loaded
from trivium.index.places import Places
from trivium.index.record_pages import RecordPages
from trivium.index.report import IngestReport
from trivium.index.sharding.decisions import PlannedPages
from trivium.index.sharding.files import wait_for, write_names
from trivium.index.sharding.outline import OutlineLocaliser, read_outlines
from trivium.index.sharding.shards import page_shards, record_shards
from trivium.index.sharding.work import Documents, Runner, Work
from trivium.parser.sources.base import Format, Item, Problem
from trivium.parser.sources.discover import discover
from trivium.types import MetadataValue


@dataclass(slots=True)
class Survey:
    """Reads all documents, and decides about them in ``planned``. ``keys`` are those of the shards in order."""

    work: Work
    runner: Runner
    planned: PlannedPages
    documents: int
    """Documents per shard."""
    keys: list[str] = field(default_factory=list)

    def run(
        self,
        sources: Sequence[str],
        *,
        format: Format = "auto",
        only: Collection[str] | None = None,
        language: str | None = None,
        any_embedder: bool = False,
        metadata: Mapping[str, MetadataValue | None] | None = None,
        progress: StageProgress | None = None,
    ) -> IngestReport:
        """See :func:`trivium.index.load.load`."""
        limits = self.work.limits
        report = IngestReport()
        localiser = OutlineLocaliser(self.planned, language, any_embedder=any_embedder)
        merge = Merge(self.planned, report, None, localiser, metadata)
        places = Places(self.planned)
        merge.files = FilePages(self.planned, places)
        found = FoundDocuments(
            named(discover(sources, format, limits, only), {}, language), report, limits, places
        )
        with closing(self._documents(found)) as outcomes:  # an interrupt ends the processes
            for done, outcome in enumerate(outcomes, start=1):
                self._add(outcome, merge)
                if progress is not None:
                    progress("parse", done, found.count)
        merge.flush()
        with closing(RecordPages(limits)) as pages:
            for item in found.records:
                for problem in pages.read(item):
                    if problem is not None:
                        report.problem(problem, limits.problems)
            for done, outcome in enumerate(self._records(pages), start=1):
                self._add(outcome, merge)
                if progress is not None:
                    progress("records", done, len(pages))
        merge.flush()
        localiser.remember()
        report.languages = dict(localiser.pages.most_common())
        report.likely_language = localiser.likely
        return report

    def _add(self, outcome: Loaded, merge: Merge) -> None:
        if isinstance(outcome, Problem):
            merge.report.problem(outcome, self.work.limits.problems)
        else:
            for outline in outcome:
                merge.add(outline)

    def _documents(self, items: Iterable[Item]) -> Generator[Loaded, None, None]:
        shards = page_shards(items, self.documents, self.work.parsed_by)
        for shard in self.runner.parse(self._fresh(shards)):
            yield from self._outlines(shard.key)

    def _records(self, pages: RecordPages) -> Iterator[Loaded]:
        if not pages:
            return
        names = write_names(self.work.folder, chain(pages.names(), self.planned.names()))
        shards = record_shards(pages.groups(), self.documents, self.work.parsed_by, names)
        for shard in self.runner.parse(self._fresh(shards)):
            yield from self._outlines(shard.key)

    def _fresh(self, shards: Iterable[Documents]) -> Iterator[Documents]:
        for shard in shards:
            self.work.shards.forget_faulty(shard.key)
            yield shard

    def _outlines(self, key: str) -> Iterator[Loaded]:
        self.keys.append(key)
        path = self.work.shards.outlines(key)
        wait_for(path)
        return read_outlines(path, len(self.keys) - 1)
