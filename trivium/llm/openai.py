"""A chat model behind any OpenAI-compatible endpoint: OpenAI, Azure, llama.cpp, vLLM, Ollama, LM Studio ...

An answer is read while it makes progress, does not exceed the requested length, and until its proper end.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TypeVar

from trivium.endpoints.endpoint_errors import EndpointError
from trivium.endpoints.token_counts import EstimatedCounter, TiktokenCounter, TokenCounter, token_counter
from trivium.errors import ChatModelError, MissingExtraError
from trivium.llm.chat_model import CONTEXT_TOKENS, CountedBy, Message, Reply, ReplyUsage
from trivium.llm.json_replies import JsonSchema, without_bounds

if TYPE_CHECKING:  # needs the package openai
    from trivium.endpoints.endpoint import Endpoint
    from trivium.endpoints.stream import JsonStream

_OPTIONAL: Final = frozenset({"temperature", "seed", "stream_options", "response_format"})
"""Parameters that some models reject; they are then left out."""
_PATH = "/chat/completions"
_TOKEN_CHARACTERS = 100
"""Maximum number of characters per requested token that are read."""
_MESSAGE_TOKENS = 4
"""Tokens for the marks around a message."""

_log = logging.getLogger(__name__)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Delta:
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


class OpenAIChatModel:
    """Sends requests to ``<base url>/chat/completions``. ``temperature`` is the default of calls that give none.
    Thread-safe.
    """

    def __init__(
        self,
        model: str,
        endpoint: Endpoint,
        *,
        context_tokens: int = CONTEXT_TOKENS,
        temperature: float = 0.0,
    ) -> None:
        self._model = model
        self._endpoint = endpoint
        self._context_tokens = context_tokens
        self._temperature = temperature
        self._refused: frozenset[str] = frozenset()  # rejected parameters, remembered
        self._bounds = True  # whether the endpoint accepts bounds in a schema

    def __repr__(self) -> str:
        return f"OpenAIChatModel({self._model!r} at {self._endpoint.host})"

    @property
    def name(self) -> str:
        """The model's name at the endpoint."""
        return self._model

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
        answer = self._ask(
            lambda sent: self._endpoint.post(_PATH, sent),
            lambda known: self._body(messages, max_tokens, temperature, known),
            schema,
        )
        return self._content(answer)

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
        streamed = {"stream": True, "stream_options": {"include_usage": True}}
        objects = self._ask(
            lambda sent: self._endpoint.stream(_PATH, sent),
            lambda known: self._body(messages, max_tokens, temperature, known) | streamed,
            schema,
        )
        return Reply(self._pieces(objects, messages, max_tokens))

    def _error(self, what: object) -> ChatModelError:
        return ChatModelError(f"{self._model}: {what}")

    def _body(
        self,
        messages: Sequence[Message],
        max_tokens: int,
        temperature: float | None,
        schema: JsonSchema | None,
    ) -> dict[str, Any]:
        body = {
            "model": self._model,
            "messages": [{"role": message.role, "content": message.content} for message in messages],
            "max_tokens": max_tokens,
            "temperature": self._temperature if temperature is None else temperature,
            "seed": 0,
        }
        if schema is not None:
            described = {"name": "reply", "strict": True, "schema": schema}
            body["response_format"] = {"type": "json_schema", "json_schema": described}
        return body

    def _content(self, answer: dict[str, Any]) -> str:
        """Return the text of a complete answer. Raises ChatModelError."""
        try:
            content = answer["choices"][0]["message"]["content"]
        except (KeyError, IndexError, TypeError) as error:
            raise self._error("expected choices[0].message.content, got an answer without it") from error
        if not isinstance(content, str):
            raise self._error(f"expected text, got {type(content).__name__} (a refusal?)")
        return content

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
                return ask(_without(make(sent), self._refused))
            except EndpointError as error:
                refused = _rejected(error) - self._refused
                if not refused:
                    raise self._error(error) from error
                if sent != plainer and "response_format" in refused:
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
                raise self._error(error) from error
        if not began:
            raise self._error("expected choices[0].delta, got an answer without it")
        if not (ended or objects.ended):
            raise self._error(f"{self._endpoint.host} broke off in the middle of an answer")
        if read is not None and wrote is not None:
            return ReplyUsage(read, wrote, "reported", cut)
        return self._estimated_usage(messages, "".join(written), cut)

    def _while_it_writes(self, objects: JsonStream) -> Iterator[_Delta]:
        """Yield the contents of events while they add to the answer or to the thinking before it. Raises EndpointError
        when there is no progress within the endpoint's time limit.
        """
        last = time.monotonic()
        for event in objects:
            delta = _delta(event)
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


def _rejected(error: EndpointError) -> frozenset[str]:
    """Return the parameters that an endpoint rejected: reasoning models a temperature, others a seed or a schema. Most
    name the parameter, some only mention it.
    """
    if error.status not in (400, 422):
        return frozenset()
    if error.parameter is not None:
        return frozenset({error.parameter.partition(".")[0]} & {"max_tokens", *_OPTIONAL})
    told = str(error).replace("json_schema", "response_format")
    return frozenset(name for name in _OPTIONAL if name in told)


def _without(body: dict[str, Any], refused: frozenset[str]) -> dict[str, Any]:
    """Return the request body without some parameters. Reasoning models need ``max_completion_tokens`` instead of
    ``max_tokens``.
    """
    sent = {name: value for name, value in body.items() if name not in refused}
    return sent | {"max_completion_tokens": body["max_tokens"]} if "max_tokens" in refused else sent


def _delta(event: dict[str, Any]) -> _Delta | None:
    """Parse an event; None if it is not part of an answer. Events without a choice contain at most the usage."""
    read, wrote = _usage(event)
    choice = _choice(event)
    if choice is None:
        return None if read is None else _Delta(read=read, wrote=wrote, part=False)
    reason = choice.get("finish_reason")
    return _Delta(_text(choice), _adds(choice), reason is not None, reason == "length", read, wrote)


def _choice(event: dict[str, Any]) -> dict[str, Any] | None:
    choices = event.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) else None


def _text(choice: dict[str, Any]) -> str:
    """Return the text that an event adds; the entire text if the endpoint does not stream."""
    message = choice.get("delta", choice.get("message"))
    content = message.get("content") if isinstance(message, dict) else None
    return content if isinstance(content, str) else ""


def _adds(choice: dict[str, Any]) -> bool:
    """Whether a choice adds text of any kind: answer, thinking of a reasoning model, refusal ..."""
    delta = choice.get("delta")
    return isinstance(delta, dict) and any(
        isinstance(value, str) and value for name, value in delta.items() if name != "role"
    )


def _usage(event: dict[str, Any]) -> tuple[int | None, int | None]:
    usage = event.get("usage")
    if not isinstance(usage, dict):
        return None, None
    read, wrote = _as_count(usage.get("prompt_tokens")), _as_count(usage.get("completion_tokens"))
    return (read, wrote) if read is not None and wrote is not None else (None, None)


def _as_count(value: object) -> int | None:
    """Return a token count if the value is a valid one."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
