"""Clients of the API."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from copy import copy
from dataclasses import dataclass
from types import TracebackType
from typing import Generic, TypedDict, TypeVar

import httpx
from typing_extensions import NotRequired, Self, Unpack

from .calls import AsyncCalls, Calls
from .exchange import DeprecationNotice, Exchange, Response, Settings
from .generated import async_resources, resources
from .request import check_base_url


class Options(TypedDict):
    """How a client calls the API. Times are in seconds."""

    timeout: NotRequired[float]
    """Without a byte, for each try: 30 without it."""
    max_retries: NotRequired[int]
    """Tries after the first one: 4 without it."""
    max_wait: NotRequired[float]
    """A service that asks to wait longer is not asked again: 60 without it."""
    on_deprecation: NotRequired[Callable[[DeprecationNotice], object]]
    """Called once for each deprecated operation. Warns without it."""
    on_response: NotRequired[Callable[[Response], object]]
    """Called with status, headers and request id of each response, those of tries that failed included."""


T = TypeVar("T")


@dataclass(frozen=True)
class WithResponse(Generic[T]):
    """What a call returned, with the response that it came with."""

    data: T
    response: Response


class _Connection:
    """Connections, which a client closes if it has made them itself."""

    def _connect(
        self,
        credential: str,
        base_url: str,
        http: httpx.Client | None,
        options: Options,
        sleep: Callable[[float], None] = time.sleep,
    ) -> Calls:
        settings = Settings(base_url=check_base_url(base_url), credential=credential, **options)
        self._http = http or httpx.Client()
        self._is_own = http is None
        return Calls(Exchange(self._http, sleep, settings))

    def close(self) -> None:
        if self._is_own:
            self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class _AsyncConnection:
    """Connections, which a client closes if it has made them itself."""

    def _connect(
        self,
        credential: str,
        base_url: str,
        http: httpx.AsyncClient | None,
        options: Options,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> AsyncCalls:
        settings = Settings(base_url=check_base_url(base_url), credential=credential, **options)
        self._http = http or httpx.AsyncClient()
        self._is_own = http is None
        return AsyncCalls(Exchange(self._http, sleep, settings))

    async def aclose(self) -> None:
        if self._is_own:
            await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class Client(_Connection, resources.Resources):
    """
    A client of the API, which threads may share. `http` has its proxies, certificates and connections.

    >>> client = Client(api_key="ck_live_…", base_url="https://api.example.com")
    """

    def __init__(
        self,
        *,
        api_key: str,
        base_url: str,
        http: httpx.Client | None = None,
        sleep: Callable[[float], None] = time.sleep,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(self._connect(api_key, base_url, http, options, sleep))

    def with_options(self, **options: Unpack[Options]) -> Self:
        """
        The same client with other options, for example for one call.

        >>> client.with_options(timeout=5, max_retries=0).conversations.get("cnv_…")
        """
        changed = copy(self)
        changed._is_own = False
        resources.Resources.__init__(changed, self._calls.with_options(options))
        return changed

    def with_response(self, call: Callable[[Self], T]) -> WithResponse[T]:
        """
        Makes a call, and returns its response too: status, headers and request id.

        >>> client.with_response(lambda client: client.conversations.get("cnv_…")).response.request_id
        """
        responses: list[Response] = []
        data = call(self.with_options(on_response=responses.append))
        return WithResponse(data, responses[-1])


class AsyncClient(_AsyncConnection, async_resources.Resources):
    """As `Client`, with methods to await."""

    def __init__(
        self,
        *,
        api_key: str,
        base_url: str,
        http: httpx.AsyncClient | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(self._connect(api_key, base_url, http, options, sleep))

    def with_options(self, **options: Unpack[Options]) -> Self:
        """The same client with other options, for example for one call."""
        changed = copy(self)
        changed._is_own = False
        async_resources.Resources.__init__(changed, self._calls.with_options(options))
        return changed

    async def with_response(self, call: Callable[[Self], Awaitable[T]]) -> WithResponse[T]:
        """Makes a call, and returns its response too: status, headers and request id."""
        responses: list[Response] = []
        data = await call(self.with_options(on_response=responses.append))
        return WithResponse(data, responses[-1])


class Widget(_Connection, resources.WidgetResources):
    """Reads one conversation, with the token of `conversations.create_visitor_token`."""

    def __init__(
        self,
        *,
        visitor_token: str,
        base_url: str,
        http: httpx.Client | None = None,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(self._connect(visitor_token, base_url, http, options))


class AsyncWidget(_AsyncConnection, async_resources.WidgetResources):
    """As `Widget`, with methods to await."""

    def __init__(
        self,
        *,
        visitor_token: str,
        base_url: str,
        http: httpx.AsyncClient | None = None,
        **options: Unpack[Options],
    ) -> None:
        super().__init__(self._connect(visitor_token, base_url, http, options))
