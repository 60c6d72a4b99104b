"""Fills one of several stores from the files of its shards, on any machine. A store is made in two steps, between which
the texts that no shard has embedded are embedded once for all stores: cited names, above all.

Each step is a commit: a file in the folder of the shards says in which state it left the store. A step that was done is
not done again, and one that was interrupted begins anew in a folder of its own.
"""

from __future__ import annotations

import json
import secrets
import shutil
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from trivium.common.files import folder_to_disk, replacing, write_file
from trivium.common.iteration import batched
from trivium.errors import ConfigurationError, InputError
from trivium.graph.anchors import split_link
from trivium.graph.build import linked, renamed, with_metadata
from trivium.graph.embedded import EmbeddedStore
from trivium.graph.localise import localised
from trivium.graph.model import PageGraph
from trivium.graph.records import Passage
from trivium.graph.sharded.names import linked_titles, with_links_to
from trivium.graph.vectors import text_hash
from trivium.index.graph_messages import dump, load
from trivium.index.mentions import linked_page, marked
from trivium.index.merge import batches
from trivium.index.sharding.decisions import Decision, Decisions, decisions_of
from trivium.index.sharding.files import Embedded, read_embedded
from trivium.index.sharding.work import Runner, Work, pages_of
from trivium.index_parameters import IndexParameters
from trivium.parser.gazetteer import Gazetteer
from trivium.types import EmbedderIdentity, MetadataValue

WRITE = "write"
FINISH = "finish"
_TEXTS = 1_000
Hashes = NDArray[np.uint64]


class Part(Protocol):
    """Something that processes, or machines, make one each of: its ``number``, and the ``folder`` that it is in."""

    @property
    def number(self) -> int: ...

    @property
    def folder(self) -> Path: ...

    def fill(self, work: Work, step: str) -> Iterable[int]:
        """Do a step, unless it is done. Yields the progress, if the step has any."""
        ...


PartType = TypeVar("PartType", bound=Part)


@dataclass(frozen=True, slots=True)
class StorePart:
    """One of the stores: its ``number``, from 1, and what it is made from (``key``). ``decisions`` is the file about
    all documents, ``out`` the folder around the stores. ``languages`` and ``embedder`` are recorded in the store.
    ``texts`` are the keys of the shards of texts, known in the second step.
    """

    number: int
    key: str
    decisions: Path
    out: Path
    index: IndexParameters
    languages: str | None = None
    embedder: EmbedderIdentity | None = None
    metadata: tuple[tuple[str, MetadataValue], ...] = ()
    texts: tuple[str, ...] = ()

    @property
    def folder(self) -> Path:
        """Where the finished store is."""
        return self.out / f"shard-{self.number}"

    def fill(self, work: Work, step: str) -> tuple[()]:
        """Do a step of the store unless it is done."""
        if not is_done(work, self, step):
            (_write if step == WRITE else _finish)(work, self)
        return ()


class StoreRunner(Runner, Protocol):
    """Processes shards, and fills stores from them."""

    def fill(self, parts: Iterable[PartType], step: str) -> Generator[PartType, None, None]:
        """Do a step of parts, and yield each when it is done, in any order. Raises TriviumError if one fails."""
        ...


@dataclass(frozen=True, slots=True)
class Step:
    """A step that is done: from what (``key``), where the store is, and its state."""

    key: str
    folder: str
    state: str

    def write(self, path: Path) -> None:
        """Commit the step."""
        write_file(path, json.dumps([self.key, self.folder, self.state]))

    @classmethod
    def read(cls, path: Path) -> Step | None:
        """Return the step, None if the file is not there or says something else."""
        with suppress(OSError, ValueError, TypeError):
            return cls(*json.loads(path.read_text("utf-8")))
        return None


def step_file(work: Work, part: StorePart, step: str) -> Path:
    """Return the file that says that a step of a store is done."""
    return _files(work, part) / f"{part.number}.{step}"


def _files(work: Work, part: StorePart) -> Path:
    return work.folder / "stores" / text_hash(str(part.out))[:16]


def is_done(work: Work, part: StorePart, step: str) -> bool:
    """Whether a step of a store was done, from the same content, and the finished store is still in that state. One that
    was finished, and not yet given its name, gets it.
    """
    finished = Step.read(step_file(work, part, FINISH))
    if finished is not None and finished.key == part.key:
        _move(finished, part)
        if state_of(part.folder) == finished.state:
            return True
    written = Step.read(step_file(work, part, WRITE))
    return (
        step == WRITE
        and written is not None
        and written.key == part.key
        and EmbeddedStore.exists(
            part.out / written.folder
        )  # perhaps with some of the vectors of the second step
    )


def is_own(work: Work, part: StorePart) -> bool:
    """Whether the finished store was made here, from whatever, and has not been changed since."""
    finished = Step.read(step_file(work, part, FINISH))
    return finished is not None and state_of(part.folder) == finished.state


def state_of(folder: Path) -> str | None:
    """Return the state of the store in a folder, None if there is none."""
    if not EmbeddedStore.exists(folder):
        return None
    with EmbeddedStore.open(folder, read_only=True) as store:
        return store.state


def _write(work: Work, part: StorePart) -> None:
    """Write the pages of a store, with the vectors of their shards, and list the texts that wait."""
    name = f".shard-{part.number}.{secrets.token_hex(4)}.part"
    part.out.mkdir(parents=True, exist_ok=True)
    with EmbeddedStore.create(part.out / name) as store:
        store.set_languages(part.languages)
        store.set_index_parameters(part.index)
        if part.embedder is not None:
            store.set_embedder(part.embedder)
        with decisions_of(part.decisions) as decisions:
            for pages in batches(_pages(work, part, decisions)):
                store.write(pages, work.chunker)
            if work.identity is not None:
                for _, key in decisions.shards(part.number - 1):
                    _put(store, read_embedded(work.shards.vectors(key, work.embedded_by)))
        if work.identity is not None:
            _write_waiting(work, part, store)
        step = Step(part.key, name, store.state)
    step.write(step_file(work, part, WRITE))


def _finish(work: Work, part: StorePart) -> None:
    """Store the vectors that were still to be made, index the store, and give it its name."""
    written = Step.read(step_file(work, part, WRITE))
    if written is None:
        raise ConfigurationError(f"the store {part.folder} was not written: build again")
    with EmbeddedStore.open(part.out / written.folder) as store:
        if part.texts:
            waiting = Waiting(work, part)
            for key in part.texts:
                _put(store, waiting.of_these(read_embedded(work.shards.vectors(key, work.embedded_by))))
        store.refresh()
        step = Step(part.key, written.folder, store.state)
    step.write(step_file(work, part, FINISH))
    _move(step, part)


def _move(step: Step, part: StorePart) -> None:
    """Give a finished store its name, unless it has it."""
    made = part.out / step.folder
    if made.is_dir() and not part.folder.exists():
        made.rename(part.folder)
        folder_to_disk(part.out)


def _pages(work: Work, part: StorePart, decisions: Decisions) -> Iterator[PageGraph]:
    settled = _Settled(dict(part.metadata), decisions)
    for number, key in decisions.shards(part.number - 1):
        wanted = decisions.pages(number, part.number - 1)
        for place, graph in enumerate(pages_of(work, key)):
            if place in wanted:
                yield settled.page(graph, wanted[place])


class _Settled:
    """Pages as a plain load would store them, with links that lead to what titles stand for."""

    def __init__(self, metadata: Mapping[str, MetadataValue], decisions: Decisions) -> None:
        self._metadata = metadata
        self._decisions = decisions

    @cached_property
    def _gazetteer(self) -> Gazetteer:
        return Gazetteer(self._decisions.names())

    def page(self, graph: PageGraph, decision: Decision) -> PageGraph:
        if graph.uri != decision.uri:
            graph = renamed(graph, decision.uri)
        if decision.links is not None:
            links = {
                position: [*((title, "") for title in cites), *map(split_link, anchors)]
                for position, cites, anchors in decision.links
            }
            graph = linked(graph, lambda chunk, _: links.get(chunk.position, ()))
        aliases = self._decisions.aliases(decision.uri)
        graph = replace(graph, path=decision.path, aliases=aliases)
        if self._metadata:
            graph = with_metadata(graph, self._metadata)
        graph = marked(localised(graph, decision.language))
        if graph.content_hash.endswith("."):
            graph = linked_page(graph, self._gazetteer)
        return with_links_to([graph], self._decisions.resolve(linked_titles([graph])))[0]


def _put(store: EmbeddedStore, embedded: Embedded) -> None:
    """Store vectors. Texts that the store does not contain are skipped."""
    for begin in range(0, len(embedded.texts), _TEXTS):
        some = slice(begin, begin + _TEXTS)
        store.put_vectors(embedded.texts[some], embedded.vectors[some])
    for begin in range(0, len(embedded.passages), _TEXTS):
        some = slice(begin, begin + _TEXTS)
        store.put_sentences(embedded.passages[some], embedded.codes[some])


# -- texts that wait -----------------------------------------------------------------------------------------------


def _write_waiting(work: Work, part: StorePart, store: EmbeddedStore) -> None:
    """List the texts, and passages, of a store that no shard has embedded."""
    with replacing(_waiting_file(work, part)) as file:
        for text in store.pending_texts():
            file.write(dump(text) + b"\n")
        if work.sentences:
            for passage in store.pending_sentences():
                file.write(dump([passage.headings, passage.text]) + b"\n")


def _waiting_file(work: Work, part: StorePart) -> Path:
    return _files(work, part) / f"{part.number}.waiting"


class Waiting:
    """The texts and passages of a store that wait to be embedded."""

    def __init__(self, work: Work, part: StorePart) -> None:
        self._path = _waiting_file(work, part)

    def __iter__(self) -> Iterator[str | Passage]:
        """Raises InputError if the list cannot be read."""
        try:
            with self._path.open("rb") as file:
                for line in file:
                    found = load(line)
                    yield found if isinstance(found, str) else Passage(tuple(found[0]), found[1])
        except (OSError, ValueError) as error:
            raise InputError(f"{self._path} cannot be read ({error}): build again") from error

    @cached_property
    def _hashes(self) -> Hashes:
        return np.unique(hashes(self))

    def of_these(self, embedded: Embedded) -> Embedded:
        """Return what is embedded of the texts of this store."""
        texts = np.flatnonzero(np.isin(hashes(embedded.texts), self._hashes))
        passages = np.flatnonzero(np.isin(hashes(embedded.passages), self._hashes)).tolist()
        return Embedded(
            [embedded.texts[row] for row in texts.tolist()],
            embedded.vectors[texts],
            [embedded.passages[row] for row in passages],
            [embedded.codes[row] for row in passages],
        )


def hashes(found: Iterable[str | Passage]) -> Hashes:
    """Return a hash of each text and passage."""
    said = (
        f"text {text}" if isinstance(text, str) else f"passage {text.headings} {text.text}" for text in found
    )
    return np.array([int(text_hash(text)[:16], 16) for text in said], dtype=np.uint64)


def once(stores: Iterable[Iterable[str | Passage]]) -> Iterator[str | Passage]:
    """Iterate over the texts of all stores, each once. Of those that came only hashes are kept."""
    known = np.empty(0, dtype=np.uint64)
    for waiting in stores:
        own: list[Hashes] = [known]
        for some in batched(waiting, _TEXTS):
            found = hashes(some)
            own.append(found)
            for text, is_known in zip(some, np.isin(found, known).tolist(), strict=True):
                if not is_known:
                    yield text
        known = np.unique(np.concatenate(own))


def clear_attempts(work: Work, part: StorePart) -> None:
    """Remove what was made of a store, except what its next step needs."""
    if is_done(work, part, FINISH):
        kept = part.folder.name
    else:
        shutil.rmtree(part.folder, ignore_errors=True)
        step_file(work, part, FINISH).unlink(missing_ok=True)
        written = Step.read(step_file(work, part, WRITE))
        kept = written.folder if written is not None and written.key == part.key else ""
    for left in part.out.glob(f".shard-{part.number}.*.part"):
        if left.name != kept:
            shutil.rmtree(left, ignore_errors=True)
