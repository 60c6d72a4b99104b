"""Calls and tokens of the language models that measured systems ask."""

from __future__ import annotations

from dataclasses import dataclass, replace

from trivium.llm.token_usage import CountingChatModel
from trivium.rerank.llm import ListwiseReranker, PointwiseReranker
from trivium.rerank.reranker import Reranker
from trivium.retrievers.llm_path_selectors import LlmSelector, RecordedSelector
from trivium.retrievers.path import Selector
from trivium.types import Usage

_NOTHING = Usage()


@dataclass(frozen=True, slots=True)
class Spent:
    """Number of calls and tokens of language models. ``reranking`` is the part of rerankers."""

    calls: int = 0
    usage: Usage = _NOTHING
    reranking: Usage = _NOTHING

    def since(self, earlier: Spent) -> Spent:
        """Return the difference to an earlier count."""
        return Spent(
            self.calls - earlier.calls, self.usage - earlier.usage, self.reranking - earlier.reranking
        )


class SearchModels:
    """Counts the language models of built-in selectors and rerankers. Custom ones call their models directly and are
    not counted.
    """

    def __init__(self) -> None:
        self._choosing: list[CountingChatModel] = []
        self._reranking: list[CountingChatModel] = []

    def of_selector(self, selector: Selector) -> Selector:
        """Return the selector with its model counted, if it has one."""
        if isinstance(selector, LlmSelector):
            return replace(selector, model=self._chooses(selector))
        if isinstance(selector, RecordedSelector) and selector.model_selector is not None:
            inner = selector.model_selector
            return RecordedSelector(selector.path, replace(inner, model=self._chooses(inner)))
        return selector

    def of_reranker(self, reranker: Reranker) -> Reranker:
        """Return the reranker with its model counted, if it has one."""
        if isinstance(reranker, PointwiseReranker | ListwiseReranker):
            self._reranking.append(CountingChatModel(reranker.model))
            return type(reranker)(self._reranking[-1], reranker.name)
        return reranker

    @property
    def names(self) -> tuple[str, ...]:
        """Distinct names of the models."""
        return tuple(dict.fromkeys(model.name for model in (*self._choosing, *self._reranking)))

    @property
    def spent(self) -> Spent:
        """Usage of all of them so far."""
        reranking = sum((model.usage for model in self._reranking), _NOTHING)
        return Spent(
            sum(model.calls for model in (*self._choosing, *self._reranking)),
            sum((model.usage for model in self._choosing), reranking),
            reranking,
        )

    def _chooses(self, selector: LlmSelector) -> CountingChatModel:
        self._choosing.append(CountingChatModel(selector.model))
        return self._choosing[-1]
