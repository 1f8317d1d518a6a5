"""What a client makes of responses, by the table of the TypeScript client."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from conftest import Services
from service import CONVERSATION, wait

from conversation_service import ApiError, ResponseError

RESPONSES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[2] / "sdk/test/responses.json").read_text()
)


@pytest.mark.parametrize("given", RESPONSES, ids=[given["response"] for given in RESPONSES])
def test_has_the_same_error_as_the_typescript_client(a_service: Services, given: dict[str, Any]) -> None:
    status = given["status"]
    headers = {"content-type": given.get("type", "application/json"), **given.get("headers", {})}
    body = given["body"] * given.get("repeat", 1)
    if given["expected"] == "resource":
        # Resources are validated here.
        body = json.dumps({"success": True, "data": CONVERSATION})
    service = a_service(lambda *_: httpx.Response(status, headers=headers, text=body), max_retries=1)
    outcome: Any
    try:
        outcome = wait(service.client.conversations.get("cnv_1"))
    except (ApiError, ResponseError) as error:
        outcome = error
    assert len(service.sent) == (2 if given.get("isRetried") else 1)
    if given["expected"] == "resource":
        assert outcome.id == "cnv_1"
    elif given["expected"] == "ApiError":
        assert isinstance(outcome, ApiError)
        assert (outcome.status, outcome.type, outcome.request_id) == (status, given["errorType"], "req_1")
    else:
        assert isinstance(outcome, ResponseError)
        assert outcome.status == status
        assert len(str(outcome)) < 200
