"""For FastAPI and Starlette: `app.add_route("/hooks", endpoint(receiver), methods=["POST"])`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from .receiver import Receiver
from .verify import MAX_BODY_BYTES

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response


def endpoint(receiver: Receiver) -> Callable[[Request], Awaitable[Response]]:
    from starlette.responses import Response

    async def receive(request: Request) -> Response:
        body = bytearray()
        async for chunk in request.stream():
            body += chunk
            if len(body) > MAX_BODY_BYTES:
                break
        return Response(status_code=await receiver.handle_async(request.headers, bytes(body)))

    return receive
