"""The parts of an engine that its constructors take by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypedDict

from trivium.retrievers.setting_values import SettingValues

if TYPE_CHECKING:
    from trivium.fusion.score_table import Fusion
    from trivium.live.source import LiveSource
    from trivium.rerank.reranker import Reranker
    from trivium.retrievers.path import Selector
    from trivium.retrievers.query import Retriever
    from trivium.search.stage_timing import StageObserver


class EngineParts(TypedDict, total=False):
    """The keyword arguments of :class:`trivium.engine.Engine`, which describes them, for type checkers."""

    retrievers: Sequence[Retriever]
    fusion: str | Fusion | None
    selector: str | Selector | None
    settings: SettingValues | None
    rerankers: Sequence[str | Reranker]
    live: Sequence[LiveSource]
    on_stage: StageObserver | None
    device: str | None
    remembered_questions: int
