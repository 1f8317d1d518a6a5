"""The exchange of a request for a response: retries, waits and errors."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from functools import partial
from itertools import count
from time import time
from typing import Any

import httpx
from pydantic import ValidationError

from . import models
from .errors import ApiError, ConnectionError, DeprecatedOperationWarning, ResponseError, TimeoutError
from .generated.error_types import CLASSES
from .operation import Operation
from .request import Call, build_request
from .steps import Steps

#: A wait without `Retry-After` is a random part of these seconds, doubled for each try.
FIRST_WAIT = 0.5
MAX_BACKOFF = 8.0
RETRIED = frozenset({408, 429, 500, 502, 503, 504})


@dataclass(frozen=True)
class DeprecationNotice:
    """An operation that is going to be removed was called."""

    operation: str
    deprecation: str
    """The `Deprecation` header (RFC 9745)."""
    sunset: str | None
    """The `Sunset` header (RFC 8594): when the operation stops working."""


def warn_of_deprecation(notice: DeprecationNotice) -> None:
    until = f", and works until {notice.sunset}" if notice.sunset else ""
    message = f"The operation {notice.operation} is deprecated ({notice.deprecation}){until}."
    warnings.warn(message, DeprecatedOperationWarning, stacklevel=2)


@dataclass(frozen=True)
class Settings:
    """How a client calls the API. Times are in seconds."""

    base_url: str
    credential: str = field(repr=False)
    timeout: float = 30.0
    max_retries: int = 4
    max_wait: float = 60.0
    on_deprecation: Callable[[DeprecationNotice], object] = warn_of_deprecation


@dataclass
class Exchange:
    """
    Sends requests, with retries after errors that pass (docs/specification.md, Idempotency). All tries of a
    call are one request, so that a `POST` takes effect once.
    """

    http: httpx.Client | httpx.AsyncClient
    sleep: Callable[[float], Any]
    settings: Settings
    noticed: set[str] = field(default_factory=set)

    def send(self, call: Call[Any]) -> Steps[Any]:
        """
        The body of the response, None for 204.

        :raises ApiError: when the API refuses the request, or the last try fails
        :raises ConnectionError: when no response arrives
        """
        settings = self.settings
        request = build_request(self.http, settings.base_url, settings.credential, call, settings.timeout)
        for tried in count():
            try:
                # The key must not follow a redirect to elsewhere, and the API has none.
                response = yield partial(self.http.send, request, follow_redirects=False)
            except httpx.RequestError as cause:
                if tried >= settings.max_retries:
                    raise no_response(request, cause) from cause
                yield partial(self.sleep, backoff(tried))
                continue
            self.notice(call.operation, response)
            if response.is_success:
                return read_body(response)
            error = to_api_error(response)
            wait = backoff(tried) if error.retry_after is None else error.retry_after
            if tried >= settings.max_retries or error.status not in RETRIED or wait > settings.max_wait:
                raise error
            yield partial(self.sleep, wait)

    def notice(self, operation: Operation[Any], response: httpx.Response) -> None:
        deprecation = response.headers.get("deprecation")
        if deprecation is None or operation.id in self.noticed:
            return
        self.noticed.add(operation.id)
        sunset = response.headers.get("sunset")
        self.settings.on_deprecation(DeprecationNotice(operation.id, deprecation, sunset))


def no_response(request: httpx.Request, cause: httpx.RequestError) -> ConnectionError:
    if isinstance(cause, httpx.TimeoutException):
        return TimeoutError(f"No response from {request.url.host} in time.")
    return ConnectionError(f"No response from {request.url.host}: {cause}")


def backoff(tried: int) -> float:
    """Full jitter: clients that failed together do not return together."""
    return random.random() * min(MAX_BACKOFF, FIRST_WAIT * 2.0**tried)


def read_body(response: httpx.Response) -> Any:
    if response.content == b"":
        return None
    try:
        return response.json()
    except ValueError as cause:
        raise ResponseError("The response is not JSON.", request_id=request_id_of(response)) from cause


def request_id_of(response: httpx.Response) -> str | None:
    request_id: str | None = response.headers.get("request-id")
    return request_id


def to_api_error(response: httpx.Response) -> ApiError:
    """Proxies on the way respond with errors of other forms."""
    error = read_error(response)
    return CLASSES.get(error.type, ApiError)(
        error.message,
        status=response.status_code,
        type=error.type,
        request_id=error.request_id or None,
        details=error.details or (),
        retry_after=read_retry_after(response.headers.get("retry-after")),
    )


def read_error(response: httpx.Response) -> models.ApiError:
    try:
        return models.ErrorResponse.model_validate_json(response.content).error
    except ValidationError:
        status = response.status_code
        return models.ApiError(
            type="SERVICE_UNAVAILABLE" if status >= 500 else "VALIDATION_ERROR",
            message=f"The response has the status {status}.",
            request_id=request_id_of(response) or "",
        )


def read_retry_after(value: str | None) -> float | None:
    """Seconds of a `Retry-After` header (RFC 9110, 10.2.3): a number, or a date."""
    if value is None:
        return None
    if value.isascii() and value.isdigit():
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time())
    except ValueError:
        return None
