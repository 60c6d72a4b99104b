"""What the TOML files that define measurements have in common."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import AfterValidator, Field

from trivium.common.definition_file import Name, NonEmpty, Table
from trivium.errors import ConfigurationError, InputError
from trivium.graph.open_store import is_address
from trivium.parser.sources import huggingface
from trivium.rerank.registry import make_reranker
from trivium.search.cut import Cut

T = TypeVar("T")


def _made(make: Callable[[str], T], text: str) -> T:
    """Return what a text names. Raises ValueError, as pydantic requires."""
    try:
        return make(text)
    except (InputError, ConfigurationError) as error:
        raise ValueError(str(error)) from error


def _reranker(name: str) -> str:
    _made(make_reranker, name)
    return name


def _cut(rule: str) -> str:
    return str(_made(Cut.read, rule))


RerankerName = Annotated[str, AfterValidator(_reranker)]
"""The name of a reranker."""
CutRule = Annotated[str, AfterValidator(_cut)]
"""A rule for ending lists, in the syntax of :class:`~trivium.search.cut.Cut`."""


class QuestionSet(Table):
    """Questions and the stores they are asked on. ``sample`` None means all of them."""

    questions: Name
    store: Name | NonEmpty[Name]
    sample: Annotated[int, Field(ge=1)] | None = None
    seed: Annotated[int, Field(ge=0)] = 0
    exact: bool = False

    def questions_in(self, folder: Path) -> str:
        """Resolve ``questions``, which are relative to the folder of the file; names of data sets stay."""
        return (
            self.questions if self.questions.startswith(huggingface.PREFIX) else str(folder / self.questions)
        )

    def stores_in(self, folder: Path) -> dict[str, str]:
        """Resolve the stores, by their names in the file; addresses stay."""
        names = [self.store] if isinstance(self.store, str) else self.store
        return {name: name if is_address(name) else str(folder / name) for name in names}
