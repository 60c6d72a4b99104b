"""The cells of a sweep: every meaningful combination, and where it is stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from urllib.parse import quote

from trivium.errors import InputError
from trivium.evaluation.answers.report import GOLD, NO_CONTEXT
from trivium.evaluation.measured_systems import System
from trivium.evaluation.sweep.definition import Priced, Sweep, needs_model


@dataclass(frozen=True, slots=True)
class Group:
    """Cells that differ only in their passages and share a folder, with one row for each of ``systems``. ``store`` is
    None if there is but one, ``prompt`` and ``temperature`` if no language model is asked.
    """

    store: str | None
    model: Priced
    prompt: str | None
    temperature: float | None
    k: int
    systems: tuple[System, ...]

    @property
    def rows(self) -> tuple[str, ...]:
        """The names of the rows of its answers, one per cell."""
        return tuple(system.name for system in self.systems)

    @property
    def folder(self) -> Path:
        """The folder of its answers, relative to the folder of the sweep."""
        parts = [quote(name, safe="") for name in (self.store, self.model.name) if name is not None]
        if self.prompt is not None and self.temperature is not None:
            parts += [quote(self.prompt, safe=""), f"t{self.temperature:g}"]
        return Path("cells", "_".join([*parts, f"k{self.k}"]))

    @property
    def cells(self) -> tuple[Cell, ...]:
        """One cell per system."""
        return tuple(
            Cell(
                self.model.name,
                self.prompt,
                self.temperature,
                self.k if _asks_for_k(system) else None,
                system.first,
                None if system.reranker is None else system.reranker.name,
                None if system.cut is None else str(system.cut),
                self.store,
            )
            for system in self.systems
        )


@dataclass(frozen=True, slots=True)
class Cell:
    """One reader with the passages of one ``context``, optionally reranked and cut. ``k`` is None if it has no
    effect: without passages, and for a cut with its own bounds. ``store`` is None if there is but one.
    """

    model: str
    prompt: str | None
    temperature: float | None
    k: int | None
    context: str
    rerank: str | None = None
    cut: str | None = None
    store: str | None = None

    @property
    def label(self) -> str:
        """Its name in tables.

        >>> Cell("local", "extractive", 0.2, 6, "default", "bm25", "near").label
        'local, extractive, t 0.2, k 6, default > bm25 > near'
        """
        passages = " > ".join(part for part in (self.context, self.rerank, self.cut) if part is not None)
        parts = [self.store, self.model, self.prompt]
        parts += [None if self.temperature is None else f"t {self.temperature:g}"]
        parts += [None if self.k is None else f"k {self.k}", passages]
        return ", ".join(part for part in parts if part is not None)


def groups_of(sweep: Sweep, followed: Sequence[System] = ()) -> list[Group]:
    """Return the groups in the order of the file: models, stores, then prompts, temperatures, k; within a group the
    contexts, then those ``followed`` by a reranker or a cut, and last the one without passages, of the first store. A
    reader that quotes sentences is asked once per k, whatever the prompts; cells independent of k are asked once.
    """
    firsts = [*sweep.retrievers, *sweep.fusions, *([GOLD] if sweep.gold else [])]
    found = [*map(System, firsts), *followed]
    alone = [System(NO_CONTEXT)] if sweep.no_context else []
    groups = []
    stores = tuple(sweep.stores) if len(sweep.stores) > 1 else (None,)
    for model, store in product(sweep.models, stores):
        asked = needs_model(model.name)
        systems = [*found, *alone] if asked and store == stores[0] else found
        prompts, temperatures = (sweep.prompts, sweep.temperatures) if asked else ((None,), (None,))
        for prompt, temperature, k in product(prompts, temperatures, sweep.k):
            there = tuple(system for system in systems if k == sweep.k[0] or _asks_for_k(system))
            if there:
                groups.append(Group(store, model, prompt, temperature, k, there))
    return groups


def baseline_of(sweep: Sweep, groups: Sequence[Group]) -> Cell:
    """Return the first cell that matches the file's ``baseline``. Raises InputError if there is none, or no cells at
    all.
    """
    like = sweep.baseline
    wanted = {name: value for name, value in like.model_dump().items() if value is not None}
    for cell in (cell for group in groups for cell in group.cells):
        if all(getattr(cell, name) == value for name, value in wanted.items()):
            return cell
    what = ", ".join(f"{name} = {value!r}" for name, value in wanted.items())
    raise InputError(f"{sweep.path}: expected a baseline that is one of the cells, got {what or 'no cells'}")


def _asks_for_k(system: System) -> bool:
    return system.first != NO_CONTEXT and (system.cut is None or system.cut.max_k is None)
