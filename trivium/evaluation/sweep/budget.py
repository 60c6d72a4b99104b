"""The cost of a sweep and its limit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from trivium.evaluation.answers.judged import JudgedAnswer
from trivium.evaluation.answers.records import Answered
from trivium.evaluation.sweep.definition import Budget, Priced
from trivium.types import Usage


class BudgetReachedError(Exception):
    """The budget is exhausted. Not a TriviumError: the sweep ends normally, with a report."""


class Meter:
    """Counts the usage of all models for answers and judgements, including earlier ones."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.money = 0.0
        self.tokens = 0

    def add(self, model: Priced, usage: Usage) -> None:
        """Add the usage of a model."""
        self.tokens += usage.total
        self.money += model.cost(usage)

    def check(self) -> None:
        """Raise BudgetReachedError if the budget is exhausted."""
        if self.reached is not None:
            raise BudgetReachedError(self.reached)

    @property
    def reached(self) -> str | None:
        """Return which limit is reached, in words; None if there is none."""
        if self.budget.money is not None and self.money >= self.budget.money:
            return f"money: {self.money:.4f} of {self.budget.money:g} spent"
        if self.budget.tokens is not None and self.tokens >= self.budget.tokens:
            return f"tokens: {self.tokens:,} of {self.budget.tokens:,} used"
        return None


@dataclass(frozen=True, slots=True)
class ReaderTab:
    """Accounts for a reader's answers: an :class:`~trivium.evaluation.answers.asking.Account`. ``rerankers`` are by
    row, for rows with one.
    """

    meter: Meter
    reader: Priced
    rerankers: Mapping[str, Priced]

    def check(self) -> None:
        """Raise BudgetReachedError if the budget is exhausted."""
        self.meter.check()

    def spent(self, record: Answered) -> None:
        """Count an answer, including the search for its passages."""
        self.meter.add(self.reader, record.usage)
        self.meter.tokens += (
            record.search_usage - record.rerank_usage
        ).total  # the selector's, without a price
        if record.row in self.rerankers:
            self.meter.add(self.rerankers[record.row], record.rerank_usage)


@dataclass(frozen=True, slots=True)
class JudgeTab:
    """Accounts for a model's judgements: an :class:`~trivium.evaluation.answers.asking.Account`."""

    meter: Meter
    judge: Priced

    def check(self) -> None:
        """Raise BudgetReachedError if the budget is exhausted."""
        self.meter.check()

    def spent(self, record: JudgedAnswer) -> None:
        """Count a judgement."""
        self.meter.add(self.judge, record.usage)
