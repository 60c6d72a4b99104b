"""What a request to an endpoint ends in where it fails."""

from __future__ import annotations

from trivium.common.retries import PassingError
from trivium.errors import TriviumError


class EndpointError(TriviumError):
    """A request failed for good. Adapters translate it into an error of their own.

    ``status`` is the HTTP status, None when there was no answer; ``parameter`` names the parameter of the
    request that the endpoint objects to, where it says so."""

    def __init__(self, message: str, status: int | None = None, parameter: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.parameter = parameter


class PassingEndpointError(PassingError):
    """A request failed, and another attempt may succeed."""

    def __init__(self, message: str, status: int | None = None, wait: float | None = None) -> None:
        super().__init__(message, wait)
        self.status = status
