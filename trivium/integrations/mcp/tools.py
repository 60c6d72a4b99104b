"""The tools: search, ask, open_section, neighbours, stats."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, TypeVar

from mcp.types import CallToolResult, TextContent
from pydantic import BaseModel, Field

from trivium.answering.writing import WritingOptions
from trivium.engine import Engine
from trivium.errors import InputError, NotEmbeddedError
from trivium.graph.schema import headings_of
from trivium.integrations.mcp.answers import (
    Answered,
    Cited,
    Counts,
    Found,
    FoundPassage,
    Neighbour,
    OpenedSection,
    Relation,
    Surrounded,
)
from trivium.integrations.mcp.reading import Library, explained
from trivium.integrations.mcp.render import (
    render_answered,
    render_counts,
    render_found,
    render_section,
    render_surrounded,
)
from trivium.integrations.mcp.sections import open_section
from trivium.llm.base import ChatModel
from trivium.search.about import nearest_warnings
from trivium.search.drawing import around
from trivium.search.entities import find_entity
from trivium.serialization import hit_json, live_json, scale_of
from trivium.server.fields import (
    CutOption,
    FusionOption,
    PromptOption,
    QuestionText,
    RecallText,
    RerankOption,
    Retrievers,
    SettingsOption,
    Sources,
    Uri,
    WhereText,
    check_options,
    check_prompt,
)
from trivium.server.live_switch import LiveSwitch, Mode
from trivium.server.schemas import History, IntentOption, RewriteOption
from trivium.types import Answer, Hit, SourceOutcome

T = TypeVar("T", bound=BaseModel)

MAX_PASSAGES = 20
MAX_CHARACTERS = 2000
"""Maximum number of characters of a passage in results. Most passages are shorter."""
MAX_NEIGHBOURS = 100

Passages = Annotated[int, Field(ge=1, le=MAX_PASSAGES, description="Number of passages.")]


@dataclass(frozen=True, slots=True)
class Defaults:
    """Defaults for requests that do not specify how to search, and the language model that writes answers (None:
    passages are quoted), prompted as ``writing`` says. ``live`` is whether live sources are asked.
    """

    retrievers: Sequence[str] | None = None
    fusion: str | None = None
    model: ChatModel | None = None
    writing: WritingOptions = field(default_factory=lambda: WritingOptions())
    live: Mode = "off"


class Tools:
    """The tools as called by an agent. All are read-only."""

    def __init__(self, library: Library, defaults: Defaults) -> None:
        self._library = library
        self._defaults = defaults
        self._live = LiveSwitch(defaults.live, allow_by="trivium mcp --live allow")

    async def search(
        self,
        question: QuestionText,
        k: Passages = 5,
        retrievers: Retrievers = None,
        fusion: FusionOption = None,
        explain: Annotated[bool, Field(description="Include the contribution of each retriever.")] = False,
        settings: SettingsOption = None,
        where: WhereText = None,
        sources: Sources = None,
        recall_query: RecallText = None,
        rerank: RerankOption = None,
        cut: CutOption = None,
    ) -> Annotated[CallToolResult, Found]:
        """Search the collection for the passages that best answer a question, each with page, section and characters.
        Ask a complete question, in the words of an encyclopaedia. Read on with open_section. Passages with `live` are
        not from the collection: cite their address and date.
        """
        retrievers = retrievers or None  # models fill in empty lists for what they leave out
        asked, fused = self._views(retrievers, fusion)
        live = self._sources(sources)

        def work(engine: Engine) -> Found:
            check_options(engine.searcher, retrievers, fusion, settings, live, rerank)
            outcomes: list[SourceOutcome] = []
            warnings: list[str] = []
            find = partial(
                engine.search,
                question,
                retrievers=asked,
                fusion=fused,
                explain=explain,
                settings=settings,
                where=where,
                sources=live,
                recall=recall_query,
                rerank=rerank,
                cut=cut,
            )
            hits = find(k, on_sources=outcomes.extend, on_warnings=warnings.extend)
            if asked is None and not live:
                # Warnings of a second search are those of the first.
                again = partial(find, on_warnings=lambda _: None)
                warnings += nearest_warnings(engine.searcher, question, hits, k, again)
            return Found(
                scores=scale_of(hits),
                passages=[_found(hit) for hit in hits],
                warnings=warnings if hits or where is None else [*warnings, *engine.hints(where)],
                sources=outcomes,
            )

        found = await (self._library.read_slowly(work) if live else self._library.read(work))
        return _result(found, render_found)

    async def ask(
        self,
        question: QuestionText,
        k: Passages = 6,
        retrievers: Retrievers = None,
        fusion: FusionOption = None,
        settings: SettingsOption = None,
        where: WhereText = None,
        history: History = [],  # noqa: B006 - only read
        intent: IntentOption = None,
        rewrite: RewriteOption = True,
        sources: Sources = None,
        prompt: PromptOption = None,
        rerank: RerankOption = None,
        cut: CutOption = None,
    ) -> Annotated[CallToolResult, Answered]:
        """Answer a question from the collection (and the live sources named), citing passages; the answer says so if
        they do not contain it. The question must be self-contained, or come with the `history` it refers to. For more
        than a sentence or two, search and read instead.
        """
        retrievers = retrievers or None  # models fill in empty lists for what they leave out
        asked, fused = self._views(retrievers, fusion)
        live = self._sources(sources)

        def work(engine: Engine) -> Answered:
            _check_searchable(engine)
            check_options(engine.searcher, retrievers, fusion, settings, live, rerank)
            check_prompt(prompt)
            writing = self._defaults.writing
            answer = engine.ask(
                question,
                k=k,
                history=[turn.turn() for turn in history],
                model=self._defaults.model,
                **(writing if prompt is None else {**writing, "prompt": prompt}),
                retrievers=asked,
                fusion=fused,
                settings=settings,
                where=where,
                intent=intent,
                rewrite=rewrite,
                sources=live,
                rerank=rerank,
                cut=cut,
            )
            return _answered(answer)

        return _result(await self._library.read_slowly(work), render_answered)

    async def open_section(
        self,
        uri: Annotated[
            Uri,
            Field(
                description="A section, passage or page: a uri as search gave it, or a page's title.",
                examples=["Mars#Moons", "Phobos (moon)"],
            ),
        ],
        start: Annotated[
            int | None,
            Field(ge=0, description="The `next_start` of the previous part; none to begin with."),
        ] = None,
    ) -> Annotated[CallToolResult, OpenedSection]:
        """Read a section: the passages directly under its heading, the names of its subsections, and its parent. A
        page's uri opens the text before its first heading. Long sections are returned in parts.
        """
        return _result(
            await self._library.read(lambda engine: open_section(engine.store, uri, start)), render_section
        )

    async def neighbours(
        self,
        entity: Annotated[
            Uri,
            Field(
                description="Its uri (of a page, or as search gave it), title or alias.", examples=["Mars"]
            ),
        ],
        limit: Annotated[
            int, Field(ge=1, le=MAX_NEIGHBOURS, description="Maximum number of neighbours.")
        ] = 24,
    ) -> Annotated[CallToolResult, Surrounded]:
        """List the entities related to an entity (from infoboxes and the like) and the pages that mention it most, for
        questions that need more than one step.
        """

        def work(engine: Engine) -> Surrounded:
            found = find_entity(engine.store, entity)
            if found is None:
                raise InputError(
                    f"there is no entity {entity!r}: take the page of a passage that search found, or a title"
                )
            drawing, more = around(engine.store, found, limit)
            return Surrounded(
                entity=found,
                neighbours=[
                    Neighbour(uri=node.id, kind="page" if node.kind == "page" else "entity")
                    for node in drawing.nodes
                    if node.id != found
                ],
                relations=[
                    Relation(source=edge.source, type=edge.type, target=edge.target) for edge in drawing.edges
                ],
                more=more,
            )

        return _result(await self._library.read(work), render_surrounded)

    async def stats(self) -> Annotated[CallToolResult, Counts]:
        """Count the contents of the collection (pages, sections, passages, entities, links), and list the live sources
        that can be asked.
        """
        info = await self._library.info()
        model = self._defaults.model
        counts = Counts(
            nodes=dict(info.nodes),
            relationships=dict(info.relationships),
            aliases=info.aliases,
            embedder=None if info.embedder is None else info.embedder.name,
            model=None if model is None else model.name,
            live=self._live.mode,
            sources=[]
            if self._live.mode == "off"
            else [state.name for state in self._live.states if state.lacks is None],
        )
        return _result(counts, render_counts)

    def _sources(self, named: Sequence[str] | None) -> list[str] | None:
        """Return the live sources to ask. Raises ToolError when they are switched off."""
        with explained():
            return self._live.sources_of(named)

    def _views(
        self, retrievers: Sequence[str] | None, fusion: str | None
    ) -> tuple[Sequence[str] | None, str | None]:
        """Return the retrievers and the fusion of a request, or the defaults if it names neither."""
        if retrievers is None and fusion is None:
            return self._defaults.retrievers, self._defaults.fusion
        return retrievers, fusion


def _result(answer: T, render: Callable[[T], str]) -> CallToolResult:
    """Return a result as structured data and as text."""
    return CallToolResult(
        content=[TextContent(type="text", text=render(answer))],
        structured_content=answer.model_dump(mode="json"),
    )


def _check_searchable(engine: Engine) -> None:
    if engine.store.embedder is None:
        raise NotEmbeddedError("nothing in the store is embedded yet: run  trivium embed --store STORE")


def _found(hit: Hit) -> FoundPassage:
    fields = hit_json(hit)
    fields["text"] = hit.text[:MAX_CHARACTERS]
    cut = len(hit.text) > MAX_CHARACTERS
    return FoundPassage(**fields, headings=headings_of(hit.section), cut=cut)


def _answered(answer: Answer) -> Answered:
    texts = {hit.uri: hit.text for hit in answer.passages}
    return Answered(
        outcome=answer.outcome,
        intent=answer.intent,
        searched_for=answer.searched_for,
        recall_query=answer.recall_query,
        answer=answer.text,
        citations=[
            Cited(
                number=citation.number,
                uri=citation.uri,
                page=citation.page,
                section=citation.section,
                document=citation.document,
                pages=list(citation.pages),
                live=live_json(citation.live),
                headings=headings_of(citation.section),
                start=citation.start,
                end=citation.end,
                text=texts[citation.uri][:MAX_CHARACTERS],
                cut=len(texts[citation.uri]) > MAX_CHARACTERS,
            )
            for citation in answer.citations
        ],
        unsupported=[answer.text[s.start : s.end] for s in answer.statements if not s.supported],
        model=answer.model,
        usage=answer.usage,
        sources=list(answer.sources),
        warnings=list(answer.warnings),
    )
