"""Options shared by several commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from trivium.cli.options_from_requests import RANKING, checked
from trivium.fusion.fusion_names import FUSIONS
from trivium.graph.filter_language import parse as parse_condition
from trivium.llm.registry import NAMES
from trivium.rerank.reranker_names import NAMES as RERANKER_NAMES
from trivium.retrievers.retriever_names import NAMES as RETRIEVER_NAMES
from trivium.settings.settings import load_settings

MODEL_NAMES = f"{NAMES}, or one of an installed package"
FUSION_NAMES = f"{', '.join(FUSIONS)}, the folder of a trained one, or one of an installed package"


WRITING = "With a language model"
CONVERSATION = "Conversation"
"""Titles of the option groups in ``--help``. Options without a title come first."""


def default_store() -> str | None:
    """Return the store for commands that name none: ``TRIVIUM_STORE``, or ``store`` in ``trivium.toml``."""
    return load_settings().store


def store_needed() -> str:
    """Return the default store. Raises typer.BadParameter where there is none."""
    store = default_store()
    if store is None:
        raise typer.BadParameter(
            'expected a folder or an address: name one, set TRIVIUM_STORE, or write  store = "FOLDER"  in'
            " trivium.toml",
            param_hint="--store",
        )
    return store


_STORE_HELP = (
    "Folder of the store, or bolt://HOST:PORT of a Neo4j server.  \\[default: TRIVIUM_STORE, or store in"
    " trivium.toml]"
)


def _checked_store(store: str | None) -> str | None:
    """Reject an empty value, and an option name, which follows ``--store`` when its value was forgotten."""
    if store is not None and not store.strip():
        raise typer.BadParameter("expected a folder or an address, got an empty text")
    if store is not None and store.startswith("-"):
        raise typer.BadParameter(
            f"expected a folder or an address, got {store!r}; a folder of that name is ./{store}"
        )
    return store


def one_store(argument: str | None, option: str | None) -> str | None:
    """Return the store of a command that takes it as an argument or with ``--store``; None if it names none."""
    if argument is not None and option is not None:
        raise typer.BadParameter(
            f"expected the store once, got {argument} and {option}", param_hint="--store"
        )
    return _checked_store(argument if option is None else option)


def store_and(first: str | None, second: str | None, option: str | None, name: str) -> tuple[str, str]:
    """Return the store and the other argument, called ``name`` in the help, of a command that takes both as arguments,
    or the store with ``--store``.
    """
    if option is not None:
        if second is not None:
            one_store(first, option)
        first, second = option, first
    for value, missing in ((first, "STORE"), (second, name)):
        if value is None:
            got = "nothing" if first is None else f"only the store {first}"
            raise typer.BadParameter(f"expected STORE and {name}, got {got}", param_hint=missing)
    return str(_checked_store(first)), str(second)


Store = Annotated[
    str,
    typer.Option(
        "--store",
        "-s",
        metavar="STORE",
        help=_STORE_HELP,
        default_factory=store_needed,
        show_default=False,
        callback=_checked_store,
    ),
]
StoreArgument = Annotated[str | None, typer.Argument(metavar="STORE", help=_STORE_HELP)]
StoreToo = Annotated[
    str | None,
    typer.Option(
        "--store",
        "-s",
        metavar="STORE",
        hidden=True,
    ),
]
"""The store of a command that takes it as an argument, named as for the others."""
Json = Annotated[
    bool,
    typer.Option("--json", metavar="", help="Print one JSON document instead of text."),
]
Sources = Annotated[
    list[str],
    typer.Argument(
        metavar="SOURCE...",
        help="Files, folders (links followed) or globs; also http(s) addresses, wiki:TITLE, arxiv:QUERY and"
        " hf:DATASET[:SPLIT].",
    ),
]
EmbedderOption = Annotated[
    str | None,
    typer.Option(
        "--embedder",
        help="bge-small, minilm, e5, fastembed:NAME, openai:NAME, tei:NAME, or one of an installed package."
        "  \\[default: TRIVIUM_EMBEDDER, else bge-small where it is installed, else minilm]",
    ),
]
NoEmbed = Annotated[bool, typer.Option("--no-embed", help="Load only; run  trivium embed  later.")]
RetrieverOption = Annotated[
    list[str] | None,
    typer.Option(
        "--retriever",
        "-r",
        metavar="NAME",
        rich_help_panel=RANKING,
        help=f"Retrievers to ask, one or more of: {RETRIEVER_NAMES}.  \\[default: all eight]",
    ),
]
RerankersOption = Annotated[
    list[str] | None,
    typer.Option(
        "--rerank",
        metavar="NAME",
        help=f"A reranker that requests may use, besides those that cost nothing: {RERANKER_NAMES}; may be repeated.",
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        rich_help_panel=RANKING,
        help="A setting of a retriever, such as walk.damping=0.4; may be repeated.",
    ),
]
LoadSetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="A limit of documents, such as limits.document_bytes=67108864, or a setting of a retriever, for this run."
        " May be repeated.",
    ),
]
WhereOption = Annotated[
    str | None,
    typer.Option(
        "--where",
        metavar="CONDITION",
        callback=checked(parse_condition),
        help="Search only passages that match, such as \"year >= 2020 and source = 'reports/*'\".",
    ),
]
_MODEL = typer.Option(
    "--model",
    "-m",
    metavar="NAME",
    rich_help_panel=WRITING,
    help=f"Language model that writes the answers: {MODEL_NAMES}, or none to quote the best sentences."
    "  \\[default: TRIVIUM_CHAT_MODEL, else none]",
)
ModelOption = Annotated[str | None, _MODEL]
ModelsOption = Annotated[list[str] | None, _MODEL]
PromptOption = Annotated[
    str | None,
    typer.Option(
        "--prompt",
        metavar="NAME|FILE",
        rich_help_panel=WRITING,
        help="Prompt style: zero-shot, few-shot, instruction, role, extractive, several-hops, one defined in the"
        " settings, or a TOML file that defines one."
        "  \\[default: TRIVIUM_PROMPT, else zero-shot]",
    ),
]
HistoryOption = Annotated[
    Path | None,
    typer.Option(
        "--history",
        metavar="FILE",
        rich_help_panel=CONVERSATION,
        help="Conversation file (JSON Lines of question and answer) to read and append to.",
    ),
]
Exact = Annotated[
    bool,
    typer.Option(
        "--exact", metavar="", rich_help_panel=RANKING, help="Use exact instead of approximate vector search."
    ),
]
AnswerFromOption = Annotated[
    int, typer.Option("--k", "-k", min=1, metavar="N", help="Number of passages to answer from.")
]
LiveOption = Annotated[
    str,
    typer.Option(
        "--live",
        help="Live sources: off, allow (those a request names), force (also for requests that name none).",
    ),
]
