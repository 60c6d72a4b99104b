"""The tools: search, ask, open_section, neighbours, stats."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, TypeVar, get_type_hints

from mcp.types import CallToolResult, TextContent
from pydantic import BaseModel, Field

from trivium.answering.events import Done
from trivium.answering.writing_options import WritingOptions
from trivium.engine import Engine
from trivium.errors import InputError, NotEmbeddedError
from trivium.graph.schema import headings_of
from trivium.integrations.mcp.open_section import open_section
from trivium.integrations.mcp.output_schemas import (
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
from trivium.integrations.mcp.render import (
    render_answered,
    render_counts,
    render_found,
    render_section,
    render_surrounded,
)
from trivium.integrations.mcp.store_access import Library, explained
from trivium.llm.chat_model import ChatModel
from trivium.search.about_question import search_and_judge
from trivium.search.answers import answer_stream
from trivium.search.requests import AskRequest, SearchRequest, describe
from trivium.search.subgraph_drawings import around, find_entity
from trivium.serialization import answer_json, citation_json, hit_json, scale_of
from trivium.server.live_switch import LiveSwitch, Mode
from trivium.server.request_fields import Uri, check_options, check_prompt
from trivium.server.schemas import AskFields, Given, SearchFields
from trivium.types import Answer, Citation, Hit, SourceOutcome

T = TypeVar("T", bound=BaseModel)
Request = TypeVar("Request", SearchRequest, AskRequest)
Fields = TypeVar("Fields", bound=Given)
Tool = Callable[["Tools", Fields], Awaitable[CallToolResult]]

MAX_PASSAGES = 20
MAX_CHARACTERS = 2000
"""Maximum number of characters of a passage in results. Most passages are shorter."""
MAX_NEIGHBOURS = 100


class SearchArguments(SearchFields):
    """The arguments of the tool `search`."""

    k: Annotated[int, Field(ge=1, le=MAX_PASSAGES, description=describe(SearchRequest, "k"))] = 5


class AskArguments(AskFields):
    """The arguments of the tool `ask`."""

    k: Annotated[int, Field(ge=1, le=MAX_PASSAGES, description=describe(AskRequest, "k"))] = 6


def takes(arguments: type[Fields]) -> Callable[[Tool[Fields]], Any]:
    """Give a tool a parameter for each field of its arguments, which the SDK describes to its callers."""
    hints = get_type_hints(arguments, include_extras=True)
    own = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    for name, one in arguments.model_fields.items():
        default = inspect.Parameter.empty if one.is_required() else one.get_default()
        own.append(
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hints[name])
        )

    def with_parameters(tool: Tool[Fields]) -> Any:
        async def call(self: Tools, **given: Any) -> CallToolResult:
            return await tool(self, arguments.model_construct(**given))  # the SDK has validated them

        call.__name__, call.__doc__ = tool.__name__, tool.__doc__
        returned = get_type_hints(tool, include_extras=True)["return"]
        call.__signature__ = inspect.Signature(own, return_annotation=returned)  # type: ignore[attr-defined]
        return call

    return with_parameters


@dataclass(frozen=True, slots=True)
class Defaults:
    """The language model that writes answers (None: passages are quoted), prompted as ``writing`` says, and whether
    ``live`` sources are asked.
    """

    model: ChatModel | None = None
    writing: WritingOptions = field(default_factory=lambda: WritingOptions())
    live: Mode = "off"


class Tools:
    """The tools as called by an agent. All are read-only."""

    def __init__(self, library: Library, defaults: Defaults) -> None:
        self._library = library
        self._defaults = defaults
        self._live = LiveSwitch(defaults.live, allow_by="trivium mcp --live allow")

    @takes(SearchArguments)
    async def search(self, given: SearchArguments) -> Annotated[CallToolResult, Found]:
        """Search the collection for the passages that best answer a question, each with page, section and characters.
        Ask a complete question, in the words that the documents may have. Read on with open_section. Passages with
        `live` are not from the collection: cite their address and date.
        """
        outcomes: list[SourceOutcome] = []
        warnings: list[str] = []
        request = self._named(given.request(on_sources=outcomes.extend, on_warnings=warnings.extend))

        def work(engine: Engine) -> Found:
            outcomes.clear()  # it is repeated when the store has changed meanwhile
            warnings.clear()
            check_options(engine.searcher, request)
            hits, nearest = search_and_judge(engine.searcher, request)
            hints = engine.hints(request.where) if request.where is not None and not hits else []
            return Found(
                scores=scale_of(hits),
                passages=[_found(hit) for hit in hits],
                warnings=[*warnings, *nearest, *hints],
                sources=outcomes,
            )

        found = await (self._library.read_slowly(work) if request.sources else self._library.read(work))
        return _result(found, render_found)

    @takes(AskArguments)
    async def ask(self, given: AskArguments) -> Annotated[CallToolResult, Answered]:
        """Answer a question from the collection (and the live sources named), citing passages; the answer says so if
        they do not contain it. The question must be self-contained, or come with the `history` it refers to. For more
        than a sentence or two, search and read instead.
        """
        defaults = self._defaults
        with explained():
            check_prompt(given.prompt)
            request = self._named(
                AskRequest(given.question, model=defaults.model, **{**defaults.writing, **given.options()})
            )

        def work(engine: Engine) -> Answered:
            _check_searchable(engine)
            check_options(engine.searcher, request)
            events = answer_stream(engine.searcher, request)
            return _answered(next(event.answer for event in events if isinstance(event, Done)))

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

    def _named(self, request: Request) -> Request:
        """Return a request with the live sources to ask. Raises ToolError when they are switched off."""
        with explained():
            sources = self._live.sources_of(request.sources)
        # Models fill in empty lists for what they leave out.
        return replace(request, sources=sources, retrievers=request.retrievers or None)


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

    def cited(citation: Citation) -> Cited:
        text = texts[citation.uri]
        cut = len(text) > MAX_CHARACTERS
        headings = headings_of(citation.section)
        return Cited(**citation_json(citation), headings=headings, text=text[:MAX_CHARACTERS], cut=cut)

    fields = answer_json(answer, of_citation=cited)
    fields["answer"] = fields["markdown"]
    unsupported = [answer.text[s.start : s.end] for s in answer.statements if not s.supported]
    return Answered(**fields, unsupported=unsupported)
