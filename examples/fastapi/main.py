import json
import logging
import os
import sys
from typing import Annotated, Any, Literal

import uvicorn
from fastapi import BackgroundTasks, FastAPI, HTTPException, Request, Response
from pydantic import BaseModel, Field, TypeAdapter

from verify import is_genuine

MAX_BODY_BYTES = 1024 * 1024
MAX_SEEN = 100_000

# One signing secret, or several separated by spaces while one replaces another.
SECRETS = os.environ.get("WEBHOOK_SECRET", "").split()
if not SECRETS:
    sys.exit("WEBHOOK_SECRET is not set.")

logging.basicConfig(level=logging.INFO, format="%(message)s")
log = logging.getLogger("receiver")
app = FastAPI(openapi_url=None)


class MessageData(BaseModel):
    conversationId: str
    messageId: str
    role: Literal["user", "assistant", "agent", "system"]


class MessageReceived(BaseModel):
    type: Literal["message.received"]
    data: MessageData


class HandoffData(BaseModel):
    conversationId: str
    reason: str | None = None


class HandoffRequested(BaseModel):
    type: Literal["handoff.requested"]
    data: HandoffData


Event = Annotated[MessageReceived | HandoffRequested, Field(discriminator="type")]
EVENT: TypeAdapter[Event] = TypeAdapter(Event)
KNOWN_TYPES = {"message.received", "handoff.requested"}

# The events of this process, oldest first. In production use a table with `webhook-id` as its key.
seen: dict[str, None] = {}


@app.post("/webhooks")
async def receive(request: Request, background: BackgroundTasks) -> Response:
    """Answers 204 to a signed event, and processes it afterwards, once."""
    body = await read_body(request)
    id, timestamp, signatures = (request.headers.get(f"webhook-{name}") for name in ("id", "timestamp", "signature"))
    if not any(is_genuine(secret, id, timestamp, signatures, body) for secret in SECRETS):
        log.warning("Refused a request without a valid signature")
        raise HTTPException(400)
    if id not in seen:
        payload = json.loads(body)
        remember(id)
        # A restart loses it. In production add it to your job queue here instead (Celery, RQ, SQS).
        background.add_task(process_event, id, payload)
    return Response(status_code=204)


async def read_body(request: Request) -> bytes:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            raise HTTPException(413)
    return bytes(body)


def remember(id: str) -> None:
    seen[id] = None
    if len(seen) > MAX_SEEN:
        del seen[next(iter(seen))]


def process_event(id: str, payload: dict[str, Any]) -> None:
    """Runs in a thread of its own."""
    # New types are added without notice: ignore those that you do not use.
    if payload["type"] in KNOWN_TYPES:
        match EVENT.validate_python(payload):
            case MessageReceived(data=data):
                log.info("Message %s by %s", data.messageId, data.role)
            case HandoffRequested(data=data):
                log.info("Handoff of conversation %s", data.conversationId)
    log.info("Processed %s %s", id, payload["type"])


if __name__ == "__main__":
    host, port = os.environ.get("HOST", "127.0.0.1"), int(os.environ.get("PORT", "4000"))
    uvicorn.run(app, host=host, port=port, server_header=False)
