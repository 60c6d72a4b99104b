"""Entities, what is said of them, and their neighbours."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field

from trivium.engine import Engine
from trivium.errors import InputError
from trivium.search.entities import (
    EntityCount,
    Saying,
    SharedPassages,
    StatedRelation,
    count_entities,
    describe_entity,
    shared_passages,
)
from trivium.search.subgraph_drawings import Drawing, around, with_types
from trivium.server.errors import not_found
from trivium.server.schemas import errors
from trivium.server.service import Serving

router = APIRouter(tags=["graph"])

_PASSAGES = 10
"""Passages on the card of an entity."""


class Entities(BaseModel):
    """The entities that most passages mention. `kinds` are the numbers of all entities by kind."""

    entities: list[EntityCount]
    kinds: dict[str, int]
    shared: list[SharedPassages]


class Neighbours(BaseModel):
    """An entity, what is said of it, and its neighbours, for drawing. `forms` are the names that these passages use for
    it, the most frequent first; `others` longer names that end with its name of one word, which may mean any of them.
    """

    entity: str
    kind: str
    others: list[str]
    forms: list[str]
    mentioned: int = Field(description="Number of passages that mention it.")
    passages: list[Saying] = Field(description=f"The first {_PASSAGES} of them.")
    relations: list[StatedRelation]
    graph: Drawing
    more: bool = Field(description="Whether some neighbours were left out.")


@router.get("/entities", responses=errors(422, 503))
async def list_entities(
    request: Request,
    serving: Serving,
    limit: Annotated[int, Query(ge=1, le=100, description="Maximum number of entities.")] = 30,
    kind: Annotated[
        list[str] | None, Query(max_length=20, description="Only those of these kinds, such as person.")
    ] = None,
) -> Entities:
    """List the entities that most passages mention, and how many passages they share. Without `kind` half of them are
    of a known one, if there are so many.
    """

    def work(engine: Engine) -> Entities:
        shown, kinds = count_entities(engine.store, kind, limit)
        if kind is None:
            of_kinds, _ = count_entities(engine.store, kinds.keys() - {""}, limit // 2)
            shown = [*of_kinds, *(one for one in shown if one not in of_kinds)][:limit]
        uris = [one.uri for one in shown]
        shared = shared_passages(engine.store, uris)
        return Entities(entities=shown, kinds=dict(kinds.most_common()), shared=shared)

    return await serving.read(request, work)


@router.get("/entities/{uri:path}/neighbours", responses=errors(404, 422, 503))
async def neighbours(
    uri: str,
    request: Request,
    serving: Serving,
    limit: Annotated[int, Query(ge=1, le=200, description="Maximum number of neighbours.")] = 24,
) -> Neighbours:
    """Return an entity with what is said of it, its related entities and the pages that cite it. Aliases are resolved."""

    def work(engine: Engine) -> Neighbours:
        try:
            card = describe_entity(engine.store, uri, _PASSAGES)
        except InputError as error:
            raise not_found(str(error)) from None
        entity = card.entity.uri
        drawing, more = around(engine.store, entity, limit)
        return Neighbours(
            entity=entity,
            kind=card.entity.kind,
            others=list(card.others),
            forms=list(card.forms),
            mentioned=card.entity.passages,
            passages=list(card.sayings),
            relations=list(card.relations),
            graph=with_types(drawing, engine.store),
            more=more,
        )

    return await serving.read(request, work)
