"""For a function behind API Gateway, a function URL or a load balancer: `handler = function(receiver)`."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from typing import Any

from .receiver import Receiver


def function(receiver: Receiver) -> Callable[[Mapping[str, Any], object], dict[str, int]]:
    def handler(event: Mapping[str, Any], context: object) -> dict[str, int]:
        body = event.get("body") or ""
        content = base64.b64decode(body) if event.get("isBase64Encoded") else body
        return {"statusCode": receiver.handle(event.get("headers") or {}, content)}

    return handler
