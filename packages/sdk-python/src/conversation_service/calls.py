"""What the methods of resources call."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from .exchange import Exchange
from .pages import AsyncPages, Batch, Listing, Pages, follow, single
from .request import Call
from .steps import iterate, iterate_async, run, run_async

T = TypeVar("T")


@dataclass(frozen=True)
class Calls:
    exchange: Exchange

    def with_options(self, options: Mapping[str, Any]) -> Calls:
        return Calls(self.exchange.with_options(options))

    def send(self, call: Call[T]) -> T:
        return run(single(self.exchange, call))

    def list(self, call: Call[T]) -> Pages[T]:
        return Pages(self.exchange, call)

    def follow(self, call: Call[T], cursor: str | None, poll_seconds: float) -> Iterator[Batch[T]]:
        return iterate(follow(Listing(self.exchange, call), cursor, poll_seconds))


@dataclass(frozen=True)
class AsyncCalls:
    exchange: Exchange

    def with_options(self, options: Mapping[str, Any]) -> AsyncCalls:
        return AsyncCalls(self.exchange.with_options(options))

    async def send(self, call: Call[T]) -> T:
        return await run_async(single(self.exchange, call))

    def list(self, call: Call[T]) -> AsyncPages[T]:
        return AsyncPages(self.exchange, call)

    def follow(self, call: Call[T], cursor: str | None, poll_seconds: float) -> AsyncIterator[Batch[T]]:
        return iterate_async(follow(Listing(self.exchange, call), cursor, poll_seconds))
