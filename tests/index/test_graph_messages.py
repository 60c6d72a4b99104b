"""Pages as messages between processes: nothing is lost, and no message is large."""

from __future__ import annotations

from dataclasses import replace

from tests.contract.graphs import graph
from trivium.index.graph_messages import Joined, dump, load, parts_of


def test_pictures_go_in_messages_of_their_own() -> None:
    """A few at a time; of a page after another nothing is left."""
    page = graph("Album", [(f"picture {number}", []) for number in range(130)])
    chunks = [
        replace(chunk, thumbnail=bytes([n]) * 5_000 if n % 2 else b"") for n, chunk in enumerate(page.chunks)
    ]
    album, plain = replace(page, chunks=tuple(chunks)), graph("Mars", [("red", ["Sun"]), ("dry", [])])
    joined = Joined()
    for whole in (album, plain):
        messages = [dump(part) for part in parts_of(whole)]
        assert max(map(len, messages)) < 500_000
        assert [made for message in messages if (made := joined.add(*load(message)))] == [whole]
