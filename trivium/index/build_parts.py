"""Parts of a build on a cluster: consecutive documents that are parsed and embedded anywhere, and kept in a file.

A part is made from what it names alone, so it can be made on any machine, and again where it was lost. Names, redirects,
links between documents and the choice between copies depend on all documents: they are resolved as in an ordinary build,
in the order of the sources, by the process that writes the store. So the store is the same.
"""

from __future__ import annotations

import gzip
import io
import json
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, fields
from functools import cached_property
from hashlib import blake2b
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trivium.common.package_version import package_version
from trivium.embedding.embed_in_slices import fill, fill_parts
from trivium.embedding.embedder import Embedder, Vectors
from trivium.errors import InputError
from trivium.graph.build_page_graph import RULES
from trivium.graph.page_graph import PageGraph
from trivium.graph.protocols import VectorWriter
from trivium.graph.records import Codes, Passage
from trivium.graph.schema import entity_text, headings_as_text
from trivium.graph.stored_vectors import sentence_texts
from trivium.index.embed_missing import chunk_texts
from trivium.index.graph_messages import Joined, dump, load, parts_of
from trivium.index.parsing import Loaded, ParserPool
from trivium.parser.sources.source_items import Item, Problem
from trivium.settings.limits import InputLimits
from trivium.types import EmbedderIdentity

DOCUMENTS = 200
"""Documents of a part: a minute or two of work, which is what losing a node costs."""
_MAX_BYTES = 64 << 20
"""Total size of files from which no more documents are added to a part."""
_ROWS_A_WRITE = 1_000
_COMPRESSION = 1
_PROBLEM, _END = "problem", "end"

Arrays = dict[str, NDArray[Any]]
"""The content of a part: ``pages`` (compressed messages), and once embedded the vectors, see :func:`put_vectors`."""


@dataclass(frozen=True)
class Work:
    """What the parts of a build have in common. ``cwd`` is the folder to which paths of sources are relative.
    ``embedder`` is a name or a custom embedder, and ``identity`` the required identity; both are None if nothing is
    embedded. ``device`` is where each machine embeds.
    """

    cwd: str
    limits: InputLimits
    chunker: str
    embedder: str | Embedder | None = None
    identity: EmbedderIdentity | None = None
    sentences: bool = True
    device: str | None = None
    entities: str | None = None
    version: str = field(default_factory=package_version)

    @cached_property
    def made_by(self) -> str:
        """Identifies what a part depends on besides its documents."""
        own = self.identity
        embedded = None if own is None else [own.name, own.version, own.dimension, self.sentences]
        limits = self.limits.model_dump(mode="json")
        return _digest([self.version, RULES, self.cwd, self.chunker, self.entities, limits, embedded])


@dataclass(frozen=True, slots=True)
class Part:
    """Consecutive documents of the sources. The key identifies all that its content depends on."""

    key: str
    items: tuple[Item, ...]


def divide(items: Iterable[Item], made_by: str) -> Iterator[Part]:
    """Group items into parts of :data:`DOCUMENTS`, or fewer if they are large. Keys depend on ``made_by``, on the items,
    and on size and modification time of their files. Items are consumed lazily.
    """
    own: list[Item] = []
    identity: list[object] = []
    total = 0
    location, stat = "", None
    for item in items:
        if item.location != location:  # the rows of a file are consecutive
            location, stat = item.location, _stat(item)
        own.append(item)
        identity.append([*_values(item), stat])
        total += _size(item, stat)
        if len(own) >= DOCUMENTS or total >= _MAX_BYTES:
            yield Part(_digest([made_by, *identity]), tuple(own))
            own, identity, total = [], [], 0
    if own:
        yield Part(_digest([made_by, *identity]), tuple(own))


# -- on any machine ----------------------------------------------------------------------------------------------------


def parse_part(items: Sequence[Item], pool: ParserPool) -> Arrays:
    """Parse the documents of a part, in processes with limits: one that crashes its process affects no other."""
    packed = io.BytesIO()
    with (
        gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=_COMPRESSION, mtime=0) as file,
        closing(pool.parse(items)) as outcomes,
    ):
        for outcome in outcomes:
            if isinstance(outcome, Problem):
                file.write(dump([_PROBLEM, [outcome.location, outcome.reason]]) + b"\n")
                continue
            for graph in outcome:
                for message in parts_of(graph):
                    file.write(dump(message) + b"\n")
            file.write(dump([_END, None]) + b"\n")
    return {"pages": np.frombuffer(packed.getvalue(), np.uint8)}


def embed_part(parsed: Arrays, embedder: Embedder, sentences: bool) -> Arrays:
    """Add the vectors of a part. Cited and related entities are not embedded with it: many pages name the same ones, and
    some are aliases of pages.
    """
    graphs = [graph for loaded in _loaded(parsed["pages"]) if isinstance(loaded, list) for graph in loaded]
    texts = list(dict.fromkeys(text for graph in graphs for text in _texts(graph)))
    passages = list(dict.fromkeys(p for graph in graphs for p in _passages(graph))) if sentences else []
    return {**parsed, **embed_texts(texts, passages, embedder)}


def embed_texts(texts: Sequence[str], passages: Sequence[Passage], embedder: Embedder) -> Arrays:
    """Return the vectors of texts, and those of the sentences of passages."""
    dimension = embedder.identity.dimension
    vectors: list[Vectors] = [np.empty((0, dimension), np.float32)]
    codes: list[Codes] = []
    fill(texts, embedder, lambda _, rows: vectors.append(rows))
    fill_parts(passages, sentence_texts, embedder, lambda _, rows: codes.extend(rows))
    return {
        "texts": _as_bytes(list(texts)),
        "vectors": np.concatenate(vectors),
        "passages": _as_bytes([[passage.headings, passage.text] for passage in passages]),
        "codes": np.concatenate([np.empty((0, dimension), np.int8), *codes]),
        "starts": np.fromiter(accumulate(map(len, codes), initial=0), np.int64),
    }


def _texts(graph: PageGraph) -> Iterator[str]:
    """Iterate over the texts of a page that are embedded whatever else is in the store."""
    yield from chunk_texts(graph)
    yield entity_text(graph.uri)
    yield from (section.uri for section in graph.sections)


def _passages(graph: PageGraph) -> Iterator[Passage]:
    return (Passage(tuple(headings_as_text(chunk.parent)), chunk.text) for chunk in graph.chunks)


# -- where the store is written ----------------------------------------------------------------------------------------


def read_part(path: Path) -> Arrays:
    """Read the file of a part. Raises InputError for a damaged one."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            return dict(arrays)
    except (OSError, EOFError, zipfile.BadZipFile, KeyError, ValueError, zlib.error) as error:
        raise InputError(f"{path} cannot be read ({error}): delete it and build again") from error


def pages_of(part: Arrays) -> Iterator[Loaded]:
    """Iterate over the pages and problems of a part's documents, one document at a time."""
    return _loaded(part["pages"])


def put_vectors(part: Arrays, store: VectorWriter) -> None:
    """Store the vectors of a part. Texts that the store does not contain are skipped."""
    texts, vectors, codes = load(part["texts"].tobytes()), part["vectors"], part["codes"]
    for begin in range(0, len(texts), _ROWS_A_WRITE):
        store.put_vectors(texts[begin : begin + _ROWS_A_WRITE], vectors[begin : begin + _ROWS_A_WRITE])
    passages = [Passage(tuple(headings), text) for headings, text in load(part["passages"].tobytes())]
    of_passages = [codes[first:last] for first, last in pairwise(part["starts"].tolist())]
    for begin in range(0, len(passages), _ROWS_A_WRITE):
        store.put_sentences(
            passages[begin : begin + _ROWS_A_WRITE], of_passages[begin : begin + _ROWS_A_WRITE]
        )


def _loaded(packed: NDArray[Any]) -> Iterator[Loaded]:
    graphs: list[PageGraph] = []
    joined = Joined()
    with gzip.GzipFile(fileobj=io.BytesIO(packed.tobytes())) as file:
        for line in file:
            kind, content = load(line)
            if kind == _PROBLEM:
                yield Problem(*content)
            elif kind == _END:
                yield graphs
                graphs = []
            elif (graph := joined.add(kind, content)) is not None:
                graphs.append(graph)


def _as_bytes(content: object) -> NDArray[Any]:
    return np.frombuffer(dump(content), np.uint8)


def _digest(content: object) -> str:
    data = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return blake2b(data.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _stat(item: Item) -> tuple[int, int] | None:
    """Return size and modification time (nanoseconds) of an item's file; None if it is not a file."""
    try:
        found = Path(item.location).stat()
    except (OSError, ValueError):
        return None
    return found.st_size, found.st_mtime_ns


def _values(item: Item) -> list[object]:
    values = (getattr(item, field.name) for field in fields(item))
    return [
        blake2b(value, digest_size=16).hexdigest() if isinstance(value, bytes) else value for value in values
    ]


def _size(item: Item, stat: tuple[int, int] | None) -> int:
    """Return the approximate size of a document in bytes."""
    if item.content is not None:
        return len(item.content)
    if item.length is not None:
        return item.length
    return 0 if stat is None or item.entry is not None else stat[0]
