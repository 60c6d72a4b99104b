"""Everything that cases need is imported and compiled before the first fork."""

from __future__ import annotations

import gc
import importlib
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.fakes.packages import install_package
from tests.waiting import until
from torture.worlds import EMBEDDER

MODULES = (
    "trivium.cli",
    "trivium.server.app",
    "trivium.server.run_server",
    "openai",
    "requests",
    "tantivy",
    "usearch.index",
    "tokenizers",
)


@contextmanager
def preloaded() -> Iterator[None]:
    """Import, declare an embedder that needs no model, and search once, in this process. Raises AssertionError where
    threads are left, which no fork would have."""
    with tempfile.TemporaryDirectory(prefix="torture-") as name:
        entries = {EMBEDDER: "torture.worlds:open_embedder"}
        install_package(Path(name), "torture_embedder", entries, group="trivium.embedders")
        sys.path.insert(0, name)
        _preload()
        yield


def _preload() -> None:
    for name in MODULES:
        importlib.import_module(name)
    from trivium.common.idle_cores import end_threads
    from trivium.testing import toy_store

    with tempfile.TemporaryDirectory() as folder, toy_store(folder) as engine:
        engine.search("Which moon is it?", 3)
    del engine
    end_threads()
    gc.collect()
    until(lambda: len(os.listdir("/proc/self/task")) == 1, 10)  # noqa: PTH208 - of threads, not of files
    gc.freeze()  # else every process would copy all of it, to free it at its end
