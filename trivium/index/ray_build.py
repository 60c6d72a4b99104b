"""Makes the parts of a build (:mod:`trivium.index.build_parts`) on the machines of a Ray cluster.

A part has two tasks, parsing and embedding. A lost node loses the parts that it was making, which Ray makes again
elsewhere. Parts come to the process that the user started, which keeps them in files until the build is done: where it is
interrupted, the next build makes only those that are missing.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from trivium.common.iteration import batched
from trivium.common.package_version import package_version
from trivium.common.progress import Progress
from trivium.common.safe_files import TEMPORARY, replacing, write_file
from trivium.embedding.embedder import Embedder
from trivium.embedding.registry import open_embedder
from trivium.errors import ConfigurationError, EmbeddingError, MissingExtraError, TriviumError
from trivium.graph.protocols import VectorWriter
from trivium.graph.records import Passage
from trivium.index.build_parts import (
    Arrays,
    Part,
    Work,
    divide,
    embed_part,
    embed_texts,
    pages_of,
    parse_part,
    put_vectors,
    read_part,
)
from trivium.index.parsing import Loaded, ParserPool
from trivium.parser.sources.discover import PARTS_FILE
from trivium.parser.sources.source_items import Item, Problem
from trivium.settings.settings import load_settings

LOCAL = "local"
_ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",  # a cluster started here sends no usage statistics
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".",  # do not print the logs of nodes to stdout, among results
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # nor a warning about GPUs that tasks do not request
}
"""Environment variables that Ray reads on import. Values set by the user are kept."""
_CONNECT_SECONDS = 10.0
_RETRIES = 20
"""How often a task is retried if its worker or node was lost."""
_PARTS_A_CORE = 3
"""Parts running or queued per core: enough to keep all cores busy, and few enough to limit memory."""
_STORE_BYTES = 400 << 20
"""Size of Ray's object store for clusters started here. It holds documents and parts on their way."""
_TEXTS, _PASSAGES = 1_000, 200
"""Texts, and passages with their sentences, of a task that embeds what is in no part, such as cited names."""
_FEW = 200
"""So few of them are not worth a task: the process that writes the store embeds them, where it can."""
_MARK = """Parts of `trivium build --ray`: documents that are parsed and embedded already. This folder may be deleted when
no build goes on; what is in it is then made again if it is needed.
"""
_OPENED: dict[str, Embedder] = {}
"""The embedder of this worker process, reused by its consecutive tasks."""
_PARSERS: dict[str, ParserPool] = {}
"""The parser processes of this worker, reused likewise."""


def check_ray(address: str) -> Any:
    """Import and return Ray. Raises ConfigurationError for what is no address of a cluster, and MissingExtraError."""
    host, colon, port = address.rpartition(":")
    if address not in ("auto", LOCAL) and not (host and colon and port.isdecimal() and "/" not in host):
        raise ConfigurationError(f"expected auto, local or HOST:PORT of a Ray cluster, got {address!r}")
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ImportError as error:
        raise MissingExtraError("building on a Ray cluster", "ray") from error
    return ray


class RayBuild:
    """One build: yields the parsed documents, and later passes their vectors to the store. ``progress`` is called with
    the number of completed parts and of parts so far.
    """

    def __init__(
        self, ray: Any, work: Work, folder: Path, embedder: Embedder | None, progress: Progress
    ) -> None:
        self._ray = ray
        self._work = work
        self._folder = folder
        self._progress = progress
        gpus = float(getattr(embedder, "gpus", 0.0))
        self._few = 0 if gpus else _FEW  # this machine may have no GPU
        self._common = ray.put(work)
        usual = {"max_retries": _RETRIES, "num_cpus": 1, "scheduling_strategy": "SPREAD"}
        with_gpu = {"num_gpus": gpus, "max_calls": 0} if gpus and ray.cluster_resources().get("GPU") else {}
        self._parse = ray.remote(**usual)(parse_on_node)
        self._embed = ray.remote(**usual, **with_gpu)(embed_on_node)
        self._embed_texts = ray.remote(**usual, **with_gpu)(embed_texts_on_node)
        self._window = max(4, _PARTS_A_CORE * int(ray.cluster_resources().get("CPU", 1)))
        self._made: dict[str, Path] = {}
        """The files of the parts by key."""
        self._under_way: dict[Any, Any] = {}
        """Tasks that have not ended, each with the one that it waits for. Ray keeps what something refers to."""

    def parse_all(self, items: Iterable[Item]) -> Generator[Loaded, None, None]:
        """Yield results in the order of the items, like :meth:`trivium.index.parsing.ParserPool.parse`."""
        parts = divide(items, self._work.made_by)
        waiting: deque[Part] = deque()
        tasks: dict[Any, Part] = {}
        done = 0
        while True:
            for part in islice(parts, self._window - len(waiting)):
                waiting.append(part)
                if self._file(part).exists():
                    self._made.setdefault(part.key, self._file(part))
                else:
                    tasks[self._start_part(part)] = part
            if not waiting:
                return
            first = waiting.popleft()
            while first.key not in self._made:  # whatever is ready is kept, in case of an interrupt
                (ready, *_), _ = self._ray.wait(list(tasks), num_returns=1)
                part = tasks.pop(ready)
                self._made[part.key] = self._keep(part, self._result(ready))
            done += 1
            self._progress(done, done + len(waiting))
            yield from pages_of(read_part(self._made[first.key]))

    def embed(self, store: VectorWriter, sentences: bool, progress: Callable[[str], Progress]) -> None:
        """Store the vectors of the parts, and embed the texts that are in none of them, such as cited names, unless there
        are few. ``progress`` returns the callback of a stage.
        """
        if not store.pending_texts() and not (sentences and store.pending_sentences()):
            return
        tell = progress("parts")
        for done, path in enumerate(self._made.values(), start=1):
            put_vectors(read_part(path), store)
            tell(done, len(self._made))
        texts = store.pending_texts()
        if len(texts) > self._few:
            self._embed_rest(
                ((some, ()) for some in batched(texts, _TEXTS)), store, progress("embed"), len(texts)
            )
        passages = store.pending_sentences() if sentences else ()
        if len(passages) > self._few:
            rest = (((), some) for some in batched(passages, _PASSAGES))
            self._embed_rest(rest, store, progress("sentences"), len(passages))

    def cancel(self) -> None:
        """Cancel running tasks. Closing a connection does so by itself, and Ray does not support both at once."""
        for task in (*self._under_way.values(), *self._under_way):
            with suppress(self._ray.exceptions.RayError, ValueError, RuntimeError):
                self._ray.cancel(task)
        self._under_way.clear()

    def _embed_rest(
        self,
        rest: Iterable[tuple[Sequence[str], Sequence[Passage]]],
        store: VectorWriter,
        progress: Progress,
        total: int,
    ) -> None:
        waiting: deque[tuple[int, Any]] = deque()
        done = 0
        rest = iter(rest)
        while True:
            for texts, passages in islice(rest, self._window - len(waiting)):
                task = self._start(self._embed_texts, texts, passages)
                waiting.append((len(texts) + len(passages), task))
            if not waiting:
                return
            size, task = waiting.popleft()
            put_vectors(self._result(task), store)
            done += size
            progress(done, total)

    def _start_part(self, part: Part) -> Any:
        if self._work.identity is None:
            return self._start(self._parse, part)
        parsed = self._parse.remote(self._common, part)
        task = self._embed.remote(self._common, parsed)
        self._under_way[task] = parsed
        return task

    def _start(self, function: Any, *arguments: Any) -> Any:
        task = function.remote(self._common, *arguments)
        self._under_way[task] = task
        return task

    def _result(self, task: Any) -> Arrays:
        """Wait for a task. Raises EmbeddingError or ConfigurationError with the message of its node."""
        try:
            result: Arrays = self._ray.get(task)
        except self._ray.exceptions.RayError as error:
            self._fail(error)
        self._under_way.pop(task, None)
        return result

    def _fail(self, error: Exception) -> NoReturn:
        cause = getattr(error, "cause", None)
        if isinstance(cause, EmbeddingError | ConfigurationError):
            raise type(cause)(str(cause)) from error
        first = next((line.strip() for line in str(cause or error).splitlines() if line.strip()), "")
        raise ConfigurationError(
            f"a part could not be made on the cluster ({type(cause or error).__name__}: {first}). Every node needs the"
            " Python, the Ray and the Trivium of this machine, and its RAY_AUTH_MODE. What is done is kept: run the same"
            " command again to go on"
        ) from error

    def _file(self, part: Part) -> Path:
        return self._folder / part.key[:2] / f"{part.key}.npz"

    def _keep(self, part: Part, content: Arrays) -> Path:
        """Write a part to its file. One with a problem is made again in the next build: its cause may be gone."""
        path = self._file(part)
        if any(isinstance(loaded, Problem) for loaded in pages_of(content)):
            path = path.with_suffix(".faulty")
        with replacing(path) as file:
            np.savez(file, allow_pickle=False, **content)
        return path


@contextmanager
def ray_build(
    address: str, folder: str | Path, work: Work, embedder: Embedder | None, progress: Progress
) -> Iterator[RayBuild]:
    """Connect to a cluster for a build whose parts are kept in ``folder``. ``embedder`` is the opened one of ``work``.
    Raises InputError if the folder cannot be written, MissingExtraError, and ConfigurationError if the cluster is
    unavailable.
    """
    folder = Path(folder).absolute()
    mark = folder / PARTS_FILE
    if not mark.exists():
        write_file(mark, _MARK)
    for left in folder.glob(f"*/*{TEMPORARY}"):  # of processes that were killed
        with suppress(OSError):
            left.unlink()
    ray = check_ray(address)
    outlives = bool(ray.is_initialized())
    with _connected(ray, address):
        building = RayBuild(ray, work, folder, embedder, progress)
        try:
            yield building
        finally:
            if outlives:
                building.cancel()


@contextmanager
def _connected(ray: Any, address: str) -> Iterator[None]:
    """Connect to a cluster, or use the caller's connection if there is one. Raises ConfigurationError if the cluster
    does not respond.
    """
    if ray.is_initialized():
        yield
        return
    started: dict[str, Any] = (
        {"object_store_memory": _STORE_BYTES, "include_dashboard": False} if address == LOCAL else {}
    )
    with _own_signals():
        try:
            if address not in ("auto", LOCAL):  # Ray would retry for minutes
                host, _, port = address.rpartition(":")
                socket.create_connection((host, int(port)), _CONNECT_SECONDS).close()
            ray.init(address=address, log_to_driver=False, logging_level="ERROR", **started)
        except Exception as error:  # Ray raises those of Python
            raise ConfigurationError(
                f"there is no Ray cluster at {address} ({str(error).splitlines()[0]}): start one with  ray start --head"
                "  and name the address that it prints, or --ray local. Where the cluster asks for a token, set"
                " RAY_AUTH_MODE=token"
            ) from error
    try:
        yield
    finally:
        ray.shutdown()


@contextmanager
def _own_signals() -> Iterator[None]:
    """Restore this program's signal handlers, which Ray replaces."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


# -- on a node ---------------------------------------------------------------------------------------------------------


def parse_on_node(work: Work, part: Part) -> Arrays:
    """Parse a part."""
    with _named(work):
        try:
            os.chdir(work.cwd)
        except OSError as error:
            raise ConfigurationError(
                f"it does not see the folder {work.cwd}, in which the build was started: all nodes need it under the same"
                " path"
            ) from error
        _check_sources(part)
        return parse_part(part.items, _parsers(work))


def embed_on_node(work: Work, parsed: Arrays) -> Arrays:
    """Embed a parsed part."""
    with _named(work):
        return embed_part(parsed, _embedder(work), work.sentences)


def embed_texts_on_node(work: Work, texts: Sequence[str], passages: Sequence[Passage]) -> Arrays:
    """Embed texts that are in no part."""
    with _named(work):
        return embed_texts(texts, passages, _embedder(work))


@contextmanager
def _named(work: Work) -> Iterator[None]:
    """Have errors name this node. Raises ConfigurationError if it has another version of Trivium."""
    try:
        if package_version() != work.version:
            raise ConfigurationError(
                f"expected Trivium {work.version}, as where the build was started, got {package_version()}"
            )
        yield
    except (TriviumError, OSError) as error:
        kind = EmbeddingError if isinstance(error, EmbeddingError) else ConfigurationError
        raise kind(f"the node {socket.gethostname()}: {error}") from error


def _check_sources(part: Part) -> None:
    """Raise ConfigurationError if all files of a part are missing: then this node cannot see them. A single file may
    have been deleted.
    """
    files = {item.location for item in part.items if item.content is None}
    if files and not any(os.path.lexists(file) for file in files):
        some = os.path.abspath(min(files))  # noqa: PTH100 - links are as the sources name them
        raise ConfigurationError(
            f"it does not see the sources ({some}): all nodes need them under the same path"
        )


def _parsers(work: Work) -> ParserPool:
    pool = _PARSERS.get(work.made_by)
    if pool is None:
        pool = _PARSERS[work.made_by] = ParserPool(1, work.limits, work.chunker, work.entities)
    return pool


def _embedder(work: Work) -> Embedder:
    """Return the embedder of the build, opened once per process. It uses one thread, since a task has one core."""
    embedder = _OPENED.get(work.made_by)
    if embedder is None:
        assert work.embedder is not None
        settings = load_settings().model_copy(update={"workers": 1})
        embedder = (
            open_embedder(work.embedder, settings, work.device)
            if isinstance(work.embedder, str)
            else work.embedder
        )
        if embedder.identity != work.identity:
            raise ConfigurationError(
                f"expected the embedder {work.identity}, as where the build was started, got {embedder.identity}"
            )
        _OPENED.clear()
        _OPENED[work.made_by] = embedder
    return embedder
