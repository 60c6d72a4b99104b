"""The published figures of the thesis, by the rows and columns of its tables.

One hop: NQ dev, a fifth of its questions held out, text-embedding-ada-002, GPT-4o. Several hops: its own 100 questions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from experiments.papers.set_table import Figures

RANKED = ("P", "R", "hit", "F1", "F2", "F3")
COVERED = ("P", "R", "coverage", "F1", "F2", "F3")
ANSWERED = ("EM", "ROUGE-L", "cosine", "factual")


def _figures(columns: Sequence[str], rows: Mapping[tuple[str, str], Sequence[float]]) -> Figures:
    return {row: dict(zip(columns, values, strict=True)) for row, values in rows.items()}


ONE_HOP = _figures(
    ("chunks", *RANKED),
    {
        ("vector", "1 chunk"): (1, 0.398, 0.308, 0.398, 0.347, 0.323, 0.315),
        ("vector", "3 chunks"): (3, 0.241, 0.528, 0.622, 0.330, 0.426, 0.472),
        ("vector", "5 chunks"): (5, 0.175, 0.630, 0.710, 0.274, 0.414, 0.500),
        ("page", "1 page"): (35, 0.071, 0.789, 0.789, 0.130, 0.261, 0.392),
        ("page", "2 pages"): (72, 0.029, 0.861, 0.861, 0.056, 0.128, 0.223),
        ("page", "3 pages"): (108, 0.018, 0.885, 0.885, 0.035, 0.083, 0.152),
        ("section", "1 section"): (3, 0.207, 0.352, 0.421, 0.261, 0.309, 0.329),
        ("section", "3 sections"): (6, 0.113, 0.604, 0.663, 0.190, 0.323, 0.420),
        ("section", "5 sections"): (9, 0.058, 0.798, 0.829, 0.108, 0.225, 0.351),
        ("entity", "1 entity"): (4, 0.059, 0.096, 0.118, 0.073, 0.085, 0.090),
        ("entity", "3 entities"): (8, 0.046, 0.205, 0.249, 0.075, 0.121, 0.152),
        ("entity", "5 entities"): (11, 0.041, 0.248, 0.299, 0.070, 0.123, 0.165),
        ("path", "1 path"): (3, 0.266, 0.423, 0.512, 0.327, 0.378, 0.399),
        ("naive hybrid", "5 chunks"): (5, 0.188, 0.695, 0.776, 0.296, 0.451, 0.547),
        ("hybrid", "1 chunk"): (1, 0.478, 0.371, 0.478, 0.418, 0.388, 0.379),
        ("hybrid", "3 chunks"): (3, 0.298, 0.662, 0.756, 0.411, 0.532, 0.590),
        ("hybrid", "5 chunks"): (5, 0.215, 0.780, 0.851, 0.337, 0.511, 0.618),
    },
)
SEVERAL_HOPS = _figures(
    COVERED,
    {
        ("vector", "4 chunks"): (0.175, 0.357, 0.090, 0.235, 0.296, 0.323),
        ("vector", "6 chunks"): (0.138, 0.418, 0.160, 0.207, 0.297, 0.347),
        ("vector", "8 chunks"): (0.111, 0.448, 0.180, 0.178, 0.279, 0.344),
        ("naive hybrid", "4 chunks"): (0.125, 0.381, 0.110, 0.188, 0.270, 0.316),
        ("naive hybrid", "6 chunks"): (0.143, 0.432, 0.170, 0.215, 0.308, 0.359),
        ("naive hybrid", "8 chunks"): (0.155, 0.467, 0.200, 0.232, 0.333, 0.389),
        ("hybrid", "4 chunks"): (0.302, 0.599, 0.330, 0.402, 0.501, 0.545),
        ("hybrid", "6 chunks"): (0.232, 0.688, 0.430, 0.347, 0.494, 0.575),
        ("hybrid", "8 chunks"): (0.180, 0.711, 0.480, 0.287, 0.447, 0.549),
    },
)
ANSWERS = _figures(
    ANSWERED,
    {
        ("vector", "3 chunks"): (0.355, 0.461, 0.891, 0.636),
        ("hybrid", "3 chunks"): (0.399, 0.515, 0.903, 0.672),
        ("vector", "6 chunks"): (0.040, 0.394, 0.843, 0.424),
        ("hybrid", "6 chunks"): (0.060, 0.507, 0.887, 0.519),
    },
)
"""One hop: 3 chunks, questions with short answers. Several hops: 6 chunks."""
STEPS = _figures(
    ("P", "R", "hit"),
    {
        ("vector", "3 chunks"): (0.241, 0.528, 0.622),
        ("global, no mining", "3 chunks"): (0.271, 0.602, 0.693),
        ("local, no mining", "3 chunks"): (0.292, 0.648, 0.745),
        ("hybrid", "3 chunks"): (0.298, 0.662, 0.756),
        ("no path", "3 chunks"): (0.28, 0.61, 0.71),
    },
)
FEW = _figures(
    ("P", "R", "hit"),
    {
        ("200 rows", "1 chunk"): (0.391, 0.299, 0.391),
        ("200 rows", "3 chunks"): (0.256, 0.560, 0.657),
        ("200 rows", "5 chunks"): (0.190, 0.683, 0.766),
    },
)
IMPORTANCE: Mapping[str, float] = {
    "vector": 0.39,
    "section": 0.244,
    "page": 0.193,
    "entity": 0.112,
    "path": 0.06,
}
"""Figure 4.2: impurity importances of a random forest."""
