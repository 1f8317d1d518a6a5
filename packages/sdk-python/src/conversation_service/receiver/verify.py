"""Verification of webhook requests."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
from collections.abc import Mapping, Sequence
from time import time
from typing import Literal, cast

from pydantic import ValidationError

from .events import Event, parse_event

VerificationProblem = Literal[
    "header_missing",
    "timestamp_invalid",
    "timestamp_too_far",
    "signature_mismatch",
    "secret_invalid",
    "body_parsed",
    "body_too_large",
    "body_invalid",
]

#: The largest body that is read, in bytes. Those of the service are at most about 260 KiB.
MAX_BODY_BYTES = 1024 * 1024
TOLERANCE_SECONDS = 300
SECRET_PREFIX = "whsec_"
SIGNATURE_PREFIX = "v1,"


class VerificationError(Exception):
    """A request that is not trusted. Respond with 400, and process nothing."""

    def __init__(self, problem: VerificationProblem, message: str) -> None:
        super().__init__(message)
        self.problem = problem


def verify(
    headers: Mapping[str, str],
    body: bytes | str,
    secrets: str | Sequence[str],
    *,
    tolerance_seconds: float = TOLERANCE_SECONDS,
    now: float | None = None,
) -> Event:
    """
    Verifies a request by the scheme of Standard Webhooks (docs/specification.md, Signatures): HMAC-SHA256
    over id, timestamp and the exact body, compared in constant time, and a timestamp near now.

    :param headers: those of the request, in any case
    :param body: as it arrived
    :param secrets: the signing secret `whsec_…`; several while it changes
    :param now: the time of verification, in seconds since 1970. For tests.
    :returns: an event, whose `type` narrows `data`. A type that was added later is an `UnknownEvent`
    :raises VerificationError:
    """
    keys = [decode_secret(secret) for secret in ([secrets] if isinstance(secrets, str) else secrets)]
    content = read_bytes(body)
    given = {name.lower(): value for name, value in headers.items()}
    id, timestamp, signatures = (
        require(given, f"webhook-{name}") for name in ("id", "timestamp", "signature")
    )
    check_time(timestamp, tolerance_seconds, time() if now is None else now)
    signed = f"{id}.{timestamp}.".encode() + content
    if not any(matches(key, signed, signatures) for key in keys):
        raise VerificationError("signature_mismatch", "No signature of the request matches a secret.")
    return read_event(content, id, given)


def decode_secret(secret: str) -> bytes:
    try:
        if secret.startswith(SECRET_PREFIX):
            key = base64.b64decode(secret[len(SECRET_PREFIX) :], validate=True)
            if key:
                return key
    except binascii.Error:
        pass
    raise VerificationError("secret_invalid", "A signing secret is whsec_ and base64.")


def read_bytes(body: bytes | str) -> bytes:
    if not isinstance(body, (bytes, bytearray, memoryview, str)):
        raise VerificationError(
            "body_parsed", "The body was parsed before it was verified. Verify the bytes as they arrived."
        )
    content = body.encode() if isinstance(body, str) else bytes(body)
    if len(content) > MAX_BODY_BYTES:
        raise VerificationError("body_too_large", f"The body has more than {MAX_BODY_BYTES} bytes.")
    return content


def require(headers: Mapping[str, str], name: str) -> str:
    value = headers.get(name)
    if not value:
        raise VerificationError("header_missing", f"The request has no {name} header.")
    return value


def check_time(timestamp: str, tolerance_seconds: float, now: float) -> None:
    if not re.fullmatch(r"[0-9]{1,12}", timestamp):
        raise VerificationError("timestamp_invalid", "The webhook-timestamp header is not a time.")
    if abs(int(now) - int(timestamp)) > tolerance_seconds:
        raise VerificationError(
            "timestamp_too_far",
            f"The webhook-timestamp header is more than {tolerance_seconds} seconds from now.",
        )


def matches(key: bytes, signed: bytes, signatures: str) -> bool:
    digest = hmac.new(key, signed, hashlib.sha256).digest()
    expected = SIGNATURE_PREFIX.encode() + base64.b64encode(digest)
    return any(hmac.compare_digest(expected, signature.encode()) for signature in signatures.split(" "))


def read_event(content: bytes, id: str, headers: Mapping[str, str]) -> Event:
    attempt = headers.get("webhook-attempt", "")
    fields = {
        "id": id,
        "deliveryId": headers.get("webhook-delivery-id"),
        "endpointId": headers.get("webhook-endpoint-id"),
        "attempt": int(attempt) if re.fullmatch(r"[1-9][0-9]{0,8}", attempt) else None,
        "isExample": headers.get("webhook-example") == "true",
    }
    try:
        payload = json.loads(content.decode())
        # One that is in no union is documented, and not a type that callers check.
        return cast(Event, parse_event(payload, fields))
    except (ValueError, AttributeError, TypeError, ValidationError) as cause:
        raise VerificationError("body_invalid", "The body is not an event.") from cause
