"""Argument values that only the program can validate, and the objects built from them.

An invalid value ends the command with exit code 2, like a misspelt option. A valid value that refers to something
missing (a store, a file, a model) ends it with 1.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, TypeVar

import typer
from pydantic import BaseModel, ValidationError

from trivium.errors import ConfigurationError, FusionError, InputError, TriviumError
from trivium.llm.registry import NO_MODEL, check_provider, find_chat_model
from trivium.retrievers.setting_values import parse_assignments
from trivium.settings.limits import LIMIT_SETTINGS, InputLimits
from trivium.settings.settings import WITHDRAWN, Settings, load_settings

if TYPE_CHECKING:  # imported lazily, when there is a value to validate
    from trivium.answering.writing_options import WritingOptions
    from trivium.engine import Engine
    from trivium.llm.chat_model import ChatModel
    from trivium.retrievers.path import Selector

_log = logging.getLogger(__name__)
_RETRIES = 2
"""Retries of a language model in interactive use."""

Table = TypeVar("Table", bound=BaseModel)
_OF_VALUES = (InputError, FusionError, ConfigurationError)
"""Errors caused by an invalid value."""


@contextmanager
def wrong_argument(
    name: str | None = None, kinds: tuple[type[TriviumError], ...] = _OF_VALUES
) -> Iterator[None]:
    """Report errors of these kinds as an invalid value of the argument ``name``."""
    try:
        yield
    except kinds as error:
        raise typer.BadParameter(str(error), param_hint=name) from error


def open_engine(
    store: str,
    assignments: Sequence[str] | None = None,
    model: str | None = None,
    counted: Callable[[Selector], Selector] | None = None,
) -> Engine:
    """Open an engine on an existing store.

    ``model`` is the language model of the command, ``assignments`` are the retriever settings (``--set``). ``counted``
    wraps the path retriever's selector, for example to count its calls.
    """
    from trivium.engine import Engine
    from trivium.retrievers.llm_path_selectors import make_selector

    values = read_settings(assignments)
    name = selector_name(model)
    return Engine.open(
        store, selector=name if counted is None else counted(make_selector(name)), settings=values
    )


def read_settings(assignments: Sequence[str] | None) -> dict[str, str]:
    """Parse and validate the retriever settings given with ``--set``."""
    with wrong_argument("--set"):
        values = parse_assignments(assignments or ())
        _check_settings(values)
    return values


def _check_settings(values: dict[str, str]) -> None:
    """Raise ConfigurationError for a setting that no retriever has."""
    if values:
        from trivium.search.retriever_set import RetrieverSet

        RetrieverSet(values=values)


@dataclass(frozen=True, slots=True)
class LoadSettings:
    """The values of ``--set`` for commands that load documents: settings of ``retrievers``, and ``limits`` of
    documents.
    """

    retrievers: dict[str, str]
    limits: InputLimits


def read_load_settings(assignments: Sequence[str] | None) -> LoadSettings:
    """Parse ``--set`` for commands that load documents. ``limits.NAME`` overrides the configured value. Parameters of
    vector indexes are gone: for one release they are ignored with a warning.
    """
    configured = load_settings()
    with wrong_argument("--set"):
        values = parse_assignments(assignments or ())
        of_limits = [f"limits.{name}" for name in InputLimits.model_fields if name in LIMIT_SETTINGS]
        for key in [key for key in values if key.startswith("index.")]:
            del values[key]
            _log.warning("%s is gone and ignored: %s", key, WITHDRAWN["index"])
        limits = _of_table(of_limits, values, configured.limits)
        try:
            _check_settings(values)
        except ConfigurationError as error:
            close = [name for key in values for name in get_close_matches(key, of_limits, n=1)]
            hint = f" (did you mean {close[0]}?)" if close and "did you mean" not in str(error) else ""
            raise ConfigurationError(f"{error}{hint}") from error
    return LoadSettings(values, limits)


def _of_table(names: Sequence[str], values: dict[str, str], configured: Table) -> Table:
    """Return a table of the settings, overridden by the entries of ``values`` that belong to it: the ``names`` of one
    table. These entries are removed from ``values``. Raises ConfigurationError.
    """
    table, _, _ = names[0].partition(".")
    named = {key: values.pop(key) for key in list(values) if key.partition(".")[0] == table}
    for key in named:
        if key not in names:
            close = get_close_matches(key, names, n=3, cutoff=0.5)
            raise ConfigurationError(
                f"unknown setting {key!r}: "
                + (f"did you mean {' or '.join(close)}?" if close else f"there are {', '.join(names)}")
            )
    given = {
        key.partition(".")[2]: None if value.lower() in ("none", "null") else value
        for key, value in named.items()
    }
    try:
        return type(configured).model_validate({**configured.model_dump(exclude_unset=True), **given})
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        key = f"{table}.{fault['loc'][0]}"
        raise ConfigurationError(f"{key}: {fault['msg']}, got {named[key]!r}") from None


def selector_name(model: str | None = None) -> str:
    """Return the configured selector of the path retriever. ``llm`` and ``llm-all`` use the command's language
    ``model`` when one is given.
    """
    chosen = load_settings().path_selector
    return f"{chosen}:{model}" if chosen in ("llm", "llm-all") and model not in (None, NO_MODEL) else chosen


def reranker_name(name: str | None, model: str | None = None) -> str | None:
    """Validate the name of a reranker. ``llm-pointwise`` and ``llm-listwise`` use the command's language ``model`` when
    one is given.
    """
    if name in ("llm-pointwise", "llm-listwise") and model not in (None, NO_MODEL):
        name = f"{name}:{model}"
    if name is not None:
        from trivium.rerank.registry import make_reranker

        with wrong_argument("--rerank"):
            make_reranker(name)
    return name


def check_names(
    engine: Engine, retrievers: Sequence[str] | None, fusions: Sequence[str | None] | None = None
) -> None:
    """Raise typer.BadParameter for retrievers and fusions that the engine does not know, before any question is asked."""
    with wrong_argument("--retriever"):
        chosen = engine.searcher.retrievers.choose(retrievers)
    with wrong_argument("--fusion"):
        for fusion in fusions or ():
            engine.searcher.fusions.suitable(fusion, chosen)


def check_embedder(name: str | None) -> None:
    """Raise typer.BadParameter for an unknown embedder."""
    from trivium.embedding.registry import known_embedders

    names = known_embedders()
    if name is not None and name.partition(":")[0] not in {embedder.partition(":")[0] for embedder in names}:
        raise typer.BadParameter(f"expected one of {', '.join(names)}, got {name!r}", param_hint="--embedder")


@dataclass(frozen=True, slots=True)
class Writer:
    """The language model of a command (None: quote the best sentences) and how it is prompted."""

    model: ChatModel | None
    writing: WritingOptions


def answer_writer(model: str | None, prompt: str | None = None, *, batch: bool = False) -> Writer:
    """Validate ``--model`` and ``--prompt`` before anything is opened. A ``batch`` is not interactive, so a failing
    endpoint is retried more often.
    """
    from trivium.answering.prompt_styles import prompt_style
    from trivium.answering.writing_options import WritingOptions

    settings = load_settings()
    with wrong_argument("--prompt"):
        style = prompt_style(settings.prompt if prompt is None else prompt, settings.prompts)
    writing = WritingOptions(
        prompt=style, max_tokens=settings.chat_max_tokens, temperature=settings.chat_temperature
    )
    return Writer(chat_model(model, settings, batch=batch), writing)


def chat_model(
    name: str | None, settings: Settings | None = None, *, batch: bool = False
) -> ChatModel | None:
    """Return the language model with this name, by default the configured one; None for ``none`` and when none is
    configured. Unless for a ``batch``, a failing endpoint is retried only a few times, because a user is waiting.
    """
    settings = load_settings() if settings is None else settings
    if settings.chat_retries is None and not batch:
        settings = settings.model_copy(update={"chat_retries": _RETRIES})
    if name is not None and name.endswith(":"):
        raise typer.BadParameter(f"expected {name}NAME, got no name", param_hint="--model")
    if name is not None:
        with wrong_argument("--model"):
            check_provider(name, settings)
    return find_chat_model(name, settings)
