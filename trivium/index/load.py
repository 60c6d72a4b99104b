"""Loads sources into a store: parses in parallel, builds, writes in order.

Pages are written in the order of the sources, regardless of which worker finishes first, so the same sources make the
same store. A page that cannot be parsed (or crashes its worker process) becomes a :class:`Problem`; the others
continue. Every batch is one transaction: an interrupted run keeps the earlier batches, and repeating the command
completes the work.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import chain

from trivium.chunking.chunker import Chunker
from trivium.chunking.portable_chunkers import BLOCKS
from trivium.common.idle_cores import available_cores
from trivium.common.iteration import batched
from trivium.common.progress import StageProgress
from trivium.errors import ConfigurationError
from trivium.graph.build_page_graph import build
from trivium.graph.page_facts import each_page
from trivium.graph.page_graph import PageGraph
from trivium.graph.schema import unescape
from trivium.index.document_languages import Localiser, StoredLocaliser
from trivium.index.file_locations import Places
from trivium.index.file_pages import FilePages
from trivium.index.found_documents import WORTH_A_POOL, FoundDocuments, named
from trivium.index.link_mentions import link_mentions, pages_mentioning
from trivium.index.load_report import IngestReport
from trivium.index.parser_process import ParserProcess
from trivium.index.parsing import Loaded, ParserPool, parse_item
from trivium.index.recognise_names import choose_entities
from trivium.index.record_pages import RECORDS, RecordPages
from trivium.index.unchanged_files import UnchangedFiles
from trivium.index.write_batches import BeforeReplacing, LoadStore, Merge, PageCheck, names_of
from trivium.parser.gazetteer import Gazetteer
from trivium.parser.sources.discover import FoundFile, discover, expand
from trivium.parser.sources.source_items import Format, Item, LeftOut, Problem
from trivium.parser.sources.title_text_records import relinked
from trivium.settings.limits import DEFAULT_LIMITS, InputLimits
from trivium.types import Chunk, ChunkKind, MetadataValue, Page

_PAGES_A_TIME = 50
"""Number of stored pages in memory at once while they are re-linked."""

ParseAll = Callable[[Iterable[Item]], Generator[Loaded, None, None]]
"""Parses documents and yields the results in the order of the items."""


def load(
    sources: Sequence[str],
    store: LoadStore,
    *,
    format: Format = "auto",
    workers: int | None = None,
    progress: StageProgress | None = None,
    names: Mapping[str, str] | None = None,
    limits: InputLimits = DEFAULT_LIMITS,
    isolated: ParserProcess | None = None,
    check: PageCheck | None = None,
    language: str | None = None,
    metadata: Mapping[str, MetadataValue | None] | None = None,
    chunker: Chunker = BLOCKS,
    before_replacing: BeforeReplacing | None = None,
    apart: bool = False,
    any_embedder: bool = False,
    parse_all: ParseAll | None = None,
    by_name: bool = False,
    entities: str | None = None,
    reread: bool = True,
) -> IngestReport:
    """Parse sources and write them to the store.

    - ``names``: display names of files, by path; with ``by_name`` each identifies a document.
    - ``check``: called with every page before it is written; an error it raises ends the load.
    - ``before_replacing``: called with the pages of each write before it.
    - ``language``: language code of the documents, or ``auto`` to detect that of each document. Default: that of the
      store.
    - ``metadata``: given by the user for all these documents, overriding their own. Earlier values for other keys are
      kept; None removes a key.
    - ``chunker``: splits the pages. The store records it with the first page and rejects another one. A chunker that
      asks a model runs in this process, which then parses, too; together with ``isolated`` it raises
      ConfigurationError.
    - ``entities``: names what recognises names in documents that are no pages of encyclopaedias, or ``none``
      (:func:`trivium.entities.recogniser.load_recogniser`). The store records it with the first such document and rejects
      another one from then on. Default: that of the store, ``rules`` if it has no such document.
    - ``workers``: defaults to the number of cores. From a hundred documents on, they are parsed in worker processes.
    - ``isolated``: for untrusted files, parse everything in this one process, within its limits of memory and time.
    - ``apart``: use worker processes for fewer documents as well if one of them is packed or large, to protect the
      memory of this process.
    - ``parse_all``: if given, parses all documents except records, with the same chunker and limits.
    - ``reread``: also read the files that are as they were when they were read
      (:mod:`trivium.index.unchanged_files`).

    Raises InputError if a source matches nothing, StoreError if the store rejects the write.
    """
    report = IngestReport()
    entities = choose_entities(store, entities)
    localiser = Localiser(store, language, any_embedder=any_embedder)
    merge = Merge(store, report, check, localiser, metadata, chunker.spec, before_replacing, entities)
    # If this load is interrupted before pages are searched for its new names, the next load does it.
    pending = store.links_pending
    merge.before_changes = partial(store.set_links_pending, True)
    loading = _Loading(store, merge, limits, chunker, progress, pending, entities)
    if isolated is None:
        places = Places(store, by_name=by_name)
        merge.files = FilePages(store, places)
        all_named = named(discover(sources, format, limits), names or {}, language)
        found = FoundDocuments(all_named, report, limits, places)
        if not reread:
            loading.unchanged = UnchangedFiles(
                store, chunker.spec, entities, language, limits.model_dump_json()
            )
        loading.documents(found, workers or available_cores(), apart, parse_all)
        loading.records(found.records)
    else:
        loading.isolated(isolated, sources, format, names or {})
    if loading.unchanged is not None:
        merge.names |= loading.unchanged.names
    _link_mentions(store, merge, pending)
    if store.links_pending:
        store.set_links_pending(False)
    localiser.remember()
    if loading.unchanged is not None:
        loading.unchanged.remember({uri: source for uri, (_, source) in merge.seen.items()})
    report.languages = dict(localiser.pages.most_common())
    report.likely_language = localiser.likely
    return report


@dataclass(slots=True)
class _Loading:
    """The common steps of loading documents of all kinds."""

    store: LoadStore
    merge: Merge
    limits: InputLimits
    chunker: Chunker
    progress: StageProgress | None
    pending: bool
    """Whether an earlier load was not completed."""
    entities: str | None
    unchanged: UnchangedFiles | None = None

    def documents(self, found: FoundDocuments, workers: int, apart: bool, parse_all: ParseAll | None) -> None:
        """Load documents that are parsed individually, in this process, in a pool, or by ``parse_all``."""
        with closing(
            self._outcomes(found, workers, apart, parse_all)
        ) as outcomes:  # an interrupt stops the pool
            for done, outcome in enumerate(outcomes, start=1):
                if isinstance(outcome, Problem):
                    self._problem(outcome)
                else:
                    for graph in outcome:
                        if self.unchanged is not None:
                            self.unchanged.saw(graph)
                        self.merge.add(graph)
                self._tell("parse", done, found.count)
        self.merge.flush()

    def _outcomes(
        self, found: FoundDocuments, workers: int, apart: bool, parse_all: ParseAll | None
    ) -> Generator[Loaded, None, None]:
        changed = self._changed(found)
        if parse_all is not None:
            return parse_all(changed)
        few = found.count < WORTH_A_POOL and not (apart and found.risky)
        if few or not self.chunker.portable or (workers == 1 and not apart):
            return (parse_item(item, self.limits, self.chunker, self.entities) for item in changed)
        return self._in_processes(changed, workers)

    def _changed(self, found: FoundDocuments) -> Iterator[Item]:
        """Iterate over the documents to read. The pages of the others are kept."""
        for item in found:
            pages = [] if self.unchanged is None else self.unchanged.pages(item)
            if not pages or any(self.merge.has(page.uri) for page in pages):  # another file has its text now
                yield item
                continue
            found.count -= 1
            for page in pages:
                self.merge.keep(page)

    def _in_processes(self, items: Iterable[Item], workers: int) -> Generator[Loaded, None, None]:
        with closing(ParserPool(workers, self.limits, self.chunker.spec, self.entities)) as pool:
            yield from pool.parse(items)

    def records(self, items: Sequence[Item]) -> None:
        """Load records. They link to all known titles, so they are read last, and stored ones are re-linked when
        there are new titles.
        """
        gazetteer: Gazetteer | None = None
        with closing(RecordPages(self.limits)) as pages:
            for item in items:
                for problem in pages.read(item):
                    if problem is not None:
                        self._problem(problem)
            if pages:
                gazetteer = Gazetteer(chain(pages.names(), self.store.names()))
                for done, (_, outcome) in enumerate(
                    pages.graphs(gazetteer, self.chunker, self.entities), start=1
                ):
                    if isinstance(outcome, Problem):
                        self._problem(outcome)
                    else:
                        self.merge.add(outcome)
                    self._tell("records", done, len(pages))
                self.merge.flush()
        _relink_others(self.store, self.merge, gazetteer, self.pending)

    def isolated(
        self,
        parser: ParserProcess,
        sources: Sequence[str],
        format: Format,
        names: Mapping[str, str],
    ) -> None:
        """Load files of all kinds, parsed in a separate process."""
        if not self.chunker.portable:
            raise ConfigurationError(
                f"the chunker {self.chunker.spec} of this store asks a model, which the process that parses uploads"
                " cannot: add documents with  trivium add"
            )
        store, merge = self.store, self.merge
        files: list[FoundFile] = []
        for found in (found for source in sources for found in expand(source)):
            if isinstance(found, Problem):
                self._problem(found)
            else:
                files.append(found)
        places = Places(store)
        for file in files:
            label = names.get(file.path)
            if label is None:
                places.expect(file.path, file.place, file.root)
            else:
                places.expect(label, label, None)
        merge.files = FilePages(store, places)

        def beat(done: int) -> None:
            self._tell("parse", done, max(done, len(files)))

        def titles() -> Iterator[tuple[str, str]]:
            merge.flush()
            yield from store.names()

        spec = self.chunker.spec
        for outcome in parser.parse(files, names, format, self.limits, titles, beat, spec, self.entities):
            if isinstance(outcome, PageGraph):
                merge.add(outcome)
            elif isinstance(outcome, LeftOut):
                merge.report.leave_out(outcome, self.limits.problems)
            else:
                self._problem(outcome)
        merge.flush()
        _relink_others(store, merge, None, self.pending)

    def _problem(self, problem: Problem | None) -> None:
        self.merge.report.problem(problem, self.limits.problems)

    def _tell(self, stage: str, done: int, total: int) -> None:
        if self.progress is not None:
            self.progress(stage, done, total)


def _link_mentions(store: LoadStore, merge: Merge, pending: bool) -> None:
    """Link documents without links of their own to what they mention: new documents to all names, earlier ones to new
    names, or with ``pending`` to all names.
    """
    report = merge.report
    if pending or report.read:
        new = merge.names if report.added or report.replaced else ()
        changed = link_mentions(store, [unescape(name) for name in sorted(new)], merge.named, every=pending)
        report.relinked += sum(not merge.has(uri) for uri in changed)


def _relink_others(store: LoadStore, merge: Merge, gazetteer: Gazetteer | None, pending: bool) -> None:
    """Search the records stored before this load for names that were added or removed; with ``pending`` for all
    names. ``gazetteer`` holds all names; if None it is built when needed, which is rare.
    """
    report = merge.report
    if not (pending or report.added or report.replaced):
        return
    names = [unescape(name) for name in sorted({*merge.names, *report.retitled})]
    stored = (
        (page for page in each_page(store) if page.source.startswith(RECORDS))
        if pending
        else pages_mentioning(store, names, source=RECORDS)
    )
    # Where names are recognised, records are linked as other documents are.
    others = [page.uri for page in stored if "." not in page.content_hash and not merge.has(page.uri)]
    if others:
        report.relinked = _relink(others, store, Gazetteer(store.names()) if gazetteer is None else gazetteer)


def delete_linked(store: LoadStore, uris: Sequence[str], removed: list[str]) -> int:
    """Delete pages, adding their uris to ``removed``, and search the pages that mention their names anew, as if they had
    never been there. Returns the number of pages whose links changed.
    """
    names: list[str] = []
    named: set[tuple[str, str]] = set()
    for page in store.page_graphs(list(uris)):
        names.extend(map(unescape, (page.uri, *page.aliases)))
        named |= names_of([page])
    pending = store.entities is not None and store.links_pending  # of a removal that was interrupted
    if store.entities is not None:
        store.set_links_pending(True)  # as long as the names of other pages are not looked at
    removed.extend(store.delete(uris))
    mentioning = pages_mentioning(store, names, source=RECORDS)
    records = [page.uri for page in mentioning if "." not in page.content_hash]
    changed = _relink(records, store, Gazetteer(store.names())) if records else 0
    changed += len(link_mentions(store, names, named, every=pending)) if names or pending else 0
    if store.entities is not None:
        store.set_links_pending(False)
    return changed


def _relink(uris: Sequence[str], store: LoadStore, gazetteer: Gazetteer) -> int:
    """Search stored records for names and return the number of pages with new links."""
    merge = Merge(store, IngestReport(), None, StoredLocaliser(store), entities=store.entities)
    for some in batched(uris, _PAGES_A_TIME):
        for graph in list(store.page_graphs(some)):
            merge.add(build(relinked(_stored_records(graph), gazetteer)))
    merge.flush()
    return merge.report.replaced


def _stored_records(graph: PageGraph) -> Page:
    """Reconstruct the page that a stored one was built from, without its links."""
    return Page(
        unescape(graph.uri),
        graph.text,
        tuple(Chunk(ChunkKind(chunk.kind), chunk.text, chunk.start, chunk.end) for chunk in graph.chunks),
        source=graph.source,
        format=graph.format,
        path=graph.path,
        modified=graph.modified,
        metadata=graph.metadata,
    )
