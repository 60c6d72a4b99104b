"""The endpoint of Google's Gemini models, based on the ``google-genai`` package."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from trivium.endpoints.failures import EndpointError, PassingEndpointError
from trivium.errors import MissingExtraError

try:
    import httpx2
    from google import genai
    from google.genai import errors, types

    from trivium.endpoints.base import BaseEndpoint
    from trivium.endpoints.checked import check_answers
except ImportError as error:
    raise MissingExtraError("a model of Gemini", "gemini") from error

_API_VERSION = "v1beta"
_MALFORMED = (ValueError, TypeError, AttributeError, KeyError, IndexError)
"""Exceptions that the package raises for malformed responses."""


@dataclass(frozen=True)
class GeminiEndpoint(BaseEndpoint):
    """See :class:`~trivium.endpoints.base.BaseEndpoint`. The base url does not include a version; the path of a request
    is the name of the model, and its body contains ``contents`` and ``config`` in the package's format.
    """

    checks = (check_answers,)

    def connect(self) -> None:
        """See :class:`~trivium.endpoints.base.BaseEndpoint`."""
        self._models  # noqa: B018 - made when it is looked at

    async def answered(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """See :class:`~trivium.endpoints.base.BaseEndpoint`."""
        with self._reading():
            answer = await self._models.generate_content(model=path, **body)
            return _plain(answer)

    async def objects(
        self,
        path: str,
        body: Mapping[str, Any],
        ended: Callable[[], None],  # noqa: ARG002 - an event says so
    ) -> AsyncGenerator[dict[str, Any], None]:
        """See :class:`~trivium.endpoints.base.BaseEndpoint`."""
        with self._reading():
            async with aclosing(await self._models.generate_content_stream(model=path, **body)) as events:
                async for event in events:
                    yield _plain(event)

    def translated(self, error: Exception) -> EndpointError | PassingEndpointError | None:
        """See :class:`~trivium.endpoints.base.BaseEndpoint`."""
        if not isinstance(error, errors.APIError):
            return None
        status = error.code if isinstance(error.code, int) and 300 <= error.code <= 599 else 200
        headers = getattr(error.response, "headers", None)
        known = headers if isinstance(headers, httpx2.Headers) else None
        return self.refusal(
            {"message": error.message or error.status}, httpx2.Response(status, headers=known)
        )

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Translate validation errors. The package validates with pydantic, whose messages quote the response."""
        try:
            yield
        except _MALFORMED:
            raise EndpointError(f"{self.host} answered with something else than was expected", 200) from None

    @cached_property
    def _models(self) -> Any:
        options = types.HttpOptions(
            base_url=self.base_url,
            api_version=_API_VERSION,
            headers={"Accept-Encoding": "identity"},
            timeout=int(self.timeout * 1000),
            httpx_async_client=self.http_client(),
        )
        # The key and the address are passed explicitly, because the client would otherwise look for both in the
        # environment.
        client = genai.Client(vertexai=False, api_key=self.key or "none", http_options=options)
        return client.aio.models


def _plain(answer: Any) -> dict[str, Any]:
    fields: dict[str, Any] = answer.model_dump(mode="json", exclude_none=True, exclude={"sdk_http_response"})
    return fields
