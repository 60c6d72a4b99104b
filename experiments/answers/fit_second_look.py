"""Tunes the reader of question and part for ranking: as a second look at the first passages of a search.

    pip install torch lightgbm onnx
    python experiments/answers/fit_second_look.py hits/squad.npz=joint-store hits/tatqa.npz=tatqa ... --save
    python experiments/answers/fit_second_look.py ... --new hits/handbook.npz=handbook hits/cranfield.npz=cranfield ...

Each hit list (`trivium evaluate --hits`) stands with the store that it was made on. All layers but the first four are
tuned, from the reader that ships and as narrow, on examples of a right passage, two of the best others and one more;
every fourth page is left out. Prints for the pages left out, and for the sets that are ``--new``, hit@1 and hit@5 by the
network that ships plus a weight times the log-odds of the reader, over the ten best passages. 640 steps take half an hour
on two idle cores. ``--save`` writes the reader into the package.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import fit_reader
import numpy as np
from fit_reader import Network, Sequenced, padded
from safetensors.numpy import load_file, save_file
from tokenizers import Tokenizer

from experiments import command
from trivium.answering.reader_network import packed
from trivium.common.arrays import Floats
from trivium.embedding.model_files import locate
from trivium.engine import Engine
from trivium.evaluation.tables import grid, share
from trivium.fusion.hit_lists import load_hits
from trivium.fusion.registry import shipped
from trivium.graph.schema import headings_of

with command.errors_in_one_line():  # networks are classes of torch
    import torch
    from torch import nn

TOKENS = 128
KEPT, READ, JUDGED = 20, 10, 150
"""Passages of a question that are kept, passages that are read, and questions of a set that are judged."""
FROZEN, AT_ONCE, RATE = 4, 16, 4e-4
WEIGHTS = (0.0, 0.2, 0.5, 1.2)


class Asked(NamedTuple):
    """A question's best passages as tokens, best first, with their scores (n,), and which are right."""

    passages: list[tuple[list[int], list[int]]]
    scores: Floats
    right: list[bool]
    held: bool


def read(hits: Path, place: str, tokenizer: Any) -> list[Asked]:
    """Return the questions of hit lists, with the texts of the store that they were made on."""
    network = shipped(fit_reader.EMBEDDER, names=True)
    assert network is not None
    fusion, found = network.fusion(), []
    with Engine.open(place) as engine:
        for hit in load_hits(hits).hits:
            if not hit.table.chunks:
                continue
            scores = np.asarray(fusion.fuse(hit.table).scores)
            best = np.argsort(-scores, kind="stable")[:KEPT].tolist()
            best += [row for row in np.flatnonzero(hit.gold >= 0).tolist() if row not in best]
            records = engine.store.fetch([hit.table.chunks[row] for row in best])
            passages = [
                packed(tokenizer, hit.question, " > ".join(headings_of(one.section)), one.text, TOKENS)
                for one in records
            ]
            held = zlib.crc32(hit.pages[0].encode()) % 4 == 0
            found.append(Asked(passages, scores[best], [bool(hit.gold[row] >= 0) for row in best], held))
    return found


def begun() -> Network:
    """Return the reader that ships."""
    network = Network(low=True)
    known = load_file(
        str(files("trivium.answering").joinpath("readers", f"{fit_reader.EMBEDDER}.safetensors"))
    )
    kept = {name: torch.tensor(array.astype(np.float32)) for name, array in known.items()}
    first = FROZEN * len(fit_reader.PRODUCTS)
    count = fit_reader.LAYERS * len(fit_reader.PRODUCTS)
    network.changes = nn.ParameterList(
        nn.Parameter(kept[f"low.{place}.{side}"], requires_grad=place >= first)
        for place in range(count)
        for side in "ab"
    )
    for key, name in network.names.items():
        vector = network.vectors[key]
        vector.data = kept[name].reshape(vector.shape)
        layer = key.partition("_")[0]
        vector.requires_grad = layer.isdigit() and int(layer) >= FROZEN
    scale, zero = (
        fit_reader.published()[1][f"{fit_reader.TYPES}_{part}"] for part in ("scale", "zero_point")
    )
    network.types.data = (kept[f"{fit_reader.TYPES}_quantized"] - float(zero)) * float(scale)
    network.types.requires_grad = False
    for name in ("hidden", "output"):
        layer = getattr(network, name)
        layer.weight.data = kept[f"{name}.weight"].reshape(layer.weight.shape)
        layer.bias.data = kept[f"{name}.bias"].reshape(layer.bias.shape)
    return network


def examples(sets: Sequence[list[Asked]], rng: random.Random) -> Iterator[list[Sequenced]]:
    """Yield examples without end, the right passage first; large sets oftener, by their size to the power of .6."""
    weights = [min(len(own), 1500) ** 0.6 for own in sets]
    left: list[list[Asked]] = [[] for _ in sets]
    while True:
        (place,) = rng.choices(range(len(sets)), weights)
        left[place] = left[place] or rng.sample(sets[place], len(sets[place]))
        one = left[place].pop()
        right = [row for row, gold in enumerate(one.right) if gold]
        wrong = [row for row, gold in enumerate(one.right) if not gold]
        chosen = [rng.choice(right), *rng.sample(wrong[:7], 2)]
        chosen.append(rng.choice([row for row in wrong if row not in chosen]))
        yield [(*one.passages[row], row == chosen[0]) for row in chosen]


def tune(network: Network, stream: Iterator[list[Sequenced]], steps: int) -> None:
    """Tune a network; the rate rises in the first 40 steps and falls to 0."""
    changed = [one for one in network.parameters() if one.requires_grad]
    optimiser = torch.optim.AdamW(changed, lr=RATE, weight_decay=0.01)
    network.train()
    lately = []
    for step in range(steps):
        optimiser.param_groups[0]["lr"] = RATE * min(1, (step + 1) / 40) * max(1 - step / steps, 0.02)
        batch = [next(stream) for _ in range(AT_ONCE)]
        with torch.autocast("cpu", torch.bfloat16):
            odds = network(*padded([row for example in batch for row in example]))
        own = odds.float().view(AT_ONCE, -1)
        value = (torch.logsumexp(own, 1) - own[:, 0]).mean()
        optimiser.zero_grad()
        value.backward()
        nn.utils.clip_grad_norm_(changed, 1.0)
        optimiser.step()
        lately.append(value.item())
        if (step + 1) % 20 == 0:
            print(f"step {step + 1}: loss {np.mean(lately[-80:]):.3f}", flush=True)


def judged(network: Network, questions: Sequence[Asked]) -> list[str]:
    """Return hit@1/hit@5 by weight."""
    network.eval()
    some = random.Random(0).sample(list(questions), min(JUDGED, len(questions)))
    found = np.zeros((len(WEIGHTS), 2))
    for one in some:
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
            odds = network(*padded([(*own, False) for own in one.passages[:READ]])).float().numpy()
        for row, weight in enumerate(WEIGHTS):
            order = np.argsort(-(one.scores[: len(odds)] + weight * odds), kind="stable")
            right = [one.right[place] for place in order]
            found[row] += (any(right[:1]), any(right[:5]))
    return ["/".join(map(share, row)) for row in (found / max(1, len(some))).tolist()]


def main() -> None:
    """Tune, and print what it gains."""
    parser = command.Parser(
        __doc__, takes="half an hour for 640 steps", packages=("torch", "lightgbm", "onnx", "scikit-learn")
    )
    parser.add_argument("sets", nargs="+", type=command.hits_and_store, metavar="HITS=STORE")
    parser.add_argument("--new", nargs="*", type=command.hits_and_store, metavar="HITS=STORE", default=[])
    parser.add_argument("--steps", type=int, default=640)
    parser.add_argument("--save", action="store_true")
    given = parser.parse_args()
    torch.manual_seed(1)
    tokenizer = Tokenizer.from_file(str(locate(fit_reader.EMBEDDER).tokenizer))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    known = {hits.stem: read(hits, store, tokenizer) for hits, store in given.sets}
    fitted = [
        [one for one in own if not one.held and any(one.right) and one.right.count(False) > 3]
        for own in known.values()
    ]
    network = begun()
    tune(network, examples(fitted, random.Random(1)), given.steps)
    held = {name: [one for one in own if one.held] for name, own in known.items()}
    new = {hits.stem: read(hits, store, tokenizer) for hits, store in given.new}
    rows = [[name, *judged(network, own)] for name, own in {**held, **new}.items()]
    print(grid(["set", *map(str, WEIGHTS)], rows))
    if given.save:
        save_file(
            fit_reader.arrays(network),
            Path(str(files("trivium.rerank").joinpath("readers", f"{fit_reader.EMBEDDER}.safetensors"))),
        )


if __name__ == "__main__":
    command.run(main)
