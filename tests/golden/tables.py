"""What a store does with questions, in numbers: candidates, the scores and ranks of every retriever, signals, features,
fused scores, hits and answers. Recorded once, they show of any change of the code what it changes of these.
"""

from __future__ import annotations

import gzip
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trivium.engine import Engine
from trivium.fusion.features import features
from trivium.fusion.network import NetworkFusion
from trivium.fusion.registry import make_fusion
from trivium.fusion.score_table import Table
from trivium.graph.filter_language import parse
from trivium.retrievers.signals import SignalSettings

NETWORK = "bge-small"
"""Of the shipped networks the one whose layout and scores are recorded, whatever embedder filled the store."""
DIGITS = 7
"""Significant digits that are recorded."""
TOLERANCE = 2e-6
"""Largest relative difference, of numbers below 1 absolute, that is none: NumPy's kernels depend on the processor."""
SHOWN = 3
"""Best candidates that are recorded one by one. Of all there are the number and, a column, the sum."""
HITS = 10

Record = dict[str, Any]


def recorded(
    engine: Engine, asked: Iterable[tuple[str, str | None]], *, answers: bool = True
) -> Iterator[Record]:
    """Ask questions, each with a condition or None, and record what comes of it."""
    network = make_fusion("network", NETWORK)
    assert isinstance(network, NetworkFusion)
    for question, where in asked:
        yield {
            "question": question,
            "where": where,
            **_tables(engine, question, where, network),
            "hits": [[hit.uri, _short(hit.score)] for hit in engine.search(question, HITS, where=where)],
            **({"answer": _answer(engine, question, where)} if answers else {}),
        }


def _tables(engine: Engine, question: str, where: str | None, network: NetworkFusion) -> Record:
    searcher = engine.searcher
    with searcher.limited(None if where is None else parse(where), question) as store:
        query = searcher.query(question, store=store)
        table = searcher.table(query, searcher.retrievers.choose(), signals=SignalSettings())
        convex = searcher.fusions.get("convex").fuse(table).scores
    scores = network.fuse(table).scores
    rows = features(table, network.layout)
    best = np.lexsort((np.array(table.chunks), -scores.round(6)))[:SHOWN] if len(scores) else []
    return {
        "candidates": len(table.chunks),
        "ranks": {name: int(table.returned[:, place].sum()) for place, name in enumerate(table.columns)},
        "best": [_candidate(table, row, {"convex": convex, "network": scores}) for row in best],
        "sums": {
            **{name: _sum(values) for name, values in _columns(table).items()},
            "convex": _sum(convex),
            "network": _sum(scores),
        },
        "features": [_sum(column) for column in rows.T],
        "asks": {name: _short(value) for name, value in sorted(table.question.items())},
    }


def _candidate(table: Table, row: int, fused: Mapping[str, NDArray[np.float64]]) -> Record:
    return {
        "uri": table.chunks[row],
        "ranks": table.ranks[row].tolist(),
        "from": {name: str(node) for name, node in table.source_nodes[row].items()},
        "scores": [_short(values[row]) for values in (*_columns(table).values(), *fused.values())],
    }


def _columns(table: Table) -> dict[str, NDArray[np.float64]]:
    raw = {name: table.raw[:, place] for place, name in enumerate(table.columns)}
    return {**raw, **{f"signal {name}": values for name, values in sorted(table.signals.items())}}


def _answer(engine: Engine, question: str, where: str | None) -> Record:
    answer = engine.ask(question, where=where)
    return {
        "outcome": answer.outcome,
        "text": answer.text,
        "statements": [[s.start, s.end, list(s.citations), _short(s.support)] for s in answer.statements],
    }


def _sum(values: NDArray[np.float64]) -> float | None:
    return _short(np.nansum(values))


def _short(value: float) -> float | None:
    """A number as JSON with the digits that are recorded, None for NaN."""
    return None if math.isnan(value) else float(f"{value:.{DIGITS}g}")


# -- files and comparing -----------------------------------------------------------------------------------------------


def write(path: Path, records: Iterable[Record]) -> None:
    """Write records to a packed file of JSON lines, the same bytes for the same records."""
    lines = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    path.write_bytes(gzip.compress(lines.encode(), mtime=0))


def read(path: Path) -> list[Record]:
    """Read the records of a file."""
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).decode().splitlines()]


def differences(before: Any, now: Any, place: str = "") -> Iterator[str]:
    """Name what differs between two records, with its place."""
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        for name in dict.fromkeys([*before, *now]):
            yield from differences(before.get(name), now.get(name), f"{place}/{name}")
    elif _is_list(before) and _is_list(now) and len(before) == len(now):
        for number, (one, other) in enumerate(zip(before, now, strict=True)):
            yield from differences(one, other, f"{place}/{number}")
    elif not _same(before, now):
        yield f"{place}: {before!r} is {now!r} now"


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _same(before: object, now: object) -> bool:
    if isinstance(before, float) and isinstance(now, float):
        return math.isclose(before, now, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return before == now
