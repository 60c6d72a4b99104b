"""The folder of a run: one log a step, from which everything else is worked out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from trivium.errors import InputError
from trivium.synthetic.log import Log
from trivium.synthetic.records import Bridge, Decision, Judged, Outcome, Reviewed, Source, Written
from trivium.types import Usage

THRESHOLD = 7
"""A question is shown to a person when none of its scores is below this."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A question with all that is known of it; ``sources`` are the passages it was made from. ``question`` and
    ``answer`` read as they were last edited, ``decision`` is what was last decided, None before that."""

    bridge: Bridge
    question: str
    answer: str
    sources: tuple[Source, ...]
    judged: Judged
    decision: Decision | None = None


class Run:
    """A run in a folder, which the first step makes."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.bridges: Log[Bridge] = Log(self.folder / "bridges.jsonl", Bridge)
        self.written: Log[Written] = Log(self.folder / "written.jsonl", Written)
        self.judged: Log[Judged] = Log(self.folder / "judged.jsonl", Judged)
        self.reviewed: Log[Reviewed] = Log(self.folder / "reviewed.jsonl", Reviewed)

    def begun(self) -> None:
        """Raises InputError where nothing was generated in the folder."""
        if self.written.settings() is None:
            raise InputError(
                f"{self.folder}: expected the folder of a run, found none: begin with  trivium synthesize generate"
            )

    def candidates(self, threshold: int = THRESHOLD) -> list[Candidate]:
        """The questions whose scores all reach the threshold, those with the highest sum first; questions that were
        decided on are among them whatever the threshold. Raises InputError for a log that cannot be read."""
        bridges = {bridge.entity: bridge for bridge in self.bridges.records()}
        written = {one.entity: one for one in self.written.records()}
        reviewed = self._reviewed()
        found = []
        for judged in self.judged.records():
            wording, decision = reviewed.get(judged.entity, (None, None))
            if decision is None and judged.weakest < threshold:
                continue
            if judged.entity not in bridges or judged.entity not in written:
                raise InputError(
                    f"{self.folder}: the logs are not of one run: {judged.entity!r} was never written"
                )
            bridge, own = bridges[judged.entity], written[judged.entity]
            question, answer = (own.question, own.answer) if wording is None else wording
            sources = tuple(source for source in bridge.sources if source.uri in own.sources)
            found.append(Candidate(bridge, question, answer, sources, judged, decision))
        return sorted(found, key=lambda one: (-one.judged.total, -one.judged.weakest, one.bridge.entity))

    def _reviewed(self) -> dict[str, tuple[tuple[str, str], Decision | None]]:
        """Per entity the last wording, and what was decided on it."""
        return {
            one.entity: ((one.question, one.answer), None if one.decision is Decision.EDIT else one.decision)
            for one in self.reviewed.records()
        }

    def status(self) -> dict[str, Any]:
        """How far each step has come, as plain JSON values."""
        written, judged = self.written.records(), self.judged.records()
        decided = Counter(decision for _, decision in self._reviewed().values())
        waiting = sum(one.outcome is Outcome.WRITTEN for one in written) - len(judged)
        return {
            "bridges": len(self.bridges.records()),
            "generate": {
                "model": _model(self.written.settings()),
                "asked": len(written),
                **{outcome.value: sum(one.outcome is outcome for one in written) for outcome in Outcome},
                "failed_checks": _counted(check for one in written for check in one.failed),
                "malformed_because": _counted(
                    one.reason for one in written if one.outcome is Outcome.MALFORMED
                ),
                "usage": _used(one.usage for one in written),
            },
            "judge": {
                "model": _model(self.judged.settings()),
                "scored": sum(bool(one.scores) for one in judged),
                "malformed": sum(not one.scores for one in judged),
                "waiting": waiting,
                "weakest_score": {
                    str(score): count
                    for score, count in sorted(Counter(one.weakest for one in judged if one.scores).items())
                },
                "usage": _used(one.usage for one in judged),
            },
            "review": {
                "accepted": decided[Decision.ACCEPT],
                "rejected": decided[Decision.REJECT],
            },
        }


def _model(settings: Mapping[str, Any] | None) -> str | None:
    return None if settings is None else str(settings.get("model"))


def _counted(values: Iterable[str]) -> dict[str, int]:
    """How often each value occurs, the most frequent first."""
    return dict(sorted(Counter(values).items(), key=lambda item: (-item[1], item[0])))


def _used(usages: Iterable[Usage]) -> dict[str, int]:
    known = list(usages)
    return asdict(
        Usage(sum(usage.prompt_tokens for usage in known), sum(usage.completion_tokens for usage in known))
    )
