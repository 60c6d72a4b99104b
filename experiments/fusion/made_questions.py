"""Makes questions from documents by rule, and measures how far they can be trusted to fit a ranking.

    python experiments/fusion/made_questions.py make STORE made/handbook.jsonl
    trivium evaluate made/handbook.jsonl --store STORE --hits made/handbook.npz
    python experiments/fusion/made_questions.py compare made hits --sets handbook cranfield ...

A question is made of one sentence of a passage, in the manner of somebody who does not have it before them: words are
left out, names written small, letters swapped; or a number or name is left out and asked for; or it is made of headings.
``compare`` reads hit lists of the same name in two folders, of made and of real questions. It prints how alike both order
twelve systems (Kendall's tau of their mean reciprocal ranks), and hit@1 and hit@5 of the real questions: by the network
that ships, by it adapted to the made ones, and adapted by a part of what the made ones of this set ask for and those of
the other sets do not on average, which is the bias of how they are made.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from experiments import command
from trivium.common.arrays import Floats
from trivium.embedding.embedder import Embedder
from trivium.engine import Engine
from trivium.evaluation.tables import grid, share
from trivium.fusion.convex import load as load_convex
from trivium.fusion.network import Network
from trivium.fusion.registry import shipped
from trivium.fusion.rrf import ReciprocalRank
from trivium.fusion.score_table import Fused, Fusion, Table
from trivium.graph.schema import headings_of
from trivium.synthetic.plain import PlainSampling, draw_passages
from trivium.text.languages import function_words
from trivium.text.normalise import sentences
from trivium.training.adapt import adapted
from trivium.training.run import report_of
from trivium.training.training_data import Collection, examples_of, read

QUESTIONS = 300
KEPT = 0.6
"""Share of the words of a sentence that a question has, without function words."""
VOCABULARY, NEAR = 6_000, 0.72
SHORTEST, LONGEST = 8, 40
"""Words of a sentence that is asked about."""
_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][\w’'-]+(?: (?:of |the |de )?[A-Z][\w’'-]+)*")
_NUMBER = re.compile(r"(?<![\w.,])[$€£]?\d[\d,.]*\d?%?(?![\w])")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")


class Synonyms:
    """Other words of the same documents for a word: those with the nearest vectors."""

    def __init__(self, texts: Sequence[str], embedder: Embedder) -> None:
        common = function_words("en")
        count = Counter(word for text in texts for word in set(_WORD.findall(text)))
        self._words = [
            word
            for word, times in count.most_common()
            if len(word) > 3 and word.isalpha() and word.islower() and times > 1 and word not in common
        ][:VOCABULARY]
        self._vectors = embedder.embed(self._words) if self._words else np.zeros((0, 1), np.float32)
        self._place = {word: place for place, word in enumerate(self._words)}

    def of(self, word: str, passage: str, rng: random.Random) -> str:
        """Return one of the three nearest words that do not begin alike and that the ``passage`` lacks, or the word."""
        place = self._place.get(word)
        if place is None:
            return word
        nearness = self._vectors @ self._vectors[place]
        near = [
            self._words[other]
            for other in np.argsort(-nearness)[1:30].tolist()
            if nearness[other] > NEAR
            and self._words[other][:4] != word[:4]
            and self._words[other] not in passage
        ]
        return rng.choice(near[:3]) if near else word


def made(section: str, text: str, rng: random.Random, synonyms: Synonyms, reworded: float) -> str | None:
    """Return a question about a passage; None if it has no sentence to ask about. ``reworded``: share of its words that
    are replaced.
    """
    path = headings_of(section)
    spans = [text[start:end] for start, end in sentences(text)]
    fitting = [span for span in spans if SHORTEST <= len(_WORD.findall(span)) <= LONGEST]
    if not fitting:
        return None
    sentence = rng.choice(fitting)
    if len(path) > 1 and rng.random() < 0.15:
        sentence = f"{path[-1]} {path[0]}"
    number, name = _NUMBER.search(sentence), _NAME.search(sentence)
    ask = rng.choice(["what", "which", "how", "does", ""])
    if number and rng.random() < 0.4:
        ask = "when" if _YEAR.fullmatch(number[0]) else "how many" if number[0].isdigit() else "how much"
        sentence = sentence[: number.start()] + sentence[number.end() :]
    elif name and rng.random() < 0.3:
        ask = rng.choice(["who", "what", "which"])
        sentence = sentence[: name.start()] + sentence[name.end() :]
    common = function_words("en")
    words = [
        word for word in _WORD.findall(sentence) if rng.random() < (0.5 if word.lower() in common else KEPT)
    ]
    said = text.lower()
    words = [synonyms.of(word, said, rng) if rng.random() < reworded else word for word in words]
    return small(" ".join([ask, *words]).strip(), rng) if len(words) > 2 else None


def small(question: str, rng: random.Random) -> str:
    """The question, in small letters half the time, with letters of some words swapped."""
    words = (question.lower() if rng.random() < 0.5 else question).split()
    for place, word in enumerate(words):
        if len(word) > 4 and rng.random() < 0.03:
            at = rng.randrange(1, len(word) - 2)
            words[place] = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    return " ".join(words)


def make(store: Path, out: Path, reworded: float) -> None:
    """Write questions about passages drawn from all documents of a store."""
    rng = random.Random(0)
    with Engine.open(store) as engine, out.open("w", encoding="utf-8") as lines:
        passages = draw_passages(engine.store, PlainSampling(3_000))
        synonyms = Synonyms([one.text for one in passages], engine.embedder)
        count = 0
        for one in passages:
            question = made(one.section, one.text, rng, synonyms, reworded)
            if question is None or count == QUESTIONS:
                continue
            gold = [{"title": one.page, "text": one.text}]
            lines.write(json.dumps({"question": question, "answers": [], "gold_passages": gold}) + "\n")
            count += 1
    print(f"{out}: {count} questions")


def systems(collection: Collection, network: Fusion) -> dict[str, float]:
    """The mean reciprocal rank of each view, of three fusions without training, and of the network that ships."""
    (own,) = collection.sets
    fusions: dict[str, Fusion] = {
        "convex": load_convex(collection.embedder),
        "rrf": ReciprocalRank(),
        "hybrid": Hybrid(),
    }
    report = report_of(own, [network.fuse(hit.table).scores for hit in own.hits], fusions)
    return {name: row.means["mrr"] for name, row in report.rows.items()}


class Hybrid:
    """Vector and keyword search, each from 0 to 1 over the candidates, half and half."""

    name = "hybrid"
    needs_signals = False
    log_odds = False

    def fuse(self, table: Table) -> Fused:
        columns = [table.raw[:, table.columns.index(name)] for name in ("vector", "lexical")]
        scaled = np.stack(
            [np.nan_to_num((one - np.nanmin(one)) / (np.ptp(one[~np.isnan(one)]) or 1)) for one in columns]
        )
        return Fused(scaled.mean(axis=0), lambda rows: scaled.T[list(rows)])


def overlap(collection: Collection) -> float:
    """The mean share of a question's words, without function words, that its right passage has."""
    shares = [hit.table.signals["distinct"][hit.gold >= 0] for hit in collection.hits]
    return float(np.mean([one.max() for one in shares if len(one)]))


def compare(made_folder: Path, real_folder: Path, names: list[str]) -> None:
    """Print a row per set."""
    from scipy.stats import kendalltau

    base = shipped(read([real_folder / f"{names[0]}.npz"]).embedder, names=True)
    assert base is not None
    fitted: dict[str, Network] = {}
    real: dict[str, Collection] = {}
    rows: dict[str, list[str]] = {}
    for name in names:
        by_made, by_real = (read([folder / f"{name}.npz"]) for folder in (made_folder, real_folder))
        first, second = systems(by_made, base.fusion()), systems(by_real, base.fusion())
        real[name] = by_real
        order = list(first)
        tau = kendalltau([first[row] for row in order], [second[row] for row in order]).statistic
        fitted[name] = adapted(base, examples_of(by_made, base.layout))
        best = [max(one, key=lambda row: one[row]) for one in (first, second)]
        words = [share(overlap(one)) for one in (by_made, by_real)]
        rows[name] = [name, str(len(by_made.hits)), *words, f"{tau:.2f}", *best]
        print(" ".join(rows[name]), flush=True)
    for name in names:
        examples = [example.rows.astype(np.float64) for example in examples_of(real[name], base.layout)]
        others = [network for other, network in fitted.items() if other != name]
        as_it_is = [base.network.logits(each) for each in examples]
        simply = [fitted[name].logits(each) for each in examples]
        common = [np.mean([network.logits(each) for network in others], axis=0) for each in examples]
        rows[name] += [cell(real[name], as_it_is), cell(real[name], simply)]
        for strength in (0.25, 0.5):
            apart = [
                own + strength * (one - all_) for own, one, all_ in zip(as_it_is, simply, common, strict=True)
            ]
            rows[name].append(cell(real[name], apart))
        print(" ".join(rows[name]), flush=True)
    heads = [
        "set",
        "made",
        "words of made",
        "of real",
        "tau",
        "best by made",
        "best by real",
        "as it is",
        "adapted",
    ]
    print(grid([*heads, "a quarter of its own", "half"], list(rows.values())))


def cell(collection: Collection, scores: Sequence[Floats]) -> str:
    """hit@1 and hit@5 with these scores (n,) of each question's candidates."""
    (own,) = collection.sets
    means = report_of(own, scores, {}).rows["network"].means
    return f"{share(means['hit@1'])}/{share(means['hit@5'])}"


def main() -> None:
    """Make questions, or compare hit lists."""
    parser = command.Parser(__doc__, takes="minutes", packages=("scipy", "trivium[train]"))
    commands = parser.add_subparsers(dest="command", required=True)
    making = commands.add_parser("make")
    making.add_argument("store", type=command.existing)
    making.add_argument("out", type=Path)
    making.add_argument("--reworded", type=float, default=0.8, help="share of words replaced by others")
    comparing = commands.add_parser("compare")
    comparing.add_argument("made", type=command.existing)
    comparing.add_argument("real", type=command.existing)
    comparing.add_argument("--sets", nargs="+", required=True)
    given = parser.parse_args()
    if given.command == "make":
        make(given.store, given.out, given.reworded)
    else:
        compare(given.made, given.real, given.sets)


if __name__ == "__main__":
    command.run(main)
