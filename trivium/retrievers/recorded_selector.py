"""Records the selections of a language model and replays them without it.

Recordings are JSON Lines, one question per line: ``question``, ``selector`` (the model), ``offered`` and ``chosen``
(identifiers of options, the chosen ones best first). An interrupted recording is continued.
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
from trivium.retrievers.path import Option

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Selection:
    """One line of a recording."""

    question: str
    selector: str
    offered: tuple[str, ...]
    chosen: tuple[str, ...]


class RecordedSelector:
    """Replays what was chosen before for the same question and options. Thread-safe.

    With ``inner``, unknown questions and option lists are passed to that selector and its choices recorded; failures
    of the model are logged but not recorded, so that the next run retries. Without ``inner``, when other options are
    offered than were recorded, the chosen ones that are still offered are used. Raises ConfigurationError for a
    question that was not recorded and for an invalid file.
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
        """Warn once per run: on another store every question may differ."""
        if not self._warned:
            self._warned = True
            _log.warning(
                "path: other sections and paths are offered than when %s was recorded; of the chosen ones those that are"
                " still offered count",
                self.path,
            )


def read_selections(path: Path, *, missing: bool = False) -> list[Selection]:
    """Read the selections of a file.

    With ``missing``, the file need not exist, and an incomplete last line, left by an interrupted recording, is
    removed from it; otherwise such a line is ignored. Raises ConfigurationError.
    """
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
