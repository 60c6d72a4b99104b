"""Language models that take part in searches, counted: one that chooses for the path retriever, others that rerank."""

from __future__ import annotations

from dataclasses import dataclass, replace

from trivium.llm.counting import CountingChatModel
from trivium.rerank.base import Reranker
from trivium.rerank.llm_listwise import ListwiseReranker
from trivium.rerank.llm_pointwise import PointwiseReranker
from trivium.retrievers.llm_selector import LlmSelector
from trivium.retrievers.recorded_selector import RecordedSelector
from trivium.retrievers.selectors import Selector
from trivium.types import Usage

_NOTHING = Usage()


@dataclass(frozen=True, slots=True)
class Spent:
    """How often language models were asked, and the tokens they took."""

    calls: int = 0
    usage: Usage = _NOTHING

    def since(self, earlier: Spent) -> Spent:
        """What came after an earlier count."""
        return Spent(self.calls - earlier.calls, self.usage - earlier.usage)


class SearchModels:
    """Counts what those of its selectors and rerankers take that are the package's own; a selector or reranker of
    somebody's own asks whom it likes, and is not counted."""

    def __init__(self) -> None:
        self._models: list[CountingChatModel] = []

    def of_selector(self, selector: Selector) -> Selector:
        """The same selector, whose model is counted where it has one."""
        if isinstance(selector, LlmSelector):
            return replace(selector, model=self._counted(selector))
        if isinstance(selector, RecordedSelector) and selector.model_selector is not None:
            inner = selector.model_selector
            return RecordedSelector(selector.path, replace(inner, model=self._counted(inner)))
        return selector

    def of_reranker(self, reranker: Reranker) -> Reranker:
        """The same reranker, whose model is counted where it has one."""
        if isinstance(reranker, PointwiseReranker | ListwiseReranker):
            return type(reranker)(self._counted(reranker), reranker.name)
        return reranker

    @property
    def names(self) -> tuple[str, ...]:
        """Of the models, each once."""
        return tuple(dict.fromkeys(model.name for model in self._models))

    @property
    def spent(self) -> Spent:
        """By all of them so far."""
        models = self._models
        return Spent(sum(model.calls for model in models), sum((model.usage for model in models), Usage()))

    def _counted(self, asks: LlmSelector | PointwiseReranker | ListwiseReranker) -> CountingChatModel:
        counted = CountingChatModel(asks.model)
        self._models.append(counted)
        return counted
