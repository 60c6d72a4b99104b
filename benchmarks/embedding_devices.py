"""Measures how many texts a model embeds in a second on a GPU and on the CPU, and how far the vectors differ.

    python benchmarks/embedding_devices.py --store STORE [--devices cpu cuda] [--model bge-small] [--texts 8192]

Takes passages, sentences and names from a store. A first run of each kind warms the device up; then whole runs are
timed by the clock, in the slices in which a store is filled. Cosines compare each text's vector with that of the first
device, and ``same first`` is the share of texts whose nearest other text is the same with both.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from embedding_limit import texts_of

from experiments import command
from trivium.common.idle_cores import available_cores
from trivium.common.iteration import batched
from trivium.embedding.device import Device, parse_device
from trivium.embedding.embedder import Vectors
from trivium.embedding.onnx import OnnxEmbedder

NEIGHBOURS = 4096
"""Texts among which the nearest is looked for."""


def device_of(name: str) -> tuple[Device, int | None]:
    """Return the device and the slice of a name such as ``cuda``, ``cuda/tf32`` or ``cuda/128``."""
    plain, *options = name.split("/")
    device, size = parse_device(plain), None
    for option in options:
        if option == "tf32":
            device = replace(device, options={**device.options, "use_tf32": "1"})
        else:
            size = int(option)
    return device, size


def embed(embedder: OnnxEmbedder, texts: Sequence[str], size: int) -> tuple[float, Vectors]:
    """Return seconds and vectors (n, d) of texts, embedded in slices."""
    begun = time.perf_counter()
    vectors = np.concatenate([embedder.embed(part) for part in batched(texts, size)])
    return time.perf_counter() - begun, vectors


def nearest(vectors: Vectors) -> np.ndarray[tuple[int], np.dtype[np.intp]]:
    """Return the nearest other text of each (n,)."""
    products = vectors @ vectors.T
    np.fill_diagonal(products, -1)
    found: np.ndarray[tuple[int], np.dtype[np.intp]] = products.argmax(axis=1)
    return found


def main() -> None:
    """Run the benchmark and print the results."""
    parser = command.Parser(__doc__, takes="minutes a device")
    parser.add_argument("--store", type=command.store, required=True, help="store to take texts from")
    parser.add_argument("--model", default="bge-small")
    parser.add_argument("--texts", type=int, default=8192, help="number of texts of each kind, on a card")
    parser.add_argument(
        "--cpu-texts", type=int, default=1024, help="number of texts of each kind on the processor"
    )
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--devices",
        nargs="+",
        default=["cpu", "cuda"],
        help="cpu, cuda, cuda:N; with /tf32 in products of ten bits, with /SIZE in slices of that many texts",
    )
    given = parser.parse_args()
    kinds = texts_of(given.store, given.texts)
    print(f"{given.model}, {available_cores()} cores of {os.cpu_count()}")
    first: dict[str, Vectors] = {}
    for name in given.devices:
        device, size = device_of(name)
        embedder = OnnxEmbedder(given.model, device=device)
        begun = time.perf_counter()
        embedder.embed_query("warm")
        print(f"{name}: loaded in {time.perf_counter() - begun:.1f} s", flush=True)
        _, tokenizer = embedder._load()
        for kind, found in kinds.items():
            texts = found if device.batched else found[: given.cpu_texts]
            part = size or embedder.texts_at_once
            embed(embedder, texts[:part], part)
            runs = [embed(embedder, texts, part) for _ in range(given.rounds if device.batched else 1)]
            begun = time.perf_counter()
            tokens = sum(len(row.ids) for row in tokenizer.encode_batch(texts))
            cut = time.perf_counter() - begun
            rate = len(texts) / statistics.median(seconds for seconds, _ in runs)
            said = (
                f"  {kind}: {len(texts)} texts of {tokens / len(texts):.0f} tokens, {rate:.0f} texts a second"
            )
            said += f" ({len(texts) / cut:.0f} are split into tokens)"
            vectors = runs[0][1]
            base = first.setdefault(kind, vectors)
            both = min(len(base), len(vectors))
            if base is not vectors:
                cosines = (base[:both] * vectors[:both]).sum(axis=1)
                some = min(both, NEIGHBOURS)
                same = (nearest(base[:some]) == nearest(vectors[:some])).mean()
                said += f"; cosine: median {np.median(cosines):.5f}, lowest {cosines.min():.4f}; same first {same:.3f}"
            print(said, flush=True)


if __name__ == "__main__":
    command.run(main)
