"""Entities and their neighbours."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field

from trivium.engine import Engine
from trivium.search.subgraph_drawings import Drawing, around, find_entity
from trivium.server.errors import not_found
from trivium.server.schemas import errors
from trivium.server.service import Serving

router = APIRouter(tags=["graph"])


class Neighbours(BaseModel):
    """An entity and its neighbours, for drawing."""

    entity: str
    graph: Drawing
    more: bool = Field(description="Whether some neighbours were left out.")


@router.get("/entities/{uri:path}/neighbours", responses=errors(404, 422, 503))
async def neighbours(
    uri: str,
    request: Request,
    serving: Serving,
    limit: Annotated[int, Query(ge=1, le=200, description="Maximum number of neighbours.")] = 24,
) -> Neighbours:
    """Return an entity with its related entities and the pages that cite it. Aliases are resolved."""

    def work(engine: Engine) -> Neighbours:
        entity = find_entity(engine.store, uri)
        if entity is None:
            raise not_found(f"there is no entity {uri!r}")
        drawing, more = around(engine.store, entity, limit)
        return Neighbours(entity=entity, graph=drawing, more=more)

    return await serving.read(request, work)
