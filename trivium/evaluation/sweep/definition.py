"""Sweep files: which readers are compared, on which questions, at what price, in TOML.

store = "my-store"                   # a folder, relative to this file, or bolt://HOST:PORT; several: ["one", "other"]
questions = "questions.jsonl"        # relative to this file
sample = 100                         # optional: that many of the questions, drawn with `seed` (default 0)
prompts = ["zero-shot", "own.toml"]  # styles by name, or files of them, relative to this file
temperatures = [0, 0.2]
k = [3, 6]
retrievers = ["vector"]              # contexts: retrievers and fusions, `gold = true`, `no_context = true`
fusions = ["default"]
rerank = ["bm25"]                    # optional: every context also after these rerankers, named as for `--rerank`
cut = ["near:0.7"]                   # optional: and all of them ended by these rules
judge_by = ["grades"]                # optional: how the judges judge
measure = "f1"                       # what is tested and the best is chosen by
bertscore = "roberta-large"          # optional: also measure BERTScore, as `--bertscore`
currency = "USD"                     # optional: of the prices
baseline = { model = "none", context = "vector" }  # optional: the first cell that is like this; else the first of all

[[model]]
name = "openai:gpt-4o-mini"          # as for `--model`; "none" quotes the best sentences
prompt_price = 0.15                  # optional: of a million tokens
completion_price = 0.60

[[judge]]                            # optional, one or more
name = "openai:gpt-4o"
prompt_price = 2.5
completion_price = 10.0

[budget]                             # optional: the sweep stops before it asks for more
money = 5.0
tokens = 2_000_000
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from trivium.answering.prompt_styles import PromptStyle, prompt_style
from trivium.common.definition_file import Distinct, Name, NonEmpty, Table, read_definition
from trivium.errors import ConfigurationError, InputError
from trivium.evaluation.answers.judging import DEFAULT_WAYS, WAYS, of_ways
from trivium.evaluation.answers.report import GOLD, NO_CONTEXT
from trivium.graph.open_store import is_address
from trivium.llm.registry import NO_MODEL
from trivium.parser.sources import huggingface
from trivium.rerank.registry import make_reranker
from trivium.search.cut import Cut
from trivium.settings.settings import MAX_TEMPERATURE, load_settings
from trivium.types import Usage

T = TypeVar("T")
_Price = Annotated[float, Field(ge=0, allow_inf_nan=False)]
_Temperature = Annotated[float, Field(ge=0, le=MAX_TEMPERATURE)]
_EXAMPLE = (
    'store, questions and one or more [[model]] with name = "...", as docs/howto/sweep.md describes them'
)


class Priced(Table):
    """A language model (or the reranker that uses one) and its price per million tokens; 0 if it is free."""

    name: Name
    prompt_price: _Price = 0.0
    completion_price: _Price = 0.0

    def cost(self, usage: Usage) -> float:
        """Return the cost of these tokens.

        >>> Priced(name="m", prompt_price=0.5, completion_price=2.0).cost(Usage(1_000_000, 500_000))
        1.5
        """
        read, written = usage.prompt_tokens, usage.completion_tokens
        return (read * self.prompt_price + written * self.completion_price) / 1e6


def _priced(given: object) -> object:
    """Allow naming a reranker without a price."""
    return {"name": given} if isinstance(given, str) else given


def _made(make: Callable[[str], T], text: str) -> T:
    """Return what a text names. Raises ValueError, as pydantic requires."""
    try:
        return make(text)
    except (InputError, ConfigurationError) as error:
        raise ValueError(str(error)) from error


def _reranker(name: str) -> str:
    _made(make_reranker, name)
    return name


def _cut(rule: str) -> str:
    return str(_made(Cut.read, rule))


_CutRule = Annotated[str, AfterValidator(_cut)]


class _PricedReranker(Priced):
    name: Annotated[str, AfterValidator(_reranker)]


class Budget(Table):
    """Limits of the total spending; None means no limit."""

    money: _Price | None = None
    tokens: Annotated[int, Field(ge=0)] | None = None


class BaselineLike(Table):
    """Pattern of the baseline; None matches anything."""

    store: str | None = None
    model: str | None = None
    prompt: str | None = None
    temperature: float | None = None
    k: int | None = None
    context: str | None = None
    rerank: str | None = None
    cut: _CutRule | None = None


class _File(Table):
    questions: Name
    store: Name | NonEmpty[Name]
    sample: Annotated[int, Field(ge=1)] | None = None
    seed: Annotated[int, Field(ge=0)] = 0
    exact: bool = False
    model: NonEmpty[Priced]
    prompts: NonEmpty[Name] = Field(["zero-shot"])
    temperatures: NonEmpty[_Temperature] = Field([0.0])
    k: NonEmpty[Annotated[int, Field(ge=1)]] = Field([6])
    retrievers: Distinct[Name] = Field([])
    fusions: Distinct[Name] = Field([])
    rerank: Distinct[Annotated[_PricedReranker, BeforeValidator(_priced)]] = Field([])
    cut: Distinct[_CutRule] = Field([])
    gold: bool = False
    no_context: bool = False
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    judge: Distinct[Priced] = Field([])
    judge_by: NonEmpty[Name] = Field(list(DEFAULT_WAYS))
    measure: Name = "f1"
    bertscore: Name | None = None
    currency: Name | None = None
    baseline: BaselineLike = BaselineLike()
    budget: Budget = Budget()

    @model_validator(mode="after")
    def _consistent(self) -> _File:
        if not all(needs_model(priced.name) for priced in self.judge):
            raise ValueError("expected a language model as judge, got none")
        if unknown := set(self.judge_by) - WAYS.keys():
            raise ValueError(f"expected judge_by {of_ways(unknown)}")
        if taken := {GOLD, NO_CONTEXT} & {*self.retrievers, *self.fusions}:
            raise ValueError(f"expected {' and '.join(sorted(taken))} as a key of its own that is true")
        return self


@dataclass(frozen=True, slots=True)
class Sweep:
    """A sweep file with resolved paths. ``stores`` are by their names in the file, ``prompts`` are styles by their names
    in tables.
    """

    path: Path
    stores: Mapping[str, str]
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
    measure: str
    bertscore: str | None
    currency: str | None
    baseline: BaselineLike
    budget: Budget


def read_sweep(path: str | Path) -> Sweep:
    """Read a sweep file. Raises InputError naming the line of a syntax error, or the invalid key."""
    path = Path(path)
    file = read_definition(path, "sweep", _EXAMPLE, _File)
    folder = path.parent
    hub = file.questions.startswith(huggingface.PREFIX)
    stores = [file.store] if isinstance(file.store, str) else file.store
    contexts = file.retrievers or file.fusions or file.gold or file.no_context
    return Sweep(
        path=path,
        stores={name: name if is_address(name) else str(folder / name) for name in stores},
        questions=Path(file.questions) if hub else folder / file.questions,
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
        measure=file.measure.replace(" ", "_"),  # "sum of five", as the tables call it
        bertscore=file.bertscore,
        currency=file.currency,
        baseline=file.baseline,
        budget=file.budget,
    )


def needs_model(name: str) -> bool:
    """Whether a name in the file is that of a language model, as opposed to ``none``, which quotes the best
    sentences.
    """
    return name != NO_MODEL


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
