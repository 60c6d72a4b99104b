"""An OpenAI-compatible endpoint, based on the ``openai`` package. Shared by chat models and embedders."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from trivium.endpoints import loop
from trivium.endpoints.failures import EndpointError, PassingEndpointError
from trivium.errors import MissingExtraError

try:
    import httpx2
    import openai

    from trivium.endpoints.base import BaseEndpoint, is_json
    from trivium.endpoints.bounded import BoundedStream, is_stream
except ImportError as error:
    raise MissingExtraError("a model behind an OpenAI-compatible endpoint", "openai") from error


@dataclass(frozen=True)
class Endpoint(BaseEndpoint):
    """See :class:`~trivium.endpoints.base.BaseEndpoint`. With an ``api_version`` the base url is that of an Azure
    OpenAI resource (``https://NAME.openai.azure.com``), and models are named by deployment.
    """

    api_version: str | None = None

    def get(self, path: str) -> dict[str, Any]:
        """Return the JSON object at ``path``, with retries as in :meth:`post`. Raises EndpointError."""

        async def answered() -> httpx2.Response:
            return await self._client.get(path, cast_to=httpx2.Response, options=self._options)

        return self.retried(lambda: self.whole(answered))

    def connect(self) -> None:
        """See :class:`~trivium.endpoints.base.BaseEndpoint`."""
        self._client  # noqa: B018 - made when it is looked at

    async def answered(self, path: str, body: Mapping[str, Any]) -> httpx2.Response:
        """See :class:`~trivium.endpoints.base.BaseEndpoint`."""
        return await self._client.post(path, body=body, cast_to=httpx2.Response, options=self._options)

    async def objects(
        self, path: str, body: Mapping[str, Any], ended: Callable[[], None]
    ) -> AsyncGenerator[dict[str, Any], None]:
        """See :class:`~trivium.endpoints.base.BaseEndpoint`."""
        async with await self._client.post(
            path,
            body=body,
            cast_to=object,
            options=self._options,
            stream=True,
            stream_cls=openai.AsyncStream[object],
        ) as stream:
            if not is_stream(stream.response):
                await stream.response.aread()
                ended()
                yield self.object_of(stream.response)
                return
            bounded = stream.response.stream
            async for event in stream:
                yield self.checked(event, stream.response)
            if isinstance(bounded, BoundedStream) and bounded.said_done:
                ended()

    def translated(self, error: Exception) -> EndpointError | PassingEndpointError | None:
        """See :class:`~trivium.endpoints.base.BaseEndpoint`."""
        match error:
            case openai.APITimeoutError():
                return self.too_slow()
            case openai.APIConnectionError():
                return self.unreachable(error.__cause__ or error)
            case openai.APIStatusError():
                return self.refusal(error.body if is_json(error.response) else None, error.response)
            case openai.APIError():  # an error event in a stream
                return EndpointError(f"{self.host} broke off: {self.printable(error.message)}")
        return None

    def close(self) -> None:
        """Close pooled connections. The next request opens new ones."""
        client = self.__dict__.pop("_client", None)
        if client is not None:
            loop.begin(client.close())

    @cached_property
    def _client(self) -> openai.AsyncOpenAI:
        # Every option is set or omitted explicitly, so that nothing is taken from variables meant for another endpoint.
        headers: dict[str, Any] = {
            "Accept-Encoding": "identity",
            "OpenAI-Organization": openai.Omit(),
            "OpenAI-Project": openai.Omit(),
        }
        common: dict[str, Any] = {
            "api_key": "see _options",
            "admin_api_key": "",
            "webhook_secret": "",
            "max_retries": 0,
            "timeout": self.timeout,
            "http_client": self.http_client(),
            "default_headers": headers,
        }
        if self.api_version is None:
            return openai.AsyncOpenAI(base_url=self.base_url, **common)
        return openai.AsyncAzureOpenAI(azure_endpoint=self.base_url, api_version=self.api_version, **common)

    @property
    def _options(self) -> Any:
        """Options of each request: the key, or its explicit absence, because the client would otherwise look for one in
        the environment.
        """
        if self.api_version is not None:
            return {"headers": {"api-key": self.key, "Authorization": openai.Omit()}}
        return {"headers": {"Authorization": f"Bearer {self.key}" if self.key else openai.Omit()}}
