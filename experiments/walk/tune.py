"""Evaluates the walk under other settings and on other graphs, compared with that of the package.

    python experiments/walk/tune.py vary --data ../shared/data --joint joint-store --multihop stores
    python experiments/walk/tune.py grid --data ../shared/data --joint joint-store --multihop stores --hits hits
    python experiments/walk/tune.py confirm --data ../shared/data --joint joint-store --multihop stores

``vary`` changes one setting at a time. ``grid`` searches combinations, see :mod:`grid`. ``confirm`` evaluates the
selected setting on two sets that were not used before. ``stores`` contains the folders ``hotpotqa``, ``2wiki`` and
``musique``. ``--hits`` (hit lists of ``trivium evaluate --hits``, named like the sets) adds the recall of the union of
all retrievers with another walk in place of the package's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from asked import DEPTH, Seeds, Set, read_set
from graphs import Edges
from grid import grid, show
from runs import DEEP, MULTIHOP, Setting, answer, cell, headline, judge

import trivium
from experiments import command

SQUAD, QED = 400, 200
TUNED = ("hotpotqa", "2wiki", "musique")
PICKED = {
    "own page weighs 8 from the page": Setting(edges=Edges(own_page_weight=8.0)),
    "and lexical seeds .25": Setting(edges=Edges(own_page_weight=8.0), seeds=Seeds(lexical=0.25)),
}


def main() -> None:
    """Read the questions, run the experiment and print the results."""
    parser = command.Parser(
        __doc__, takes="5 minutes (vary), 3 (grid), 10 seconds (confirm)", packages=("scipy",)
    )
    parser.add_argument("what", choices=["vary", "grid", "confirm"])
    parser.add_argument("--data", type=command.existing, required=True)
    parser.add_argument("--joint", type=command.existing, required=True)
    parser.add_argument("--multihop", type=command.existing, required=True)
    parser.add_argument("--hits", type=command.existing)
    given = parser.parse_args()
    names = [name for name in MULTIHOP if (name in TUNED) != (given.what == "confirm")]
    questions = [f"multihop/{name}_questions.jsonl" for name in names]
    if given.what != "confirm":
        questions += [f"{name}_questions.jsonl" for name in ("wiki/squad", "nq/earth", "nq/qed")]
    for path in (*(given.multihop / name for name in names), *(given.data / name for name in questions)):
        command.existing(path)
    if given.what == "confirm":
        confirm([read_multihop(given.data, given.multihop, name) for name in names])
        return
    sets = list(read(given.data, given.joint, given.multihop))
    if given.what == "vary":
        vary(sets)
    else:
        grid(sets, given.hits)


def read(data: Path, joint: Path, multihop: Path) -> Iterator[Set]:
    """Yield the six sets."""
    with trivium.Engine.open(joint) as engine:
        yield read_set(engine, data / "wiki" / "squad_questions.jsonl", SQUAD)
        yield read_set(engine, data / "nq" / "earth_questions.jsonl")
        yield read_set(engine, data / "nq" / "qed_questions.jsonl", QED)
    for name in TUNED:
        yield read_multihop(data, multihop, name)


def read_multihop(data: Path, stores: Path, name: str) -> Set:
    """Read a multi-hop set."""
    with trivium.Engine.open(stores / name) as engine:
        return read_set(engine, data / "multihop" / f"{name}_questions.jsonl")


def confirm(sets: Sequence[Set]) -> None:
    """Print the results of the selected setting and of the package's."""
    shipped = [judge(one, answer(one, Setting())) for one in sets]
    for name, setting in PICKED.items():
        print(f"\n{name}")
        show(sets, shipped, [judge(one, answer(one, setting)) for one in sets])


def vary(sets: Sequence[Set]) -> None:
    """Change one setting at a time and print the results."""
    print("| | " + " | ".join(f"{one.name} ({len(one.asked)})" for one in sets) + " | mean |")
    print("|---" * (len(sets) + 2) + "|")
    for name, setting in variants().items():
        values = [judge(one, answer(one, setting)) for one in sets]
        cells = [cell(one, own) for one, own in zip(sets, values, strict=True)]
        means = [
            np.mean([headline(one, own).mean() for one, own in zip(sets, values, strict=True)]),
            np.mean([own[:, DEEP].mean() for own in values]),
        ]
        print(f"| {name} | " + " | ".join(cells) + f" | {means[0]:.4f}, {means[1]:.4f} |", flush=True)
        if name == "as shipped":
            check(sets)


def check(sets: Sequence[Set]) -> None:
    """Print the agreement between the package's walk and this implementation, and the quality of the former."""
    for one in sets:
        mine = answer(one, Setting())
        for name in ("shipped", "precise"):
            theirs = [list(getattr(asked, name)) for asked in one.asked]
            pairs = list(zip(mine, theirs, strict=True))
            first = np.mean([a[:5] == b[:5] for a, b in pairs])
            shared = np.mean([len(set(a) & set(b)) / max(len(b), 1) for a, b in pairs])
            print(
                f"<!-- {one.name}, {name}: the same five {first:.3f}, of the first {DEPTH} {shared:.3f}; "
                f"{cell(one, judge(one, theirs))} -->"
            )


def variants() -> dict[str, Setting]:
    """Return settings that differ from the package's in one respect."""
    base = Setting()

    def edges(**changed: Any) -> Setting:
        return replace(base, edges=replace(base.edges, **changed))

    def seeds(**changed: Any) -> Setting:
        return replace(base, seeds=replace(base.seeds, **changed))

    return {
        "as shipped": base,
        **{f"damping {d}": replace(base, damping=d) for d in (0.3, 0.4, 0.6, 0.7, 0.8)},
        **{
            f"{n} seed chunks" + (", softer" if t > 0.02 else ""): seeds(chunks=n, temperature=t)
            for n, t in ((5, 0.02), (10, 0.02), (50, 0.02), (50, 0.03))
        },
        **{f"temperature {t}": seeds(temperature=t) for t in (0.01, 0.015, 0.03, 0.05)},
        **{f"entities' share {s}": seeds(share=s) for s in (0.0, 0.1, 0.15, 0.35, 0.5, 0.75)},
        **{f"{n} seed entities": seeds(entities=n) for n in (1, 10)},
        **{f"nearest beside named {s}": seeds(near=s) for s in (0.25, 0.5)},
        **{f"named by rarity, power {r}": seeds(rarity=r) for r in (0.5, 1.0)},
        **{f"lexical seeds {s}": seeds(lexical=s) for s in (0.25, 0.5)},
        **{f"own page weighs {w}": edges(own=w) for w in (0.25, 0.5, 2.0, 4.0)},
        **{f"own page weighs {w} from the page": edges(own_page_weight=w) for w in (2.0, 4.0, 8.0)},
        "own page weighs 2 from the chunk": edges(own=2.0, own_page_weight=0.5),
        **{f"hubs damped, power {a}": edges(hub=a) for a in (0.25, 0.5, 1.0)},
        **{f"next chunk weighs {w}": edges(following=w) for w in (0.25, 1.0)},
        **{f"relations weigh {w}": edges(relations=w) for w in (0.5, 1.0)},
        "sections beside": edges(sections="beside"),
        "sections instead": edges(sections="instead"),
    }


if __name__ == "__main__":
    command.run(main)
