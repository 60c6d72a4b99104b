"""Search in other languages than English, and across languages, on XQuAD: the same passages and questions in eleven
languages.

    python -m experiments.languages.measure --data FOLDER --stores FOLDER [--languages en de ...] [--embedder e5]

``--data`` has ``corpus.jsonl`` ({title, text}, in blocks of one language) and ``questions.jsonl`` ({id, lang, question,
gold_passages}; ids end alike where questions are translations of each other). A store per language and one of all are
built in ``--stores``, or taken from there. Titles, which are English in the data, are replaced by the first words of the
first passage of their article. Each cell is hit@1/hit@5: whether the passage that the question was asked about is among
the first hits.
"""

from __future__ import annotations

import dataclasses
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from unicodedata import normalize

from experiments import command
from trivium.engine import Engine
from trivium.fusion.artefact import save
from trivium.fusion.registry import shipped, shipped_for, shipped_name
from trivium.text.languages import AUTO, NAMES

ENGLISH = "en"
MIXED = "mixed"
VECTOR, LEXICAL = "vector", "lexical"
_TITLE = 40
"""Characters of a title, cut between words where there are some."""


@dataclass(frozen=True, slots=True)
class Question:
    """``key`` is what its translations share."""

    key: str
    text: str
    gold: str


def read_lines(file: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def read_questions(folder: Path) -> dict[str, dict[str, Question]]:
    """Return the questions of each language by key."""
    found: dict[str, dict[str, Question]] = defaultdict(dict)
    for row in read_lines(folder / "questions.jsonl"):
        key = str(row["id"]).split("-", 2)[2]
        found[row["lang"]][key] = Question(key, row["question"], row["gold_passages"][0]["text"])
    return found


def read_passages(
    folder: Path, questions: Mapping[str, Mapping[str, Question]]
) -> dict[str, list[dict[str, str]]]:
    """Return the passages of each language: a block has the language of those that questions are about."""
    language_of = {one.gold: language for language, asked in questions.items() for one in asked.values()}
    rows = read_lines(folder / "corpus.jsonl")
    size, rest = divmod(len(rows), len(questions))
    assert rest == 0, "expected as many passages in each language"
    found = {}
    for start in range(0, len(rows), size):
        block = rows[start : start + size]
        (language,) = {language_of[row["text"]] for row in block if row["text"] in language_of}
        titles: dict[str, str] = {}
        for row in block:
            titles.setdefault(row["title"], title_of(row["text"]))
        found[language] = [{"title": titles[row["title"]], "text": row["text"]} for row in block]
    return found


def title_of(text: str) -> str:
    start = text[:_TITLE]
    return start.rpartition(" ")[0] or start[: _TITLE // 3]


def build(store: Path, passages: Sequence[Mapping[str, str]], language: str, embedder: str) -> None:
    if store.exists():
        return
    named = language if language in NAMES or language == AUTO else None
    with Engine.create(store, embedder) as engine:
        engine.add_records(passages, language=named, any_embedder=True)


def ways_of(embedder: str, folder: Path, names: bool) -> dict[str, dict[str, object]]:
    """Return the arguments of each way to search: by default, by single retrievers, and by networks of other
    embedders.
    """
    ways: dict[str, dict[str, object]] = {"default": {}}
    ways |= {one: {"retrievers": [one]} for one in (VECTOR, LEXICAL)}
    for other, of_names in shipped_for():
        if of_names == names:
            artefact = shipped(other, names)
            assert artefact is not None
            borrowed = folder / f"{shipped_name(other, names)}-for-{embedder}"
            save(dataclasses.replace(artefact, embedder=embedder), borrowed)
            ways[f"network of {other}"] = {"fusion": str(borrowed)}
    return ways


def hits_at(
    engine: Engine, asked: Sequence[tuple[str, str]], way: Mapping[str, object]
) -> tuple[float, float]:
    """Return hit@1 and hit@5 of (question, gold passage)."""
    first = five = 0
    for question, gold in asked:
        found = [same(hit.text, gold) for hit in engine.search(question, 5, **way)]
        first += found[:1] == [True]
        five += any(found)
    return first / len(asked), five / len(asked)


def same(hit: str, gold: str) -> bool:
    """Whether a hit is the passage or a part of it, by their letters and digits."""
    hit, gold = ("".join(filter(str.isalnum, normalize("NFKD", text))) for text in (hit, gold))
    return hit in gold or gold in hit


def main() -> None:
    parser = command.Parser(__doc__, takes="minutes a language, most of them to build its store")
    parser.add_argument("--data", type=command.existing, required=True)
    parser.add_argument("--stores", type=Path, required=True)
    parser.add_argument("--languages", nargs="+")
    parser.add_argument("--embedder", default="e5")
    given = parser.parse_args()
    questions = read_questions(given.data)
    passages = read_passages(given.data, questions)
    languages = given.languages or sorted(questions, key=lambda one: (one != ENGLISH, one))
    if unknown := set(languages) - questions.keys():
        parser.error(
            f"unknown languages {', '.join(sorted(unknown))}: the questions are in {', '.join(questions)}"
        )
    given.stores.mkdir(parents=True, exist_ok=True)
    for language in languages:
        build(given.stores / language, passages[language], language, given.embedder)
    build(given.stores / MIXED, [row for one in languages for row in passages[one]], AUTO, given.embedder)

    rows: dict[str, dict[str, dict[str, tuple[float, float]]]] = defaultdict(lambda: defaultdict(dict))
    for store in (*languages, MIXED):
        with Engine.open(given.stores / store) as engine:
            ways = ways_of(given.embedder, given.stores, engine.store.entities is not None)
            for task, language, asked in tasks_of(store, languages, questions):
                for name, way in ways.items():
                    rows[task][language][name] = hits_at(engine, asked, way)
    for task, cells in rows.items():
        print(f"\n{task}\n\n| language | {' | '.join(ways)} |\n|---|{'---|' * len(ways)}")
        for language, row in cells.items():
            print(f"| {language} | {' | '.join(shown(row[name]) for name in ways)} |")
        means = [
            tuple(sum(row[name][n] for row in cells.values()) / len(cells) for n in (0, 1)) for name in ways
        ]
        print(f"| mean | {' | '.join(map(shown, means))} |", flush=True)


def tasks_of(
    store: str, languages: Sequence[str], questions: Mapping[str, Mapping[str, Question]]
) -> list[tuple[str, str, list[tuple[str, str]]]]:
    """Return (task, language, [(question, gold passage)]) of what is asked of a store."""

    def asked(language: str, documents: str) -> list[tuple[str, str]]:
        return [
            (one.text, questions[documents][key].gold)
            for key, one in questions[language].items()
            if key in questions[documents]
        ]

    if store == MIXED:
        return [("own language, one store of all", one, asked(one, one)) for one in languages]
    if store == ENGLISH:
        others = [one for one in languages if one != ENGLISH]
        across = [("questions on English documents", one, asked(one, ENGLISH)) for one in others]
        return [("own language, a store each", ENGLISH, asked(ENGLISH, ENGLISH)), *across]
    return [
        ("own language, a store each", store, asked(store, store)),
        ("English questions on documents", store, asked(ENGLISH, store)),
    ]


def shown(cell: Sequence[float]) -> str:
    return "/".join(f"{value:.3f}".replace("0.", ".", 1) if value < 1 else "1.000" for value in cell)


if __name__ == "__main__":
    command.run(main)
