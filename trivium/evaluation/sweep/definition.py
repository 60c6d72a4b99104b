"""Sweep files: which readers are compared, on which questions, at what price, in TOML.

store = "my-store"                   # a folder, relative to this file, or bolt://HOST:PORT
questions = "questions.jsonl"        # relative to this file
sample = 100                         # optional: that many of the questions, drawn with `seed` (default 0)
prompts = ["zero-shot", "own.toml"]  # styles by name, or files of them, relative to this file
temperatures = [0, 0.2]
k = [3, 6]
retrievers = ["vector"]              # contexts: retrievers and fusions, `gold = true`, `no_context = true`
fusions = ["default"]
rerank = ["bm25"]                    # optional: every context also after these rerankers, named as for `--rerank`
cut = ["near:0.7"]                   # optional: and all of them ended by these rules
judge_by = ["claims", "grades"]      # optional: how the judges judge
measure = "f1"                       # what the plot shows and the best is chosen by
baseline = { model = "none", context = "vector" }  # optional: the first cell that is like this; else the first of all

[[model]]
name = "openai:gpt-4o-mini"          # as for `--model`; "none" quotes the best sentences
prompt_price = 0.15                  # optional: of a million tokens, in any currency
completion_price = 0.60

[[judge]]                            # optional, one or more
name = "openai:gpt-4o"
prompt_price = 2.5
completion_price = 10.0

[selector]                           # optional: who chooses for the retriever `path`, by default that of the settings
name = "llm:openai:gpt-4o-mini"      # as for `--selector`; files are relative to this file
prompt_price = 0.15
completion_price = 0.60

[budget]                             # optional: the sweep stops before it asks for more
money = 5.0
tokens = 2_000_000
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from trivium.answering.prompt_styles import PromptStyle, prompt_style
from trivium.errors import ConfigurationError, InputError
from trivium.evaluation.answers.judging import DEFAULT_WAYS, WAYS
from trivium.evaluation.answers.report import GOLD, NO_CONTEXT
from trivium.evaluation.toml_file import CutRule, RerankerName, read_toml
from trivium.graph.factory import is_address
from trivium.llm.registry import NO_MODEL
from trivium.search.cut import Cut
from trivium.search.selectors import RECORDED
from trivium.settings import MAX_TEMPERATURE, load_settings
from trivium.types import Usage

_STRICT = ConfigDict(frozen=True, extra="forbid", strict=True)
_Name = Annotated[str, Field(min_length=1)]
_Price = Annotated[float, Field(ge=0, allow_inf_nan=False)]
_Temperature = Annotated[float, Field(ge=0, le=MAX_TEMPERATURE)]
_EXAMPLE = (
    'store, questions and one or more [[model]] with name = "...", as docs/howto/sweep.md describes them'
)
_AXES = (
    "model", "prompts", "temperatures", "k", "retrievers", "fusions", "rerank", "cut", "judge", "judge_by"
)  # fmt: skip


class Priced(BaseModel):
    """A language model (or the selector or reranker that asks one) and what a million tokens of it cost; 0 where it
    costs nothing."""

    model_config = _STRICT

    name: _Name
    prompt_price: _Price = 0.0
    completion_price: _Price = 0.0

    def cost(self, usage: Usage) -> float:
        """What these tokens cost.

        >>> Priced(name="m", prompt_price=0.5, completion_price=2.0).cost(Usage(1_000_000, 500_000))
        1.5
        """
        read, written = usage.prompt_tokens, usage.completion_tokens
        return (read * self.prompt_price + written * self.completion_price) / 1e6


def _priced(given: object) -> object:
    """A reranker may be named alone, without a price."""
    return {"name": given} if isinstance(given, str) else given


class _PricedReranker(Priced):
    name: RerankerName


class Budget(BaseModel):
    """What may be spent in all; None means no limit."""

    model_config = _STRICT

    money: _Price | None = None
    tokens: Annotated[int, Field(ge=0)] | None = None


class BaselineLike(BaseModel):
    """What the baseline is like; what is None may be anything."""

    model_config = _STRICT

    model: str | None = None
    prompt: str | None = None
    temperature: float | None = None
    k: int | None = None
    context: str | None = None
    rerank: str | None = None
    cut: CutRule | None = None


class _File(BaseModel):
    model_config = _STRICT

    store: _Name
    questions: _Name
    model: Annotated[list[Priced], Field(min_length=1)]
    sample: Annotated[int, Field(ge=1)] | None = None
    seed: Annotated[int, Field(ge=0)] = 0
    exact: bool = False
    prompts: Annotated[list[_Name], Field(min_length=1)] = ["zero-shot"]
    temperatures: Annotated[list[_Temperature], Field(min_length=1)] = [0.0]
    k: Annotated[list[Annotated[int, Field(ge=1)]], Field(min_length=1)] = [6]
    retrievers: list[_Name] = []
    fusions: list[_Name] = []
    rerank: list[Annotated[_PricedReranker, BeforeValidator(_priced)]] = []
    cut: list[CutRule] = []
    gold: bool = False
    no_context: bool = False
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    judge: list[Priced] = []
    judge_by: Annotated[list[_Name], Field(min_length=1)] = list(DEFAULT_WAYS)
    selector: Priced | None = None
    measure: _Name = "f1"
    baseline: BaselineLike = BaselineLike()
    budget: Budget = Budget()

    @model_validator(mode="after")
    def _consistent(self) -> _File:
        for axis in _AXES:
            values = [getattr(value, "name", value) for value in getattr(self, axis)]
            if len(set(values)) < len(values):
                raise ValueError(f"expected every one of {axis} once, got {', '.join(map(str, values))}")
        if not all(needs_model(priced.name) for priced in self.judge):
            raise ValueError("expected a language model as judge, got none")
        if unknown := set(self.judge_by) - WAYS.keys():
            raise ValueError(f"expected judge_by of {', '.join(WAYS)}, got {', '.join(sorted(unknown))}")
        if taken := {GOLD, NO_CONTEXT} & {*self.retrievers, *self.fusions}:
            raise ValueError(f"expected {' and '.join(sorted(taken))} as a key of its own that is true")
        return self


@dataclass(frozen=True, slots=True)
class Sweep:
    """A sweep file, with paths that hold from anywhere. ``prompts`` are styles by the names they have in tables;
    ``selector`` is None where it is that of the settings."""

    path: Path
    store: str
    questions: Path
    models: tuple[Priced, ...]
    prompts: Mapping[str, PromptStyle]
    temperatures: tuple[float, ...]
    k: tuple[int, ...]
    retrievers: tuple[str, ...]
    fusions: tuple[str, ...]
    rerankers: tuple[Priced, ...]
    cuts: tuple[Cut, ...]
    gold: bool
    no_context: bool
    sample: int | None
    seed: int
    exact: bool
    max_tokens: int | None
    judges: tuple[Priced, ...]
    judge_by: tuple[str, ...]
    selector: Priced | None
    measure: str
    baseline: BaselineLike
    budget: Budget


def read_sweep(path: str | Path) -> Sweep:
    """Read a sweep file. Raises InputError naming the line of a syntax error, or the key that is not as expected."""
    path = Path(path)
    data = read_toml(path, "sweep", f"with {_EXAMPLE}")
    try:
        file = _File.model_validate(data)
    except ValidationError as error:
        wrong = "\n".join(f"  {_complaint(fault)}" for fault in error.errors(include_url=False))
        raise InputError(f"{path}: expected {_EXAMPLE}, got\n{wrong}") from error
    folder = path.parent
    contexts = file.retrievers or file.fusions or file.gold or file.no_context
    return Sweep(
        path=path,
        store=file.store if is_address(file.store) else str(folder / file.store),
        questions=folder / file.questions,
        models=tuple(file.model),
        prompts=_styles(path, file.prompts),
        temperatures=tuple(file.temperatures),
        k=tuple(file.k),
        retrievers=tuple(file.retrievers) if contexts else ("vector",),
        fusions=tuple(file.fusions) if contexts else ("default",),
        rerankers=tuple(file.rerank),
        cuts=tuple(map(Cut.read, file.cut)),
        gold=file.gold,
        no_context=file.no_context,
        sample=file.sample,
        seed=file.seed,
        exact=file.exact,
        max_tokens=file.max_tokens,
        judges=tuple(file.judge),
        judge_by=tuple(file.judge_by),
        selector=None if file.selector is None else _anchored(file.selector, folder),
        measure=file.measure,
        baseline=file.baseline,
        budget=file.budget,
    )


def needs_model(name: str) -> bool:
    """Whether a name of the file is that of a language model: ``none`` quotes the best sentences instead."""
    return name != NO_MODEL


def _anchored(selector: Priced, folder: Path) -> Priced:
    family, _, file = selector.name.partition(":")
    if family not in RECORDED or not file:
        return selector
    return selector.model_copy(update={"name": f"{family}:{folder / file}"})


def _styles(path: Path, names: list[str]) -> dict[str, PromptStyle]:
    own = load_settings().prompts
    styles: dict[str, PromptStyle] = {}
    for name in names:
        is_file = name.endswith(".toml")
        label = Path(name).stem if is_file else name
        try:
            style = prompt_style(path.parent / name if is_file else name, own)
        except ConfigurationError as error:
            raise InputError(f"{path}: {error}") from error
        if label in styles:
            raise InputError(f"{path}: expected prompts of different names, got a second one named {label!r}")
        styles[label] = style
    return styles


def _complaint(fault: Any) -> str:
    """One fault of the file: where it is, what was expected, and what came."""
    where = ".".join(str(key + 1) if isinstance(key, int) else key for key in fault["loc"])
    words = f"key {where!r}: " if where else ""
    if fault["type"] == "missing":
        return f"{words}expected it, got nothing"
    if fault["type"] == "extra_forbidden":
        return f"{words}a key that is not known"
    message = fault["msg"].removeprefix("Value error, ")
    plain = isinstance(fault["input"], str | int | float | bool)
    return f"{words}{message}" + (f", got {fault['input']!r}"[:70] if plain else "")
