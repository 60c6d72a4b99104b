"""The cells of a sweep: every combination that makes sense, and where it is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from urllib.parse import quote

from trivium.errors import InputError
from trivium.evaluation.answers.report import GOLD, NO_CONTEXT
from trivium.evaluation.sweep.definition import Priced, Sweep, needs_model
from trivium.evaluation.systems import System


@dataclass(frozen=True, slots=True)
class Group:
    """Cells that differ in their passages only, and share a folder: a row for each of ``systems``. ``prompt`` and
    ``temperature`` are None where no language model is asked."""

    model: Priced
    prompt: str | None
    temperature: float | None
    k: int
    systems: tuple[System, ...]

    @property
    def rows(self) -> tuple[str, ...]:
        """The names that its answers are kept under, one a cell."""
        return tuple(system.name for system in self.systems)

    @property
    def folder(self) -> Path:
        """Where its answers are kept, below the folder of the sweep."""
        parts = [quote(self.model.name, safe="")]
        if self.prompt is not None and self.temperature is not None:
            parts += [quote(self.prompt, safe=""), f"t{self.temperature:g}"]
        return Path("cells", "_".join([*parts, f"k{self.k}"]))

    @property
    def cells(self) -> tuple[Cell, ...]:
        """One a system."""
        return tuple(
            Cell(
                self.model.name,
                self.prompt,
                self.temperature,
                self.k if _asks_for_k(system) else None,
                system.first,
                None if system.reranker is None else system.reranker.name,
                None if system.cut is None else str(system.cut),
            )
            for system in self.systems
        )


@dataclass(frozen=True, slots=True)
class Cell:
    """One reader on the passages of one ``context``, after a reranker and a cut where there are any. ``k`` is None where
    it says nothing: without any passages, and under a cut with bounds of its own."""

    model: str
    prompt: str | None
    temperature: float | None
    k: int | None
    context: str
    rerank: str | None = None
    cut: str | None = None

    @property
    def label(self) -> str:
        """Its name in tables.

        >>> Cell("local", "extractive", 0.2, 6, "default", "bm25", "near").label
        'local, extractive, t 0.2, k 6, default > bm25 > near'
        """
        passages = " > ".join(part for part in (self.context, self.rerank, self.cut) if part is not None)
        parts = [self.model, self.prompt]
        parts += [None if self.temperature is None else f"t {self.temperature:g}"]
        parts += [None if self.k is None else f"k {self.k}", passages]
        return ", ".join(part for part in parts if part is not None)


def groups_of(sweep: Sweep, followed: Sequence[System] = ()) -> list[Group]:
    """In the order of the file: models, then prompts, temperatures, k; within a group the contexts, then those
    ``followed`` by a reranker or a cut, the one without any passages last. A reader that quotes sentences is asked once
    for each k, whatever the prompts; what no k changes is asked once."""
    firsts = [*sweep.retrievers, *sweep.fusions, *([GOLD] if sweep.gold else [])]
    found = [*map(System, firsts), *followed]
    alone = [System(NO_CONTEXT)] if sweep.no_context else []
    groups = []
    for model in sweep.models:
        asked = needs_model(model.name)
        systems = [*found, *alone] if asked else found
        prompts, temperatures = (sweep.prompts, sweep.temperatures) if asked else ((None,), (None,))
        for prompt, temperature, k in product(prompts, temperatures, sweep.k):
            there = tuple(system for system in systems if k == sweep.k[0] or _asks_for_k(system))
            if there:
                groups.append(Group(model, prompt, temperature, k, there))
    return groups


def baseline_of(sweep: Sweep, groups: Sequence[Group]) -> Cell:
    """The first cell that is like the file's ``baseline``. Raises InputError where none is, and for no cells at all."""
    like = sweep.baseline
    wanted = {name: value for name, value in like.model_dump().items() if value is not None}
    for cell in (cell for group in groups for cell in group.cells):
        if all(getattr(cell, name) == value for name, value in wanted.items()):
            return cell
    what = ", ".join(f"{name} = {value!r}" for name, value in wanted.items())
    raise InputError(f"{sweep.path}: expected a baseline that is one of the cells, got {what or 'no cells'}")


def _asks_for_k(system: System) -> bool:
    return system.first != NO_CONTEXT and (system.cut is None or system.cut.max_k is None)
