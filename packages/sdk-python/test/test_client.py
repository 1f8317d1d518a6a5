"""How a client calls the API, with and without `async`."""

from __future__ import annotations

import logging
import re
import time
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from itertools import pairwise
from platform import python_version
from typing import Any

import httpx
import pytest
from conftest import Services
from service import BASE_URL, CONVERSATION, collect, created, refusal, wait

from conversation_service import (
    ApiError,
    Client,
    ConnectionError,
    DeprecatedOperationWarning,
    NotFoundError,
    RateLimitedError,
    ResponseError,
    ServiceError,
    TimeoutError,
    UnknownModel,
    ValidationError,
    Widget,
    models,
)
from conversation_service.version import VERSION


def test_sends_a_request_with_the_key_and_a_json_body(a_service: Services) -> None:
    service = a_service(lambda *_: created())
    conversation = wait(service.client.conversations.create(channel_id="chn_web", external_user_id="ada"))
    assert conversation.external_user_id == "ada"
    assert conversation.created_at == datetime(2026, 11, 20, 9, 31, 0, 250_000, timezone.utc)
    [request] = service.sent
    assert (request.method, str(request.url)) == ("POST", f"{BASE_URL}/api/v1/conversations")
    assert request.headers["authorization"] == "Bearer ck_live_1"
    assert request.headers["content-type"] == "application/json"
    assert len(request.headers["idempotency-key"]) == 36
    assert service.body() == {"channelId": "chn_web", "externalUserId": "ada"}


def test_escapes_identifiers_and_refuses_empty_ones(a_service: Services) -> None:
    service = a_service(lambda *_: created())
    wait(service.client.conversations.get("../webhooks?x"))
    assert service.sent[0].url.raw_path == b"/api/v1/conversations/..%2Fwebhooks%3Fx"
    with pytest.raises(ValueError, match="id must not be empty"):
        wait(service.client.conversations.get(""))


def test_sends_names_and_times_as_the_api_has_them(a_service: Services) -> None:
    since = datetime(2026, 11, 20, 9, 0, tzinfo=timezone(timedelta(hours=1)))
    service = a_service(lambda *_: httpx.Response(200, json={"data": [], "nextCursor": None}))
    deliveries = service.client.deliveries.list(
        "whk_1", from_=since, status=["pending", "retrying"], event_type="webhook.test", limit=5
    )
    assert collect(deliveries) == []
    assert dict(service.sent[0].url.params) == {
        "from": "2026-11-20T09:00:00+01:00",
        "status": "pending,retrying",
        "eventType": "webhook.test",
        "limit": "5",
    }
    with pytest.raises(TypeError, match="no time zone"):
        wait(service.client.redeliveries.start("whk_1", from_=datetime(2026, 11, 20)))


def test_keeps_the_difference_between_none_and_nothing(a_service: Services) -> None:
    service = a_service(lambda *_: refusal(400, "VALIDATION_ERROR"))
    with pytest.raises(ApiError):
        wait(service.client.endpoints.update("whk_1", max_per_second=None))
    assert service.body() == {"maxPerSecond": None}


def test_retries_a_post_with_the_key_of_its_first_try_and_waits_as_retry_after_says(
    a_service: Services,
) -> None:
    def respond(request: httpx.Request, tried: int) -> httpx.Response:
        if tried == 0:
            return refusal(429, "RATE_LIMITED", retry_after="7")
        if tried == 1:
            raise httpx.ReadError("connection reset")
        return created()

    service = a_service(respond)
    wait(
        service.client.conversations.create(
            channel_id="chn_web", external_user_id="ada", idempotency_key="mine"
        )
    )
    assert service.keys() == ["mine"] * 3
    assert service.waits[0] == 7
    assert 0 <= service.waits[1] <= 1


def test_makes_a_key_for_each_call(a_service: Services) -> None:
    service = a_service(lambda *_: created())
    for _ in range(2):
        wait(service.client.conversations.create(channel_id="chn_web", external_user_id="ada"))
    assert len(set(service.keys())) == 2


def test_reads_a_date_in_retry_after(a_service: Services) -> None:
    def respond(request: httpx.Request, tried: int) -> httpx.Response:
        later = datetime.now(timezone.utc) + timedelta(seconds=20)
        if tried == 0:
            return refusal(503, "SERVICE_UNAVAILABLE", retry_after=format_datetime(later, usegmt=True))
        return created() if tried == 2 else refusal(503, "SERVICE_UNAVAILABLE", retry_after="soon")

    service = a_service(respond)
    wait(service.client.conversations.get("cnv_1"))
    assert 15 < service.waits[0] <= 20
    assert service.waits[1] <= 1


def test_does_not_wait_longer_than_its_limit_and_does_not_repeat_what_cannot_succeed(
    a_service: Services,
) -> None:
    late = a_service(lambda *_: refusal(429, "RATE_LIMITED", retry_after="61"))
    with pytest.raises(RateLimitedError) as limited:
        wait(late.client.conversations.get("cnv_1"))
    assert limited.value.retry_after == 61
    wrong = a_service(lambda *_: refusal(400, "VALIDATION_ERROR"))
    with pytest.raises(ValidationError):
        wait(wrong.client.conversations.get("cnv_1"))
    assert (len(late.sent), len(wrong.sent)) == (1, 1)


def test_waits_longer_after_each_try_and_gives_up_after_the_last_one(a_service: Services) -> None:
    def respond(request: httpx.Request, tried: int) -> httpx.Response:
        raise httpx.ConnectError("refused")

    service = a_service(respond, max_retries=9)
    with pytest.raises(ConnectionError, match=r"api\.example\.com"):
        wait(service.client.conversations.get("cnv_1"))
    assert len(service.sent) == 10
    limits = [min(8, 0.5 * 2**tried) for tried in range(9)]
    assert all(0 <= waited <= limit for waited, limit in zip(service.waits, limits, strict=True))
    assert all(earlier <= later for earlier, later in pairwise(limits))


def test_has_a_timeout_for_each_try(a_service: Services) -> None:
    def respond(request: httpx.Request, tried: int) -> httpx.Response:
        assert request.extensions["timeout"]["read"] == (3 if tried == 0 else 5)
        raise httpx.ReadTimeout("timed out")

    service = a_service(respond, timeout=5, max_retries=0)
    with pytest.raises(TimeoutError):
        wait(service.client.with_options(timeout=3).conversations.get("cnv_1"))
    with pytest.raises(TimeoutError):
        wait(service.client.conversations.get("cnv_1"))


def test_names_its_version_and_the_runtime(a_service: Services) -> None:
    service = a_service(lambda *_: created())
    wait(service.client.conversations.get("cnv_1"))
    agent = f"conversation-service-sdk/{VERSION} Python/{python_version()}"
    assert service.sent[0].headers["user-agent"] == agent


def test_returns_the_response_of_a_call_where_it_is_asked_for(a_service: Services) -> None:
    headers = {"request-id": "req_7", "ratelimit": "r=599"}
    service = a_service(lambda *_: httpx.Response(200, json={"data": CONVERSATION}, headers=headers))
    result = wait(service.client.with_response(lambda client: client.conversations.get("cnv_1")))
    assert result.data.id == "cnv_1"
    assert (result.response.status, result.response.request_id) == (200, "req_7")
    assert result.response.headers["RateLimit"] == "r=599"


def test_has_options_for_a_call_and_logs_each_try_without_secrets(
    a_service: Services, caplog: pytest.LogCaptureFixture
) -> None:
    def respond(request: httpx.Request, tried: int) -> httpx.Response:
        if tried == 0:
            raise httpx.ConnectError("refused")
        return refusal(503, "SERVICE_UNAVAILABLE", request_id="req_1")

    service = a_service(respond)
    once = service.client.with_options(max_retries=1)
    with caplog.at_level(logging.DEBUG, "conversation_service"), pytest.raises(ApiError):
        wait(once.tickets.create(reason="about a person"))
    assert len(service.sent) == 2
    lines = [record.getMessage() for record in caplog.records if record.name == "conversation_service"]
    assert [re.sub(r"\d+ ms", "1 ms", line) for line in lines] == [
        "createTicket POST /api/v1/tickets: ConnectError after 1 ms, try 1",
        "createTicket POST /api/v1/tickets: 503, request req_1 after 1 ms, try 2",
    ]
    assert not re.search("ck_live|person", caplog.text)


def test_has_a_class_for_each_type_of_error(a_service: Services) -> None:
    service = a_service(lambda *_: refusal(404, "NOT_FOUND"))
    with pytest.raises(NotFoundError) as caught:
        wait(service.client.conversations.get("cnv_1"))
    error = caught.value
    assert (error.status, error.type, error.request_id, error.message) == (404, "NOT_FOUND", "req_1", "No.")
    assert error.details == (models.ErrorDetail(field="a", code="invalid", message="b"),)
    assert str(error) == "NOT_FOUND: No. (request req_1)\n  a: b"


def test_warns_of_a_deprecated_operation_once(a_service: Services) -> None:
    headers = {"deprecation": "@1790000000", "sunset": "Sat, 01 May 2027 00:00:00 GMT"}
    service = a_service(
        lambda *_: httpx.Response(200, json={"success": True, "data": CONVERSATION}, headers=headers)
    )
    for _ in range(2):
        wait(service.client.conversations.get("cnv_1"))
    [notice] = service.notices
    assert (notice.operation, notice.deprecation) == ("readConversation", "@1790000000")
    assert notice.sunset == headers["sunset"]


def test_warns_by_a_warning_without_a_function() -> None:
    response = httpx.Response(204, headers={"deprecation": "@1790000000"})
    http = httpx.Client(transport=httpx.MockTransport(lambda _: response))
    client = Client(api_key="ck_live_1", base_url=BASE_URL, http=http)
    with pytest.warns(DeprecatedOperationWarning, match="deleteWebhook is deprecated"):
        client.endpoints.delete("whk_1")


def test_reads_lists_page_by_page_as_far_as_they_are_asked_for(a_service: Services) -> None:
    def respond(request: httpx.Request, tried: int) -> httpx.Response:
        at = int(request.url.params.get("cursor", "0"))
        data = [] if at == 1 else [{**CONVERSATION, "id": f"cnv_{at}{n}"} for n in range(2)]
        return httpx.Response(200, json={"data": data, "nextCursor": str(at + 1) if at < 3 else None})

    service = a_service(respond)
    conversations = service.client.conversations
    assert [each.id for each in collect(conversations.list(limit=2))] == [
        f"cnv_{page}{n}" for page in (0, 2, 3) for n in range(2)
    ]
    assert {request.url.params["limit"] for request in service.sent} == {"2"}
    service.sent.clear()
    assert [each.id for each in wait(conversations.list().take(3))] == ["cnv_00", "cnv_01", "cnv_20"]
    assert len(service.sent) == 3
    assert wait(conversations.list().take(0)) == []
    assert collect(conversations.list(), 1)[0].id == "cnv_00"
    page = wait(conversations.list().page("2"))
    assert (len(page.data), page.next_cursor) == (2, "3")
    assert [page.next_cursor for page in collect(conversations.list().pages("2"))] == ["3", None]


def test_follows_the_event_log_without_an_end(a_service: Services) -> None:
    event = {
        "id": "evt_1",
        "type": "a.later.type",
        "schemaVersion": 1,
        "createdAt": "2026-11-20T09:31:00.250Z",
        "data": {},
    }

    def respond(request: httpx.Request, tried: int) -> httpx.Response:
        data = [] if tried == 1 else [{**event, "id": f"evt_{tried}"}]
        next = f"after {tried}"
        body = {"data": data, "nextCursor": None if tried == 1 else next, "followCursor": next}
        return httpx.Response(200, json=body)

    service = a_service(respond)
    batches = collect(service.client.events.follow(cursor="stored", poll_seconds=3, type=["webhook.test"]), 2)
    assert [(batch.data[0].id, batch.follow_cursor) for batch in batches] == [
        ("evt_0", "after 0"),
        ("evt_2", "after 2"),
    ]
    assert service.waits == [3]
    assert [request.url.params["cursor"] for request in service.sent] == ["stored", "after 0", "after 1"]
    assert service.sent[0].url.params["order"] == "asc"


def test_takes_fields_values_and_kinds_that_are_added_later(a_service: Services) -> None:
    later = {**CONVERSATION, "status": "snoozed", "mood": "good"}
    service = a_service(lambda *_: httpx.Response(200, json={"data": later}))
    conversation = wait(service.client.conversations.get("cnv_1"))
    assert conversation.status == "snoozed"
    assert (conversation.model_extra or {})["mood"] == "good"
    channels = [{"id": "chn_1", "kind": "pigeon", "name": "Loft"}]
    service = a_service(lambda *_: httpx.Response(200, json={"data": channels, "nextCursor": None}))
    [channel] = collect(service.client.channels.list())
    assert isinstance(channel, UnknownModel)


@pytest.mark.parametrize("body", [b"not json", b"[]", b"{}", b'{"data": {"id": 1}}', b'{"data": [{}]}'])
def test_reports_a_list_that_is_not_as_documented(a_service: Services, body: bytes) -> None:
    service = a_service(lambda *_: httpx.Response(200, content=body))
    with pytest.raises(ResponseError):
        collect(service.client.conversations.list())


@pytest.mark.parametrize(
    "base_url",
    ["http://api.example.com", "ftp://localhost", "https://user:word@api.example.com", "api.example.com"],
)
def test_refuses_urls_to_which_the_key_would_be_sent_unencrypted_or_not_at_all(base_url: str) -> None:
    with pytest.raises(ValueError, match="URL"):
        Client(api_key="ck_live_1", base_url=base_url)


@pytest.mark.parametrize("base_url", ["http://localhost:3000", "http://127.0.0.1:1/", "http://[::1]:1"])
def test_takes_urls_of_this_machine(base_url: str) -> None:
    Client(api_key="ck_live_1", base_url=base_url).close()


def test_closes_its_own_connections_and_no_others() -> None:
    http = httpx.Client(transport=httpx.MockTransport(lambda _: created()))
    with Client(api_key="ck_live_1", base_url=BASE_URL, http=http):
        pass
    assert not http.is_closed
    with Client(api_key="ck_live_1", base_url=BASE_URL) as client:
        pass
    with pytest.raises(RuntimeError, match="closed"):
        client.conversations.get("cnv_1")


def test_does_not_show_the_key(a_service: Services) -> None:
    client: Any = Client(api_key="ck_live_secret", base_url=BASE_URL)
    assert "secret" not in repr(client._calls)
    assert client._calls.exchange.sleep is time.sleep
    assert issubclass(ApiError, ServiceError)


def test_reads_a_conversation_with_a_visitor_token() -> None:
    def respond(request: httpx.Request) -> httpx.Response:
        assert request.headers["authorization"] == "Bearer cvt_1"
        message = {"id": "msg_1", "role": "agent", "content": "Hi", "createdAt": "2026-11-20T09:31:00.250Z"}
        return httpx.Response(200, json={"data": [message], "nextCursor": None, "followCursor": "a"})

    widget = Widget(
        visitor_token="cvt_1", base_url=BASE_URL, http=httpx.Client(transport=httpx.MockTransport(respond))
    )
    assert [message.content for message in widget.messages()] == ["Hi"]
    assert [batch.data[0].content for batch in collect(widget.follow(), 1)] == ["Hi"]
