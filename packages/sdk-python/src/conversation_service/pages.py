"""Lists of the API, read page by page as far as they are asked for."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Generic, TypeVar

from .errors import ResponseError
from .exchange import Exchange, not_documented
from .request import Call
from .steps import Emit, EmittingSteps, Steps, iterate, iterate_async, run, run_async

T = TypeVar("T")


@dataclass(frozen=True)
class Page(Generic[T]):
    """A page of a list. It may be short, or empty, and not be the last."""

    data: list[T]
    next_cursor: str | None
    """None on the last page."""
    follow_cursor: str | None = None
    """Of lists that can be followed: continues with later items."""


@dataclass(frozen=True)
class Batch(Generic[T]):
    """Items of a list that is followed."""

    data: list[T]
    follow_cursor: str
    """Where to continue after a restart, as the `cursor` of `follow`."""


@dataclass(frozen=True)
class Listing(Generic[T]):
    exchange: Exchange
    call: Call[T]


class Pages(Listing[T]):
    """`for conversation in client.conversations.list(): …`"""

    def __iter__(self) -> Iterator[T]:
        """All items, from the first page on."""
        return iterate(items(self))

    def take(self, limit: int) -> list[T]:
        """The first items, at most so many."""
        return list(iterate(items(self, limit)))

    def pages(self, cursor: str | None = None) -> Iterator[Page[T]]:
        """Pages, whose cursors can be kept. Begins after the page that has the cursor as `next_cursor`."""
        return iterate(pages(self, cursor))

    def page(self, cursor: str | None = None) -> Page[T]:
        """One page: the first, or the one after a cursor."""
        return run(page(self, cursor))


class AsyncPages(Listing[T]):
    """`async for conversation in client.conversations.list(): …`"""

    def __aiter__(self) -> AsyncIterator[T]:
        """All items, from the first page on."""
        return iterate_async(items(self))

    async def take(self, limit: int) -> list[T]:
        """The first items, at most so many."""
        return [item async for item in iterate_async(items(self, limit))]

    def pages(self, cursor: str | None = None) -> AsyncIterator[Page[T]]:
        """Pages, whose cursors can be kept. Begins after the page that has the cursor as `next_cursor`."""
        return iterate_async(pages(self, cursor))

    async def page(self, cursor: str | None = None) -> Page[T]:
        """One page: the first, or the one after a cursor."""
        return await run_async(page(self, cursor))


def page(listing: Listing[T], cursor: str | None) -> Steps[Page[T]]:
    call = listing.call
    if cursor is not None:
        call = replace(call, query={**call.query, "cursor": cursor})
    response = yield from listing.exchange.send(call)
    try:
        body = response.json()
        items = [call.operation.parse(item) for item in body["data"]]
        return Page(items, body["nextCursor"], body.get("followCursor"))
    except (LookupError, TypeError, ValueError, AttributeError) as cause:
        raise not_documented(response) from cause


def pages(listing: Listing[T], cursor: str | None) -> EmittingSteps[Page[T]]:
    while True:
        read = yield from page(listing, cursor)
        yield Emit(read)
        cursor = read.next_cursor
        if cursor is None:
            return


def items(listing: Listing[T], limit: int | None = None) -> EmittingSteps[T]:
    cursor = None
    left = limit
    while left is None or left > 0:
        read = yield from page(listing, cursor)
        for item in read.data[:left]:
            yield Emit(item)
        cursor = read.next_cursor
        if cursor is None:
            return
        if left is not None:
            left -= len(read.data)


def follow(listing: Listing[T], cursor: str | None, poll_seconds: float) -> EmittingSteps[Batch[T]]:
    while True:
        read = yield from page(listing, cursor)
        cursor = read.follow_cursor
        if cursor is None:
            raise ResponseError("The page has no followCursor.", status=200, request_id=None)
        if read.data:
            yield Emit(Batch(read.data, cursor))
        if read.next_cursor is None:
            yield partial(listing.exchange.sleep, poll_seconds)


def single(exchange: Exchange, call: Call[T]) -> Steps[T]:
    """The resource of a response; None for 204."""
    response = yield from exchange.send(call)
    try:
        return call.operation.parse(response.json()["data"] if response.content else None)
    except (LookupError, TypeError, ValueError) as cause:
        raise not_documented(response) from cause
