"""Selections of a language model, recorded as they are made and replayed without it.

A file is JSON Lines, one question a line: ``question``, ``selector`` (who chose), ``offered`` and ``chosen`` (identifiers
of options, the chosen ones best first). A recording that was interrupted goes on where it ended.
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from trivium.errors import ChatModelError, ConfigurationError
from trivium.retrievers.llm_selector import LlmSelector
from trivium.retrievers.options import Option

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Selection:
    """One line of a file."""

    question: str
    selector: str
    offered: tuple[str, ...]
    chosen: tuple[str, ...]


class RecordedSelector:
    """Chooses what was chosen before for the same question and the same options. Threads may share it.

    With ``inner`` it asks that selector for everything else and writes down what it answers; a failure of the model is
    logged and not written, so that the next run asks again. Without, nobody is asked: where other options are offered
    than then, those of the chosen ones that are still offered count, and a question that was never asked raises
    ConfigurationError, as does a file that holds something else.
    """

    def __init__(self, path: Path, inner: LlmSelector | None = None) -> None:
        self.path = path
        self.model_selector = inner
        self._lock = threading.Lock()
        self._known: dict[str, list[Selection]] = {}
        for selection in read_selections(path, missing=inner is not None):
            self._known.setdefault(selection.question, []).append(selection)
        self._warned = False

    def select(self, question: str, options: Sequence[Option]) -> list[Option]:
        if not options:
            return []
        offered = tuple(option.identifier for option in options)
        with self._lock:
            known = self._known.get(question, [])
        same = next((one for one in known if one.offered == offered), None)
        if same is None:
            if self.model_selector is not None:
                return self._ask(self.model_selector, question, options)
            if not known:
                raise ConfigurationError(
                    f"{self.path} has no selection for the question {question[:200]!r}: record it with"
                    f" --selector record:{self.path}"
                )
            same = known[-1]
            self._warn()
        by_name = {option.identifier: option for option in options}
        return [by_name[name] for name in same.chosen if name in by_name]

    def _ask(self, inner: LlmSelector, question: str, options: Sequence[Option]) -> list[Option]:
        try:
            chosen = inner.choose(question, options)
        except ChatModelError as error:
            _log.warning("path: %s could not choose, going on without: %s", inner.model.name, error)
            return []
        selection = Selection(
            question,
            f"llm:{inner.model.name}",
            tuple(option.identifier for option in options),
            tuple(option.identifier for option in chosen),
        )
        with self._lock:
            self._known.setdefault(question, []).append(selection)
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(selection), ensure_ascii=False) + "\n")
        return chosen

    def _warn(self) -> None:
        """Once a run: on another store every question may differ."""
        if not self._warned:
            self._warned = True
            _log.warning(
                "path: other sections and paths are offered than when %s was recorded; of the chosen ones those that are"
                " still offered count",
                self.path,
            )


def read_selections(path: Path, *, missing: bool = False) -> list[Selection]:
    """The selections of a file; none of one that is ``missing``, where it may be. A last line without its end, of a
    recording that was killed, is cut off where the file may be missing, too, and left out otherwise. Raises
    ConfigurationError."""
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        if missing:
            return []
        raise ConfigurationError(
            f"expected a file of recorded selections, got {path}: there is none"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"expected a file of recorded selections, got {path}: {error}") from error
    whole, end, rest = text.rpartition("\n")
    if rest and missing:
        path.write_text(whole + end, "utf-8")
    return [_selection(path, number, line) for number, line in enumerate(whole.split("\n"), start=1) if line]


def _selection(path: Path, number: int, line: str) -> Selection:
    try:
        values = json.loads(line)
        selection = Selection(
            values["question"], values["selector"], tuple(values["offered"]), tuple(values["chosen"])
        )
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigurationError(
            f"{path}, line {number}: expected a recorded selection, got {line[:100]!r}"
        ) from error
    names = (selection.question, selection.selector, *selection.offered, *selection.chosen)
    if not all(isinstance(name, str) for name in names):
        raise ConfigurationError(f"{path}, line {number}: expected texts, got {line[:100]!r}")
    return selection
