"""The options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from trivium.errors import InputError
from trivium.fusion.names import FUSIONS
from trivium.graph.filters import parse as parse_condition
from trivium.index.sharding import DOCUMENTS
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
"""Under these titles ``--help`` groups options; those without a title come first."""


def default_store() -> str | None:
    """The store of commands that name none: ``TRIVIUM_STORE``, or ``store`` in ``trivium.toml``."""
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
    """Neither empty nor an option, which is what follows ``--store`` where its value was forgotten."""
    if store is not None and not store.strip():
        raise typer.BadParameter("expected a folder or an address, got an empty text")
    if store is not None and store.startswith("-"):
        raise typer.BadParameter(
            f"expected a folder or an address, got {store!r}; a folder of that name is ./{store}"
        )
    return store


def _checked_condition(text: str | None) -> str | None:
    """A condition that can be read; it is refused before anything is opened."""
    if text is not None:
        try:
            parse_condition(text)
        except InputError as error:
            raise typer.BadParameter(str(error)) from error
    return text


def _checked_cut(text: str | None) -> str | None:
    """A cut that can be read."""
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
Json = Annotated[
    bool,
    typer.Option("--json", metavar="", help="Print one JSON document instead of text."),
]
Verbose = Annotated[bool, typer.Option("--verbose", help="Also print the counts of the graph.")]
Watch = Annotated[
    bool,
    typer.Option("--watch", help="Go on: load and remove what changes in the folders, until Ctrl-C."),
]
ShardsOption = Annotated[
    str | None,
    typer.Option(
        "--shards",
        metavar="DIR",
        help="Parse and embed by shards, whose results are kept in this folder: an interrupted build, and one on a"
        " cluster, loses at most the shards under way.  \\[default with --ray: STORE.shards]",
        show_default=False,
    ),
]
RayOption = Annotated[
    str | None,
    typer.Option(
        "--ray",
        metavar="ADDRESS",
        help="Have shards made by a Ray cluster: HOST:PORT, auto for the one of this machine, local to start one (needs"
        " the extra ray). All nodes must see the sources, the working directory and DIR under the same paths.",
        show_default=False,
    ),
]
ShardSize = Annotated[
    int | None,
    typer.Option(
        "--shard-size", min=1, help=f"Documents a shard.  \\[default: {DOCUMENTS}]", show_default=False
    ),
]
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
    str, typer.Option("--format", help=f"{', '.join(FORMATS)}: auto recognises each file.")
]
WithQuestions = Annotated[
    bool,
    typer.Option(
        "--questions",
        help="Natural Questions rows also give their questions: nodes with is_answer_of from the chunks that answer.",
    ),
]
AnnotatorsOption = Annotated[
    str | None,
    typer.Option(
        "--annotators",
        metavar="RULE",
        help=f"Whose answers to Natural Questions count: {', '.join(ANNOTATORS)}.  \\[default: {MAJORITY}]",
        show_default=False,
    ),
]
Workers = Annotated[
    int | None, typer.Option("--workers", min=1, help="Parser processes.  \\[default: one a core]")
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
        help="Embed by the Text Embeddings Inference server at this address, as the embedder tei:NAME of the model it"
        " serves.  \\[default: TRIVIUM_EMBED_WITH, for a store with such an embedder]",
        show_default=False,
    ),
]
DeviceOption = Annotated[
    str | None,
    typer.Option(
        "--device",
        metavar="DEVICE",
        help="Where the embedder computes: cpu, cuda, or cuda:N for the graphics card of that number (needs the extra"
        " cuda). Any of them serves a store that another one filled.  \\[default: TRIVIUM_DEVICE, else cpu]",
        show_default=False,
    ),
]
ChunkerOption = Annotated[
    str | None,
    typer.Option(
        "--chunker",
        metavar="NAME[:SIZE]",
        help="How pages are cut: blocks (paragraphs, lists, tables as they are), fixed, sentence, recursive, semantic,"
        " agentic, also with a size in tokens such as sentence:100 or fixed:500/50, fixed also in characters:"
        " fixed:1000/200c; a store keeps its own.  \\[default: blocks]",
        show_default=False,
    ),
]
LateOption = Annotated[
    bool,
    typer.Option(
        "--late",
        help="Late chunking: embed chunks in the context of their page (bge-small, minilm); a store keeps to it.",
    ),
]
NoHeadings = Annotated[
    bool,
    typer.Option(
        "--no-headings",
        help="Embed the text of a chunk alone, without the headings it stands under, as in the thesis; ranks less well; a"
        " store keeps to it.",
    ),
]
LanguageOption = Annotated[
    str | None,
    typer.Option(
        "--language",
        metavar="CODE",
        help=f"Language of the documents: {', '.join(LANGUAGES)}, or {AUTO} to recognise that of each."
        "  \\[default: that of the store, at first en]",
        show_default=False,
    ),
]
AnyEmbedder = Annotated[
    bool,
    typer.Option(
        "--any-embedder",
        help="Embed documents in other languages by a model for English all the same; a store remembers it.",
    ),
]
ImagesOption = Annotated[
    str | None,
    typer.Option(
        "--images",
        metavar="NAME",
        help="Embed pictures, too, for the retriever image: clip (needs the extra fastembed; downloads 0.6 GB once).",
        show_default=False,
    ),
]
NoEmbed = Annotated[bool, typer.Option("--no-embed", help="Load only; run  trivium embed  later.")]
NoSentences = Annotated[
    bool,
    typer.Option(
        "--no-sentences",
        help="Embed no sentences of chunks: takes half the time, ranks less well.  trivium embed  adds them.",
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
        help=f"Put the first passages in order anew: {RERANKER_NAMES}, or one of an installed package. --set"
        " rerank.passages=N and rerank.seconds=S say how many, and how long that may take.  \\[default: none]",
        show_default=False,
    ),
]
RerankersOption = Annotated[
    list[str] | None,
    typer.Option(
        "--rerank",
        metavar="NAME",
        help=f"A reranker that requests may name, beside bm25 and weighted: {RERANKER_NAMES}; may be repeated.",
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
        help=f"End the passages by their scores, in place of a fixed --k (the most, where no bounds are given):"
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
        help="What chooses sections and paths for the retriever path: match (by their words), llm (the language model"
        " of --model or TRIVIUM_CHAT_MODEL, three places), llm:NAME (that one), llm-all (every place it names),"
        " record:FILE (likewise, and writes them down), replay:FILE (what was written down, without a model), or one of"
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
        " or how vector indexes are made, such as index.connectivity=32, which the store keeps. May be repeated.",
        show_default=False,
    ),
]
MetaOption = Annotated[
    list[str] | None,
    typer.Option(
        "--meta",
        metavar="KEY=VALUE",
        help="What to say of all these documents, such as year=2024; may be repeated. It stays when they are read"
        " again; year= takes it back.",
        show_default=False,
    ),
]
WhereOption = Annotated[
    str | None,
    typer.Option(
        "--where",
        metavar="CONDITION",
        callback=_checked_condition,
        help="Search only what fulfils this, such as \"year >= 2020 and source = 'reports/*'\".",
        show_default=False,
    ),
]
LiveOption = Annotated[
    list[str] | None,
    typer.Option(
        "--live",
        metavar="NAME",
        help=f"Live sources to ask beside the store, one or more of: {', '.join(SOURCES)}; or of an installed package."
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
        help=f"Language model that the chunker agentic asks: {MODEL_NAMES}, or none.  \\[default: TRIVIUM_CHAT_MODEL,"
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
        help="How the language model is asked: zero-shot, few-shot, instruction, role, extractive, several-hops, one that"
        " the settings name, or a TOML file of a style."
        "  \\[default: TRIVIUM_PROMPT, else zero-shot]",
        show_default=False,
    ),
]
AnswerFromOption = Annotated[
    int, typer.Option("--k", "-k", min=1, metavar="N", help="How many passages to answer from.")
]
HistoryOption = Annotated[
    Path | None,
    typer.Option(
        "--history",
        metavar="FILE",
        rich_help_panel=CONVERSATION,
        help="File of a conversation (JSON Lines of question and answer): read, and continued.",
        show_default=False,
    ),
]
Exact = Annotated[
    bool,
    typer.Option(
        "--exact", metavar="", rich_help_panel=RANKING, help="Exact instead of approximate vector search."
    ),
]
