"""A chat model behind an endpoint, independent of its protocol: requests, streams and usage.

An answer is read while it makes progress, does not exceed the requested length, and until its proper end. Each protocol
is a subclass.
"""

from __future__ import annotations

import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from trivium.endpoints.failures import EndpointError
from trivium.endpoints.ratelimit import MinuteLimit
from trivium.endpoints.tokens import EstimatedCounter, TiktokenCounter, TokenCounter, token_counter
from trivium.errors import ChatModelError, MissingExtraError
from trivium.llm.base import CountedBy, Message, Reply, ReplyUsage
from trivium.llm.json_replies import JsonSchema, without_bounds

if TYPE_CHECKING:  # needs a provider's package
    from trivium.endpoints.base import BaseEndpoint, JsonStream

CONTEXT_TOKENS = 8192
"""Default context window. No endpoint in use has less, and few report theirs."""
_TOKEN_CHARACTERS = 100
"""Maximum number of characters per requested token that are read."""
_MESSAGE_TOKENS = 4
"""Tokens for the marks around a message."""

_log = logging.getLogger(__name__)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Delta:
    """The content of one event of a stream.

    - ``text``: the next piece of the answer.
    - ``progress``: other progress, such as thinking.
    - ``ended``, ``cut``: whether the answer has ended, and whether it was truncated.
    - ``read``, ``wrote``: token counts, if reported.
    - ``part``: false for an event that only reports tokens.
    """

    text: str = ""
    progress: bool = False
    ended: bool = False
    cut: bool = False
    read: int | None = None
    wrote: int | None = None
    part: bool = True


class HostedChatModel(ABC):
    """Sends requests to an endpoint. ``temperature`` is the default of calls that give none. ``requests`` and
    ``tokens`` limit the rate per minute; by default it is unlimited. Thread-safe.
    """

    expected: ClassVar[str]
    """Description of a valid answer, for error messages."""
    optional: ClassVar[frozenset[str]] = frozenset()
    """Parameters that some models reject; they are then left out."""
    schema_parameters: ClassVar[frozenset[str]] = frozenset()
    """Those of them that constrain the model to a schema. If rejected, they are sent once more with a simpler schema.
    """

    def __init__(
        self,
        model: str,
        endpoint: BaseEndpoint,
        *,
        context_tokens: int = CONTEXT_TOKENS,
        temperature: float = 0.0,
        seed: int = 0,
        requests: MinuteLimit | None = None,
        tokens: MinuteLimit | None = None,
    ) -> None:
        self._model = model
        self._endpoint = endpoint
        self._context_tokens = context_tokens
        self._temperature = temperature
        self._seed = seed
        self._requests = requests
        self._tokens = tokens
        self._refused: frozenset[str] = frozenset()  # rejected parameters, remembered
        self._bounds = True  # whether the endpoint accepts bounds in a schema

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._model!r} at {self._endpoint.host})"

    @property
    def name(self) -> str:
        """The model's name at the endpoint."""
        return self._model

    @property
    def seed(self) -> int:
        """Random seed, for models that accept one."""
        return self._seed

    @property
    def context_tokens(self) -> int:
        """Context window as configured, because endpoints do not report it."""
        return self._context_tokens

    def count_tokens(self, text: str) -> int:
        """Estimate the tokens of a text, rather too high, without downloading anything."""
        return EstimatedCounter().count(text)

    def complete(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int = 512,
        temperature: float | None = None,
        schema: JsonSchema | None = None,
    ) -> str:
        """Return the model's answer, possibly empty. Raises ChatModelError."""
        path, wait = self.path(stream=False), self._limiter(messages)
        return self.content(
            self._ask(
                lambda sent: self._endpoint.post(path, sent, wait),
                lambda known: self.body(messages, max_tokens, self._chosen(temperature), known),
                schema,
            )
        )

    def stream(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int = 512,
        temperature: float | None = None,
        schema: JsonSchema | None = None,
    ) -> Reply:
        """Stream the model's answer, possibly empty, also from an endpoint that sends it in one piece. Raises
        ChatModelError, here or while it is read.
        """
        path, wait = self.path(stream=True), self._limiter(messages)
        objects = self._ask(
            lambda sent: self._endpoint.stream(path, sent, wait),
            lambda known: self.streaming(self.body(messages, max_tokens, self._chosen(temperature), known)),
            schema,
        )
        return Reply(self._pieces(objects, messages, max_tokens))

    @abstractmethod
    def path(self, stream: bool) -> str:
        """Return the path of the request."""

    @abstractmethod
    def body(
        self, messages: Sequence[Message], max_tokens: int, temperature: float, schema: JsonSchema | None
    ) -> dict[str, Any]:
        """Return the request body of the protocol."""

    def streaming(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return the request body for a streamed answer."""
        return body

    @abstractmethod
    def content(self, answer: dict[str, Any]) -> str:
        """Return the text of a complete answer. Raises ChatModelError."""

    @abstractmethod
    def delta(self, event: dict[str, Any]) -> Delta | None:
        """Parse an event; None if it is not part of an answer."""

    def refused(self, error: EndpointError) -> frozenset[str]:
        """Return the parameters that an endpoint rejected, usually by finding their names in its message."""
        if error.status not in (400, 422):
            return frozenset()
        return frozenset(name for name in self.optional if name in str(error))

    def without(self, body: dict[str, Any], refused: frozenset[str]) -> dict[str, Any]:
        """Return the request body without some parameters."""
        return {name: value for name, value in body.items() if name not in refused}

    def error(self, what: object) -> ChatModelError:
        """Create an error of this model."""
        return ChatModelError(f"{self._model}: {what}")

    def _chosen(self, temperature: float | None) -> float:
        return self._temperature if temperature is None else temperature

    def _limiter(self, messages: Sequence[Message]) -> Callable[[], None]:
        def wait() -> None:
            if self._requests is not None:
                self._requests.take(1)
            if self._tokens is not None:
                self._tokens.take(_tokens_of(messages, EstimatedCounter()))

        return wait

    def _ask(
        self,
        ask: Callable[[dict[str, Any]], T],
        make: Callable[[JsonSchema | None], dict[str, Any]],
        schema: JsonSchema | None,
    ) -> T:
        """Call ``ask`` with the body that ``make`` creates: with the full schema, else with one without bounds, else
        without a schema, depending on what the endpoint accepts. Rejected parameters are not sent again.
        """
        while True:
            plainer = None if schema is None else without_bounds(schema)
            sent = schema if self._bounds else plainer
            try:
                return ask(self.without(make(sent), self._refused))
            except EndpointError as error:
                refused = self.refused(error) - self._refused
                if not refused:
                    raise self.error(error) from error
                if sent != plainer and not refused.isdisjoint(self.schema_parameters):
                    self._bounds = False
                else:
                    self._refused |= refused

    def _pieces(
        self, objects: JsonStream, messages: Sequence[Message], max_tokens: int
    ) -> Generator[str, None, ReplyUsage]:
        written: list[str] = []
        room = max_tokens * _TOKEN_CHARACTERS
        read = wrote = None
        began = ended = cut = False
        with closing(objects):
            try:
                for delta in self._while_it_writes(objects):
                    read = read if delta.read is None else delta.read
                    wrote = wrote if delta.wrote is None else delta.wrote
                    began = began or delta.part
                    ended = ended or delta.ended
                    cut = cut or delta.cut
                    if text := delta.text[:room]:
                        room -= len(text)
                        written.append(text)
                        yield text
                    if room == 0:
                        ended = cut = True
                        break
            except EndpointError as error:
                raise self.error(error) from error
        if not began:
            raise self.error(f"expected {self.expected}, got an answer without it")
        if not (ended or objects.ended):
            raise self.error(f"{self._endpoint.host} broke off in the middle of an answer")
        if read is not None and wrote is not None:
            return ReplyUsage(read, wrote, "reported", cut)
        return self._estimated_usage(messages, "".join(written), cut)

    def _while_it_writes(self, objects: JsonStream) -> Iterator[Delta]:
        """Yield the contents of events while they add to the answer or to the thinking before it. Raises EndpointError
        when there is no progress within the endpoint's time limit.
        """
        last = time.monotonic()
        for event in objects:
            delta = self.delta(event)
            now = time.monotonic()
            if delta is not None and (delta.text or delta.progress):
                last = now
            elif now - last > self._endpoint.timeout:
                raise EndpointError(f"{self._endpoint.host} wrote nothing for {self._endpoint.timeout:g} s")
            if delta is not None:
                yield delta

    def _estimated_usage(self, messages: Sequence[Message], written: str, cut: bool) -> ReplyUsage:
        """Estimate the usage of an answer whose endpoint did not report it."""
        prompt = _tokens_of(messages, self._counter)
        counted_by: CountedBy = "tiktoken" if isinstance(self._counter, TiktokenCounter) else "estimated"
        return ReplyUsage(prompt, self._counter.count(written), counted_by, cut)

    @cached_property
    def _counter(self) -> TokenCounter:
        try:
            return token_counter(self._model)
        except MissingExtraError:
            _log.warning(
                "%s does not say how many tokens it took: they are estimated by length"
                " (pip install 'trivium[openai]' counts them)",
                self._endpoint.host,
            )
            return EstimatedCounter()


def _tokens_of(messages: Sequence[Message], counter: TokenCounter) -> int:
    """Count the tokens of messages, including the marks around them."""
    return sum(_MESSAGE_TOKENS + counter.count(message.content) for message in messages)


def as_count(value: object) -> int | None:
    """Return a token count if the value is a valid one."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
