"""Verification, with the reference libraries as oracles."""

from __future__ import annotations

import base64
import json
import random
import re
import string
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
import standardwebhooks
from signed import OTHER_SECRET, SECRET, a_body, signed_headers

from conversation_service.models import MessageReceivedEvent
from conversation_service.receiver import UnknownEvent, VerificationError, VerificationProblem, verify

NOW = datetime(2026, 11, 24, 9, tzinfo=timezone.utc).timestamp()
BODY = a_body()


def problem_of(headers: dict[str, str], body: Any = BODY, secrets: Any = SECRET) -> VerificationProblem:
    with pytest.raises(VerificationError) as caught:
        verify(headers, body, secrets, now=NOW)
    return caught.value.problem


def test_returns_the_event_with_what_its_headers_say() -> None:
    headers = {name.title(): value for name, value in signed_headers(BODY, at=NOW).items()}
    event = verify(headers, BODY, SECRET, now=NOW)
    assert isinstance(event, MessageReceivedEvent)
    assert (event.id, event.delivery_id, event.attempt) == ("evt_1", "dlv_1", 2)
    assert (event.type, event.schema_version, event.data.message_id) == ("message.received", 1, "msg_1")
    assert verify(headers, BODY.decode(), SECRET, now=NOW) == event


FIELDS = {
    "webhook-id": "id",
    "webhook-timestamp": None,
    "webhook-signature": None,
    "webhook-delivery-id": "delivery_id",
    "webhook-endpoint-id": "endpoint_id",
    "webhook-attempt": "attempt",
    "webhook-example": "is_example",
}


def test_has_each_header_of_a_request_as_a_field_unless_it_serves_verification() -> None:
    specification = (Path(__file__).parents[3] / "docs/specification.md").read_text()
    assert re.findall(r"^\| `(webhook-[\w-]+)` \|", specification, re.MULTILINE) == list(FIELDS)
    headers = signed_headers(BODY, at=NOW)
    event = verify(headers, BODY, SECRET, now=NOW)
    for name, field in FIELDS.items():
        assert field is None or str(getattr(event, field)).lower() == headers[name]
    del headers["webhook-example"]
    assert not verify(headers, BODY, SECRET, now=NOW).is_example


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"webhook-id": ""}, "header_missing"),
        ({"webhook-id": "evt_2"}, "signature_mismatch"),
        ({"webhook-timestamp": ""}, "header_missing"),
        ({"webhook-timestamp": "now"}, "timestamp_invalid"),
        ({"webhook-timestamp": "-5"}, "timestamp_invalid"),
        ({"webhook-timestamp": "1e9"}, "timestamp_invalid"),
        ({"webhook-timestamp": "٣"}, "timestamp_invalid"),
        ({"webhook-timestamp": "9" * 13}, "timestamp_invalid"),
        ({"webhook-timestamp": str(int(NOW) - 301)}, "timestamp_too_far"),
        ({"webhook-timestamp": str(int(NOW) + 301)}, "timestamp_too_far"),
        ({"webhook-timestamp": str(int(NOW) - 300)}, "signature_mismatch"),
        ({"webhook-signature": ""}, "header_missing"),
        ({"webhook-signature": "v1,"}, "signature_mismatch"),
        ({"webhook-signature": "v1,ü"}, "signature_mismatch"),
        ({"webhook-signature": "nonsense v1 ,"}, "signature_mismatch"),
    ],
)
def test_refuses_a_header_that_is_wrong(change: dict[str, str], problem: str) -> None:
    assert problem_of({**signed_headers(BODY, at=NOW), **change}) == problem


def test_refuses_another_version_of_the_scheme() -> None:
    headers = signed_headers(BODY, at=NOW)
    headers["webhook-signature"] = headers["webhook-signature"].replace("v1,", "v1a,")
    assert problem_of(headers) == "signature_mismatch"


@pytest.mark.parametrize("secret", ["", "whsec_", "secret", "whsec_%%%", SECRET[6:]])
def test_refuses_a_secret_that_is_none(secret: str) -> None:
    assert problem_of(signed_headers(BODY, at=NOW), secrets=[SECRET, secret]) == "secret_invalid"


def test_takes_several_secrets_while_one_replaces_another() -> None:
    for secret in (SECRET, OTHER_SECRET):
        headers = signed_headers(BODY, secret, at=NOW)
        assert verify(headers, BODY, [OTHER_SECRET, SECRET], now=NOW).id == "evt_1"
    assert problem_of(signed_headers(BODY, at=NOW), secrets=[OTHER_SECRET]) == "signature_mismatch"
    assert problem_of(signed_headers(BODY, at=NOW), secrets=[]) == "signature_mismatch"


def test_takes_several_signatures() -> None:
    headers = signed_headers(BODY, at=NOW)
    other = signed_headers(BODY, OTHER_SECRET, at=NOW)
    headers["webhook-signature"] = f"v2,x {other['webhook-signature']} {headers['webhook-signature']}"
    assert verify(headers, BODY, SECRET, now=NOW).id == "evt_1"


def test_has_another_tolerance() -> None:
    headers = signed_headers(BODY, at=NOW - 500)
    assert verify(headers, BODY, SECRET, now=NOW, tolerance_seconds=500).id == "evt_1"
    with pytest.raises(VerificationError, match="more than 499 seconds"):
        verify(headers, BODY, SECRET, now=NOW, tolerance_seconds=499)


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (json.loads(BODY), "body_parsed"),
        (None, "body_parsed"),
        (b"x" * (1024 * 1024 + 1), "body_too_large"),
    ],
)
def test_refuses_a_body_that_is_not_as_it_arrived(body: Any, problem: str) -> None:
    assert problem_of(signed_headers(BODY, at=NOW), body) == problem


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b'"text"',
        b"{}",
        b'{"type":1}',
        b'{"type":[]}',
        a_body(data={}),
        a_body(createdAt="soon"),
    ],
)
def test_refuses_a_signed_body_that_is_no_event(body: bytes) -> None:
    assert problem_of(signed_headers(body, at=NOW), body) == "body_invalid"


@pytest.mark.parametrize("change", [{"type": "later.type"}, {"schemaVersion": 2}, {"schemaVersion": None}])
def test_takes_types_and_versions_that_are_added_later(change: dict[str, Any]) -> None:
    body = a_body(**change)
    event: object = verify(signed_headers(body, at=NOW), body, SECRET, now=NOW)
    assert isinstance(event, UnknownEvent)
    assert (event.id, event.data["messageId"]) == ("evt_1", "msg_1")


@pytest.mark.parametrize("attempt", ["", "0", "-1", "two", "1.5", "٣"])
def test_has_no_attempt_where_the_header_has_none(attempt: str) -> None:
    headers = {**signed_headers(BODY, at=NOW), "webhook-attempt": attempt}
    assert verify(headers, BODY, SECRET, now=NOW).attempt is None


def test_verifies_what_the_reference_library_signs_and_refuses_what_it_refuses() -> None:
    chance = random.Random(2026)
    text = string.printable + "äß—👋"
    for number in range(500):
        key = chance.randbytes(chance.randint(1, 64))
        secret = "whsec_" + base64.b64encode(key).decode()
        id = f"evt_{number}"
        body = a_body(
            data={"conversationId": "".join(chance.choices(text, k=20)), "messageId": "m", "role": "user"}
        )
        at = datetime.fromtimestamp(int(datetime.now().timestamp()), timezone.utc)
        library = standardwebhooks.Webhook(secret)
        headers = {
            "webhook-id": id,
            "webhook-timestamp": str(int(at.timestamp())),
            "webhook-signature": library.sign(id, at, body.decode()),
        }
        assert verify(headers, body, secret).id == id
        library.verify(body, headers)
        at_byte = chance.randrange(len(body))
        broken = body[:at_byte] + bytes([body[at_byte] ^ 1]) + body[at_byte + 1 :]
        with pytest.raises(VerificationError):
            verify(headers, broken, secret)
