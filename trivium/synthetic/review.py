"""Step 4: a reviewer accepts or rejects questions one by one until enough are accepted."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import replace

from trivium.synthetic.records import Decision, Reviewed
from trivium.synthetic.run_folder import Candidate

REVIEW_SETTINGS = {"step": "review"}
"""A review has no options, so its settings are constant."""


class Review:
    """A review of the questions of a run. Every decision is passed to ``save`` immediately."""

    def __init__(self, candidates: Iterable[Candidate], save: Callable[[Reviewed], None], keep: int) -> None:
        """``keep`` is the number of accepted questions at which the review ends."""
        questions = list(candidates)
        self.keep = keep
        self._save = save
        self._decided = {
            question.bridge.entity: question.decision
            for question in questions
            if question.decision is not None
        }
        self._waiting = deque(question for question in questions if question.decision is None)
        self._visited = [question for question in questions if question.decision is not None]

    @property
    def current(self) -> Candidate | None:
        """The question to decide on; None if enough are accepted or none is left."""
        return self._waiting[0] if self._waiting and self.kept < self.keep else None

    @property
    def kept(self) -> int:
        """The number of accepted questions."""
        return sum(decision is Decision.ACCEPT for decision in self._decided.values())

    @property
    def waiting(self) -> int:
        """The number of undecided questions, the current one included."""
        return len(self._waiting)

    def decide(self, decision: Decision) -> None:
        """Accept or reject the current question and go on to the next."""
        current = self._waiting.popleft()
        self._save(Reviewed(current.bridge.entity, decision, current.question, current.answer))
        self._decided[current.bridge.entity] = decision
        self._visited.append(replace(current, decision=decision))

    def skip(self) -> None:
        """Move the current question to the end of the queue."""
        current = self._waiting.popleft()
        self._waiting.append(current)
        self._visited.append(current)

    def back(self) -> bool:
        """Return to the previous question, possibly of an earlier session. Its decision holds until a new one is made.
        Returns False when there is no previous question.
        """
        if not self._visited:
            return False
        before = self._visited.pop()
        for waiting in list(self._waiting):
            if waiting.bridge.entity == before.bridge.entity:  # skipped, so still in the queue
                self._waiting.remove(waiting)
        self._waiting.appendleft(before)
        return True
