"""Measured systems: a retriever, a fusion or a run, optionally reranked and cut."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from trivium.errors import InputError
from trivium.evaluation.digests import digest_of_folder
from trivium.rerank.reranker import Reranker
from trivium.search.cut import Cut
from trivium.search.requests import SearchOptions
from trivium.types import Hit

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
