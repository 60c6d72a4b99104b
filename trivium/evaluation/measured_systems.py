"""Measured systems (a retriever, a fusion or a run, optionally reranked and cut), and the language models they ask."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from trivium.errors import InputError
from trivium.evaluation.digests import digest_of_folder
from trivium.llm.token_usage import CountingChatModel
from trivium.rerank.llm import ListwiseReranker, PointwiseReranker
from trivium.rerank.reranker import Reranker
from trivium.retrievers.path import Selector
from trivium.retrievers.path_selectors import LlmSelector, RecordedSelector
from trivium.search.cut import Cut
from trivium.search.requests import SearchOptions
from trivium.types import Hit, Usage

if TYPE_CHECKING:
    from trivium.engine import Engine


@dataclass(frozen=True, slots=True)
class System:
    """The results of ``first``, optionally after a reranker and a cut."""

    first: str
    reranker: Reranker | None = None
    cut: Cut | None = None

    @property
    def name(self) -> str:
        """Its name in reports, such as ``default > bm25 > near``."""
        parts = (self.first, None if self.reranker is None else self.reranker.name, self.cut)
        return " > ".join(str(part) for part in parts if part is not None)

    def search(
        self,
        engine: Engine,
        question: str,
        k: int,
        retrievers: Collection[str],
        **options: Unpack[SearchOptions],
    ) -> list[Hit]:
        """Search with this system. ``first`` is one of ``retrievers``, or else a fusion. Raises the errors of the
        search.
        """
        views, fusion = ([self.first], None) if self.first in retrievers else (None, self.first)
        asked: SearchOptions = {**options, "rerank": self.reranker, "cut": self.cut}
        return engine.search(question, k, views, fusion, **asked)

    @property
    def depends_on(self) -> list[object]:
        """Return what the results depend on besides those of ``first``, as JSON values: names, the models behind the
        names of language models if a reranker uses one, and the files of a reranker in a folder. Raises InputError.
        """
        told: list[object] = [None if self.cut is None else str(self.cut)]
        if self.reranker is not None:
            told += [self.reranker.name, getattr(getattr(self.reranker, "model", None), "name", None)]
            folder = Path(self.reranker.name.partition(":")[2]).expanduser()
            if self.reranker.name.startswith("cross-encoder:") and folder.is_dir():
                told.append(digest_of_folder(folder))
        return told


def followed(firsts: Sequence[str], rerankers: Sequence[Reranker], cuts: Sequence[Cut]) -> list[System]:
    """Return every one of ``firsts`` after each reranker, then all these and ``firsts`` themselves ended by each cut,
    in the order of reports. Raises InputError for two rerankers or cuts with the same name.
    """
    for names in ([reranker.name for reranker in rerankers], list(map(str, cuts))):
        if len(set(names)) < len(names):
            raise InputError(f"expected every reranker and every cut once, got {', '.join(names)}")
    reranked = [System(first, reranker) for first in firsts for reranker in rerankers]
    return [*reranked, *_ended([*map(System, firsts), *reranked], cuts)]


def _ended(systems: Sequence[System], cuts: Sequence[Cut]) -> Iterator[System]:
    for system in systems:
        for cut in cuts:
            yield System(system.first, system.reranker, cut)


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
