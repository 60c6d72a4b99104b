"""Fits the network that reads a question and a part together, from the rows and texts written by ``collect_parts.py``.

    pip install torch lightgbm onnx
    python experiments/answers/fit_reader.py boats.npz ... squad2.npz ... --held school.npz townhall.npz lab.npz --save

It is bge-small itself. All its layers are tuned first; of what that changed, the twelve strongest directions of each
matrix are kept and tuned on, so that 2 MB say what differs. An example is a question with up to six parts: right ones,
those that the trees find most probable, others; and "none of them", which is right for a question without its passages
and for one in which a name, a number or a month has been replaced. 25 minutes for each step on two cores with bfloat16.

Prints for the sets that are ``--held`` how well the trees alone, and together with the reader, tell whether the most
probable part is right. ``--save`` writes the reader into the package.
"""

from __future__ import annotations

import calendar
import json
import random
import re
import time
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

import fit_parts
import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save_file
from tokenizers import Tokenizer

from experiments import command
from trivium.answering.judge_parts import load_trees
from trivium.answering.reader_network import packed
from trivium.common.log_odds import log_odds_of
from trivium.embedding.model_files import locate

with command.errors_in_one_line():  # networks are classes of torch
    import lightgbm
    import onnx
    import torch
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score
    from torch import Tensor, nn
    from torch.nn import functional

EMBEDDER = "bge-small"
WIDTH, HEADS, LAYERS, RANK = 384, 12, 12, 12
PARTS = 6
"""Parts of an example at most."""
AT_ONCE = 16
"""Examples of a step."""
SWAPPED, WITHOUT, FOREIGN = 0.6, 0.8, 0.3
"""Shares of the questions of which another one is made, and of those without an answer that are taken."""
RIVAL = (0.61957, -0.67916, 0.57071, -0.25842)
"""Of 299 answers about six sets that no part of this was fitted to, by their judge: weights of the log-odds of the part
that answers, of those of the best part elsewhere, and of the highest reading of six parts, and a constant.
"""
ANSWERED = 0.4
"""The probability from which a part answers."""
RISKS = ((0.02, 0.9191), (0.05, 0.8547), (0.1, 0.5478), (0.15, 0.3928), (0.2, 0.1809), (0.3, 0.0436))
"""Of the same answers, each by weights fitted to the five other sets: shares that are wrong, and the probability from
which on no more are.
"""
ABOUT = (1.41, 0.5, 2.07)
"""Of 355 questions of these sets, the sample and the handbook, and 480 about other things: weights of the log-odds of the
part and of nearness. Below 0, .95 of the latter are refused.
"""
RATE_OF_ALL, RATE_OF_LOW = 1.2e-4, 4e-4
PRODUCTS = ("query", "key", "value", "out", "up", "down")
VECTORS = {
    "query": "attention.self.query.bias",
    "key": "attention.self.key.bias",
    "value": "attention.self.value.bias",
    "out": "attention.output.dense.bias",
    "up": "intermediate.dense.bias",
    "down": "output.dense.bias",
    "scale1": "attention.output.LayerNorm.weight",
    "shift1": "attention.output.LayerNorm.bias",
    "scale2": "output.LayerNorm.weight",
    "shift2": "output.LayerNorm.bias",
}
"""Names of a layer's vectors in the ONNX file."""
TYPES = "embeddings.token_type_embeddings.weight"
_NAME = re.compile(r"\b[A-Z][a-zé]{2,30}\b")
_NUMBER = re.compile(r"(?<![\d.,:/-])\d{1,4}(?![\d.,:/-]?\d)")
_MONTHS = calendar.month_name[1:]

Sequenced = tuple[list[int], list[int], bool]
"""The tokens of a question and a part, which of the two each belongs to, and whether the part is right."""


class Asked(NamedTuple):
    """A question with its parts, each its headings and its text, the features of the parts (n, columns), which of them
    are right (1), their lengths and their probabilities by the trees.
    """

    question: str
    kind: str
    answerable: bool
    parts: list[tuple[str, str]]
    rows: NDArray[np.float32]
    right: NDArray[np.int8]
    lengths: NDArray[np.int64]
    by_trees: NDArray[np.float64]


def read(file: Path) -> Iterator[Asked]:
    """Return the questions of a set."""
    data = np.load(file)
    ends = np.cumsum(data["counts"])
    judged = load_trees(EMBEDDER)[0].probabilities(data["rows"])
    with file.with_suffix(".jsonl").open(encoding="utf-8") as lines:
        for told, line, end, count in zip(data["asked"], lines, ends, data["counts"], strict=True):
            one, said, own = json.loads(str(told)), json.loads(line), slice(end - count, end)
            parts = [(above, shown) for above, shown, *_ in said["parts"]]
            yield Asked(
                said["question"],
                one["kind"],
                one["answerable"],
                parts,
                data["rows"][own],
                data["right"][own],
                data["lengths"][own],
                judged[own],
            )


def examples(one: Asked, rng: random.Random) -> Iterator[tuple[str, list[tuple[int, bool]]]]:
    """Return questions with the places of parts and whether they are right, made from one question."""
    best_first = np.argsort(-one.by_trees, kind="stable").tolist()
    right = [place for place in best_first if one.right[place] == 1]
    others = [place for place in best_first if one.right[place] == 0]
    share = {"foreign": FOREIGN, "without": WITHOUT}.get(one.kind, 1.0)
    if rng.random() > share or (one.answerable and share == 1.0 and not right):
        return
    shortest = min(right, key=lambda place: one.lengths[place], default=None)
    chosen: list[int] = []
    if shortest is not None:
        few = [place for place in right if one.lengths[place] <= 1.7 * one.lengths[shortest] + 80]
        chosen = [shortest, *rng.sample([place for place in few if place != shortest], min(1, len(few) - 1))]
    count = PARTS - len(chosen)
    wrong = [*others[:2], *rng.sample(others[2:12], min(len(others[2:12]), count - 3))]
    wrong += rng.sample(others[12:], min(1, len(others[12:])))
    yield one.question, [*((place, True) for place in chosen), *((place, False) for place in wrong[:count])]
    if right and rng.random() < SWAPPED:
        other = swapped(one, right, rng)
        if other is not None:
            yield other, [(place, False) for place in [*chosen, *others[:2]]]


def swapped(one: Asked, right: Sequence[int], rng: random.Random) -> str | None:
    """Return a question with another name, number or month, which its right parts do not say; None if it has none."""
    said = " ".join(" ".join(one.parts[place]) for place in right)
    everything = " ".join(text for _, text in one.parts)
    options: list[tuple[re.Match[str], str]] = []
    for found in _NUMBER.finditer(one.question):
        number = int(found[0])
        new = number + rng.choice([-3, -2, -1, 1, 2, 3] if number > 20 else [1, 2, 3])
        if not re.search(rf"\b{new}\b", said):
            options.append((found, str(new)))
    for found in _NAME.finditer(one.question, 1):
        names = _MONTHS if found[0] in _MONTHS else _NAME.findall(everything)
        unsaid = [name for name in dict.fromkeys(names) if name not in said and name not in one.question]
        unsaid = [name for name in unsaid if name in _MONTHS or name.lower() not in everything]
        if unsaid:
            options.append((found, rng.choice(unsaid)))
    if not options:
        return None
    found, new = rng.choice(options)
    return f"{one.question[: found.start()]}{new}{one.question[found.end() :]}"


def published() -> tuple[Any, dict[str, NDArray[Any]]]:
    """Return the graph of the embedder's ONNX file and its constants."""
    graph = onnx.load(str(locate(EMBEDDER).model)).graph
    return graph, {one.name: onnx.numpy_helper.to_array(one).copy() for one in graph.initializer}


class Network(nn.Module):
    """The embedder's layers with a head on the first token. Its own weights are constants; with ``low`` its changes are
    products of two narrow matrices, otherwise whole matrices.
    """

    def __init__(self, low: bool, start: Network | None = None) -> None:
        super().__init__()
        graph, constants = published()

        def whole(name: str) -> Tensor:
            steps, scale, zero = (
                constants[f"{name}_{part}"] for part in ("quantized", "scale", "zero_point")
            )
            return torch.tensor((steps.astype(np.float32) - zero.astype(np.float32)) * scale)

        self._names = [
            one.input[1].removesuffix("_quantized") for one in graph.node if one.op_type == "MatMulInteger"
        ]
        self._fixed = [whole(name) for name in self._names]
        self._words = whole("embeddings.word_embeddings.weight")
        self._places = whole("embeddings.position_embeddings.weight")
        known = {"shift": "embeddings.LayerNorm.bias", "scale": "embeddings.LayerNorm.weight"}
        for layer in range(LAYERS):
            known |= {f"{layer}_{name}": f"encoder.layer.{layer}.{path}" for name, path in VECTORS.items()}
        self.names = known
        self.vectors = nn.ParameterDict(
            {key: nn.Parameter(torch.tensor(constants[name])) for key, name in known.items()}
        )
        self.types = nn.Parameter(whole(TYPES))
        self.hidden, self.output = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, 1)
        nn.init.normal_(self.hidden.weight, std=0.02)
        nn.init.constant_(self.output.bias, -1.0)
        changes: list[Tensor] = []
        for place, fixed in enumerate(self._fixed):
            if not low:
                changes.append(torch.zeros_like(fixed))
            elif start is not None:
                left, strength, right = torch.linalg.svd(start.changes[place].detach(), full_matrices=False)
                root = strength[:RANK].sqrt()
                changes += [left[:, :RANK] * root, root[:, None] * right[:RANK]]
        self.changes = nn.ParameterList([nn.Parameter(one) for one in changes])
        self._low = low
        if start is not None:
            for name in ("vectors", "hidden", "output"):
                getattr(self, name).load_state_dict(getattr(start, name).state_dict())
            self.types.data = start.types.data.clone()

    def _matrix(self, place: int) -> Tensor:
        with torch.autocast("cpu", enabled=False):
            if not self._low:
                return self._fixed[place] + self.changes[place]
            return self._fixed[place] + self.changes[2 * place] @ self.changes[2 * place + 1]

    def forward(self, ids: Tensor, types: Tensor) -> Tensor:
        """Return the log-odds (n,) that parts answer, for tokens (n, t), padded with zeros."""
        count, length = ids.shape
        vectors = self.vectors
        x = self._words[ids] + self.types[types] + self._places[:length]
        x = functional.layer_norm(x, (WIDTH,), vectors["scale"], vectors["shift"], 1e-12)
        unseen = ((ids == 0)[:, None, None, :] * -1e4).to(torch.bfloat16)
        for layer in range(LAYERS):
            first = layer * len(PRODUCTS)
            query, key, value = (
                functional.linear(x, self._matrix(first + n).T, vectors[f"{layer}_{name}"])
                .view(count, length, HEADS, WIDTH // HEADS)
                .transpose(1, 2)
                for n, name in enumerate(PRODUCTS[:3])
            )
            # Faster on processors than scaled_dot_product_attention, whose gradients take a third of a step there.
            weights = (query @ key.transpose(-1, -2) * (WIDTH // HEADS) ** -0.5 + unseen).softmax(-1)
            seen = (weights.to(value.dtype) @ value).transpose(1, 2).reshape(count, length, WIDTH)
            x = x + functional.linear(seen, self._matrix(first + 3).T, vectors[f"{layer}_out"])
            x = functional.layer_norm(
                x, (WIDTH,), vectors[f"{layer}_scale1"], vectors[f"{layer}_shift1"], 1e-12
            )
            up = functional.linear(x, self._matrix(first + 4).T, vectors[f"{layer}_up"])
            x = x + functional.linear(
                functional.gelu(up), self._matrix(first + 5).T, vectors[f"{layer}_down"]
            )
            x = functional.layer_norm(
                x, (WIDTH,), vectors[f"{layer}_scale2"], vectors[f"{layer}_shift2"], 1e-12
            )
        return self.output(torch.tanh(self.hidden(x[:, 0])))[:, 0]


def padded(rows: Sequence[Sequenced]) -> tuple[Tensor, Tensor]:
    """Return tokens and their types as matrices (n, t)."""
    ids = np.zeros((len(rows), max(len(row[0]) for row in rows)), np.int64)
    types = np.zeros_like(ids)
    for place, (own, kinds, _) in enumerate(rows):
        ids[place, : len(own)], types[place, : len(own)] = own, kinds
    return torch.tensor(ids), torch.tensor(types)


def loss(odds: Tensor, batch: Sequence[Sequence[Sequenced]]) -> Tensor:
    """Return the mean cross-entropy of the right parts of each example, or of "none", whose log-odds are 0."""
    total, at = odds.new_zeros(()), 0
    for example in batch:
        own = torch.cat([odds.new_zeros(1), odds[at : at + len(example)]])
        at += len(example)
        right = [row[2] for row in example]
        wanted = own[torch.tensor([not any(right), *right])]
        total = total + torch.logsumexp(own, 0) - torch.logsumexp(wanted, 0)
    return total / len(batch)


def tune(
    network: Network, data: list[list[Sequenced]], minutes: float, rate: float, rng: random.Random
) -> None:
    """Tune a network for some minutes; the rate rises in the first 60 steps and falls to 0."""
    optimiser = torch.optim.AdamW(network.parameters(), lr=rate, weight_decay=0.01)
    begun, step, lately = time.monotonic(), 0, []
    network.train()
    while True:
        rng.shuffle(data)
        for start in range(0, len(data), AT_ONCE * 8):
            near = sorted(data[start : start + AT_ONCE * 8], key=lambda one: max(len(row[0]) for row in one))
            batches = [near[place : place + AT_ONCE] for place in range(0, len(near), AT_ONCE)]
            for batch in rng.sample(batches, len(batches)):
                done = (time.monotonic() - begun) / (60 * minutes)
                if done >= 1:
                    return
                optimiser.param_groups[0]["lr"] = rate * min(1, (step + 1) / 60) * max(1 - done, 0.01)
                with torch.autocast("cpu", torch.bfloat16):
                    odds = network(*padded([row for example in batch for row in example]))
                value = loss(odds.float(), batch)
                optimiser.zero_grad()
                value.backward()
                nn.utils.clip_grad_norm_(network.parameters(), 1.0)
                optimiser.step()
                lately.append(value.item())
                step += 1
                if step % 40 == 0:
                    print(f"step {step}: loss {np.mean(lately[-40:]):.3f}, {done:.0%}", flush=True)


def judged(
    network: Network, trees: lightgbm.LGBMClassifier, sets: Sequence[Path], tokenizer: Any
) -> NDArray[np.float64]:
    """Return for each question of some sets, asked as it is, the log-odds of its most probable part by the trees and by
    the network, whether it is right, whether the question can be answered, and the number of its set (n, 5).
    """
    rows, given = [], []
    for number, file in enumerate(sets):
        for one in read(file):
            if one.kind in ("foreign", "without"):
                continue
            by_trees = trees.predict_proba(one.rows)[:, 1]
            best = int(by_trees.argmax())
            rows.append([log_odds_of(by_trees[best]), 0, one.right[best] == 1, one.answerable, number])
            given.append((*packed(tokenizer, one.question, *one.parts[best]), False))
    network.eval()
    with torch.no_grad():
        odds = [float(network(*padded([row]))) for row in given]
    found = np.array(rows, np.float64)
    found[:, 1] = odds
    return found


def blended(found: NDArray[np.float64]) -> dict[str, NDArray[Any]]:
    """Return how log-odds make a probability, and the risks measured with it. Prints what the first of them gain."""
    right, answerable = found[:, 2] == 1, found[:, 3] == 1
    regression = LogisticRegression(C=10).fit(found[:, :2], right)
    together = regression.predict_proba(found[:, :2])[:, 1]
    for name, values in (("trees", found[:, 0]), ("reader", found[:, 1]), ("together", together)):
        print(
            f"{name}: area for right {roc_auc_score(right, values):.3f},"
            f" for whether there is an answer {roc_auc_score(answerable, values):.3f}"
        )
    return {
        "blend": np.array([*regression.coef_[0], *regression.intercept_], np.float32),
        "rival": np.array(RIVAL, np.float32),
        "risks": np.array(RISKS),
        "answered": np.array([ANSWERED], np.float32),
        "about": np.array(ABOUT, np.float32),
    }


def arrays(network: Network) -> dict[str, NDArray[Any]]:
    """Return what differs from the embedder as arrays, named as :mod:`trivium.answering.reader_network` reads them."""
    _, constants = published()
    scale, zero = (constants[f"{TYPES}_{part}"] for part in ("scale", "zero_point"))
    steps = np.round(network.types.detach().numpy() / scale) + zero
    found: dict[str, NDArray[Any]] = {f"{TYPES}_quantized": np.clip(steps, 0, 255).astype(np.uint8)}
    for place, change in enumerate(network.changes):
        found[f"low.{place // 2}.{'ab'[place % 2]}"] = change.detach().numpy().astype(np.float16)
    for key, name in network.names.items():
        found[name] = network.vectors[key].detach().numpy().astype(np.float16)
    for name in ("hidden", "output"):
        layer = getattr(network, name)
        found[f"{name}.weight"] = (
            layer.weight.detach().numpy().squeeze(0 if name == "output" else ()).astype(np.float16)
        )
        found[f"{name}.bias"] = layer.bias.detach().numpy().astype(np.float16)
    return found


def main() -> None:
    """Tune, print what it gains on held sets, and save."""
    parser = command.Parser(__doc__, takes="an hour", packages=("torch", "lightgbm", "onnx", "scikit-learn"))
    parser.add_argument("sets", type=command.existing, nargs="+")
    parser.add_argument("--held", type=command.existing, nargs="+", required=True)
    parser.add_argument("--minutes", type=float, default=25, help="for each of the two steps")
    parser.add_argument("--save", action="store_true")
    given = parser.parse_args()
    rng = random.Random(1)
    torch.manual_seed(1)
    tokenizer = Tokenizer.from_file(str(locate(EMBEDDER).tokenizer))
    tokenizer.no_padding()
    tokenizer.no_truncation()

    def made() -> list[list[Sequenced]]:
        return [
            [(*packed(tokenizer, question, *one.parts[place]), right) for place, right in chosen]
            for file in given.sets
            for one in read(file)
            for question, chosen in examples(one, rng)
            if chosen
        ]

    every = Network(low=False)
    tune(every, made(), given.minutes, RATE_OF_ALL, rng)
    network = Network(low=True, start=every)
    tune(network, made(), given.minutes, RATE_OF_LOW, rng)
    questions = [one for file in given.sets for one in fit_parts.read(file, words=False)[1]]
    trees = fit_parts.fit(questions, [file.stem for file in given.sets])
    told = blended(judged(network, trees, given.held, tokenizer))
    if given.save:
        folder = Path(str(files("trivium.answering").joinpath("readers")))
        save_file(arrays(network) | told, folder / f"{EMBEDDER}.safetensors")


if __name__ == "__main__":
    command.run(main)
