"""A pretended service, and clients of it that wait in no time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterable, Awaitable, Callable, Iterable
from itertools import islice
from typing import Any, TypeVar, cast

import httpx

from conversation_service import AsyncClient, Client

T = TypeVar("T")
Respond = Callable[[httpx.Request, int], httpx.Response]

BASE_URL = "https://api.example.com"
CONVERSATION: dict[str, Any] = {
    "id": "cnv_1",
    "channelId": "chn_web",
    "externalUserId": "ada",
    "status": "open",
    "resolvedAt": None,
    "resolvedBy": None,
    "metadata": {},
    "createdAt": "2026-11-20T09:31:00.250Z",
    "updatedAt": "2026-11-20T09:31:00.250Z",
}


def created() -> httpx.Response:
    return httpx.Response(201, json={"success": True, "data": CONVERSATION})


def refusal(status: int, type: str, **headers: str) -> httpx.Response:
    error = {
        "type": type,
        "message": "No.",
        "requestId": "req_1",
        "details": [{"field": "a", "code": "invalid", "message": "b"}],
    }
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return httpx.Response(status, json={"error": error}, headers=named)


class Service:
    """Responds as a function says, and keeps what was sent and how long the client waited."""

    def __init__(self, respond: Respond, is_async: bool, **options: Any) -> None:
        self.sent: list[httpx.Request] = []
        self.waits: list[float] = []
        self.notices: list[Any] = []
        self._respond = respond
        options = {
            "api_key": "ck_live_1",
            "base_url": BASE_URL,
            "on_deprecation": self.notices.append,
            **options,
        }
        transport = httpx.MockTransport(self._answer)
        #: Typed as the synchronous client, which has the same methods. Their results pass through `wait`.
        self.client = cast(
            Client,
            AsyncClient(http=httpx.AsyncClient(transport=transport), sleep=self._sleep_async, **options)
            if is_async
            else Client(http=httpx.Client(transport=transport), sleep=self.waits.append, **options),
        )

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.sent.append(request)
        return self._respond(request, len(self.sent) - 1)

    async def _sleep_async(self, seconds: float) -> None:
        self.waits.append(seconds)

    def keys(self) -> list[str]:
        return [request.headers["idempotency-key"] for request in self.sent]

    def body(self) -> Any:
        return json.loads(self.sent[0].content)


def wait(result: T) -> T:
    """The result of a method of either client."""
    if not hasattr(result, "__await__"):
        return result

    async def awaited() -> T:
        return await cast(Awaitable[T], result)

    return asyncio.run(awaited())


def collect(items: Iterable[T], limit: int | None = None) -> list[T]:
    """Reads items of either client."""

    async def read() -> list[T]:
        read: list[T] = []
        async for item in cast(AsyncIterable[T], items):
            read.append(item)
            if len(read) == limit:
                break
        return read

    if hasattr(items, "__aiter__"):
        return asyncio.run(read())
    return list(islice(items, limit))
