"""The endpoint of Anthropic's models, based on the ``anthropic`` package."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from trivium.endpoints.failures import EndpointError, PassingEndpointError
from trivium.errors import MissingExtraError

try:
    import anthropic
    import httpx2

    from trivium.endpoints.base import BaseEndpoint, is_json
    from trivium.endpoints.bounded import is_stream
except ImportError as error:
    raise MissingExtraError("a model of Anthropic", "anthropic") from error

_PASSING = ("overloaded_error", "api_error", "rate_limit_error", "timeout_error")
"""Types of errors in a stream after which a retry may succeed."""


@dataclass(frozen=True)
class AnthropicEndpoint(BaseEndpoint):
    """See :class:`~trivium.endpoints.base.BaseEndpoint`. The base url does not include ``/v1``."""

    def connect(self) -> None:
        """See :class:`~trivium.endpoints.base.BaseEndpoint`."""
        self._client  # noqa: B018 - made when it is looked at

    async def answered(self, path: str, body: Mapping[str, Any]) -> httpx2.Response:
        """See :class:`~trivium.endpoints.base.BaseEndpoint`."""
        return await self._client.post(path, body=body, cast_to=httpx2.Response)

    async def objects(
        self, path: str, body: Mapping[str, Any], ended: Callable[[], None]
    ) -> AsyncGenerator[dict[str, Any], None]:
        """See :class:`~trivium.endpoints.base.BaseEndpoint`."""
        async with await self._client.post(
            path, body=body, cast_to=object, stream=True, stream_cls=anthropic.AsyncStream[object]
        ) as stream:
            if not is_stream(stream.response):
                await stream.response.aread()
                ended()
                yield self.object_of(stream.response)
                return
            async for event in stream:
                yield self.checked(event, stream.response)

    def translated(self, error: Exception) -> EndpointError | PassingEndpointError | None:
        """See :class:`~trivium.endpoints.base.BaseEndpoint`."""
        match error:
            case anthropic.APITimeoutError():
                return self.too_slow()
            case anthropic.APIConnectionError(__cause__=EndpointError() as cause):
                return cause
            case anthropic.APIConnectionError():
                return self.unreachable(error.__cause__ or error)
            case anthropic.APIStatusError():
                fault = error.body.get("error") if isinstance(error.body, dict) else None
                kind = fault.get("type") if isinstance(fault, dict) else None
                streamed = is_stream(error.response)
                meaning = self.refusal(fault if streamed or is_json(error.response) else None, error.response)
                if streamed and kind in _PASSING:
                    return PassingEndpointError(str(meaning), meaning.status)
                return meaning
            case anthropic.AnthropicError():
                return EndpointError(f"{self.host} answered with something else than was expected", 200)
        return None

    @cached_property
    def _client(self) -> anthropic.AsyncAnthropic:
        # A key is always passed, because the client would otherwise look for one in the environment and in files.
        return anthropic.AsyncAnthropic(
            api_key=self.key or "none",
            base_url=self.base_url,
            timeout=self.timeout,
            max_retries=0,
            http_client=self.http_client(),
            default_headers={"Accept-Encoding": "identity"},
            open_telemetry=False,
        )
