"""The parts shared by the routes: the collection, the threads that search it, and time limits."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Protocol, TypeVar, Unpack, cast

from fastapi import Depends, Request, Response
from pydantic import BaseModel
from starlette.requests import ClientDisconnect

from trivium.answering.events import AnswerEvent
from trivium.answering.writing_options import WritingOptions
from trivium.common.idle_cores import alone, available_cores
from trivium.engine import Engine
from trivium.graph.filter_conditions import Where
from trivium.llm.chat_model import ChatModel
from trivium.search.requests import AskOptions
from trivium.server.answer_cache import AnswerCache
from trivium.server.collection import Collection
from trivium.server.errors import ApiError, busy, empty
from trivium.server.jobs import Jobs
from trivium.server.live_switch import LiveSwitch
from trivium.server.metrics import Metrics
from trivium.server.original_pages import Originals
from trivium.server.processes import Processes
from trivium.server.question_kinds import KINDS, Reply
from trivium.server.settings import ServerSettings
from trivium.server.thread_pool import Pool
from trivium.server.uploads import Uploads
from trivium.speech import Speech

T = TypeVar("T")

MAX_HEARD = 8
"""Spoken questions received, waiting or being transcribed at once. Each is held in memory."""
_CORES = available_cores()
"""When as many questions are being asked, each is searched for by one thread: a second one would delay the others."""


class Answerer(Protocol):
    """Answers questions from a collection; :class:`~trivium.engine.Engine` implements it."""

    def ask_stream(self, question: str, **options: Unpack[AskOptions]) -> Generator[AnswerEvent, None, None]:
        """Stream the answer: Found once, Pieces, Done once. Closing the generator stops it. Raises InputError,
        StoreError and ChatModelError during iteration.
        """
        ...


def default_answerer(engine: Engine) -> Answerer:
    """Return the engine itself."""
    return engine


@dataclass(frozen=True, slots=True)
class Service:
    """The parts of a running server.

    - ``name``: identifies its store. ``folder`` is None for a database.
    - ``answerer``: returns the object that answers questions, given the current engine.
    - ``models``: the models that a question may choose, by name, the default first: language models, prompted as
      ``writing`` says, and ``none``, which quotes passages.
    - ``processes``: answer questions in separate processes, if there are any.
    - ``filtering``: finds what conditions leave before the search itself, so that expensive ones wait for each other and
      hold up no other search; with ``processes`` it runs searches with conditions, and leaves a process to the others.
    - ``cache``: the answers to recent questions.
    - ``speech``: speech recognition and synthesis, run in the threads of ``speaking``. ``hearing`` limits the spoken
      questions that are in memory.
    - ``originals``: draws pages of PDF files, in the threads of ``drawing``.
    - ``live``: whether live sources are asked.
    - ``feedback``: the file of what readers think of answers.
    """

    name: str
    folder: Path | None
    settings: ServerSettings
    collection: Collection
    metrics: Metrics
    jobs: Jobs
    uploads: Uploads
    searching: Pool
    filtering: Pool
    answering: Pool
    answerer: Callable[[Engine], Answerer]
    models: Mapping[str, ChatModel | None]
    writing: WritingOptions
    speech: Speech
    speaking: Pool
    originals: Originals
    drawing: Pool
    feedback: Path
    processes: Processes | None = None
    cache: AnswerCache = field(default_factory=lambda: AnswerCache(0))
    live: LiveSwitch = field(default_factory=LiveSwitch)
    hearing: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MAX_HEARD))

    @property
    def pools(self) -> tuple[Pool, ...]:
        """All of them."""
        return (self.searching, self.filtering, self.answering, self.speaking, self.drawing)

    @property
    def model(self) -> ChatModel | None:
        """The default language model; None if passages are quoted."""
        return next(iter(self.models.values()))

    def model_named(self, name: str | None) -> ChatModel | None:
        """Return the language model that a question names, by default the default one; None for ``none``. Raises
        ApiError.
        """
        if name is None:
            return self.model
        if name not in self.models:
            raise ApiError(
                400, "bad_request", f"model: expected one of {', '.join(self.models)}, got {name[:100]!r}"
            )
        return self.models[name]

    def quotes(self, model: ChatModel | None) -> bool:
        """Return whether, with that model, the engine itself answers with sentences of the passages."""
        return model is None and self.answerer is default_answerer

    def check_ready(self) -> None:
        """Raise ApiError while there is no store to read from."""
        if not self.collection.ready:
            raise busy("the server is starting: try again in a moment", "starting")

    def check_searchable(self, retrievers: Sequence[str] | None = None) -> None:
        """Raise ApiError while there is nothing to search. Keyword search works before anything is embedded."""
        self.check_ready()
        if not self.collection.embedded and list(retrievers or ()) != ["lexical"]:
            raise empty()

    async def read(self, request: Request, work: Callable[[Engine], T]) -> T:
        """Run ``work`` in a thread and return its result, unless the client disconnects first. Raises ApiError on a
        timeout and PoolFullError when too many are waiting.
        """
        self.check_ready()
        return await unless_gone(
            request, self.searching.run(lambda: self.collection.read(work)), self.settings.timeout
        )

    async def filter(self, request: Request, where: Where | None, seconds: float) -> None:
        """Find what a condition leaves. It is remembered for the search. Raises the errors of :meth:`read`."""
        if where is not None:
            work = self.filtering.run(lambda: self.collection.read(lambda engine: engine.hints(where)))
            await unless_gone(request, work, seconds)

    async def answer(
        self, request: Request, kind: str, given: BaseModel, seconds: float | None = None
    ) -> Response:
        """Answer a question of a kind (:data:`~trivium.server.question_kinds.KINDS`) within ``seconds`` (default: the
        time limit of a request): from the cache, in a separate process if there are any, or in a thread. Raises the
        errors of :meth:`read`.
        """
        self.check_ready()
        state = self.collection.state
        key = self.cache.key(kind, given, state)
        found = None if key is None else self.cache.find(state, key)
        if key is not None:
            self.metrics.looked_up(found=found is not None)
        if found is None:
            found = await self._ask(request, kind, given, seconds)
            if key is not None and state == self.collection.state:
                self.cache.put(state, key, found)
        return Response(found.body, headers=dict(found.headers), media_type="application/json")

    async def _ask(self, request: Request, kind: str, given: BaseModel, seconds: float | None) -> Reply:
        collection, work = self.collection, KINDS[kind].work
        # Live sources are waited for in a thread, which can stop when the client has left.
        processes = None if getattr(given, "sources", None) else self.processes
        patience = self.settings.timeout if seconds is None else seconds
        deadline = time.monotonic() + patience
        where: Where | None = getattr(given, "where", None)
        if processes is None:
            await self.filter(request, where, patience)
        pool = self.searching if processes is None or where is None else self.filtering

        def reply() -> Reply:
            crowded = self.searching.taken + self.filtering.taken >= _CORES
            if processes is not None:
                return processes.ask(kind, given, collection.state, deadline, alone=crowded)
            with alone(crowded):
                return collection.read(lambda engine: work(engine, given))

        return await unless_gone(request, pool.run(reply), deadline - time.monotonic())


async def unless_gone(request: Request, work: Coroutine[Any, Any, T], seconds: float) -> T:
    """Return the result of ``work``. It is cancelled when the client disconnects (raises ClientDisconnect) and after
    ``seconds`` (raises ApiError).
    """
    task = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(disconnected(request))
    try:
        await asyncio.wait((task, gone), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        if gone.done():
            raise ClientDisconnect
        raise busy(f"no answer within {seconds:g} s", "timeout")
    finally:
        task.cancel()
        gone.cancel()


async def disconnected(request: Request) -> None:
    """Wait until the client has disconnected. Its request must have been read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def _service(request: Request) -> Service:
    # Asynchronous, because FastAPI runs other dependencies in a thread: two switches of threads for a look-up.
    return cast(Service, request.app.state.service)


Serving = Annotated[Service, Depends(_service)]
"""Dependency of routes that need the service."""
