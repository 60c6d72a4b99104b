"""What a store can be asked to load. Every door (Python, command line, HTTP) makes one of these requests and passes it on
whole. A field is described here, once: options of commands take their descriptions from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypedDict

from trivium.common.argument_checks import check_count, check_fields, check_type
from trivium.common.progress import StageProgress
from trivium.errors import ConfigurationError, InputError
from trivium.index.write_batches import PageCheck
from trivium.metadata import check as check_metadata
from trivium.parser.sources.natural_question_rows import ANNOTATORS, MAJORITY, check_annotators
from trivium.parser.sources.source_items import FORMATS, Format
from trivium.settings.limits import InputLimits
from trivium.text.languages import AUTO, check_language
from trivium.text.languages import NAMES as LANGUAGES
from trivium.types import MetadataValue

if TYPE_CHECKING:  # what most builds do not need is imported where it is used
    from trivium.embedding.image_embedders import ImageEmbedder
    from trivium.llm.chat_model import ChatModel


def _about(text: str) -> dict[str, str]:
    return {"about": text}


@dataclass(frozen=True)
class BuildRequest:
    """Sources to load into a store, and how. Raises InputError and ConfigurationError for what is wrong whatever the
    store; the rest is checked before anything is read.
    """

    sources: Sequence[str | Path]
    """Files, folders (links followed) or globs; also http(s) addresses, ``wiki:TITLE``, ``arxiv:QUERY`` and
    ``hf:DATASET[:SPLIT]``.
    """

    format: Format = field(
        default="auto",
        kw_only=True,
        metadata=_about(f"{', '.join(FORMATS)}: auto detects the format of each file."),
    )
    workers: int | None = field(
        default=None, kw_only=True, metadata=_about("Parser processes; by default one per core.")
    )
    embed: bool = field(
        default=True, kw_only=True, metadata=_about("If false, only load; run  trivium embed  later.")
    )
    sentences: bool = field(
        default=True,
        kw_only=True,
        metadata=_about(
            "If false, embed no sentences of chunks: takes half the time, ranks less well.  trivium embed  adds them."
        ),
    )
    language: str | None = field(
        default=None,
        kw_only=True,
        metadata=_about(
            f"Language of the documents: {', '.join(LANGUAGES)}, or {AUTO} to detect it for each document. By default"
            " that of the store, initially en."
        ),
    )
    any_embedder: bool = field(
        default=False,
        kw_only=True,
        metadata=_about(
            "The embedder was chosen knowingly: it may be an English-only one for documents in other languages. A store"
            " of such documents keeps this choice."
        ),
    )
    meta: Mapping[str, MetadataValue | None] | None = field(
        default=None,
        kw_only=True,
        metadata=_about(
            "Metadata of all these documents, such as year=2024; may be repeated. It overrides their own and is kept"
            " when they are read again; year= removes it."
        ),
    )
    chunker: str | None = field(
        default=None,
        kw_only=True,
        metadata=_about(
            "How pages are split: blocks (paragraphs, lists and tables as they are), fixed, sentence, recursive,"
            " semantic or agentic; optionally with a size in tokens such as sentence:100 or fixed:500/50, for fixed"
            " also in characters: fixed:1000/200c. A store keeps its chunker, at first blocks."
        ),
    )
    entities: str | None = field(
        default=None,
        kw_only=True,
        metadata=_about(
            "What recognises names of people, organisations and places in documents other than pages of encyclopaedias;"
            " they become entities of the graph: rules (without a model), spacy:MODEL (needs the extra entities) or"
            " none. A store keeps its choice, at first rules."
        ),
    )
    model: str | ChatModel | None = field(
        default=None,
        kw_only=True,
        metadata=_about("The language model of the chunker agentic, by default that of the settings."),
    )
    late: bool = field(
        default=False,
        kw_only=True,
        metadata=_about(
            "Late chunking: embed chunks in the context of their page (bge-small, minilm). A store keeps this choice."
        ),
    )
    headings: bool = field(
        default=True,
        kw_only=True,
        metadata=_about(
            "If false, embed only the text of a chunk, without its headings, as in the thesis; ranks less well. A"
            " store keeps this choice."
        ),
    )
    images: str | ImageEmbedder | None = field(
        default=None,
        kw_only=True,
        metadata=_about(
            "Also embed pictures, for the retriever image: clip (needs the extra fastembed; downloads 0.6 GB once)."
        ),
    )
    prune: bool = field(
        default=False,
        kw_only=True,
        metadata=_about(
            "Also remove the documents whose files were deleted from these folders, and records that are no longer in"
            " their files."
        ),
    )
    reread: bool = field(
        default=False,
        kw_only=True,
        metadata=_about(
            "Also read the files whose size and times are as they were when they were last read for this store."
        ),
    )
    questions: bool = field(
        default=False,
        kw_only=True,
        metadata=_about(
            "Also load the questions of Natural Questions rows, with is_answer_of relations from the answering chunks."
        ),
    )
    annotators: str = field(
        default=MAJORITY,
        kw_only=True,
        metadata=_about(f"Which annotators' answers to Natural Questions count: {', '.join(ANNOTATORS)}."),
    )
    ray: str | None = field(
        default=None,
        kw_only=True,
        metadata=_about(
            "Parse and embed in parts on a Ray cluster: HOST:PORT, auto for the one on this machine, local to start one"
            " (needs the extra ray). All nodes must see the sources and the working directory under the same paths. The"
            " resulting store is the same."
        ),
    )
    parts: str | Path | None = field(
        default=None,
        kw_only=True,
        metadata=_about(
            "Folder that keeps what the cluster has made until the build is done, by default STORE.parts, for a"
            " database a folder in the working directory that is named after its address."
        ),
    )
    limits: InputLimits | None = field(default=None, kw_only=True)
    """Limits of documents, by default those of the settings."""
    progress: StageProgress | None = field(default=None, kw_only=True)
    names: Mapping[str, str] | None = field(default=None, kw_only=True)
    """Display names of files, by path."""
    by_name: bool = field(default=False, kw_only=True)
    """Whether each name identifies a document, which is replaced also when its title has changed. Otherwise files of
    one name and different titles are different documents.
    """
    isolated: bool = field(default=False, kw_only=True)
    """Parse untrusted files in a separate process with limits of memory and time."""
    apart: bool = field(default=False, kw_only=True)
    """Parse packed and large documents in processes with a memory limit even if there are few documents.
    """
    check: PageCheck | None = field(default=None, kw_only=True)
    """Called with every page before it is written; an error it raises ends the build."""

    def __post_init__(self) -> None:
        given = self.sources
        if isinstance(given, str | Path):
            raise InputError(f"expected a list of sources, got {type(given).__name__}: [{str(given)!r}]")
        check_type("sources", given, Iterable, "a list of paths or addresses")
        sources = list(given)
        for source in sources:
            check_type("each of the sources", source, (str, Path), "a path or an address")
        if not sources:
            raise InputError("expected at least one source (a file, a folder, an address), got an empty list")
        object.__setattr__(self, "sources", [str(source) for source in sources])
        check_fields(self, but=("sources",))
        if self.workers is not None:
            check_count("workers", self.workers)
        if self.language is not None:
            check_language(self.language)
        check_annotators(self.annotators)
        if self.meta is not None:
            object.__setattr__(self, "meta", check_metadata(self.meta))
        if isinstance(self.images, str):
            from trivium.embedding.image_embedders import check_image_embedder

            check_image_embedder(self.images)
        self._check_combinations()

    def _check_combinations(self) -> None:
        if self.by_name and self.isolated:
            raise ConfigurationError(
                "files that are parsed apart are not identified by name: leave out one of them"
            )
        if self.images is not None and not self.embed:
            raise InputError(
                "images are embedded with the texts, and no text is to be embedded: leave out one of them"
            )
        if self.late and not self.headings:
            raise ConfigurationError(
                "late chunking reads a chunk in its context, headings too: leave out one of them"
            )

    @property
    def paths(self) -> list[str]:
        """The sources as text."""
        return [str(source) for source in self.sources]


class BuildOptions(TypedDict, total=False):
    """The fields of :class:`BuildRequest` besides its sources, for type checkers."""

    format: Format
    workers: int | None
    embed: bool
    sentences: bool
    progress: StageProgress | None
    names: Mapping[str, str] | None
    by_name: bool
    limits: InputLimits | None
    isolated: bool
    check: PageCheck | None
    chunker: str | None
    entities: str | None
    late: bool
    headings: bool
    prune: bool
    reread: bool
    apart: bool
    language: str | None
    any_embedder: bool
    meta: Mapping[str, MetadataValue | None] | None
    images: str | ImageEmbedder | None
    model: str | ChatModel | None
    ray: str | None
    parts: str | Path | None
    questions: bool
    annotators: str
