"""What the routes share: the collection, the threads that search it, time limits."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Protocol, TypeVar, Unpack, cast

from fastapi import Depends, Request, Response
from pydantic import BaseModel

from trivium.answering.events import AnswerEvent
from trivium.answering.writing import WritingOptions
from trivium.engine import Engine
from trivium.llm.base import ChatModel
from trivium.search.answers import AskOptions
from trivium.server.audio import AudioReceiver
from trivium.server.collection import Collection
from trivium.server.errors import ApiError, ClientGoneError, busy, empty
from trivium.server.jobs import Jobs
from trivium.server.live_switch import LiveSwitch
from trivium.server.metrics import Metrics
from trivium.server.originals import Originals
from trivium.server.pool import Pool
from trivium.server.processes import Processes
from trivium.server.questions import KINDS, Reply
from trivium.server.settings import ServerSettings
from trivium.server.uploads import Uploads
from trivium.speech import Speech

T = TypeVar("T")


class Answerer(Protocol):
    """Answers from a collection; :class:`~trivium.engine.Engine` is one."""

    def ask_stream(self, question: str, **options: Unpack[AskOptions]) -> Iterator[AnswerEvent]:
        """The answer as it comes about: Found once, Pieces, Done once. Closed early, it stops writing. Raises
        InputError, StoreError and ChatModelError as it goes."""
        ...


def default_answerer(engine: Engine) -> Answerer:
    """The engine itself."""
    return engine


@dataclass(frozen=True, slots=True)
class Service:
    """The parts of a running server. ``name`` tells its store from others. ``answerer`` returns what answers questions,
    given the current engine; ``models`` are what a question may choose from, by name, the usual one first: language
    models, asked as ``writing`` says, and ``none``, with which passages are quoted. ``processes`` answer what they can,
    where there are any. ``speech`` hears and speaks, in the threads of ``speaking``; ``originals`` draws pages of PDF
    files, in those of ``drawing``. ``live`` says whether live sources are asked, ``reviews`` whether
    there are candidate questions to review."""

    name: str
    settings: ServerSettings
    collection: Collection
    metrics: Metrics
    jobs: Jobs
    uploads: Uploads
    searching: Pool
    answering: Pool
    answerer: Callable[[Engine], Answerer]
    models: Mapping[str, ChatModel | None]
    writing: WritingOptions
    audio: AudioReceiver
    speech: Speech
    speaking: Pool
    originals: Originals
    drawing: Pool
    processes: Processes | None = None
    live: LiveSwitch = field(default_factory=LiveSwitch)
    reviews: bool = False

    @property
    def model(self) -> ChatModel | None:
        """The language model that writes where a question names none; None where passages are quoted."""
        return next(iter(self.models.values()))

    def model_named(self, name: str | None) -> ChatModel | None:
        """The language model that a question names, by default the usual one; None for ``none``. Raises ApiError."""
        if name is None:
            return self.model
        if name not in self.models:
            raise ApiError(
                400, "bad_request", f"model: expected one of {', '.join(self.models)}, got {name[:100]!r}"
            )
        return self.models[name]

    def quotes(self, model: ChatModel | None) -> bool:
        """Whether, with that model, it is the engine itself that answers, in sentences of the passages."""
        return model is None and self.answerer is default_answerer

    def check_ready(self) -> None:
        """Raises ApiError while there is nothing to read from."""
        if not self.collection.ready:
            raise busy("the server is starting: try again in a moment", "starting")

    def check_searchable(self, retrievers: Sequence[str] | None = None) -> None:
        """Raises ApiError while there is nothing to search; words can be searched before anything is embedded."""
        self.check_ready()
        if not self.collection.embedded and list(retrievers or ()) != ["lexical"]:
            raise empty()

    async def read(self, request: Request, work: Callable[[Engine], T]) -> T:
        """What ``work`` finds, in a thread, unless the client closes the connection first. Raises ApiError
        where it takes too long, PoolFullError where too many wait."""
        self.check_ready()
        return await unless_gone(
            request, self.searching.run(lambda: self.collection.read(work)), self.settings.timeout
        )

    async def answer(
        self, request: Request, kind: str, given: BaseModel, seconds: float | None = None
    ) -> Response:
        """A question of a kind (:data:`~trivium.server.questions.KINDS`) answered, in a process where there are any,
        within ``seconds`` (default: the time of a request). Raises as :meth:`read` does."""
        self.check_ready()
        collection, processes, work = self.collection, self.processes, KINDS[kind].work

        patience = self.settings.timeout if seconds is None else seconds
        deadline = time.monotonic() + patience

        def reply() -> Reply:
            if processes is None:
                return collection.read(lambda engine: work(engine, given))
            return processes.ask(kind, given, collection.state, deadline)

        found = await unless_gone(request, self.searching.run(reply), patience)
        return Response(found.body, headers=dict(found.headers), media_type="application/json")


async def unless_gone(request: Request, work: Coroutine[Any, Any, T], seconds: float) -> T:
    """What ``work`` returns; it is cancelled where the client closes the connection (raises ClientGoneError) and
    after so many seconds (raises ApiError)."""
    task = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(disconnected(request))
    try:
        await asyncio.wait((task, gone), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        if gone.done():
            raise ClientGoneError
        raise busy(f"no answer within {seconds:g} s", "timeout")
    finally:
        task.cancel()
        gone.cancel()


async def disconnected(request: Request) -> None:
    """Returns when the client has closed its connection; its request must have been read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _service(request: Request) -> Service:
    return cast(Service, request.app.state.service)


Serving = Annotated[Service, Depends(_service)]
"""A parameter of a route that is the running server's parts."""
