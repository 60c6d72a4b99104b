"""Options of a search and their limits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypedDict

from trivium.common.arguments import check_count
from trivium.errors import InputError
from trivium.graph.filters import Where
from trivium.rerank.base import Reranker
from trivium.retrievers.setting_values import SettingValues
from trivium.search.cut import Cut
from trivium.types import SourceOutcome

MAX_K = 10_000
"""Maximum number of hits. Memory and time grow with it."""
MAX_QUESTION_CHARACTERS = 20_000
"""Maximum length of a question. The time for keyword matching grows with its number of words."""

Told = Callable[[Sequence[SourceOutcome]], None]
"""Callback that receives the outcomes of live sources."""
Warned = Callable[[Sequence[str]], None]
"""Callback that receives readable warnings about failures that did not stop the search."""


class SearchOptions(TypedDict, total=False):
    """Options of a search.

    - ``explain``: fill ``contributions`` of every hit.
    - ``exact``: use exact instead of approximate vector search.
    - ``settings``: retriever settings by dotted name, such as ``{"walk.damping": 0.4}``, for this search only.
    - ``where``: a condition on the hits, such as ``"year >= 2020"`` (:mod:`trivium.graph.filters`).
    - ``image``: content of a picture file, which the retriever ``image`` compares with the store's pictures instead
      of the question. The question may then be empty when no other retriever is asked.
    - ``sources``: names of live sources (:data:`trivium.live.registry.SOURCES`), whose passages are ranked together
      with those of the store.
    - ``on_sources``: called once per question with the outcomes of the live sources.
    - ``rerank``: a reranker or its name (:func:`trivium.rerank.registry.make_reranker`). The first passages are
      reordered by its scores; the settings ``rerank.passages`` and ``rerank.seconds`` limit their number and the
      time. If it fails, the order is unchanged.
    - ``on_warnings``: called with the reasons of such failures, and with how many texts are not embedded yet. Otherwise
      these are logged.
    - ``cut``: end the list by its scores instead of at a fixed ``k`` (:class:`trivium.search.cut.Cut`, or its text).
    - ``recall``: an alternative question, such as a paraphrase. The retrievers and live sources return candidates for
      it too; all candidates are ranked by the question itself.
    """

    explain: bool
    exact: bool
    settings: SettingValues | None
    where: Where | None
    image: bytes | None
    sources: Sequence[str] | None
    on_sources: Told | None
    recall: str | None
    rerank: str | Reranker | None
    cut: str | Cut | None
    on_warnings: Warned | None


def check_question(text: object) -> None:
    """Raise InputError unless the question is non-empty text of at most :data:`MAX_QUESTION_CHARACTERS`."""
    if not isinstance(text, str):
        raise InputError(f"expected a question as text, got {type(text).__name__}")
    if not text.strip():
        raise InputError("a question needs some text, got an empty one")
    if len(text) > MAX_QUESTION_CHARACTERS:
        raise InputError(
            f"a question may have {MAX_QUESTION_CHARACTERS:,} characters, got {len(text):,}: an embedder reads the first"
            " few hundred words"
        )


def check_k(k: object) -> None:
    """Raise InputError unless ``k`` is an integer from 1 to :data:`MAX_K`."""
    check_count("k", k, MAX_K)
