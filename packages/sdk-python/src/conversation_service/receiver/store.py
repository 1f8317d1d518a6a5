"""Stores of the events that were processed."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable
from threading import Lock
from typing import Literal, Protocol

State = Literal["new", "running", "done"]


class DuplicateStore(Protocol):
    """
    Keeps which consumer has processed which event, so that it processes each once. Entries must live longer
    than deliveries: 30 days, as long as events can be resent. Its methods may be asynchronous for an
    asynchronous server.
    """

    def begin(self, key: str) -> State | Awaitable[State]:
        """
        Begins to process an event.

        :param key: the name of the consumer, `/`, and the event's `webhook-id`
        :returns: `done` if it was processed, `running` if another request is processing it. An entry that
            began long ago and never ended, because its process was lost, is `new`.
        """

    def end(self, key: str, done: bool) -> Awaitable[None] | None:
        """
        :param done: False when it failed, and is to be processed by the next attempt
        """


class MemoryStore:
    """A store for one process, which forgets with it. Keeps at most `size` events."""

    def __init__(self, size: int = 100_000) -> None:
        self._size = size
        self._states: OrderedDict[str, State] = OrderedDict()
        self._lock = Lock()

    def begin(self, key: str) -> State:
        with self._lock:
            state = self._states.get(key)
            if state is not None:
                return state
            self._states[key] = "running"
            if len(self._states) > self._size:
                self._states.popitem(last=False)
            return "new"

    def end(self, key: str, done: bool) -> None:
        with self._lock:
            if done:
                self._states[key] = "done"
            else:
                self._states.pop(key, None)
