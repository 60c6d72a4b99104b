"""``trivium warm-up``: compile what a first search would have to wait for."""

from __future__ import annotations

import time
from pathlib import Path
from tempfile import TemporaryDirectory

from trivium.cli.terminal import err, out
from trivium.engine import Engine
from trivium.fusion.registry import make_fusion
from trivium.sample import DEMO_QUESTIONS, pages_folder
from trivium.testing.toys import HashEmbedder

_NETWORK = "bge-small"


def warm_up() -> None:
    """Compile the loops of a search for this processor, once after an installation; otherwise the first search does.

    They are kept beside the package or in a cache of the user (NUMBA_CACHE_DIR names another place). If they are there,
    this takes some seconds and changes nothing.

    Example:  trivium warm-up
    """
    began = time.monotonic()
    err.print("[dim]compiling for this processor, once: about fifteen seconds[/]")
    with (
        TemporaryDirectory() as folder,
        # A trained network asks for the signals, which have most of the loops.
        Engine.create(
            Path(folder) / "store", HashEmbedder(), fusion=make_fusion("network", _NETWORK)
        ) as engine,
    ):
        engine.build([pages_folder()], workers=1)
        for question in DEMO_QUESTIONS:
            engine.search(question, explain=True)
            engine.ask(question, where="kind != table")
    out.print(f"ready ({time.monotonic() - began:.1f} s)")
