"""Reviews the questions of a run in the web page of a server. It uses the same log as the review in the terminal."""

from __future__ import annotations

import threading
from pathlib import Path

from trivium.errors import InputError
from trivium.server.reviewing import (
    Decided,
    ReviewDecision,
    ReviewOutcome,
    ReviewPassage,
    ReviewQuestion,
    ReviewState,
)
from trivium.synthetic.checks import check_wording
from trivium.synthetic.records import Decision, Reviewed
from trivium.synthetic.review import REVIEW_SETTINGS
from trivium.synthetic.run import Candidate, Run


class RunReview:
    """Implements :class:`~trivium.server.reviewing.Reviewing`. The log is locked only during each decision, so this
    review and one in a terminal can alternate.
    """

    def __init__(self, folder: str | Path, keep: int, threshold: int) -> None:
        """Open a run. Raises InputError when there is none or its logs cannot be read."""
        self._run = Run(folder)
        self._keep = keep
        self._threshold = threshold
        self._lock = threading.Lock()
        self._run.require_started()
        self._run.candidates(threshold)

    def state(self) -> ReviewState:
        """See :class:`~trivium.server.reviewing.Reviewing`."""
        candidates = self._run.candidates(self._threshold)
        return ReviewState(
            keep=self._keep,
            kept=_kept(candidates),
            waiting=_waiting(candidates),
            questions=[_shown(candidate) for candidate in candidates],
        )

    def decide(self, given: ReviewDecision) -> ReviewOutcome | None:
        """See :class:`~trivium.server.reviewing.Reviewing`."""
        with self._lock:
            candidate = self._named(given.id)
            if candidate is None:
                return None
            decision = {"accept": Decision.ACCEPT, "reject": Decision.REJECT}.get(
                given.decision, Decision.EDIT
            )
            question, answer = candidate.question, candidate.answer
            if given.decision == "edit":
                question, answer = _line(given.question) or question, _line(given.answer) or answer
            with self._run.reviewed.writing(REVIEW_SETTINGS) as save:
                save(Reviewed(candidate.bridge.entity, decision, question, answer))
            candidates = self._run.candidates(self._threshold)
            after = next((one for one in candidates if one.bridge.id == given.id), None)
            if after is None:
                raise InputError(f"{self._run.folder}: the question is gone")
            return ReviewOutcome(
                keep=self._keep,
                kept=_kept(candidates),
                waiting=_waiting(candidates),
                question=_shown(after),
            )

    def _named(self, identifier: str) -> Candidate | None:
        candidates = self._run.candidates(self._threshold)
        return next((one for one in candidates if one.bridge.id == identifier), None)


def _kept(candidates: list[Candidate]) -> int:
    return sum(candidate.decision is Decision.ACCEPT for candidate in candidates)


def _waiting(candidates: list[Candidate]) -> int:
    return sum(candidate.decision is None for candidate in candidates)


def _line(text: str | None) -> str:
    return " ".join((text or "").split())


def _shown(candidate: Candidate) -> ReviewQuestion:
    bridge = candidate.bridge
    checks = check_wording(candidate.question, candidate.answer, bridge, candidate.sources)
    decided: Decided | None = None
    if candidate.decision is not None:
        decided = "accept" if candidate.decision is Decision.ACCEPT else "reject"
    return ReviewQuestion(
        id=bridge.id,
        question=candidate.question,
        answer=candidate.answer,
        about="" if bridge.plain else bridge.title,
        names=list(bridge.names),
        quote=candidate.quote,
        scores=dict(candidate.judged.scores),
        decision=decided,
        cautions=[check.description for check in checks],
        passages=[
            ReviewPassage(uri=source.uri, headings=source.headings, text=source.text)
            for source in candidate.sources
        ],
    )
