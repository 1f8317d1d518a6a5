"""Errors of calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .models import ErrorDetail


class ServiceError(Exception):
    """Base of the errors of this package."""


class ApiError(ServiceError):
    """
    The API refused a request, or could not process it. Each type has a class; a type that was added after
    this version is an `ApiError` itself.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int,
        type: str,
        request_id: str | None = None,
        details: Sequence[ErrorDetail] = (),
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.type = type
        self.request_id = request_id
        """Identifies the request to support."""
        self.details = tuple(details)
        """Every fault of an invalid request; empty for other errors."""
        self.retry_after = retry_after
        """How many seconds the service asks to wait."""

    def __str__(self) -> str:
        faults = "".join(f"\n  {detail.field}: {detail.message}" for detail in self.details)
        return f"{self.type}: {self.message} (request {self.request_id or 'unknown'}){faults}"


class ConnectionError(ServiceError):
    """No response arrived: the service cannot be reached, or the connection broke. `__cause__` has more."""


class TimeoutError(ConnectionError):
    """No response arrived in time."""


class ResponseError(ServiceError):
    """
    A response that is not as documented, for example a redirect or the page of a proxy. A request that writes
    may have taken effect.
    """

    def __init__(self, message: str, *, status: int, request_id: str | None) -> None:
        super().__init__(message)
        self.status = status
        self.request_id = request_id


class DeprecatedOperationWarning(FutureWarning):
    """An operation that is going to be removed was called."""
