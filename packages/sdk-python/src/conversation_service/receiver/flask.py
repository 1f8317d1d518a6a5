"""For Flask: `app.add_url_rule("/hooks", view_func=view(receiver), methods=["POST"])`."""

from __future__ import annotations

from collections.abc import Callable

from .receiver import Receiver
from .verify import MAX_BODY_BYTES


def view(receiver: Receiver) -> Callable[[], tuple[str, int]]:
    from flask import request

    def receive() -> tuple[str, int]:
        # One byte more than is taken shows that a body is too large.
        body = request.stream.read(MAX_BODY_BYTES + 1)
        return "", receiver.handle(dict(request.headers), body)

    return receive
