"""Errors of requests to endpoints."""

from __future__ import annotations

from trivium.common.retries import PassingError
from trivium.errors import TriviumError


class EndpointError(TriviumError):
    """A request failed permanently. Adapters translate this to errors of their own.

    ``status`` is the HTTP status, None without a response; ``parameter`` is the request parameter that the endpoint
    rejected, if it is reported.
    """

    def __init__(self, message: str, status: int | None = None, parameter: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.parameter = parameter


class PassingEndpointError(PassingError):
    """A request failed, and a retry may succeed."""

    def __init__(self, message: str, status: int | None = None, wait: float | None = None) -> None:
        super().__init__(message, wait)
        self.status = status
