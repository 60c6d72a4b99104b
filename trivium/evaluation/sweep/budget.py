"""The cost of a sweep and its limit."""

from __future__ import annotations

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
