"""Tells which files of a build are as they were when they were read, so that they are not read again.

What is known of a file (size, times, hashes of its pages) is kept beside the store. It is only a hint: the store must
still have each of these pages as it was. Not known, and read each time, are files that were young when they were read,
since a later change may leave their times as they are, and those whose pages depend on other files: they link to files or
show pictures.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from trivium.common.package_version import package_version
from trivium.common.safe_files import replacing
from trivium.graph.page_graph import PageGraph
from trivium.graph.records import PageRecord
from trivium.index.file_locations import absolute, is_same
from trivium.index.write_batches import LoadStore
from trivium.parser.sources.source_items import Item
from trivium.settings.settings import load_settings

_YOUNG_NS = 3_000_000_000
"""File systems tell times by steps of up to two seconds."""


class UnchangedFiles:
    """The files of one load that need not be read. ``options`` are all others that the pages of a file depend on."""

    def __init__(self, store: LoadStore, *options: object) -> None:
        self._store = store
        self._options = [package_version(), *map(str, options)]
        folder = Path(store.location)
        if not folder.is_dir():
            folder = load_settings().home / "stores" / _digest(store.location)
        self._file = folder / "files-read.json"
        self._known = self._read()
        self._came: dict[str, tuple[str, list[object]]] = {}  # source -> file, its state before it was read
        self._counts: Counter[str] = Counter()
        self._aliases: dict[str, set[str]] = {}
        self.names: set[str] = set()
        """Titles and aliases of the pages that were not read."""

    def pages(self, item: Item) -> list[PageRecord]:
        """Return the stored pages of a file that is unchanged; else none, and it is to be read."""
        if (
            item.line is not None
            or item.content is not None
            or item.entry is not None
            or item.label is not None
        ):
            return []
        file = absolute(item.location)
        known = self._known.pop(file, None)
        try:
            stat = os.stat(file)  # noqa: PTH116
        except (OSError, ValueError):
            return []
        times = stat.st_mtime_ns, stat.st_ctime_ns
        where = item.path, item.root and absolute(item.root)
        state: list[object] = [stat.st_size, stat.st_ino, *times, item.format, *where]
        if max(times) < time.time_ns() - _YOUNG_NS:
            self._came[item.name] = file, state
        if known is None or known["state"] != [*state, *self._how()]:
            return []
        stored = self._store.find_pages(list(known["pages"]))
        if {uri: [_own(page), page.source] for uri, page in stored.items()} != known["pages"]:
            return []
        self._known[file] = known
        self.names.update(known["names"])
        self._came.pop(item.name, None)
        return list(stored.values())

    def saw(self, graph: PageGraph) -> None:
        """Note a page that was read, before it is written."""
        self._counts[graph.source] += 1
        self._aliases.setdefault(graph.source, set()).update(graph.aliases)
        linking = any(chunk.references for chunk in graph.chunks)
        if graph.missing or linking or not graph.alone:
            self._came.pop(graph.source, None)

    def remember(self, sources: Mapping[str, str]) -> None:
        """Keep what is known at the end of a load. ``sources`` are those of its pages by uri."""
        pages: dict[str, dict[str, list[str]]] = {}
        stored = self._store.find_pages([uri for uri, source in sources.items() if source in self._came])
        for uri, page in stored.items():
            if is_same(page.source, sources[uri]):
                pages.setdefault(sources[uri], {})[uri] = [_own(page), page.source]
        for source, own in pages.items():
            if len(own) == self._counts[source]:
                file, state = self._came[source]
                names = sorted({*own, *self._aliases[source]})
                self._known[file] = {"state": [*state, *self._how()], "pages": own, "names": names}
        known = {file: entry for file, entry in self._known.items() if os.path.lexists(file)}
        text = json.dumps(known)
        with suppress(OSError), replacing(self._file) as written:
            written.write(f"{_digest(text)}\n{text}".encode())

    def _how(self) -> list[object]:
        return [*self._options, self._store.languages]

    def _read(self) -> dict[str, Any]:
        with suppress(OSError, ValueError):
            digest, _, text = self._file.read_text("utf-8").partition("\n")
            if digest == _digest(text):
                known: dict[str, Any] = json.loads(text)
                return known
        return {}


def _own(page: PageRecord) -> str:
    """Return the part of a page's hash that does not depend on the names of other documents."""
    return page.content_hash.partition(".")[0]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
