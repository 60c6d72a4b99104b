"""What may be asked of a searcher, and how much of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypedDict

from trivium.errors import InputError
from trivium.graph.filters import Where
from trivium.rerank.base import Reranker
from trivium.retrievers.setting_values import SettingValues
from trivium.search.cut import Cut
from trivium.types import SourceOutcome

MAX_K = 10_000
"""The most hits a search gives: memory and time grow with their number."""
MAX_QUESTION_CHARACTERS = 20_000
"""The longest question. The time to match words grows with their number."""

Told = Callable[[Sequence[SourceOutcome]], None]
"""Is told what came of asking live sources."""
Warned = Callable[[Sequence[str]], None]
"""Is told, for people, what did not work in a search that went on all the same."""


class SearchOptions(TypedDict, total=False):
    """``explain`` fills each hit's ``contributions``; ``exact`` asks exact instead of approximate vector search;
    ``settings`` are values of retrievers by dotted name, such as ``{"walk.damping": 0.4}``, for this search only;
    ``where`` is a condition that the hits must fulfil, such as ``"year >= 2020"`` (:mod:`trivium.graph.filters`);
    ``image`` is the content of a picture file, which the retriever ``image`` compares with the store's pictures instead
    of the question; the question may then be empty where no other retriever is asked.
    ``sources`` are names of live sources (:data:`trivium.live.registry.SOURCES`), whose passages are ranked among those
    of the store; ``on_sources`` is told what came of asking them, once a question.
    ``rerank`` names a reranker (:func:`trivium.rerank.registry.make_reranker`), or is one: the first passages are put in
    the order of its scores; settings ``rerank.passages`` and ``rerank.seconds`` say how many, and how long that may take.
    Where it fails the order stays as it was, and ``on_warnings`` is told why (without it, the log).
    ``cut`` ends the list by the scores in place of a fixed ``k`` (:class:`trivium.search.cut.Cut`, or its text).
    ``recall`` is another question, to which the retrievers and the live sources are asked for candidates as well, such as
    one with other words for the same; all of them are ranked by the question itself."""

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
    """Raise InputError unless a question is text, not empty and of at most :data:`MAX_QUESTION_CHARACTERS`."""
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
    """Raise InputError unless the number of hits is a whole number from 1 to :data:`MAX_K`."""
    if not isinstance(k, int) or isinstance(k, bool):
        raise InputError(f"expected k as a whole number, got {type(k).__name__}")
    if not 1 <= k <= MAX_K:
        raise InputError(f"k must be 1 or more and at most {MAX_K:,}, got {k:,}")
