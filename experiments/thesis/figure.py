"""Figure 4.2: the importance of the five views, measured, and drawn as a picture."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

import fuser as thesis
import numpy as np
import published
from fuser_settings import ThesisSettings
from negatives import balanced
from numpy.typing import NDArray

from trivium.errors import InputError
from trivium.evaluation.tables import Table, share
from trivium.training.training_data import Collection

REPEATS = 10
_WIDTH, _LEFT, _BAR, _GAP = 560, 70, 12, 14
_COLOURS = ("#9aa5b1", "#3f51b5", "#e07b39", "#2e8b57", "#8e44ad")
Importance = Mapping[str, Mapping[str, float]]
"""View -> ``impurity``, ``permutation``, ``deviation``."""


def need_forests() -> tuple[Any, Any]:
    """Return scikit-learn's forest and permutation importance. Raises InputError without the package."""
    try:
        from sklearn.ensemble import RandomForestClassifier
        from sklearn.inspection import permutation_importance
    except ImportError as error:
        raise InputError("figure 4.2 needs the package scikit-learn: pip install scikit-learn") from error
    return RandomForestClassifier, permutation_importance


def importance(training: Collection, settings: ThesisSettings) -> dict[str, dict[str, float]]:
    """Return for each retriever the importance of its feature in a random forest of scikit-learn: ``impurity``, fitted
    on all folds but one, and ``permutation``, the loss of average precision on that one when the feature is shuffled,
    with its ``deviation`` over REPEATS. Both parts have as many negatives as gold passages.
    """
    forest_of, permuted = need_forests()
    hits = training.hits
    held_out = settings.fold_of(training.pages) == 0
    layout = thesis.layout_of([hit for hit, out in zip(hits, held_out, strict=True) if not out], settings)
    examples = [thesis.example_of(hit, layout, 1.0) for hit in hits]

    def rows(wanted: bool) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        chosen = [one for one, out in zip(examples, held_out, strict=True) if out == wanted]
        gold = np.concatenate([one.gold for one in chosen])
        kept = balanced(gold, generator)
        return np.concatenate([one.rows for one in chosen])[kept], gold[kept]

    generator = np.random.default_rng(settings.seed)
    forest = forest_of(200, min_samples_leaf=5, random_state=settings.seed)
    forest.fit(*rows(False))
    shuffled = permuted(
        forest,
        *rows(True),
        scoring="average_precision",
        n_repeats=REPEATS,
        random_state=settings.seed,
    )
    return {
        name: {
            "impurity": float(forest.feature_importances_[place]),
            "permutation": float(shuffled.importances_mean[place]),
            "deviation": float(shuffled.importances_std[place]),
        }
        for place, name in enumerate(settings.retrievers)
    }


def table(name: str, found: Importance) -> Table:
    """Return the importances of a set of questions beside the published ones."""
    made = Table(["view", "thesis", "impurity", "permutation", "deviation"], title=f"Figure 4.2: {name}")
    for view, own in found.items():
        made.add_row(
            view,
            share(published.IMPORTANCE[view]) if view in published.IMPORTANCE else "",
            *(share(own[measure]) for measure in ("impurity", "permutation", "deviation")),
        )
    return made


def picture(found: Mapping[str, Importance]) -> str:
    """Return a picture (SVG): for each view a bar of the published impurity and one of each set."""
    series = {"thesis": dict(published.IMPORTANCE)}
    series |= {name: {view: one["impurity"] for view, one in own.items()} for name, own in found.items()}
    views = list(next(iter(found.values())))
    longest = max(value for own in series.values() for value in own.values())
    step = len(series) * _BAR + _GAP
    height = len(views) * step + 24 + 18 * len(series)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" font-family="sans-serif"'
        ' font-size="12" role="img"><title>Importance of the views: random forest, impurity</title>'
        f'<rect width="{_WIDTH}" height="{height}" fill="#ffffff"/>'
    ]
    for row, view in enumerate(views):
        top = 12 + row * step
        parts.append(
            f'<text x="{_LEFT - 8}" y="{top + step / 2 - 3:.0f}" text-anchor="end">{escape(view)}</text>'
        )
        for place, own in enumerate(series.values()):
            value = own.get(view, 0.0)
            wide = (_WIDTH - _LEFT - 60) * value / longest
            y = top + place * _BAR
            parts.append(
                f'<rect x="{_LEFT}" y="{y}" width="{wide:.1f}" height="{_BAR - 2}" fill="{_colour(place)}"/>'
                f'<text x="{_LEFT + wide + 5:.1f}" y="{y + _BAR - 3}" font-size="10">{share(value)}</text>'
            )
    for place, name in enumerate(series):
        y = len(views) * step + 16 + 18 * place
        parts.append(f'<rect x="{_LEFT}" y="{y}" width="10" height="10" fill="{_colour(place)}"/>')
        parts.append(f'<text x="{_LEFT + 16}" y="{y + 10}">{escape(name)}</text>')
    return "\n".join([*parts, "</svg>", ""])


def _colour(place: int) -> str:
    return _COLOURS[place % len(_COLOURS)]
