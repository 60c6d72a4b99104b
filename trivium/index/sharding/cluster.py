"""Processes shards on the machines of a Ray cluster.

Each shard has two tasks, parsing and embedding. They exchange files in a folder shared by all machines, never objects,
so a lost node loses only its running tasks, which Ray repeats elsewhere. The functions called by the tasks do not need
Ray.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from trivium.common.fetching import package_version
from trivium.common.progress import Progress
from trivium.embedding.base import Embedder
from trivium.embedding.registry import open_embedder
from trivium.errors import ConfigurationError, EmbeddingError, MissingExtraError, TriviumError
from trivium.index.parsing import ParserPool
from trivium.index.sharding.files import wait_for
from trivium.index.sharding.shards import PageShard, TextShard
from trivium.index.sharding.work import (
    Work,
    embed_shard,
    parse_shard,
    parsed_file,
)
from trivium.settings import load_settings

LOCAL = "local"
_ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",  # a cluster started here sends no usage statistics
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".",  # do not print the logs of nodes to stdout, among results
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # nor a warning about GPUs that tasks do not request
}
"""Environment variables that Ray reads on import. Values set by the user are kept."""
_CONNECT_SECONDS = 10.0
_RETRIES = 20
"""How often a task is retried if its worker or node was lost. This includes shards that crash every worker."""
_SHARDS_A_CORE = 3
"""Shards running or queued per core: enough to keep all cores busy, and few enough to limit memory."""
_STORE_BYTES = 200 << 20
"""Size of Ray's object store for clusters started here. It holds only documents on their way to tasks."""
_OPENED: dict[str, Embedder] = {}
"""The embedder of this worker process, reused by its consecutive tasks."""
_PARSERS: dict[str, ParserPool] = {}
"""The parser processes of this worker, reused likewise."""

Failure = tuple[bool, str]
"""Whether an embedder failed, and the message for the user."""


def check_ray() -> Any:
    """Import and return Ray. Raises MissingExtraError."""
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ImportError as error:
        raise MissingExtraError("building on a Ray cluster", "ray") from error
    return ray


def check_address(address: str) -> None:
    """Raise ConfigurationError unless this is a valid address of a cluster."""
    host, colon, port = address.rpartition(":")
    if address not in ("auto", LOCAL) and not (host and colon and port.isdecimal() and "/" not in host):
        raise ConfigurationError(f"expected auto, local or HOST:PORT of a Ray cluster, got {address!r}")


def is_connected() -> bool:
    """Whether the calling program is connected to a cluster."""
    return bool(check_ray().is_initialized())


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """Connect to a cluster, or use the caller's connection if there is one. Raises ConfigurationError if the cluster
    does not respond.
    """
    check_address(address)
    ray = check_ray()
    if is_connected():
        yield ray
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
        except (OSError, ValueError, RuntimeError, OverflowError) as error:
            raise ConfigurationError(
                f"there is no Ray cluster at {address} ({str(error).splitlines()[0]}): start one with  ray start --head"
                "  and name the address that it prints, or --ray local. Where the cluster asks for a token, set"
                " RAY_AUTH_MODE=token"
            ) from error
    try:
        yield ray
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


class ClusterRunner:
    """Processes shards in tasks of a cluster. ``seen`` is a file in the folder of the shards, by which a node checks
    that it sees the same folder. ``gpus`` is the share of a GPU per embedding task. ``progress`` is called with the
    number of completed shards and the number of shards so far.
    """

    def __init__(
        self, ray: Any, work: Work, seen: Path, gpus: float = 0.0, progress: Progress | None = None
    ) -> None:
        self._ray = ray
        self._work = work
        self._seen = str(seen)
        self._put_work = ray.put(work)
        usual = {"max_retries": _RETRIES, "num_cpus": 1, "scheduling_strategy": "SPREAD"}
        with_gpu = {"num_gpus": gpus, "max_calls": 0} if gpus and ray.cluster_resources().get("GPU") else {}
        self._parse = ray.remote(**usual)(parse_on_node)
        self._embed = ray.remote(**usual, **with_gpu)(embed_on_node)
        self._progress = progress
        self._done = self._submitted = 0
        self._embedding: list[Any] = []
        self._under_way: set[Any] = set()

    def parse(self, shards: Iterable[PageShard]) -> Iterator[PageShard]:
        waiting: deque[tuple[PageShard, Any | None]] = deque()
        for shard in shards:
            waiting.append((shard, self._submit(shard)))
            while len(waiting) >= self._window():
                yield self._parsed(*waiting.popleft())
            while len(self._embedding) >= 2 * self._window():
                self._embedded(self._embedding)
        while waiting:
            yield self._parsed(*waiting.popleft())

    def finish(self) -> None:
        while self._embedding:
            self._embedded(self._embedding)

    def embed(self, shards: Iterable[TextShard]) -> Iterator[TextShard]:
        waiting: deque[tuple[TextShard, Any]] = deque()
        for shard in shards:
            waiting.append((shard, self._start(self._embed, self._ray.put(shard), None)))
            while len(waiting) >= self._window():
                yield self._made(*waiting.popleft())
        while waiting:
            yield self._made(*waiting.popleft())

    def close(self) -> None:
        """Cancel running tasks. Needed if the connection outlives the build; closing a connection ends its tasks by
        itself, and Ray does not support both at once.
        """
        for task in self._under_way:
            with suppress(self._ray.exceptions.RayError, ValueError, RuntimeError):
                self._ray.cancel(task)
        self._under_way.clear()

    def _submit(self, shard: PageShard) -> Any | None:
        """Start the missing tasks of a shard and return the parsing task, if there is one."""
        self._submitted += 1
        parsing = None
        is_parsed = self._work.is_parsed(shard)
        if is_parsed and self._work.is_embedded(shard):
            self._tell(1)
            return None
        put = self._ray.put(shard)
        if not is_parsed:
            parsing = self._start(self._parse, put)
        if not self._work.is_embedded(shard):
            self._embedding.append(self._start(self._embed, put, parsing))
        return parsing

    def _start(self, function: Any, *arguments: Any) -> Any:
        task = function.remote(self._put_work, self._seen, *arguments)
        self._under_way.add(task)
        return task

    def _parsed(self, shard: PageShard, task: Any | None) -> PageShard:
        if task is not None:
            self._result(task)
            if self._work.identity is None:
                self._tell(1)
        parsed_file(self._work, shard.key)
        return shard

    def _embedded(self, tasks: list[Any]) -> None:
        """Wait for one of the tasks that embed page shards, and remove it from the list."""
        (done, *_), _ = self._ray.wait(tasks, num_returns=1)
        tasks.remove(done)
        self._result(done)
        self._tell(1)

    def _made(self, shard: TextShard, task: Any) -> TextShard:
        self._result(task)
        wait_for(self._work.shards.vectors(shard.key, self._work.embedded_by))
        return shard

    def _result(self, task: Any) -> None:
        """Wait for a task. Raises EmbeddingError or ConfigurationError with the message of its node."""
        try:
            failure: Failure | None = self._ray.get(task)
        except self._ray.exceptions.RayError as error:
            raise ConfigurationError(
                f"a shard could not be made on the cluster ({_reason(error)}). Every node needs the Python, the Ray and"
                " the Trivium of this machine, and its RAY_AUTH_MODE. What is done is kept: run the same command again to"
                " go on"
            ) from error
        self._under_way.discard(task)
        if failure is not None:
            of_embedder, reason = failure
            raise EmbeddingError(reason) if of_embedder else ConfigurationError(reason)

    def _window(self) -> int:
        return max(4, _SHARDS_A_CORE * int(self._ray.cluster_resources().get("CPU", 1)))

    def _tell(self, more: int) -> None:
        self._done += more
        if self._progress is not None:
            self._progress(self._done, self._submitted)


def _reason(error: Exception) -> str:
    """Return Ray's error message without the tracebacks of its processes."""
    cause = getattr(error, "cause", None) or error
    first = next((line.strip() for line in str(cause).splitlines() if line.strip()), "")
    return f"{type(cause).__name__}: {first}"


# -- on a node -----------------------------------------------------------------------------------------------


def parse_on_node(work: Work, seen: str, shard: PageShard) -> Failure | None:
    """Parse a shard and return the failure, if any."""
    try:
        _enter(work, seen)
        _check_sources(shard)
        parse_shard(work, shard, _parsers(work))
    except (TriviumError, OSError) as error:
        return _failure(error)
    return None


def embed_on_node(
    work: Work, seen: str, shard: PageShard | TextShard, parsed: Failure | None
) -> Failure | None:
    """Embed a shard and return the failure, if any, including that of parsing (``parsed``)."""
    if parsed is not None:
        return parsed
    try:
        _enter(work, seen)
        if not work.is_embedded(shard):
            embed_shard(work, shard, _embedder(work))
    except (TriviumError, OSError) as error:
        return _failure(error)
    return None


def _enter(work: Work, seen: str) -> None:
    """Check that this node has what the build needs. Raises ConfigurationError."""
    if package_version() != work.version:
        raise ConfigurationError(
            f"expected Trivium {work.version}, as where the build was started, got {package_version()}"
        )
    if not wait_for(Path(seen)):
        raise ConfigurationError(
            f"it does not see the folder {work.folder}: all nodes need it under the same path (name another one by"
            " --shards)"
        )
    try:
        os.chdir(work.cwd)
    except OSError as error:
        raise ConfigurationError(
            f"it does not see the folder {work.cwd}, in which the build was started: all nodes need it under the same"
            " path"
        ) from error


def _check_sources(shard: PageShard) -> None:
    """Raise ConfigurationError if all files of a shard are missing: then this node cannot see them. A single file may
    have been deleted.
    """
    files = {item.location for item in shard.items if item.content is None}
    if files and not any(os.path.lexists(file) for file in files):
        some = os.path.abspath(min(files))  # noqa: PTH100 - links are as the sources name them
        raise ConfigurationError(
            f"it does not see the sources ({some}): all nodes need them under the same path"
        )


def _parsers(work: Work) -> ParserPool:
    pool = _PARSERS.get(work.parsed_by)
    if pool is None:
        pool = _PARSERS[work.parsed_by] = ParserPool(1, work.limits, work.chunker)
    return pool


def _embedder(work: Work) -> Embedder:
    """Return the embedder of the build, opened once per process. It uses one thread, since a task has one core."""
    embedder = _OPENED.get(work.embedded_by)
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
        _OPENED[work.embedded_by] = embedder
    return embedder


def _failure(error: TriviumError | OSError) -> Failure:
    return isinstance(error, EmbeddingError), f"the node {socket.gethostname()}: {error}"
