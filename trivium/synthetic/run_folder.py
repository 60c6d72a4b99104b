"""The folder of a run: one log per step, from which everything else is derived. A log is JSON Lines: its settings on the
first line, then one record per line. An interrupted step resumes from its log if the settings are the same.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from trivium.answering.passage_prompts import Source
from trivium.common.safe_files import JsonLines
from trivium.errors import InputError
from trivium.synthetic.records import Bridge, Decision, Judged, Outcome, Reviewed, Written
from trivium.types import Usage

T = TypeVar("T")
Settings = Mapping[str, str | int | list[str]]


class Log(Generic[T]):
    """A log file with records of type ``kind``, a dataclass."""

    def __init__(self, path: Path, kind: type[T]) -> None:
        self.path = path
        self._lines: JsonLines[T] = JsonLines(path, kind, header=1)

    def settings(self) -> Settings | None:
        """Return the settings with which the step was started; None if it was not started. Raises InputError for
        another kind of file.
        """
        first = next(self._lines.lines(), None)
        if first is None:
            return None
        try:
            settings = json.loads(first)["settings"]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise self._damaged() from error
        if not isinstance(settings, dict):
            raise self._damaged()
        return settings

    def records(self) -> list[T]:
        """Return the records, in order. Raises InputError, naming the line, for an unreadable one."""
        return list(self._lines.records())

    @contextmanager
    def writing(self, settings: Settings) -> Iterator[Callable[[T], None]]:
        """Start or resume the step; yields a function that appends a record.

        Raises InputError when the log holds records made with other settings, or another process is writing to it.
        """
        with self._lines.writing():
            earlier = self.settings()
            if earlier is not None and sum(1 for _ in self._lines.lines()) > 1:
                self._check(earlier, settings)
            else:  # without records the settings may change
                self._lines.keep(0)
                self._lines.append_line(json.dumps({"settings": settings}, ensure_ascii=False).encode())
            yield self._lines.append

    def _check(self, earlier: Settings, settings: Settings) -> None:
        changed = [
            f"{name} was {_shown(earlier.get(name))} and is now {_shown(settings.get(name))}"
            for name in sorted({*earlier, *settings})
            if earlier.get(name) != settings.get(name)
        ]
        if changed:
            raise InputError(
                f"{self.path} was started with other settings: {'; '.join(changed)}."
                " Resume with the settings it was started with, or start a run in another folder"
            )

    def _damaged(self) -> InputError:
        return InputError(f"{self.path}, line 1: expected the settings of the step, got something else")


def _shown(value: object) -> str:
    return "not set" if value is None else json.dumps(value, ensure_ascii=False)


THRESHOLD = 7
"""Questions are shown for review if none of their scores is below this."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A question that passed the checks, with its scores. ``sources`` are the passages it was generated from,
    ``decision`` is the last decision (None before a review), and ``quote`` is the sentence that supports the answer of a
    plain question.
    """

    bridge: Bridge
    question: str
    answer: str
    sources: tuple[Source, ...]
    judged: Judged
    decision: Decision | None = None
    quote: str = ""


class Run:
    """A run in a folder, which the first step creates."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.bridges: Log[Bridge] = Log(self.folder / "bridges.jsonl", Bridge)
        self.written: Log[Written] = Log(self.folder / "written.jsonl", Written)
        self.judged: Log[Judged] = Log(self.folder / "judged.jsonl", Judged)
        self.reviewed: Log[Reviewed] = Log(self.folder / "reviewed.jsonl", Reviewed)

    def require_started(self) -> None:
        """Raise InputError when no questions were generated in the folder."""
        if self.written.settings() is None:
            raise InputError(
                f"{self.folder}: expected the folder of a run, found none: start with  trivium synthesize generate"
            )

    def drawn(self, settings: Settings, wanted: int, draw: Callable[[], list[Bridge]]) -> list[Bridge]:
        """Return the first ``wanted`` of what ``draw`` gives. They are logged, so that later steps do not need the store.
        Raises InputError when they are others than before.
        """
        with self.bridges.writing(settings) as append:
            logged = self.bridges.records()
            if len(logged) < wanted:
                found = draw()
                if logged != found[: len(logged)]:
                    raise InputError(
                        f"{self.bridges.path}: the store gives others than before: start a run in another folder"
                    )
                for bridge in found[len(logged) :]:
                    append(bridge)
                logged = found
            return logged[:wanted]

    def candidates(self, threshold: int = THRESHOLD) -> list[Candidate]:
        """Return the questions whose scores are all at least ``threshold`` (1 to 10; 0: also unscored ones), highest
        sum first. Decided questions are included regardless of their scores. Raises InputError for an unreadable log.
        """
        bridges = {bridge.entity: bridge for bridge in self.bridges.records()}
        written = {record.entity: record for record in self.written.records()}
        decisions = self._decisions()
        candidates = []
        scored = {record.entity: record for record in self.judged.records()}
        passed = [record.entity for record in written.values() if record.outcome is Outcome.WRITTEN]
        for judged in [*scored.values(), *(Judged(entity) for entity in passed if entity not in scored)]:
            decision = decisions.get(judged.entity)
            if decision is None and judged.weakest < threshold:
                continue
            if judged.entity not in bridges or judged.entity not in written:
                raise InputError(
                    f"{self.folder}: the logs belong to different runs: {judged.entity!r} was never written"
                )
            bridge, draft = bridges[judged.entity], written[judged.entity]
            sources = tuple(source for source in bridge.sources if source.uri in draft.sources)
            candidates.append(
                Candidate(bridge, draft.question, draft.answer, sources, judged, decision, draft.quote)
            )
        return sorted(
            candidates,
            key=lambda candidate: (
                -candidate.judged.total,
                -candidate.judged.weakest,
                candidate.bridge.entity,
            ),
        )

    def _decisions(self) -> dict[str, Decision]:
        """Return the last decision on each reviewed entity."""
        return {review.entity: review.decision for review in self.reviewed.records()}

    def status(self) -> dict[str, Any]:
        """Return the progress of each step, as JSON values."""
        written, judged = self.written.records(), self.judged.records()
        decided = Counter(self._decisions().values())
        waiting = sum(record.outcome is Outcome.WRITTEN for record in written) - len(judged)
        return {
            "bridges": len(self.bridges.records()),
            "generate": {
                "model": _model(self.written.settings()),
                "asked": len(written),
                **{
                    outcome.value: sum(record.outcome is outcome for record in written) for outcome in Outcome
                },
                "failed_checks": _frequencies(check for record in written for check in record.failed),
                "malformed_because": _frequencies(
                    record.reason for record in written if record.outcome is Outcome.MALFORMED
                ),
                "usage": _total_usage(record.usage for record in written),
            },
            "judge": {
                "model": _model(self.judged.settings()),
                "scored": sum(bool(record.scores) for record in judged),
                "malformed": sum(not record.scores for record in judged),
                "waiting": waiting,
                "weakest_score": {
                    str(score): count
                    for score, count in sorted(
                        Counter(record.weakest for record in judged if record.scores).items()
                    )
                },
                "usage": _total_usage(record.usage for record in judged),
            },
            "review": {
                "accepted": decided[Decision.ACCEPT],
                "rejected": decided[Decision.REJECT],
            },
        }


def _model(settings: Mapping[str, Any] | None) -> str | None:
    return None if settings is None else str(settings.get("model"))


def _frequencies(values: Iterable[str]) -> dict[str, int]:
    """Count the values, most frequent first."""
    return dict(sorted(Counter(values).items(), key=lambda item: (-item[1], item[0])))


def _total_usage(usages: Iterable[Usage]) -> dict[str, int]:
    return asdict(sum(usages, Usage()))
