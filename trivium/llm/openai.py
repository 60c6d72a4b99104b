"""A chat model behind any OpenAI-compatible endpoint: OpenAI's own, Azure, llama.cpp, vLLM, Ollama, LM Studio ..."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from functools import cached_property
from typing import Any, TypeVar

from trivium.endpoints.endpoint import Endpoint, JsonStream
from trivium.endpoints.failures import EndpointError
from trivium.endpoints.ratelimit import MinuteLimit
from trivium.endpoints.tokens import EstimatedCounter, TiktokenCounter, TokenCounter, token_counter
from trivium.errors import ChatModelError, MissingExtraError
from trivium.llm.base import CountedBy, Message, Reply, ReplyUsage
from trivium.llm.json_replies import JsonSchema

CONTEXT_TOKENS = 8192
"""What fits where nothing else is said: no endpoint in use takes less, and few say how much they take."""
_PATH = "/chat/completions"
_OPTIONAL = frozenset({"temperature", "seed", "stream_options", "response_format"})
_NO_LIMIT = 1 << 40
_TOKEN_CHARACTERS = 100
"""What a token stands for at most: more characters than this for each token that was asked for are not read."""
_MESSAGE_TOKENS = 4
"""What the marks around a message cost."""

_log = logging.getLogger(__name__)

T = TypeVar("T")


class OpenAIChatModel:
    """Asks ``<base url>/chat/completions``. ``requests`` and ``tokens`` hold calls back to what an endpoint allows per
    minute; by default nothing is held back. Thread-safe."""

    def __init__(
        self,
        model: str,
        endpoint: Endpoint,
        *,
        context_tokens: int = CONTEXT_TOKENS,
        seed: int = 0,
        requests: MinuteLimit | None = None,
        tokens: MinuteLimit | None = None,
    ) -> None:
        self._model = model
        self._endpoint = endpoint
        self._context_tokens = context_tokens
        self._seed = seed
        self._requests = requests
        self._tokens = tokens
        self._refused: set[str] = set()  # parameters, for good

    def __repr__(self) -> str:
        return f"OpenAIChatModel({self._model!r} at {self._endpoint.host})"

    @property
    def name(self) -> str:
        """The model, as its endpoint knows it."""
        return self._model

    @property
    def context_tokens(self) -> int:
        """As configured: endpoints do not say."""
        return self._context_tokens

    def count_tokens(self, text: str) -> int:
        """A guess on the high side, for which nothing has to be downloaded."""
        return EstimatedCounter().truncate(text, _NO_LIMIT)[1]

    def complete(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int = 512,
        temperature: float = 0.0,
        schema: JsonSchema | None = None,
    ) -> str:
        """The model's answer, possibly empty. Raises ChatModelError."""
        body = self._body(messages, max_tokens, temperature, schema)
        answer = self._ask(lambda sent: self._endpoint.post(_PATH, sent, self._limiter(messages)), body)
        return self._content(answer)

    def stream(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int = 512,
        temperature: float = 0.0,
        schema: JsonSchema | None = None,
    ) -> Reply:
        """The model's answer piece by piece, possibly empty; also of an endpoint that sends it in one. Raises
        ChatModelError, here or while it is read."""
        body = self._body(messages, max_tokens, temperature, schema)
        body |= {"stream": True, "stream_options": {"include_usage": True}}
        objects = self._ask(lambda sent: self._endpoint.stream(_PATH, sent, self._limiter(messages)), body)
        return Reply(self._pieces(objects, messages, max_tokens))

    def _body(
        self, messages: Sequence[Message], max_tokens: int, temperature: float, schema: JsonSchema | None
    ) -> dict[str, Any]:
        body = {
            "model": self._model,
            "messages": [{"role": message.role, "content": message.content} for message in messages],
            "max_tokens": max_tokens,
            "temperature": temperature,
            "seed": self._seed,
        }
        if schema is not None:
            described = {"name": "reply", "strict": True, "schema": schema}
            body["response_format"] = {"type": "json_schema", "json_schema": described}
        return body

    def _limiter(self, messages: Sequence[Message]) -> Callable[[], None]:
        def wait() -> None:
            if self._requests is not None:
                self._requests.take(1)
            if self._tokens is not None:
                self._tokens.take(sum(_MESSAGE_TOKENS + self.count_tokens(m.content) for m in messages))

        return wait

    def _ask(self, ask: Callable[[dict[str, Any]], T], body: dict[str, Any]) -> T:
        while True:
            sent = {name: value for name, value in body.items() if name not in self._refused}
            if "max_tokens" in self._refused:
                sent["max_completion_tokens"] = body["max_tokens"]
            try:
                return ask(sent)
            except EndpointError as error:
                refused = _refused(error) - self._refused
                if not refused:
                    raise self._error(error) from error
                self._refused |= refused

    def _pieces(
        self, objects: JsonStream, messages: Sequence[Message], max_tokens: int
    ) -> Generator[str, None, ReplyUsage]:
        written: list[str] = []
        room = max_tokens * _TOKEN_CHARACTERS
        usage: tuple[int, int] | None = None
        began = ended = cut = False
        with closing(objects):
            try:
                for event in self._while_it_writes(objects):
                    usage = _usage(event) or usage
                    choice = _choice(event)
                    if choice is None:
                        continue
                    began = True
                    ended = ended or choice.get("finish_reason") is not None
                    cut = cut or choice.get("finish_reason") == "length"
                    if text := _text(choice)[:room]:
                        room -= len(text)
                        written.append(text)
                        yield text
                    if room == 0:
                        ended = cut = True
                        break
            except EndpointError as error:
                raise self._error(error) from error
        if not began:
            raise ChatModelError(f"{self._model}: expected choices[0].delta, got an answer without it")
        if not (ended or objects.ended):
            raise ChatModelError(f"{self._model}: {self._endpoint.host} broke off in the middle of an answer")
        if usage is not None:
            return ReplyUsage(*usage, "reported", cut)
        return self._estimated_usage(messages, "".join(written), cut)

    def _while_it_writes(self, objects: JsonStream) -> Iterator[dict[str, Any]]:
        """The events, as long as some of them add to the answer or to the thoughts before it. Raises EndpointError where
        none has for the endpoint's time limit."""
        last = time.monotonic()
        for event in objects:
            now = time.monotonic()
            if _adds(event):
                last = now
            elif now - last > self._endpoint.timeout:
                raise EndpointError(f"{self._endpoint.host} wrote nothing for {self._endpoint.timeout:g} s")
            yield event

    def _estimated_usage(self, messages: Sequence[Message], written: str, cut: bool) -> ReplyUsage:
        """What an answer took, where its endpoint did not say."""
        prompt = sum(_MESSAGE_TOKENS + self._counter.truncate(m.content, _NO_LIMIT)[1] for m in messages)
        counted_by: CountedBy = "tiktoken" if isinstance(self._counter, TiktokenCounter) else "estimated"
        return ReplyUsage(prompt, self._counter.truncate(written, _NO_LIMIT)[1], counted_by, cut)

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

    def _content(self, answer: dict[str, Any]) -> str:
        try:
            content = answer["choices"][0]["message"]["content"]
        except (KeyError, IndexError, TypeError) as error:
            raise ChatModelError(
                f"{self._model}: expected choices[0].message.content, got an answer without it"
            ) from error
        if not isinstance(content, str):
            raise ChatModelError(f"{self._model}: expected text, got {type(content).__name__} (a refusal?)")
        return content

    def _error(self, error: EndpointError) -> ChatModelError:
        return ChatModelError(f"{self._model}: {error}")


def _refused(error: EndpointError) -> set[str]:
    """What of a request an endpoint does not take: reasoning models want ``max_completion_tokens`` for ``max_tokens`` and
    no temperature, others know no seed or no schema. Most name the parameter, some only speak of it."""
    if error.status not in (400, 422):
        return set()
    if error.parameter is not None:
        return {error.parameter.partition(".")[0]} & {"max_tokens", *_OPTIONAL}
    message = str(error).replace("json_schema", "response_format")
    return {name for name in _OPTIONAL if name in message}


def _choice(event: dict[str, Any]) -> dict[str, Any] | None:
    choices = event.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) else None


def _text(choice: dict[str, Any]) -> str:
    """What an event adds; all of it, where an endpoint does not stream."""
    message = choice.get("delta", choice.get("message"))
    content = message.get("content") if isinstance(message, dict) else None
    return content if isinstance(content, str) else ""


def _adds(event: dict[str, Any]) -> bool:
    """Whether an event brings text: of the answer, of a reasoning model's thoughts, of a refusal ..."""
    choice = _choice(event)
    delta = None if choice is None else choice.get("delta")
    return isinstance(delta, dict) and any(
        isinstance(value, str) and value for name, value in delta.items() if name != "role"
    )


def _usage(event: dict[str, Any]) -> tuple[int, int] | None:
    usage = event.get("usage")
    if not isinstance(usage, dict):
        return None
    read, wrote = usage.get("prompt_tokens"), usage.get("completion_tokens")
    return (read, wrote) if isinstance(read, int) and isinstance(wrote, int) else None
