"""Options shared by several commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from trivium.errors import InputError
from trivium.fusion.names import FUSIONS
from trivium.graph.filters import parse as parse_condition
from trivium.languages import AUTO
from trivium.languages import NAMES as LANGUAGES
from trivium.live.registry import SOURCES
from trivium.llm.registry import NAMES
from trivium.parser.sources.annotators import ANNOTATORS, MAJORITY
from trivium.parser.sources.base import FORMATS
from trivium.rerank.names import NAMES as RERANKER_NAMES
from trivium.retrievers.names import RETRIEVERS
from trivium.search.cut import FORMS as CUT_FORMS
from trivium.search.cut import Cut
from trivium.settings import load_settings

MODEL_NAMES = f"{NAMES}, or one of an installed package"
FUSION_NAMES = f"{', '.join(FUSIONS)}, the folder of a trained one, or one of an installed package"


RANKING = "How passages are found"
WRITING = "With a language model"
CONVERSATION = "Conversation"
SPEECH = "Speech"
"""Titles of the option groups in ``--help``. Options without a title come first."""


def default_store() -> str | None:
    """Return the store for commands that name none: ``TRIVIUM_STORE``, or ``store`` in ``trivium.toml``."""
    return load_settings().store


def _store_needed() -> str:
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


def _checked_condition(text: str | None) -> str | None:
    """Reject a condition with a syntax error before anything is opened."""
    if text is not None:
        try:
            parse_condition(text)
        except InputError as error:
            raise typer.BadParameter(str(error)) from error
    return text


def _checked_cut(text: str | None) -> str | None:
    """Reject a malformed cut."""
    if text is not None:
        try:
            Cut.read(text)
        except InputError as error:
            raise typer.BadParameter(str(error)) from error
    return text


Store = Annotated[
    str,
    typer.Option(
        "--store",
        "-s",
        metavar="STORE",
        help=_STORE_HELP,
        default_factory=_store_needed,
        show_default=False,
        callback=_checked_store,
    ),
]
MaybeStore = Annotated[
    str | None,
    typer.Option(
        "--store", "-s", metavar="STORE", help=_STORE_HELP, show_default=False, callback=_checked_store
    ),
]
StoreToo = Annotated[
    str | None,
    typer.Option(
        "--store",
        "-s",
        metavar="STORE",
        help="The store, named as for other commands instead of as an argument.",
        show_default=False,
    ),
]
Json = Annotated[
    bool,
    typer.Option("--json", metavar="", help="Print one JSON document instead of text."),
]
Verbose = Annotated[bool, typer.Option("--verbose", help="Also print the counts of the graph.")]
Watch = Annotated[
    bool,
    typer.Option(
        "--watch", help="Keep running: load and remove documents as the folders change, until Ctrl-C."
    ),
]
Prune = Annotated[
    bool,
    typer.Option(
        "--prune",
        help="Also remove the documents whose files were deleted from these folders, and records that are no longer in"
        " their files.",
    ),
]
RayOption = Annotated[
    str | None,
    typer.Option(
        "--ray",
        metavar="ADDRESS",
        help="Parse and embed on a Ray cluster: HOST:PORT, auto for the one on this machine, local to start one (needs"
        " the extra ray). All nodes must see the sources and the working directory under the same paths.",
        show_default=False,
    ),
]
PartsOption = Annotated[
    str | None,
    typer.Option(
        "--parts",
        metavar="DIR",
        help="Folder that keeps what the cluster has made until the build is done.  \\[default: STORE.parts]",
        show_default=False,
    ),
]
IntoOption = Annotated[
    str | None, typer.Option("--into", hidden=True)
]  # gone; kept one release for its message
Sources = Annotated[
    list[str],
    typer.Argument(
        metavar="SOURCE...",
        help="Files, folders (links followed) or globs; also http(s) addresses, wiki:TITLE, arxiv:QUERY and"
        " hf:DATASET[:SPLIT].",
        show_default=False,
    ),
]
FormatOption = Annotated[
    str, typer.Option("--format", help=f"{', '.join(FORMATS)}: auto detects the format of each file.")
]
WithQuestions = Annotated[
    bool,
    typer.Option(
        "--questions",
        help="Also load the questions of Natural Questions rows, with is_answer_of relations from the answering chunks.",
    ),
]
AnnotatorsOption = Annotated[
    str | None,
    typer.Option(
        "--annotators",
        metavar="RULE",
        help=f"Which annotators' answers to Natural Questions count: {', '.join(ANNOTATORS)}.  \\[default: {MAJORITY}]",
        show_default=False,
    ),
]
Workers = Annotated[
    int | None, typer.Option("--workers", min=1, help="Parser processes.  \\[default: one per core]")
]
EmbedderOption = Annotated[
    str | None,
    typer.Option(
        "--embedder",
        help="bge-small, minilm, fastembed:NAME, openai:NAME, tei:NAME, or one of an installed package."
        "  \\[default: TRIVIUM_EMBEDDER, else bge-small where it is installed, else minilm]",
        show_default=False,
    ),
]
EmbedWith = Annotated[
    str | None,
    typer.Option(
        "--embed-with",
        metavar="URL",
        help="Embed with the Text Embeddings Inference server at this address; the embedder is tei:NAME of the model it"
        " serves.  \\[default: TRIVIUM_EMBED_WITH, for a store with such an embedder]",
        show_default=False,
    ),
]
DeviceOption = Annotated[
    str | None,
    typer.Option(
        "--device",
        metavar="DEVICE",
        help="Device of the embedder: cpu, cuda, or cuda:N for GPU number N (needs the extra cuda). A store built on one"
        " device can be searched on any other.  \\[default: TRIVIUM_DEVICE, else cpu]",
        show_default=False,
    ),
]
ChunkerOption = Annotated[
    str | None,
    typer.Option(
        "--chunker",
        metavar="NAME[:SIZE]",
        help="How pages are split: blocks (paragraphs, lists and tables as they are), fixed, sentence, recursive,"
        " semantic or agentic; optionally with a size in tokens such as sentence:100 or fixed:500/50, for fixed"
        " also in characters: fixed:1000/200c. A store keeps its chunker.  \\[default: blocks]",
        show_default=False,
    ),
]
LateOption = Annotated[
    bool,
    typer.Option(
        "--late",
        help="Late chunking: embed chunks in the context of their page (bge-small, minilm). A store keeps this choice.",
    ),
]
NoHeadings = Annotated[
    bool,
    typer.Option(
        "--no-headings",
        help="Embed only the text of a chunk, without its headings, as in the thesis; ranks less well. A store keeps this"
        " choice.",
    ),
]
LanguageOption = Annotated[
    str | None,
    typer.Option(
        "--language",
        metavar="CODE",
        help=f"Language of the documents: {', '.join(LANGUAGES)}, or {AUTO} to detect it for each document."
        "  \\[default: the store's, initially en]",
        show_default=False,
    ),
]
AnyEmbedder = Annotated[
    bool,
    typer.Option(
        "--any-embedder",
        help="Allow an English-only model to embed documents in other languages. A store keeps this choice.",
    ),
]
ImagesOption = Annotated[
    str | None,
    typer.Option(
        "--images",
        metavar="NAME",
        help="Also embed pictures, for the retriever image: clip (needs the extra fastembed; downloads 0.6 GB once).",
        show_default=False,
    ),
]
NoEmbed = Annotated[bool, typer.Option("--no-embed", help="Load only; run  trivium embed  later.")]
NoSentences = Annotated[
    bool,
    typer.Option(
        "--no-sentences",
        help="Do not embed the sentences of chunks: takes half the time, ranks less well.  trivium embed  adds them.",
    ),
]
RetrieverOption = Annotated[
    list[str] | None,
    typer.Option(
        "--retriever",
        "-r",
        metavar="NAME",
        rich_help_panel=RANKING,
        help=f"Retrievers to ask, one or more of: {', '.join(RETRIEVERS)}; image; or those of installed packages."
        "  \\[default: all eight]",
        show_default=False,
    ),
]
FusionOption = Annotated[
    str | None,
    typer.Option(
        "--fusion",
        "-f",
        metavar="NAME",
        rich_help_panel=RANKING,
        help=f"How the scores are combined: {FUSION_NAMES}.  \\[default: default]",
        show_default=False,
    ),
]
RerankOption = Annotated[
    str | None,
    typer.Option(
        "--rerank",
        metavar="NAME",
        rich_help_panel=RANKING,
        help=f"Rerank the first passages: {RERANKER_NAMES}, or one of an installed package. --set"
        " rerank.passages=N and rerank.seconds=S set their number and the time limit.  \\[default: none]",
        show_default=False,
    ),
]
RerankersOption = Annotated[
    list[str] | None,
    typer.Option(
        "--rerank",
        metavar="NAME",
        help=f"A reranker that requests may use, besides bm25 and weighted: {RERANKER_NAMES}; may be repeated.",
        show_default=False,
    ),
]
CutOption = Annotated[
    str | None,
    typer.Option(
        "--cut",
        metavar="RULE",
        rich_help_panel=RANKING,
        callback=_checked_cut,
        help=f"Cut the passages by their scores instead of at a fixed --k (the maximum if no bounds are given):"
        f" {CUT_FORMS}.  \\[default: none]",
        show_default=False,
    ),
]
SelectorOption = Annotated[
    str | None,
    typer.Option(
        "--selector",
        metavar="NAME",
        rich_help_panel=RANKING,
        help="How the retriever path chooses sections and paths: match (by their words), llm (the language model of"
        " --model or TRIVIUM_CHAT_MODEL, three places), llm:NAME (that model), llm-all (every place it names),"
        " record:FILE (like llm-all, and records the choices), replay:FILE (recorded choices, without a model), or one of"
        " an installed package.  \\[default: TRIVIUM_PATH_SELECTOR, else match]",
        show_default=False,
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        rich_help_panel=RANKING,
        help="A setting of a retriever, such as walk.damping=0.4; may be repeated.",
        show_default=False,
    ),
]
LoadSetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="A limit of documents, such as limits.document_bytes=67108864, or a setting of a retriever, for this run;"
        " or a parameter of the vector index, such as index.connectivity=32, which the store keeps. May be repeated.",
        show_default=False,
    ),
]
MetaOption = Annotated[
    list[str] | None,
    typer.Option(
        "--meta",
        metavar="KEY=VALUE",
        help="Metadata of all these documents, such as year=2024; may be repeated. It is kept when they are read"
        " again; year= removes it.",
        show_default=False,
    ),
]
WhereOption = Annotated[
    str | None,
    typer.Option(
        "--where",
        metavar="CONDITION",
        callback=_checked_condition,
        help="Search only passages that match, such as \"year >= 2020 and source = 'reports/*'\".",
        show_default=False,
    ),
]
LiveOption = Annotated[
    list[str] | None,
    typer.Option(
        "--live",
        metavar="NAME",
        help=f"Live sources to query besides the store, one or more of: {', '.join(SOURCES)}; or of an installed package."
        " The question is sent to them.  \\[default: none]",
        show_default=False,
    ),
]
_MODEL = typer.Option(
    "--model",
    "-m",
    metavar="NAME",
    rich_help_panel=WRITING,
    help=f"Language model that writes the answers: {MODEL_NAMES}, or none to quote the best sentences."
    "  \\[default: TRIVIUM_CHAT_MODEL, else none]",
    show_default=False,
)
ModelOption = Annotated[str | None, _MODEL]
ModelsOption = Annotated[list[str] | None, _MODEL]
ChooserOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        "-m",
        help=f"Language model for the chunker agentic: {MODEL_NAMES}, or none.  \\[default: TRIVIUM_CHAT_MODEL,"
        " else none]",
        show_default=False,
    ),
]
ChatOption = Annotated[
    list[str] | None,
    typer.Option(
        "--chat",
        metavar="KEY=VALUE",
        rich_help_panel=WRITING,
        help="A setting of the language model, such as temperature=0.3, max_tokens=300 or seed=7; may be repeated."
        "  \\[default: TRIVIUM_CHAT_TEMPERATURE ...]",
        show_default=False,
    ),
]
PromptOption = Annotated[
    str | None,
    typer.Option(
        "--prompt",
        metavar="NAME|FILE",
        rich_help_panel=WRITING,
        help="Prompt style: zero-shot, few-shot, instruction, role, extractive, several-hops, one defined in the"
        " settings, or a TOML file that defines one."
        "  \\[default: TRIVIUM_PROMPT, else zero-shot]",
        show_default=False,
    ),
]
AnswerFromOption = Annotated[
    int, typer.Option("--k", "-k", min=1, metavar="N", help="Number of passages to answer from.")
]
HistoryOption = Annotated[
    Path | None,
    typer.Option(
        "--history",
        metavar="FILE",
        rich_help_panel=CONVERSATION,
        help="Conversation file (JSON Lines of question and answer) to read and append to.",
        show_default=False,
    ),
]
Exact = Annotated[
    bool,
    typer.Option(
        "--exact", metavar="", rich_help_panel=RANKING, help="Use exact instead of approximate vector search."
    ),
]
