"""Requests as the service signs them."""

from __future__ import annotations

import base64
import json
import time
from datetime import datetime, timezone
from typing import Any

from standardwebhooks import Webhook

SECRET = "whsec_" + base64.b64encode(bytes([7] * 32)).decode()
OTHER_SECRET = "whsec_" + base64.b64encode(bytes([9] * 24)).decode()


def a_body(type: str = "message.received", **changes: Any) -> bytes:
    payload = {
        "type": type,
        "schemaVersion": 1,
        "orgId": "org_1",
        "createdAt": "2026-11-24T09:00:00.000Z",
        "data": {"conversationId": "cnv_1", "messageId": "msg_1", "role": "user"},
    }
    return json.dumps({**payload, **changes}).encode()


def signed_headers(
    body: bytes, secret: str = SECRET, id: str = "evt_1", at: float | None = None
) -> dict[str, str]:
    moment = datetime.fromtimestamp(int(time.time() if at is None else at), timezone.utc)
    return {
        "content-type": "application/json",
        "webhook-id": id,
        "webhook-timestamp": str(int(moment.timestamp())),
        "webhook-signature": Webhook(secret).sign(id, moment, body.decode()),
        "webhook-delivery-id": "dlv_1",
        "webhook-endpoint-id": "whk_1",
        "webhook-attempt": "2",
        "webhook-example": "true",
    }
