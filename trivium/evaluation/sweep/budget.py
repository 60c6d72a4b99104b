"""What a sweep has cost, and when it has to stop."""

from __future__ import annotations

from dataclasses import dataclass

from trivium.evaluation.sweep.definition import Budget, Priced


class BudgetReachedError(Exception):
    """Nothing more may be asked for. Not a TriviumError: the sweep ends in order, with a report."""


class Meter:
    """Counts what answers and judgements took, of all models together."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.money = 0.0
        self.tokens = 0

    def add(self, model: Priced, prompt_tokens: int, completion_tokens: int) -> None:
        """Count what was answered, now or earlier."""
        self.tokens += prompt_tokens + completion_tokens
        self.money += model.cost(prompt_tokens, completion_tokens)

    @property
    def reached(self) -> str | None:
        """Which limit is reached, in words; None while there is something left."""
        if self.budget.money is not None and self.money >= self.budget.money:
            return f"money: {self.money:.4f} of {self.budget.money:g} spent"
        if self.budget.tokens is not None and self.tokens >= self.budget.tokens:
            return f"tokens: {self.tokens:,} of {self.budget.tokens:,} used"
        return None


@dataclass(frozen=True, slots=True)
class Tab:
    """What one model takes, on a meter: an :class:`~trivium.evaluation.answers.asking.Account`."""

    meter: Meter
    model: Priced

    def check(self) -> None:
        """Raises BudgetReachedError where the budget is used up."""
        if self.meter.reached is not None:
            raise BudgetReachedError(self.meter.reached)

    def spent(self, prompt_tokens: int, completion_tokens: int) -> None:
        """Count an answer or a judgement."""
        self.meter.add(self.model, prompt_tokens, completion_tokens)
