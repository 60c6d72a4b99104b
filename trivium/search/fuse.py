"""The fusion of a search: by name, as an object, or the default of the store; and the candidates of a question with their
fused scores. The number of hits requested changes neither scores nor order.

A trained network keeps what the numbers that it takes are computed with, and its searches use that, so that a changed
default changes no score of a network that was trained before.

A fusion compares candidates with each other, so a score depends on the set of candidates. Candidates are therefore
scored in rounds: first those in lists of length :data:`~trivium.search.candidates.DEPTH`, which is enough for most
searches. When more are requested, the retrievers are asked for longer lists; the candidates that these add are
appended and the earlier ones keep their scores.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trivium.common.arrays import Floats
from trivium.errors import ConfigurationError, FusionError, InputError
from trivium.fusion.fusion_names import DEFAULT, FUSIONS, PLUGINS
from trivium.fusion.network import NetworkFusion
from trivium.fusion.registry import make_fusion, suits
from trivium.fusion.score_table import Fused, Fusion, Table, joined
from trivium.fusion.stored_decision import read_decision
from trivium.graph.protocols import GraphStore
from trivium.plugins import list_plugins
from trivium.rerank.reranker_names import PREFIX
from trivium.retrievers.path import MatchSettings
from trivium.retrievers.query import Query, Retriever, check_counts
from trivium.retrievers.registry import RetrieverSettings
from trivium.retrievers.retriever_names import OPTIONAL
from trivium.retrievers.setting_values import flatten, with_values
from trivium.retrievers.signals import SignalSettings
from trivium.search.candidates import DEPTH, gather
from trivium.search.stage_timing import StageObserver, ignore_stages, observed
from trivium.text.folding import tokens
from trivium.text.identifiers import identifiers_of


@dataclass(frozen=True, slots=True)
class Inputs:
    """Settings of the retrievers, of the path retriever's selector and of the signals, and how many candidates each
    retriever returns."""

    retrievers: RetrieverSettings = field(default_factory=RetrieverSettings)
    match: MatchSettings = field(default_factory=MatchSettings)
    signals: SignalSettings = field(default_factory=SignalSettings)
    depth: int = DEPTH

    def __post_init__(self) -> None:
        check_counts("inputs", depth=self.depth)

    @property
    def values(self) -> dict[str, Any]:
        """All of them by dotted name, as an artefact keeps them.

        >>> Inputs().values["retrievers.lexical.bm25.k1"]
        0.9
        """
        return flatten(asdict(self))


DEFAULTS = Inputs()
"""Those of this program."""


def inputs_of(fusion: Fusion) -> Inputs:
    """Return those a fusion was trained with: :data:`DEFAULTS` for fusions that were not trained, and where an artefact
    of an earlier version names none. Raises FusionError for what this program has not.
    """
    return _inputs_of(fusion) if isinstance(fusion, NetworkFusion) else DEFAULTS


@lru_cache(maxsize=16)
def _inputs_of(fusion: NetworkFusion) -> Inputs:
    try:
        return with_values(
            Inputs(), {name: _hashable(value) for name, value in fusion.inputs.items()}, constants=True
        )
    except ConfigurationError as error:
        raise FusionError(
            f"the trained fusion has other inputs than this program: {error}; train it again"
        ) from error


def _hashable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


class Fusions:
    """The fusions of one store, created on first use and cached. Changes on disk are seen by the next engine.

    ``default`` (a fusion or a name) is used by searches that name none. Without it, the default is the fusion decided
    for the store, else the one shipped for its embedder.
    """

    def __init__(self, store: GraphStore, default: str | Fusion | None = None) -> None:
        self._store = store
        self._default = default
        self._made: dict[str, Fusion] = {}
        if default is not None and not isinstance(default, str):
            self._made[default.name] = default

    @property
    def names(self) -> tuple[str, ...]:
        """All known names: built-in fusions, then the one passed as an object, then those of installed packages."""
        handed_in = () if self._default is None or isinstance(self._default, str) else (self._default.name,)
        return tuple(dict.fromkeys((*FUSIONS, *handed_in, *list_plugins(PLUGINS))))

    def get(self, name: str) -> Fusion:
        """Return the fusion of that name, or the trained one in the folder of that name. Raises FusionError."""
        if name == DEFAULT and self._default is not None:
            name = self._default if isinstance(self._default, str) else self._default.name
        if name not in self._made:
            self._made[name] = self._make(name)
        return self._made[name]

    def suitable(self, name: str | None, retrievers: Collection[str]) -> Fusion:
        """Return the fusion for a search that asks ``retrievers``: the named one, else the default.

        If the default is a network trained on retrievers that are not asked, the convex combination is used instead.
        If an optional retriever is asked, reciprocal rank fusion is used, since no fusion was fitted with it and a
        weighted mean would ignore it. Raises FusionError.
        """
        if name is not None and not isinstance(name, (str, Path)):
            raise InputError(f"expected the name of a fusion, got {type(name).__name__}")
        name = DEFAULT if name is None else str(name)
        if name == DEFAULT and any(view in OPTIONAL or view.startswith(PREFIX) for view in retrievers):
            return self.get("rrf")
        fusion = self.get(name)
        return fusion if name != DEFAULT or suits(fusion, retrievers) else self.get("convex")

    def of_store(self) -> Fusion:
        """Return the default fusion of the store, read anew: the one decided for it, else the one shipped for its
        embedder. A default passed as an object or a name does not count. Raises FusionError for a damaged decision.
        """
        return self._make(DEFAULT)

    def _make(self, name: str) -> Fusion:
        identity = self._store.embedder
        embedder = "" if identity is None else identity.name
        decision = self._decision() if name == DEFAULT else None
        return make_fusion(name, embedder, decision, names=self._store.entities is not None)

    def forget_default(self) -> None:
        """Drop the cached default, after another decision was stored."""
        self._made.pop(DEFAULT, None)

    def on(self, store: GraphStore) -> Fusions:
        """Return the fusions for another snapshot of the store, which may have another default."""
        return Fusions(store, self._default)

    def _decision(self) -> str | None:
        kept = self._store.fusion_decision
        return None if kept is None else read_decision(kept).fusion


DEEPER = 4
"""Factor by which the lists grow in each round. It is constant because rounds must not depend on the number of hits
requested.
"""
STEP = 1e-3
"""Minimum difference between the last score of one round and the first of the next."""


def fuse_candidates(
    query: Query,
    retrievers: Mapping[str, Retriever],
    fusion: Fusion,
    count: int,
    on_stage: StageObserver = ignore_stages,
    recall: Query | None = None,
) -> tuple[Table, Fused]:
    """Return at least ``count`` candidates, or all that the retrievers find, with their fused scores.

    Ordered by score, the candidates for a small ``count`` are a prefix of those for a larger one. Candidates of a
    later round have the scores that the fusion gives them within that round, minus a constant when needed so that
    they all rank below the earlier rounds.
    """

    inputs = inputs_of(fusion)
    signals = inputs.signals if fusion.needs_signals else None

    def of_lists(depth: int) -> Table:
        return gather(query, retrievers, depth, signals=signals, recall=recall, on_stage=on_stage)

    table = of_lists(inputs.depth)
    with observed(on_stage, "fuse"):
        fused = _lifted(query, table, fusion.fuse(table))
    deepest, depth = table, inputs.depth
    while len(table.chunks) < count and _may_find_more(deepest, depth):
        depth *= DEEPER
        deepest = of_lists(depth)
        known = set(table.chunks)
        new = [row for row, uri in enumerate(deepest.chunks) if uri not in known]
        if new:
            with observed(on_stage, "fuse"):
                fused = _behind(fused, fusion.fuse(deepest), new, len(table.columns))
            table = joined(table, deepest.take(new))
    return table, fused


def _lifted(query: Query, table: Table, fused: Fused) -> Fused:
    """Raise passages above all others that alone have an identifier of the question, or that have the code or unit that
    is the whole question (``m²``). The explanation counts what was added as the first retriever's of words.
    """
    having = _decided(query, table) if table.chunks else np.zeros(0, dtype=bool)
    if not having.any() or having.all():
        return fused
    missing = float(fused.scores[~having].max() - fused.scores[having].min()) + STEP
    added = np.where(having, max(0.0, missing), 0.0)
    column = table.columns.index("lexical") if "lexical" in table.columns else 0

    def explain(rows: Sequence[int]) -> Floats:
        shares = np.array(fused.explain(rows), dtype=np.float64)
        shares[:, column] += added[list(rows)]
        return shares

    return Fused(fused.scores + added, explain, fused.baseline)


def _decided(query: Query, table: Table) -> NDArray[np.bool_]:
    """Which candidates (n,) have an identifier of the question that no other passage has (of one of several words: no
    other candidate), or that is the whole question.
    """
    decided = np.zeros(len(table.chunks), dtype=bool)
    asked = identifiers_of(query.text, query.analyzer)
    terms = query.terms if asked else []
    if not terms:
        return decided
    frequency = query.term_statistics.document_frequency
    places = {term: place for place, term in enumerate(terms)}
    counts = query.term_counts(table.chunks)
    has = (counts.text + counts.headings) > 0
    is_whole = len(tokens(query.text)) == 1
    for identifier in asked:
        whole = [places[term] for term in identifier.whole if term in places]
        parts = [places[term] for term in identifier.parts if term in places]
        rows = has[:, whole].any(axis=1)
        if parts and len(parts) == len(identifier.parts):
            rows |= has[:, parts].all(axis=1)
        is_several = len(identifier.whole if whole else identifier.parts) > 1
        is_one = is_several or (frequency[whole or parts] == 1).any()
        if is_whole or (is_one and rows.sum() == 1):
            decided |= rows
    return decided


def _may_find_more(table: Table, depth: int) -> bool:
    """Whether some retriever's list reached the maximum length."""
    return bool((table.ranks >= depth).any())


def _behind(first: Fused, later: Fused, new: Sequence[int], columns: int) -> Fused:
    """Combine the scores of ``first`` with those of the rows ``new`` of ``later``.

    The baseline is that of ``first``. Its difference to the baseline of ``later``, and the constant subtracted from
    the new rows, are distributed evenly over all columns of the explanation.
    """
    known = len(first.scores)
    limit = float(first.scores.min()) - STEP if known else np.inf
    lowered = max(0.0, float(later.scores[list(new)].max()) - limit)

    def explain(rows: Sequence[int]) -> Floats:
        shares = np.zeros((len(rows), columns))
        old = [place for place, row in enumerate(rows) if row < known]
        added = [place for place, row in enumerate(rows) if row >= known]
        if old:
            shares[old] = first.explain([rows[place] for place in old])
        if added:
            own = later.explain([new[rows[place] - known] for place in added])
            shares[added] = own + (later.baseline - first.baseline - lowered) / columns
        return shares

    scores = np.concatenate([first.scores, later.scores[list(new)] - lowered])
    return Fused(scores, explain, first.baseline)
