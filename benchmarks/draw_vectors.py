"""Fills a store with vectors drawn around real ones, to time searches in a collection that is too large to embed for an
experiment.

    trivium build UNPACKED/pages --store crawl --no-embed
    python benchmarks/draw_vectors.py --store crawl --real joint-store

The vector of each text lies near two vectors of ``--real``: one selected by the title of the text, which the passages
of a document share, and one by the text itself. Cosines are therefore distributed much as in a real store, and the
passages of a document are close to each other. The results of searches are meaningless.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from zlib import crc32

import numpy as np

from experiments import command
from trivium.common.iteration import batched
from trivium.embedding.embedder import l2_normalize, quantize_int8
from trivium.errors import InputError
from trivium.graph.records import Codes, Vectors
from trivium.graph.schema import Label
from trivium.graph.sqlite import EmbeddedStore
from trivium.graph.stored_vectors import sentence_texts

OF_TITLE, OF_TEXT, NOISE = 0.6, 1.0, 0.02
_SLICE = 5_000


def main() -> None:
    """Fill the store and print the number of vectors."""
    parser = command.Parser(__doc__, takes="minutes for a million passages")
    parser.add_argument("--store", type=command.existing, required=True)
    parser.add_argument(
        "--real", type=command.existing, required=True, help="A store whose chunks have vectors."
    )
    given = parser.parse_args()
    with EmbeddedStore.open(given.real, read_only=True) as real:
        identity = real.embedder
        vectors = real.vectors(Label.CHUNK, real.chunk_uris())
    draw = drawer(vectors[~np.isnan(vectors[:, 0])])
    with EmbeddedStore.open(given.store) as store:
        if identity is None:
            raise InputError(f"expected an embedded store, got {given.real}")
        store.set_embedder(identity)
        texts = store.pending_texts()
        for some in batched(texts, _SLICE):
            store.put_vectors(some, draw(some))
        passages = store.pending_sentences()
        for passages_now in batched(passages, _SLICE):
            parts = [sentence_texts(passage) for passage in passages_now]
            codes = quantize_int8(draw([text for own in parts for text in own]))
            bounds = np.cumsum([0, *map(len, parts)]).tolist()
            own: list[Codes] = [codes[first:last] for first, last in zip(bounds, bounds[1:], strict=False)]
            store.put_sentences(passages_now, own)
        print(f"{len(texts):,} texts and the sentences of {len(passages):,} passages; building the indexes")
        store.refresh()


def drawer(real: Vectors) -> Callable[[Sequence[str]], Vectors]:
    """Return a function that draws vectors for texts, deterministically."""

    def draw(texts: Sequence[str]) -> Vectors:
        titles = np.array([crc32(text.split(" > ")[0].split(":")[0].encode()) for text in texts], np.int64)
        wholes = np.array([crc32(text.encode()) for text in texts], np.int64)
        noise = np.random.default_rng(len(texts)).normal(0, NOISE, (len(texts), real.shape[1]))
        mixed = OF_TITLE * real[titles % len(real)] + OF_TEXT * real[wholes % len(real)] + noise
        return l2_normalize(mixed, len(texts))

    return draw


if __name__ == "__main__":
    command.run(main)
