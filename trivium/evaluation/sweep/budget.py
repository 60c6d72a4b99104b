"""What a sweep has cost, and when it has to stop."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from trivium.evaluation.answers.judged import JudgedAnswer
from trivium.evaluation.answers.records import Answered
from trivium.evaluation.sweep.definition import Budget, Priced
from trivium.types import Usage


class BudgetReachedError(Exception):
    """Nothing more may be asked for. Not a TriviumError: the sweep ends in order, with a report."""


class Meter:
    """Counts what answers and judgements took, now or earlier, of all models together."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.money = 0.0
        self.tokens = 0

    def add(self, model: Priced, usage: Usage) -> None:
        """Count what a model took."""
        self.tokens += usage.total
        self.money += model.cost(usage)

    def check(self) -> None:
        """Raises BudgetReachedError where the budget is used up."""
        if self.reached is not None:
            raise BudgetReachedError(self.reached)

    @property
    def reached(self) -> str | None:
        """Which limit is reached, in words; None while there is something left."""
        if self.budget.money is not None and self.money >= self.budget.money:
            return f"money: {self.money:.4f} of {self.budget.money:g} spent"
        if self.budget.tokens is not None and self.tokens >= self.budget.tokens:
            return f"tokens: {self.tokens:,} of {self.budget.tokens:,} used"
        return None


@dataclass(frozen=True, slots=True)
class ReaderTab:
    """What answers of a reader take, on a meter: an :class:`~trivium.evaluation.answers.asking.Account`. ``rerankers``
    are by row, where a row has one."""

    meter: Meter
    reader: Priced
    selector: Priced
    rerankers: Mapping[str, Priced]

    def check(self) -> None:
        """Raises BudgetReachedError where the budget is used up."""
        self.meter.check()

    def spent(self, record: Answered) -> None:
        """Count an answer, and what it took to find its passages."""
        self.meter.add(self.reader, record.usage)
        self.meter.add(self.selector, record.search_usage - record.rerank_usage)
        if record.row in self.rerankers:
            self.meter.add(self.rerankers[record.row], record.rerank_usage)


@dataclass(frozen=True, slots=True)
class JudgeTab:
    """What judgements of a model take, on a meter: an :class:`~trivium.evaluation.answers.asking.Account`."""

    meter: Meter
    judge: Priced

    def check(self) -> None:
        """Raises BudgetReachedError where the budget is used up."""
        self.meter.check()

    def spent(self, record: JudgedAnswer) -> None:
        """Count a judgement."""
        self.meter.add(self.judge, record.usage)
