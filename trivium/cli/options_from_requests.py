"""Options of commands that are made from the fields of a request, with their descriptions, so that an option is described
in one place.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field, fields
from functools import wraps
from typing import Annotated, Any, get_type_hints

import typer

from trivium.chunking.chunker_spec import parse_spec
from trivium.cli.arguments import wrong_argument
from trivium.errors import ConfigurationError, InputError
from trivium.graph.filter_language import parse as parse_condition
from trivium.metadata import parse_assignments
from trivium.parser.sources.source_items import check_format
from trivium.search.cut import Cut
from trivium.text.languages import check_language
from trivium.types import MetadataValue

RANKING = "How passages are found"
"""Title of a group of options in ``--help``. Options without a title come first."""

GIVEN = "given"
"""The parameter of a command that receives the values of these options, by the names of the request's fields."""


def checked(check: Callable[[str], object]) -> Callable[[str | None], str | None]:
    """Return a callback that refuses a value that ``check`` raises for, before anything is opened."""

    def callback(text: str | None) -> str | None:
        if text is not None:
            try:
                check(text)
            except (InputError, ConfigurationError) as error:
                raise typer.BadParameter(str(error)) from error
        return text

    return callback


def _metadata(given: Sequence[str]) -> dict[str, MetadataValue | None]:
    with wrong_argument("--meta"):
        return parse_assignments(given)


def _check_images(name: str) -> None:
    from trivium.embedding.image_embedders import check_image_embedder  # numerics: few builds embed pictures

    check_image_embedder(name)


def _check_entities(name: str) -> None:
    from trivium.index.recognise_names import check_entities  # few builds recognise names

    check_entities(name)


_Text = str | None
_Texts = list[str] | None
_OPTIONS: Mapping[str, tuple[Any, tuple[str, ...], dict[str, Any]]] = {
    "k": (int, ("--k", "-k"), {"min": 1, "metavar": "N", "show_default": True}),
    "retrievers": (_Texts, ("--retriever", "-r"), {"metavar": "NAME", "rich_help_panel": RANKING}),
    "fusion": (_Text, ("--fusion", "-f"), {"metavar": "NAME", "rich_help_panel": RANKING}),
    "rerank": (_Text, ("--rerank",), {"metavar": "NAME", "rich_help_panel": RANKING}),
    "cut": (
        _Text,
        ("--cut",),
        {"metavar": "RULE", "rich_help_panel": RANKING, "callback": checked(Cut.read)},
    ),
    "exact": (bool, ("--exact",), {"metavar": "", "rich_help_panel": RANKING}),
    "where": (_Text, ("--where",), {"metavar": "CONDITION", "callback": checked(parse_condition)}),
    "sources": (_Texts, ("--live",), {"metavar": "NAME"}),
    "format": (str, ("--format",), {"show_default": True, "callback": checked(check_format)}),
    "workers": (int | None, ("--workers",), {"min": 1}),
    "embed": (bool, ("--no-embed",), {}),
    "sentences": (bool, ("--no-sentences",), {}),
    "headings": (bool, ("--no-headings",), {}),
    "late": (bool, ("--late",), {}),
    "chunker": (_Text, ("--chunker",), {"metavar": "NAME[:SIZE]", "callback": checked(parse_spec)}),
    "entities": (_Text, ("--entities",), {"metavar": "NAME", "callback": checked(_check_entities)}),
    "images": (_Text, ("--images",), {"metavar": "NAME", "callback": checked(_check_images)}),
    "language": (_Text, ("--language",), {"metavar": "CODE", "callback": checked(check_language)}),
    "meta": (_Texts, ("--meta",), {"metavar": "KEY=VALUE"}),
    "ray": (_Text, ("--ray",), {"metavar": "ADDRESS"}),
    "prune": (bool, ("--prune",), {}),
    "reread": (bool, ("--reread",), {}),
    "questions": (bool, ("--questions",), {}),
}
"""How a field is given on a command line: its type, its names, and what typer shows of it and checks. The option of a
field that is true where nothing is said makes it false.
"""


def takes(request: type[Any], *names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command an option for each of these fields of a request. Their values are passed to its parameter
    :data:`GIVEN`.
    """
    known = {one.name: one for one in fields(request)}
    parameters = [_option(known[name]) for name in names]

    def read(name: str, value: Any) -> Any:
        if name == "meta":
            return _metadata(value) if value else None
        return not value if known[name].default is True else value

    def around(command: Callable[..., None]) -> Callable[..., None]:
        def call(values: dict[str, Any]) -> None:
            given = {name: read(name, values.pop(name)) for name in names}
            command(**values, **{GIVEN: given})

        return _with_parameters(command, parameters, call)

    return around


def _option(field: Field[Any]) -> inspect.Parameter:
    kind, flags, shown = _OPTIONS[field.name]
    about = str(field.metadata["about"])
    default = field.default
    if default is True:  # the description says what happens otherwise
        default, about = False, about.removeprefix("If false, ").capitalize()
    option = typer.Option(*flags, help=about, **{"show_default": False, **shown})
    return _parameter(field.name, Annotated[kind, option], default)


def _parameter(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _with_parameters(
    command: Callable[..., None], added: Sequence[inspect.Parameter], call: Callable[[dict[str, Any]], None]
) -> Callable[..., None]:
    """Return ``call`` as a command with the parameters of ``command``, in which those ``added`` stand in the place of
    :data:`GIVEN`, else at the end.
    """

    @wraps(command)
    def called(**values: Any) -> None:
        call(values)

    hints = get_type_hints(command, include_extras=True)
    parameters: list[inspect.Parameter] = []
    for one in inspect.signature(command).parameters.values():
        if one.name == GIVEN:
            parameters += added
        else:
            parameters.append(_parameter(one.name, hints.get(one.name, Any), one.default))
    parameters += [one for one in added if one not in parameters]
    signature = inspect.Signature(parameters)
    called.__signature__ = signature  # type: ignore[attr-defined]
    called.__annotations__ = {one.name: one.annotation for one in parameters}
    return called
