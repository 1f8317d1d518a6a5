"""Verifies requests and processes their events, once if there is a store."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from ..steps import Steps, run, run_async
from .events import Event
from .store import DuplicateStore
from .verify import TOLERANCE_SECONDS, VerificationError, verify


def log_error(error: Exception) -> None:
    logging.getLogger("conversation_service").error("A webhook failed: %s", error, exc_info=error)


@dataclass(frozen=True)
class Receiver:
    """
    Processes webhook requests. Adapters for servers are in modules of this package: `starlette` (FastAPI
    too), `flask`, `django`, `aws_lambda` and `http_server`.
    """

    secrets: str | Sequence[str] = field(repr=False)
    """The signing secret `whsec_…`; several while it changes."""
    on_event: Callable[[Event], object]
    """Processes an event. May be asynchronous for an asynchronous server."""
    store: DuplicateStore | None = None
    """Without one, an event that is delivered twice is processed twice. Needs a `consumer`."""
    consumer: str = ""
    """
    A name for what this receiver does with events, for example `crm`. An event comes to each endpoint under
    one id: receivers with another name process it as well, those with the same name do not.
    """
    tolerance_seconds: float = TOLERANCE_SECONDS
    on_error: Callable[[Exception], object] = log_error
    """Called with what `on_event` raised, and with requests that were refused. Logs them without it."""

    def __post_init__(self) -> None:
        if self.store is not None and not self.consumer:
            raise ValueError("A receiver with a store needs a consumer.")

    def handle(self, headers: Mapping[str, str], body: bytes | str) -> int:
        """The status of the response: any 2xx ends the delivery, any other one has it retried."""
        return run(self._steps(headers, body))

    async def handle_async(self, headers: Mapping[str, str], body: bytes | str) -> int:
        """As `handle`, with functions that may be asynchronous."""
        return await run_async(self._steps(headers, body))

    def _steps(self, headers: Mapping[str, str], body: bytes | str) -> Steps[int]:
        try:
            event = verify(headers, body, self.secrets, tolerance_seconds=self.tolerance_seconds)
        except VerificationError as error:
            self.on_error(error)
            return 413 if error.problem == "body_too_large" else 400
        try:
            return (yield from self._process(event))
        except Exception as error:
            self.on_error(error)
            return 500

    def _process(self, event: Event) -> Steps[int]:
        store = self.store
        if store is None:
            yield partial(self.on_event, event)
            return 204
        key = f"{self.consumer}/{event.id}"
        state = yield partial(store.begin, key)
        # The other request may fail: the next attempt finds out.
        if state != "new":
            return 204 if state == "done" else 503
        try:
            yield partial(self.on_event, event)
        except BaseException:
            yield partial(store.end, key, False)
            raise
        yield partial(store.end, key, True)
        return 204
