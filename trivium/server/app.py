"""The ASGI application: an engine on a store, served over HTTP."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.responses import FileResponse
from starlette.middleware.cors import CORSMiddleware
from starlette.staticfiles import StaticFiles

import trivium
from trivium.answering.writing_options import WritingOptions
from trivium.engine import Engine
from trivium.errors import ConfigurationError
from trivium.graph.open_store import is_address
from trivium.llm.chat_model import ChatModel
from trivium.llm.registry import NO_MODEL
from trivium.retrievers.path import MatchSelector
from trivium.server import errors
from trivium.server.answer_cache import AnswerCache
from trivium.server.collection import Collection
from trivium.server.guard import Guard
from trivium.server.health import check_space
from trivium.server.jobs import Jobs
from trivium.server.jobs_folder import Spool, spool_folder, store_name
from trivium.server.keys import KeyRing
from trivium.server.live_switch import LiveSwitch
from trivium.server.make_changes import perform
from trivium.server.metrics import Metrics
from trivium.server.middleware import AccessLog
from trivium.server.original_pages import Originals
from trivium.server.processes import Processes
from trivium.server.question_kinds import SCORES
from trivium.server.routes import (
    asking,
    changes,
    completions,
    documents,
    embeddings,
    entities,
    feedback,
    live,
    originals,
    searching,
    spoken,
    state,
    thumbnails,
)
from trivium.server.service import Answerer, Service, default_answerer
from trivium.server.settings import ServerSettings
from trivium.server.thread_pool import Pool
from trivium.server.uploads import Uploads
from trivium.speech import Speech

PAGE = Path(__file__).parent / "page"
"""The files of the web page, all public."""

_DRAWN_AT_ONCE = 2
_DRAWINGS_WAITING = 32
"""Limits for drawing pages of PDF files. Each drawing uses a separate process for some tenths of a second."""

DESCRIPTION = """
Ranked passages from a collection of documents, the reasons for their order, and answers that cite them.

Every error is `{"error": {"code", "message"}}`. In addition to the listed errors, any request may return 401 (API key
missing or wrong), 403 (host name, origin, or a change with a read-only key), 413 (too large), 429 (too many
requests) and 503 (busy: retry after the time in the header `Retry-After`), and uploads 507 (no
space on the disk).
"""


def create_app(
    store: str | Path,
    settings: ServerSettings | None = None,
    *,
    model: ChatModel | None = None,
    models: Sequence[ChatModel | None] = (),
    writing: WritingOptions | None = None,
    answerer: Callable[[Engine], Answerer] = default_answerer,
    speech: Speech | None = None,
) -> FastAPI:
    """Create the application for an existing store.

    ``model`` writes the answers as configured by ``writing``; without one, answers quote sentences of the passages.
    ``models`` are alternatives that a request may choose (None stands for no model). ``answerer`` returns the object
    that answers questions, given the current engine; by default the engine itself. ``speech`` defaults to the
    recogniser and voice of the package's settings.

    The store is opened immediately. Its indexes and the embedder are loaded when the application has started; until
    then the server is alive but not ready.

    Raises StoreNotFoundError, StoreFormatError, ConfigurationError when two models have the same name, and
    ConfigurationError or OSError when a file named in the settings cannot be used.
    """
    settings = ServerSettings() if settings is None else settings
    keys = KeyRing(settings.api_keys, settings.api_key_file)
    metrics = Metrics()
    options: dict[str, Any] = {
        "selector": settings.path_selector,
        "device": settings.device,
        "rerankers": settings.rerankers,
    }
    engine = Engine.open(store, on_stage=metrics.observe_stage, **options)
    collection = Collection(engine, settings.workers + settings.answer_workers)
    spool = Spool(store, spool_folder(store, settings.spool))

    jobs = Jobs(collection, spool, perform, settings.queue_jobs, metrics.job_ended)
    jobs.open()
    metrics.watch_jobs(lambda: jobs.queue)
    count = settings.processes
    processes = Processes(store, count, metrics.observe_stage, options) if count else None
    service = Service(
        name=store_name(store),
        folder=None if is_address(store) else Path(store),
        settings=settings,
        collection=collection,
        metrics=metrics,
        jobs=jobs,
        uploads=Uploads(spool, jobs, settings.spool_bytes),
        searching=Pool("search", max(settings.workers, count), settings.queue),
        filtering=Pool("filter", max(1, count - 1), settings.queue),
        answering=Pool("answer", settings.answer_workers, settings.answer_queue),
        answerer=answerer,
        models=_by_name(model, models),
        writing=WritingOptions() if writing is None else writing,
        processes=processes,
        cache=AnswerCache(settings.cache_bytes if _repeats_itself(engine) else 0),
        speech=Speech() if speech is None else speech,
        speaking=Pool("speech", settings.speech_workers, settings.speech_queue),
        originals=Originals(),
        drawing=Pool("drawing", _DRAWN_AT_ONCE, _DRAWINGS_WAITING),
        live=LiveSwitch(settings.live),
        feedback=spool.folder / "feedback.jsonl",
    )

    app = FastAPI(
        title="Trivium",
        version=trivium.__version__,
        description=DESCRIPTION,
        lifespan=_lifespan,
        # FastAPI's own pages load scripts from other hosts; /docs is our own page.
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        # Spans if an SDK is installed and configured; no logs, because they would contain the questions.
        telemetry={"logs": False},
    )
    app.state.service = service
    app.state.own_process = False  # see running.run
    errors.install(app)
    for routes in (
        searching,
        asking,
        completions,
        embeddings,
        spoken,
        documents,
        thumbnails,
        originals,
        changes,
        entities,
        feedback,
        live,
        state,
    ):
        app.include_router(routes.router)
    app.add_api_route("/", _page, include_in_schema=False)
    app.add_api_route("/docs", _api_page, include_in_schema=False)
    app.mount("/page", StaticFiles(directory=PAGE), name="page")
    least = settings.min_free_bytes
    app.add_middleware(
        Guard, settings=settings, keys=keys, check_space=lambda: check_space(service.folder, least)
    )
    if settings.cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(settings.cors_origins),
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["Authorization", "Content-Type", "X-API-Key", "X-Request-ID"],
            expose_headers=["Location", "Retry-After", "X-Request-ID", SCORES],
        )
    app.add_middleware(AccessLog, metrics=metrics)
    return app


def _repeats_itself(engine: Engine) -> bool:
    """Whether the engine gives the same answer to the same question. A language model may choose other paths."""
    return isinstance(engine.searcher.retrievers.selector, MatchSelector)


def _by_name(usual: ChatModel | None, others: Sequence[ChatModel | None]) -> Mapping[str, ChatModel | None]:
    """Return the models that a question may choose from, the default first. ``none`` is always among them."""
    named: dict[str, ChatModel | None] = {}
    for model in (usual, *others):
        name = NO_MODEL if model is None else model.name
        if model is not None and name in named:
            raise ConfigurationError(
                f"expected language models of different names, got two that are called {name!r}"
            )
        named[name] = model
    return named if NO_MODEL in named else {**named, NO_MODEL: None}


async def _page() -> FileResponse:
    """Serve the web page, which fetches its data from the API."""
    return FileResponse(PAGE / "index.html", headers={"Cache-Control": "no-cache"})


async def _api_page() -> FileResponse:
    """Serve the API documentation, rendered from ``/openapi.json``."""
    return FileResponse(PAGE / "docs.html", headers={"Cache-Control": "no-cache"})


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    service: Service = app.state.service
    # In a thread, so that the server can answer /health meanwhile.
    opening = threading.Thread(target=_open, args=(service, app.state.own_process), name="open")
    opening.start()
    try:
        yield
    finally:
        await asyncio.to_thread(_close, service, opening)


def _open(service: Service, own_process: bool) -> None:
    if not service.collection.open_when_possible():
        return
    if service.processes is not None:
        service.processes.start()
    service.jobs.start()
    if own_process:
        # Code and indexes stay: looking through them for garbage would stop all searches for a quarter of a second.
        gc.freeze()


def _close(service: Service, opening: threading.Thread) -> None:
    if service.processes is not None:
        service.processes.close()  # first, because the other threads wait for these processes
    service.collection.stop()
    opening.join()
    stopped = service.jobs.stop(service.settings.shutdown_timeout)
    for pool in service.pools:
        pool.close()
    if stopped:  # otherwise a thread is still using it
        service.collection.close()
