"""The cells of a sweep: every combination that makes sense, and where it is kept."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from urllib.parse import quote

from trivium.errors import InputError
from trivium.evaluation.answers.report import GOLD, NO_CONTEXT
from trivium.evaluation.sweep.definition import Priced, Sweep, needs_model


@dataclass(frozen=True, slots=True)
class Group:
    """Cells that differ in their context only, and share a folder. ``prompt`` and ``temperature`` are None where no
    language model is asked."""

    model: Priced
    prompt: str | None
    temperature: float | None
    k: int
    contexts: tuple[str, ...]

    @property
    def folder(self) -> Path:
        """Where its answers are kept, below the folder of the sweep."""
        parts = [quote(self.model.name, safe="")]
        if self.prompt is not None and self.temperature is not None:
            parts += [quote(self.prompt, safe=""), f"t{self.temperature:g}"]
        return Path("cells", "_".join([*parts, f"k{self.k}"]))

    @property
    def cells(self) -> tuple[Cell, ...]:
        """One a context."""
        return tuple(
            Cell(
                self.model.name,
                self.prompt,
                self.temperature,
                None if context == NO_CONTEXT else self.k,
                context,
            )
            for context in self.contexts
        )


@dataclass(frozen=True, slots=True)
class Cell:
    """One reader on one context. ``k`` is None where it is given no passages."""

    model: str
    prompt: str | None
    temperature: float | None
    k: int | None
    context: str

    @property
    def label(self) -> str:
        """Its name in tables.

        >>> Cell("local", "extractive", 0.2, 6, "default").label
        'local, extractive, t 0.2, k 6, default'
        """
        parts = [self.model, self.prompt]
        parts += [None if self.temperature is None else f"t {self.temperature:g}"]
        parts += [None if self.k is None else f"k {self.k}", self.context]
        return ", ".join(part for part in parts if part is not None)


def groups_of(sweep: Sweep) -> list[Group]:
    """In the order of the file: models, then prompts, temperatures, k. A reader that quotes sentences is asked once for
    each k, whatever the prompts; the row without context once, whatever k."""
    contexts = [*sweep.retrievers, *sweep.fusions, *([GOLD] if sweep.gold else [])]
    found = []
    for model in sweep.models:
        if not needs_model(model.name):
            found += [Group(model, None, None, k, tuple(contexts)) for k in sweep.k if contexts]
            continue
        for prompt, temperature, k in product(sweep.prompts, sweep.temperatures, sweep.k):
            alone = [NO_CONTEXT] if sweep.no_context and k == sweep.k[0] else []
            if contexts or alone:
                found.append(Group(model, prompt, temperature, k, (*contexts, *alone)))
    return found


def baseline_of(sweep: Sweep) -> Cell:
    """The first cell that is like the file's ``baseline``. Raises InputError where none is, and for no cells at all."""
    like = sweep.baseline
    wanted = {name: value for name, value in like.model_dump().items() if value is not None}
    for cell in _cells(sweep):
        if all(getattr(cell, name) == value for name, value in wanted.items()):
            return cell
    what = ", ".join(f"{name} = {value!r}" for name, value in wanted.items())
    raise InputError(f"{sweep.path}: expected a baseline that is one of the cells, got {what or 'no cells'}")


def _cells(sweep: Sweep) -> Iterator[Cell]:
    for group in groups_of(sweep):
        yield from group.cells
