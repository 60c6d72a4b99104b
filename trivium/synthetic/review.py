"""The fourth step: a person accepts or rejects, one question after another, until enough are kept."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import replace

from trivium.synthetic.checks import Check, check_wording
from trivium.synthetic.records import Decision, Reviewed
from trivium.synthetic.run import Candidate

REVIEW_SETTINGS = {"step": "review"}
"""Decisions are of people: nothing that could be set makes them others."""


class Review:
    """The questions of a run in front of a person. What is decided is handed to ``save`` at once."""

    def __init__(self, candidates: Iterable[Candidate], save: Callable[[Reviewed], None], keep: int) -> None:
        """``keep``: how many questions are enough."""
        known = list(candidates)
        self.keep = keep
        self._save = save
        self._decided = {one.bridge.entity: one.decision for one in known if one.decision is not None}
        self._waiting = deque(one for one in known if one.decision is None)
        self._left = [one for one in known if one.decision is not None]

    @property
    def current(self) -> Candidate | None:
        """The question to decide on; None when enough are kept or none is left."""
        return self._waiting[0] if self._waiting and self.kept < self.keep else None

    @property
    def kept(self) -> int:
        """How many questions are accepted by now."""
        return sum(decision is Decision.ACCEPT for decision in self._decided.values())

    @property
    def waiting(self) -> int:
        """How many questions are not decided on, the current one included."""
        return len(self._waiting)

    def concerns(self) -> list[Check]:
        """Which checks the current question fails as it reads now: after an edit it may."""
        one = self._waiting[0]
        return check_wording(one.question, one.answer, one.bridge, one.sources)

    def decide(self, decision: Decision) -> None:
        """Accept or reject the current question and go on to the next."""
        one = self._waiting.popleft()
        self._save(Reviewed(one.bridge.entity, decision, one.question, one.answer))
        self._decided[one.bridge.entity] = decision
        self._left.append(replace(one, decision=decision))

    def edit(self, question: str, answer: str) -> None:
        """Change the wording of the current question, which is to be decided on then, even if it was before."""
        one = self._waiting[0]
        if (question, answer) == (one.question, one.answer):
            return
        self._save(Reviewed(one.bridge.entity, Decision.EDIT, question, answer))
        self._decided.pop(one.bridge.entity, None)
        self._waiting[0] = replace(one, question=question, answer=answer, decision=None)

    def skip(self) -> None:
        """Leave the current question until all others are decided on."""
        one = self._waiting.popleft()
        self._waiting.append(one)
        self._left.append(one)

    def back(self) -> bool:
        """Return to the question before, also to one of an earlier sitting; what was decided on it holds until it is
        decided on again. False where there is none before."""
        if not self._left:
            return False
        before = self._left.pop()
        for waiting in list(self._waiting):
            # One that was skipped waits already, perhaps in another wording.
            if waiting.bridge.entity == before.bridge.entity:
                self._waiting.remove(waiting)
                before = waiting
        self._waiting.appendleft(before)
        return True
