"""By which of its two regressions it is told whether passages are about a question."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from tests.answering.world import hit
from tests.retrievers.world import page, store_of
from trivium.answering import nearness
from trivium.answering.answer_parts import parts_of
from trivium.answering.passages import passages
from trivium.embedding.embedder import Vectors
from trivium.text.languages import Analyzer
from trivium.types import EmbedderIdentity

FITTED = {
    "e5": {way: {"weights": {}, "constants": {"": odds}} for way, odds in (("within", 9), ("across", -9))}
}
ARABIC, GERMAN, SPANISH = (
    "تقع المنارة على صخرة أمام الميناء.",
    "Der Leuchtturm steht auf einem Felsen.",
    "¿Dónde está el faro?",
)


class SameEverywhere:
    """An embedder for which all texts mean the same."""

    identity = EmbedderIdentity("e5", "1", 2)

    def embed(self, texts: Sequence[str]) -> Vectors:
        return np.array([[1, 0]] * len(texts), np.float32)

    def embed_query(self, text: str) -> Vectors:
        return self.embed([text])[0]


@pytest.mark.parametrize(
    ("question", "text", "languages", "way"),
    [
        ("أين تقع المنارة؟", ARABIC, ("ar",), "within"),
        ("أين تقع المنارة؟", ARABIC, ("en",), "within"),
        ("Wo steht der Leuchtturm?", GERMAN, ("de",), "within"),
        (SPANISH, GERMAN, ("de",), "across"),
        (SPANISH, ARABIC, ("ar",), "across"),
    ],
)
def test_a_script_of_one_language_is_that_language(
    question: str, text: str, languages: tuple[str, ...], way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also in a store that was not told its language; in Latin script the words tell which it is."""
    monkeypatch.setattr(nearness, "_fitted", lambda: FITTED)
    store = store_of([page("Tower", lead=[(text, [])])], {})
    (passage,) = passages([hit(store, "Tower#chunk-1", 1)], Analyzer(languages))
    near = nearness.nearness(question, [], parts_of([passage]), SameEverywhere(), None)  # type: ignore[arg-type]
    assert (near > 0.5) == (way == "within")
