"""Builds several stores that are searched as one: each is written and indexed by a process, or a machine, of its own.

1. Shards of documents are parsed and embedded (:mod:`.work`).
2. One process decides what hangs on all documents, from outlines of the pages (:mod:`.survey`, :mod:`.decisions`).
3. Each store is written from its shards, then the texts that several stores share are embedded once, then each store is
   completed and indexed (:mod:`.stores`).
4. The folder around the stores is made to stand for them: that is the commit.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from trivium.chunking.registry import make_chunker
from trivium.chunking.spec import DEFAULT
from trivium.common.beside import available_cores
from trivium.common.files import LockFile
from trivium.common.progress import StageProgress
from trivium.embedding.base import Embedder
from trivium.embedding.store_embedder import StoreEmbedder
from trivium.errors import ConfigurationError, InputError, StoreError
from trivium.graph.embedded import EmbeddedStore
from trivium.graph.factory import is_address
from trivium.graph.records import Passage
from trivium.graph.sharded.manifest import Manifest, is_sharded, read_manifest
from trivium.graph.shards import MOST
from trivium.index.languages import check_embedder_knows, check_embedder_of
from trivium.index.left_out import nothing_read
from trivium.index.report import IngestReport
from trivium.index.sharding.build import ShardPlan, running
from trivium.index.sharding.decisions import Decisions, PlannedPages, decisions_of
from trivium.index.sharding.shards import TextShard, digest, text_shard
from trivium.index.sharding.stores import (
    FINISH,
    WRITE,
    StorePart,
    StoreRunner,
    Waiting,
    clear_attempts,
    is_done,
    is_own,
    once,
    step_file,
)
from trivium.index.sharding.survey import Survey
from trivium.index.sharding.work import Work
from trivium.index_parameters import IndexParameters
from trivium.languages import AUTO, ENGLISH, check_language
from trivium.limits import InputLimits
from trivium.metadata import check as check_metadata
from trivium.parser.sources.base import Format
from trivium.settings import load_settings
from trivium.types import EmbedderIdentity, MetadataValue

_TEXTS = 1_000
_PASSAGES = 200
"""Texts and passages per shard, of those that no shard of documents has."""
_ENTRY = re.compile(r"shard-([0-9]+)|\.shard-([0-9]+)\..*\.part")


@dataclass(slots=True)
class _NewStore:
    """What a store that is not there yet says of itself."""

    location: str
    languages: str | None = None
    embedder: EmbedderIdentity | None = None


def build_stores(
    folder: str | Path,
    sources: Sequence[str | Path],
    into: int,
    embedder: str | Embedder | None = None,
    *,
    device: str | None = None,
    shards: ShardPlan | None = None,
    format: Format = "auto",
    workers: int | None = None,
    embed: bool = True,
    sentences: bool = True,
    progress: StageProgress | None = None,
    limits: InputLimits | None = None,
    chunker: str | None = None,
    only: Collection[str] | None = None,
    language: str | None = None,
    any_embedder: bool = False,
    meta: Mapping[str, MetadataValue | None] | None = None,
    index: IndexParameters | None = None,
) -> IngestReport:
    """Build ``into`` new folder stores below ``folder``, which then stands for them. They contain what a plain build
    followed by :func:`trivium.graph.shards.split_store` gives, but the documents of each follow one another in the
    sources. Other arguments are those of :meth:`trivium.index.indexer.Indexer.build`; ``shards`` is by default without
    a cluster, with files in ``FOLDER.shards``. At most ``workers`` stores are made at a time.

    If interrupted, calling it again completes the work; stores that are finished are not made again. If nothing has
    changed since the last time, nothing is done. Scripts need ``if __name__ == "__main__":``.

    Raises InputError for too few or too many stores, StoreError if there is something else in the folder,
    NothingReadError if no document could be read, and the errors of a build by shards.
    """
    if isinstance(sources, str | Path):
        raise InputError(f"expected a list of sources, got {type(sources).__name__}: [{str(sources)!r}]")
    if not sources:
        raise InputError("expected at least one source (a file, a folder, an address), got an empty list")
    if not 1 <= into <= MOST:
        raise InputError(f"expected 1 to {MOST} stores, got {into}")
    if is_address(folder):
        raise InputError(f"expected a folder for the stores, got {folder}")
    out = Path(folder).absolute()
    if EmbeddedStore.exists(out):
        raise StoreError(f"{folder} is a store already: name a new folder, or build without --into")
    plan = ShardPlan(f"{out}.shards") if shards is None else shards
    plan.check()
    cutter = make_chunker(chunker or DEFAULT, _no_embedder)
    if not cutter.portable:
        raise ConfigurationError(
            f"documents cannot be built by shards and by the chunker {cutter.spec}, which asks a model: leave out one of"
            " them"
        )
    metadata = None if meta is None else check_metadata(meta)
    new = _NewStore(str(folder))
    filler = StoreEmbedder(new, embedder, device)
    embeds = embed and not any_embedder
    if language is not None and check_language(language) not in (AUTO, ENGLISH) and embeds:
        check_embedder_knows(language, filler.name)
    settings = load_settings()
    try:
        identity = filler.get().identity if embed or filler.chosen else None
        work = Work(
            folder=Path(plan.folder).absolute(),
            cwd=str(Path.cwd()),
            limits=settings.limits if limits is None else limits,
            chunker=cutter.spec,
            embedder=filler.portable if embed else None,
            identity=identity if embed else None,
            sentences=sentences,
            device=filler.device,
            outlines=True,
        )
        file = work.folder / f"{secrets.token_hex(8)}.decisions"
        opened = filler.get() if embed else None
        with running(plan, work, opened, workers or available_cores(), progress) as runner:
            try:
                planned = PlannedPages(file)
                survey = Survey(work, runner, planned, plan.documents)
                try:
                    report = survey.run(
                        [str(source) for source in sources],
                        format=format,
                        only=only,
                        language=language,
                        any_embedder=any_embedder,
                        metadata=metadata,
                        progress=progress,
                    )
                    if (report.problems or report.left_out_kinds) and not report.read:
                        raise nothing_read(report)
                    planned.deal(survey.keys, into)
                finally:
                    planned.close()
                new.languages = planned.languages
                if embeds:
                    check_embedder_of(new, filler.name)
                runner.finish()
                given = settings.index if index is None else index
                usual = StorePart(
                    number=0,
                    key="",
                    decisions=file,
                    out=out,
                    index=IndexParameters().changed(given),
                    languages=planned.languages,
                    embedder=identity,
                    metadata=tuple(
                        (key, value) for key, value in (metadata or {}).items() if value is not None
                    ),
                )
                with decisions_of(file) as decisions:
                    parts = [_part(work, usual, decisions, number) for number in range(1, into + 1)]
                if _make(work, runner, parts, progress):
                    report.added, report.unchanged = 0, report.added
            finally:
                file.unlink(missing_ok=True)
    finally:
        filler.close()
    return report


def _no_embedder() -> Embedder:
    raise ConfigurationError("documents cannot be built by shards and by a chunker that asks a model")


def _part(work: Work, usual: StorePart, decisions: Decisions, number: int) -> StorePart:
    said = [
        work.version,
        work.chunker,
        None if work.identity is None else work.embedded_by,
        usual.index.stored(),
        usual.languages,
        None if usual.embedder is None else [usual.embedder.name, usual.embedder.version],
        sorted(usual.metadata),
        decisions.digest(number - 1),
    ]
    return replace(usual, number=number, key=digest(said))


def _make(
    work: Work, runner: StoreRunner, parts: Sequence[StorePart], progress: StageProgress | None
) -> bool:
    """Make the stores, and the folder stand for them. Returns whether all were there."""
    out = parts[0].out
    if is_sharded(out):
        _check_same(parts)
        if not all(is_done(work, part, FINISH) for part in parts):
            raise _other(out)
        return True
    done = 0

    def tell() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress("stores", done, 2 * len(parts))

    with _alone(work, parts[0]):
        _clear(work, parts)
        _fill(runner, parts, WRITE, tell)
        texts = () if work.identity is None else tuple(_embed_waiting(work, runner, parts, progress))
        _fill(runner, [replace(part, texts=texts) for part in parts], FINISH, tell)
        Manifest(out, tuple(part.folder.name for part in parts)).write()
        for part in parts:
            clear_attempts(work, part)
    for key in texts:
        work.shards.vectors(key, work.embedded_by).unlink(missing_ok=True)
    return False


def _fill(runner: StoreRunner, parts: Sequence[StorePart], step: str, tell: Callable[[], None]) -> None:
    with closing(runner.fill(parts, step)) as done:  # an interrupt ends the processes
        for _ in done:
            tell()


@contextmanager
def _alone(work: Work, part: StorePart) -> Iterator[None]:
    """Raises InputError if another process makes the same stores."""
    path = step_file(work, part, "lock")
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = LockFile(path)
    if not lock.take():
        raise InputError(f"{part.out}: another build makes these stores; wait until it ends")
    try:
        yield
    finally:
        lock.release()


def _check_same(parts: Sequence[StorePart]) -> None:
    """Raise StoreError if the folder stands for other stores."""
    out = parts[0].out
    if read_manifest(out).shards != tuple(part.folder.name for part in parts):
        raise _other(out)


def _other(out: Path) -> StoreError:
    return StoreError(
        f"{out} stands for stores already, which are of other documents or options, or were changed since they were"
        " built: name a new folder, or build without --into, which adds to them"
    )


def _clear(work: Work, parts: Sequence[StorePart]) -> None:
    """Remove stores that an interrupted build of other documents made in the folder, and unfinished ones of killed
    processes. Raises StoreError if there is anything else.
    """
    out = parts[0].out
    found = sorted(out.iterdir()) if out.is_dir() else []
    entries = [(path, _ENTRY.fullmatch(path.name)) for path in found]
    if out.is_file() or not all(match for _, match in entries):
        strange = next((path for path, match in entries if not match), out)
        raise StoreError(f"expected a new or empty folder for the stores, got {strange}")
    by_number = {part.number: part for part in parts}
    for number in sorted({int(match[1] or match[2]) for _, match in entries if match}):
        part = by_number.get(number) or replace(parts[0], number=number, key="")
        if part.folder.exists() and not is_own(work, part):
            raise StoreError(f"expected a new or empty folder for the stores, got {part.folder}")
        clear_attempts(work, part)


def _embed_waiting(
    work: Work, runner: StoreRunner, parts: Sequence[StorePart], progress: StageProgress | None
) -> Iterator[str]:
    """Embed the texts that stores wait for, each once, and yield the keys of their shards."""
    done = 0
    for shard in runner.embed(_text_shards(work.embedded_by, once(Waiting(work, part) for part in parts))):
        done += len(shard.texts) + len(shard.passages)
        if progress is not None:
            progress("embed", done, done)
        yield shard.key


def _text_shards(made_by: str, waiting: Iterable[str | Passage]) -> Iterator[TextShard]:
    texts: list[str] = []
    passages: list[Passage] = []
    for found in waiting:
        if isinstance(found, str):
            texts.append(found)
        else:
            passages.append(found)
        if len(texts) >= _TEXTS or len(passages) >= _PASSAGES:
            yield text_shard(made_by, texts, passages)
            texts, passages = [], []
    if texts or passages:
        yield text_shard(made_by, texts, passages)
