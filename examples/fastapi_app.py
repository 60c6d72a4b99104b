"""Trivium in an application with FastAPI: one engine in each process, opened when it starts.

TRIVIUM_STORE=my-store uvicorn fastapi_app:app
"""

import os
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Annotated

from fastapi import Body, FastAPI, Request
from fastapi.responses import JSONResponse, StreamingResponse

import trivium


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Open the engine in the process that uses it; the first search loads the model and the indexes."""
    with trivium.Engine.open(os.environ.get("TRIVIUM_STORE", "my-store")) as engine:
        await engine.asearch("warm up", k=1)
        app.state.engine = engine
        yield


app = FastAPI(lifespan=lifespan)


@app.exception_handler(trivium.InputError)
async def refuse(_: Request, error: Exception) -> JSONResponse:
    """A question that is too long, or a number out of its range, is the client's mistake."""
    return JSONResponse({"error": str(error)}, status_code=400)


@app.get("/ready")
async def ready() -> dict[str, int]:
    """Answered only once the engine is open: an application accepts no request before its lifespan has begun."""
    return {"process": os.getpid()}


@app.post("/search")
async def search(question: Annotated[str, Body(embed=True)]) -> list[dict[str, object]]:
    """The search runs in a thread; it is stopped if the request is cancelled."""
    hits = await app.state.engine.asearch(question, k=5)
    return [{"uri": hit.uri, "score": hit.score, "text": hit.text} for hit in hits]


@app.get("/ask")
def ask(question: str) -> StreamingResponse:
    """The answer piece by piece. A wrong question raises here, before anything is sent."""
    events = app.state.engine.ask_stream(question)

    def pieces() -> Iterator[str]:
        for event in events:
            if isinstance(event, trivium.Piece):
                yield event.text

    return StreamingResponse(pieces(), media_type="text/plain")
