"""Fits the classifiers of intent, and tests them on phrases of unseen writers and questions about unseen documents.

    python -m experiments.intent.fit --save
    python -m experiments.intent.fit --data ../shared/data
    python -m experiments.intent.fit --phrases generated.jsonl --split phrase

``phrases.jsonl`` was written for this experiment: ten writers, four intents. ``--data`` adds questions of the
evaluation sets, all of which are meant for the collection. Every phrase is also used with a typo. ``--save`` writes
classifiers fitted to all data into the package. ``--phrases`` takes other phrases in place of these and of the sample's
questions, such as those of ``generate.py``; ``--split phrase`` draws folds without regard to writers and documents, as
the paper does.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments import command
from trivium.answering.intent import IntentClassifier, expressions
from trivium.answering.judge_parts import NO_EMBEDDER
from trivium.embedding.registry import open_embedder
from trivium.errors import InputError
from trivium.sample import question_files

INTENTS = ("collection", "live", "small_talk", "conversation")
EMBEDDERS = ("bge-small", "minilm", NO_EMBEDDER)
SETS = {
    "wiki/squad_questions.jsonl": "page",
    "nq/qed_questions.jsonl": "page",
    "markdown/handbook_questions.jsonl": "evidence",
    "markdown/kubernetes_questions.jsonl": "evidence",
    "domains/stackfaq_questions.jsonl": "gold_titles",
    "domains/cranfield_questions.jsonl": "id",
    "domains/fairytaleqa_questions.jsonl": "gold_passages",
    "pdf/financebench_questions.jsonl": "document",
}
PHRASES = Path(__file__).parent / "phrases.jsonl"
PER_SET = 150
THRESHOLDS = {"live": 0.7, "small_talk": 0.8, "conversation": 0.8}
FOLDS = 5
MIN_PHRASES = 4
"""Words and bigrams that occur in fewer phrases are not used as features."""
Floats = NDArray[np.float64]
MIN_WEIGHT = 0.2
"""Words whose weights are all smaller in absolute value are dropped."""
EXPRESSION_WEIGHT = 0.3
"""Scale of the word features relative to a vector of length 1."""


@dataclass(frozen=True)
class Phrase:
    """A text, its intent, and its writer or the document it is about."""

    text: str
    intent: str
    group: str


def phrases(data: Path | None, file: Path | None = None, split: str = "writer") -> list[Phrase]:
    """Return the phrases of a ``file``, or ours with the questions of the sample, and those of the sets in ``data``. By
    split ``phrase`` each is a group of its own. Raises InputError for a file without phrases of each intent.
    """
    rows = _rows(file or PHRASES)
    found = [Phrase(row["text"], row["intent"], f"writer {row['writer']}") for row in rows]
    sets = [(path, "page") for path in question_files()] if file is None else []
    if data is not None:
        sets += [(data / name, key) for name, key in SETS.items()]
    for path, key in sets:
        asked = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        rng = random.Random(0)
        asked = asked if len(asked) <= PER_SET else rng.sample(asked, PER_SET)
        found += [
            Phrase(row["question"], "collection", f"{path.stem} {_document(row.get(key))}") for row in asked
        ]
    if split == "phrase":
        found = [replace(phrase, group=f"{phrase.group}, phrase {n}") for n, phrase in enumerate(found)]
    return found


def _rows(file: Path) -> list[dict[str, str]]:
    try:
        rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
        counts = Counter(row["intent"] for row in rows if row["text"] and row["writer"])
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{file}: expected lines of JSON with text, intent and writer ({error})") from error
    if few := [intent for intent in INTENTS if counts[intent] < FOLDS]:
        raise InputError(
            f"{file}: expected {FOLDS} or more phrases of each intent, got fewer of {', '.join(few)}"
        )
    return rows


def _document(value: object) -> str:
    if isinstance(value, list) and value:
        first = value[0]
        return str(first.get("document") or first.get("title")) if isinstance(first, dict) else str(first)
    return str(value)


def with_typo(text: str, rng: random.Random) -> str:
    """Swap two adjacent letters, or drop or double one; the case and the question mark may be lost."""
    places = [place for place, c in enumerate(text[:-1]) if c.isalpha() and text[place + 1].isalpha()]
    if places:
        place = rng.choice(places)
        pair = text[place : place + 2]
        text = text[:place] + rng.choice([pair[::-1], pair[0], pair[0] * 2 + pair[1]]) + text[place + 2 :]
    return text.lower().rstrip("?!.") if rng.random() < 0.5 else text


def as_json(classifier: IntentClassifier) -> dict[str, Any]:
    """Return a classifier as it is saved, with numbers of three decimals."""

    def rounded(values: NDArray[Any]) -> list[Any]:
        numbers: list[Any] = np.round(values.astype(np.float64), 3).tolist()
        return numbers

    return {
        "intents": list(classifier.intents),
        "weights": rounded(classifier.weights),
        "intercepts": rounded(classifier.intercepts),
        "expressions": {said: rounded(own) for said, own in classifier.expressions.items()},
        "thresholds": dict(classifier.thresholds),
    }


def fitted(texts: Sequence[str], vectors: Floats | None, intents: Sequence[str]) -> IntentClassifier:
    """Fit a softmax regression on vectors and words, in which all intents have equal total weight."""
    from scipy.sparse import csr_matrix, hstack
    from sklearn.linear_model import LogisticRegression

    counts = Counter(feature for text in texts for feature in expressions(text))
    known = {
        feature: place
        for place, feature in enumerate(sorted(f for f, n in counts.items() if n >= MIN_PHRASES))
    }
    rows = [[known[f] for f in expressions(text) if f in known] for text in texts]
    said = csr_matrix(
        (
            np.full(sum(map(len, rows)), EXPRESSION_WEIGHT),
            [place for row in rows for place in row],
            np.cumsum([0, *map(len, rows)]),
        ),
        (len(texts), len(known)),
    )
    seen = said if vectors is None else hstack([csr_matrix(vectors), said]).tocsr()
    model = LogisticRegression(C=10.0, class_weight="balanced", max_iter=3000).fit(seen, list(intents))
    size = 0 if vectors is None else vectors.shape[1]
    return IntentClassifier(
        tuple(str(intent) for intent in model.classes_),  # type: ignore[arg-type]
        np.round(model.coef_[:, :size], 3).astype(np.float32),
        np.round(model.intercept_, 3).astype(np.float32),
        {
            feature: np.round(model.coef_[:, size + place] * EXPRESSION_WEIGHT, 3).astype(np.float32)
            for feature, place in known.items()
            if np.abs(model.coef_[:, size + place] * EXPRESSION_WEIGHT).max() >= MIN_WEIGHT
        },
        THRESHOLDS,
    )


@dataclass(frozen=True)
class Judged:
    """What the classifiers of an embedder, each fitted without the fold, ``said`` of each phrase, as written and with
    typos, and the one ``fitted`` to all.
    """

    said: dict[str, NDArray[np.object_]]
    fitted: IntentClassifier


def judged(found: Sequence[Phrase], name: str) -> Judged:
    """Fit the classifiers of an embedder, and let each judge the phrases of other writers and documents."""
    rng = random.Random(0)
    noisy = [with_typo(phrase.text, rng) for phrase in found]
    intents = np.array([phrase.intent for phrase in found])
    groups = sorted({phrase.group for phrase in found})
    fold_of = dict(zip(groups, np.random.default_rng(0).permutation(len(groups)) % FOLDS, strict=True))
    fold = np.array([fold_of[phrase.group] for phrase in found])
    texts = [phrase.text for phrase in found]
    clean = typos = None
    if name != NO_EMBEDDER:
        with closing(open_embedder(name)) as embedder:
            clean, typos = (
                np.array([embedder.embed_query(text) for text in own], dtype=np.float64)
                for own in (texts, noisy)
            )
    both = None if clean is None or typos is None else np.vstack([clean, typos])
    twice = np.tile(fold, 2)
    said: dict[str, NDArray[np.object_]] = {
        case: np.empty(len(found), dtype=object) for case in ("as written", "with typos")
    }
    for one in range(FOLDS):
        rest = np.flatnonzero(twice != one)
        model = fitted(
            [[*texts, *noisy][row] for row in rest],
            None if both is None else both[rest],
            [[*intents, *intents][row] for row in rest],
        )
        for answers, own, vectors in zip(said.values(), (texts, noisy), (clean, typos), strict=True):
            for row in np.flatnonzero(fold == one):
                answers[row] = model.intent(own[row], None if vectors is None else vectors[row])
    return Judged(said, fitted([*texts, *noisy], both, [*intents, *intents]))


def parser() -> command.Parser:
    """Return the parser of the command line."""
    made = command.Parser(__doc__, takes="minutes", packages=("scipy", "scikit-learn"))
    made.add_argument("--data", type=command.existing, help="folder of the evaluation data")
    made.add_argument("--phrases", type=command.existing, help="file of phrases  [default: phrases.jsonl]")
    made.add_argument("--split", choices=("writer", "phrase"), default="writer", help="how folds are drawn")
    made.add_argument("--save", action="store_true")
    return made


def main() -> None:
    """Print the accuracy, and save the classifiers."""
    arguments = parser().parse_args()
    from sklearn.metrics import confusion_matrix, f1_score

    found = phrases(arguments.data, arguments.phrases, arguments.split)
    intents = np.array([phrase.intent for phrase in found])
    groups = {phrase.group for phrase in found}
    written = np.array([phrase.group.startswith("writer") for phrase in found])
    saved = {}
    for name in EMBEDDERS:
        own = judged(found, name)
        for case, answers in own.said.items():
            right = answers == intents
            f1 = f1_score(intents, answers.astype(str), average="macro")
            print(
                f"{name}, {case}: accuracy {right.mean():.4f}, of phrases by writer {right[written].mean():.4f},"
                f" macro F1 {f1:.4f} ({len(found)} phrases, {len(groups)} groups)"
            )
            print(f"  of questions of the sets, taken for the collection: {right[~written].mean():.4f}")
            table = confusion_matrix(intents, answers.astype(str), labels=list(INTENTS))
            for intent, row in zip(INTENTS, table.tolist(), strict=True):
                print(f"  {intent:<14}" + "".join(f"{count:>7}" for count in row))
        saved[name] = as_json(own.fitted)
    if arguments.save:
        target = Path(str(files("trivium.answering").joinpath("intents.json")))
        target.write_text(json.dumps(saved, separators=(",", ":")) + "\n", "utf-8")


if __name__ == "__main__":
    command.run(main)
