"""What the TOML files that define measurements have in common."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import AfterValidator, Field

from trivium.common.definition_file import Name, Table
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
    """Questions and the store they are asked on. ``sample`` None means all of them."""

    questions: Name
    store: Name
    sample: Annotated[int, Field(ge=1)] | None = None
    seed: Annotated[int, Field(ge=0)] = 0
    exact: bool = False

    def paths(self, folder: Path) -> dict[str, str]:
        """Resolve ``questions`` and ``store``, which are relative to the folder of the file; addresses and names of data
        sets stay.
        """
        hub = self.questions.startswith(huggingface.PREFIX)
        return {
            "questions": self.questions if hub else str(folder / self.questions),
            "store": self.store if is_address(self.store) else str(folder / self.store),
        }
