"""The exchange of a request for a response: retries, waits and errors."""

from __future__ import annotations

import logging
import random
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from email.utils import parsedate_to_datetime
from functools import partial
from itertools import count
from time import monotonic, time
from typing import Any

import httpx

from . import models
from .errors import ApiError, ConnectionError, DeprecatedOperationWarning, ResponseError, TimeoutError
from .generated.error_types import CLASSES
from .operation import Operation
from .request import Call, build_request
from .steps import Steps

LOGGER = logging.getLogger("conversation_service")

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
class Response:
    """What is known of a response besides its body."""

    status: int
    headers: Mapping[str, str]
    request_id: str | None
    """Identifies the request to support."""


@dataclass(frozen=True)
class Settings:
    """How a client calls the API. Times are in seconds."""

    base_url: str
    credential: str = field(repr=False)
    timeout: float = 30.0
    max_retries: int = 4
    max_wait: float = 60.0
    on_deprecation: Callable[[DeprecationNotice], object] = warn_of_deprecation
    on_response: Callable[[Response], object] = lambda _: None


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

    def with_options(self, options: Mapping[str, Any]) -> Exchange:
        return replace(self, settings=replace(self.settings, **options))

    def send(self, call: Call[Any]) -> Steps[httpx.Response]:
        """
        A successful response.

        :raises ApiError: when the API refuses the request, or the last try fails
        :raises ResponseError: when a response is not one of the API
        :raises ConnectionError: when no response arrives
        """
        settings = self.settings
        request = build_request(self.http, settings.base_url, settings.credential, call, settings.timeout)
        tries = count()
        while True:
            tried = next(tries)
            started = monotonic()
            try:
                # The key must not follow a redirect to elsewhere, and the API has none.
                response: httpx.Response = yield partial(self.http.send, request, follow_redirects=False)
            except httpx.RequestError as cause:
                log(call.operation, request, type(cause).__name__, started, tried)
                if tried >= settings.max_retries:
                    raise no_response(request, cause) from cause
                yield partial(self.sleep, backoff(tried))
                continue
            request_id = request_id_of(response)
            outcome = f"{response.status_code}, request {request_id or 'unknown'}"
            log(call.operation, request, outcome, started, tried)
            settings.on_response(Response(response.status_code, response.headers, request_id))
            self.notice(call.operation, response)
            if response.is_success:
                return response
            retry_after = read_retry_after(response.headers.get("retry-after"))
            wait = backoff(tried) if retry_after is None else retry_after
            is_retried = response.status_code in RETRIED and wait <= settings.max_wait
            if tried >= settings.max_retries or not is_retried:
                raise to_error(response)
            yield partial(self.sleep, wait)

    def notice(self, operation: Operation[Any], response: httpx.Response) -> None:
        deprecation = response.headers.get("deprecation")
        if deprecation is None or operation.id in self.noticed:
            return
        self.noticed.add(operation.id)
        sunset = response.headers.get("sunset")
        self.settings.on_deprecation(DeprecationNotice(operation.id, deprecation, sunset))


def log(operation: Operation[Any], request: httpx.Request, outcome: str, started: float, tried: int) -> None:
    """A line for a try, without credentials, parameters and texts."""
    text = "%s %s %s: %s after %d ms, try %d"
    took = (monotonic() - started) * 1000
    LOGGER.debug(text, operation.id, request.method, request.url.path, outcome, took, tried + 1)


def no_response(request: httpx.Request, cause: httpx.RequestError) -> ConnectionError:
    if isinstance(cause, httpx.TimeoutException):
        return TimeoutError(f"No response from {request.url.host} in time.")
    return ConnectionError(f"No response from {request.url.host}: {cause}")


def backoff(tried: int) -> float:
    """Full jitter: clients that failed together do not return together."""
    return random.random() * min(MAX_BACKOFF, FIRST_WAIT * 2.0**tried)


def request_id_of(response: httpx.Response) -> str | None:
    request_id: str | None = response.headers.get("request-id")
    return request_id


def to_error(response: httpx.Response) -> ApiError | ResponseError:
    """An error of the API, or a response that is not one of the API: proxies on the way have their own."""
    try:
        error = response.json()["error"]
        type, message = error["type"], error["message"]
        details = [models.ErrorDetail.model_validate(detail) for detail in error.get("details") or ()]
    except (LookupError, TypeError, ValueError):
        return not_documented(response)
    if response.status_code < 400 or not isinstance(type, str) or not isinstance(message, str):
        return not_documented(response)
    return CLASSES.get(type, ApiError)(
        message,
        status=response.status_code,
        type=type,
        request_id=error.get("requestId") or request_id_of(response),
        details=details,
        retry_after=read_retry_after(response.headers.get("retry-after")),
    )


def not_documented(response: httpx.Response) -> ResponseError:
    status = response.status_code
    return ResponseError(
        f"The response with status {status} is not as documented. Check the base URL and proxies on the way.",
        status=status,
        request_id=request_id_of(response),
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
