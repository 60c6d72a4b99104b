"""The arguments that several commands share, and how lists of names may be written."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Annotated, get_args

import typer

from trivium.fusion.registry import FUSIONS
from trivium.parser.sources.base import Format
from trivium.retrievers.registry import RETRIEVERS

FORMATS: tuple[str, ...] = get_args(Format)

Store = Annotated[
    str,
    typer.Option(
        "--store",
        "-s",
        help="Folder of the store, or bolt://HOST:PORT of a Neo4j server.",
        show_default=False,
    ),
]
MaybeStore = Annotated[
    str | None,
    typer.Option(
        "--store",
        "-s",
        help="Folder of the store, or bolt://HOST:PORT of a Neo4j server.",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
Sources = Annotated[
    list[str],
    typer.Argument(
        metavar="SOURCE...",
        help="Files, folders (links followed) or globs; also wiki:TITLE and hf:DATASET[:SPLIT].",
        show_default=False,
    ),
]
FormatOption = Annotated[
    str, typer.Option("--format", help=f"{', '.join(FORMATS)}: auto recognises it by content.")
]
Workers = Annotated[
    int | None, typer.Option("--workers", min=1, help="Parser processes.  \\[default: one a core]")
]
EmbedderOption = Annotated[
    str | None,
    typer.Option("--embedder", help="bge-small, minilm, fastembed:NAME or openai:NAME.", show_default=False),
]
NoEmbed = Annotated[bool, typer.Option("--no-embed", help="Load only; run  trivium embed  later.")]
NoSentences = Annotated[
    bool,
    typer.Option(
        "--no-sentences",
        help="Embed no sentences of chunks: done in half the time, ranks less well.  trivium embed  adds them.",
    ),
]
RetrieverOption = Annotated[
    list[str] | None,
    typer.Option(
        "--retriever",
        "-r",
        help=f"Views to ask, one or more of: {', '.join(RETRIEVERS)}.",
        show_default=False,
    ),
]
SelectorOption = Annotated[
    str,
    typer.Option("--selector", help="Who picks for the path view: match, or llm (set TRIVIUM_CHAT_MODEL)."),
]
PathSelectorOption = Annotated[
    str | None,
    typer.Option(
        "--selector",
        help="Who picks for the path view: match, or llm (TRIVIUM_CHAT_MODEL).  \\[default: that of the settings]",
        show_default=False,
    ),
]
Exact = Annotated[bool, typer.Option("--exact", help="Exact instead of approximate vector search.")]

_Known = Callable[[str], bool]


def _is_number(word: str) -> bool:
    return re.fullmatch(r"\d*\.?\d+", word) is not None


_LISTS: dict[str, _Known] = {
    "--retriever": RETRIEVERS.__contains__,
    "-r": RETRIEVERS.__contains__,
    "--fusion": FUSIONS.__contains__,
    "-f": FUSIONS.__contains__,
    "--importance": _is_number,
}
"""Options with several values, and which words may be one."""


def spread(arguments: Sequence[str]) -> list[str]:
    """``--retriever a b`` and ``--retriever a,b`` as ``--retriever a --retriever b``, which the parser reads.

    A word after the first value belongs to the option only if it is a name the option knows.

    >>> spread(["--retriever", "vector", "page", "question"])
    ['--retriever', 'vector', '--retriever', 'page', 'question']
    """
    result: list[str] = []
    option: str | None = None
    waiting = False  # the option has not had its first value yet
    for place, word in enumerate(arguments):
        if word == "--":
            return [*result, *([option] if option and waiting else []), *arguments[place:]]
        name, equals, value = word.partition("=")
        if name in _LISTS:
            if option and waiting:
                result.append(option)
            option, waiting = name, not equals
            if equals:
                result += _each(name, value)
        elif option and not word.startswith("-") and (waiting or _all_known(option, word)):
            result += _each(option, word)
            waiting = False
        else:
            if option and waiting:
                result.append(option)  # without a value: the parser says so
            option, waiting = None, False
            result.append(word)
    return [*result, option] if option and waiting else result


def _each(option: str, value: str) -> list[str]:
    return [word for name in re.split(r"\s*,\s*", value) for word in (option, name)]


def _all_known(option: str, value: str) -> bool:
    return all(_LISTS[option](name) for name in re.split(r"\s*,\s*", value))
