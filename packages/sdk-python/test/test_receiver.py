"""Receivers: each event once, and adapters for servers."""

from __future__ import annotations

import asyncio
import base64
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.client import HTTPConnection
from http.server import HTTPServer
from typing import Any

import pytest
from signed import OTHER_SECRET, SECRET, a_body, signed_headers

from conversation_service.receiver import Event, MemoryStore, Receiver, State, VerificationError

BODY = a_body()
TOO_LARGE = b"x" * (2 * 1024 * 1024)


def ignore(_: object) -> None:
    pass


def a_request(id: str = "evt_1") -> tuple[dict[str, str], bytes]:
    return signed_headers(BODY, id=id), BODY


def handle(receiver: Receiver, is_async: bool, id: str = "evt_1") -> int:
    return asyncio.run(receiver.handle_async(*a_request(id))) if is_async else receiver.handle(*a_request(id))


either = pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])


@either
def test_processes_a_verified_event_and_refuses_others(is_async: bool) -> None:
    seen: list[Event] = []
    errors: list[Exception] = []
    receiver = Receiver(SECRET, seen.append, on_error=errors.append)
    assert handle(receiver, is_async) == 204
    assert handle(Receiver(OTHER_SECRET, seen.append, on_error=errors.append), is_async) == 400
    assert receiver.handle({}, TOO_LARGE) == 413
    assert [event.type for event in seen] == ["message.received"]
    assert [error.problem for error in errors if isinstance(error, VerificationError)] == [
        "signature_mismatch",
        "body_too_large",
    ]


@either
def test_processes_an_event_once(is_async: bool) -> None:
    seen: list[str] = []
    receiver = Receiver([SECRET], lambda event: seen.append(event.id), store=MemoryStore(), consumer="orders")
    assert [handle(receiver, is_async, id) for id in ("evt_1", "evt_1", "evt_2")] == [204] * 3
    assert seen == ["evt_1", "evt_2"]


def test_processes_an_event_once_while_another_attempt_of_it_is_in_progress() -> None:
    started, release = threading.Event(), threading.Event()
    seen: list[str] = []
    statuses: list[int] = []

    def process(event: Event) -> None:
        seen.append(event.id)
        started.set()
        assert release.wait(30)

    receiver = Receiver(SECRET, process, store=MemoryStore(), consumer="orders")
    first = threading.Thread(target=lambda: statuses.append(receiver.handle(*a_request())))
    first.start()
    assert started.wait(30)
    assert receiver.handle(*a_request()) == 503
    release.set()
    first.join()
    assert receiver.handle(*a_request()) == 204
    assert (statuses, seen) == ([204], ["evt_1"])


@either
def test_has_an_event_retried_whose_processing_failed_and_processes_it_then(is_async: bool) -> None:
    failures = [RuntimeError("the database is down")]
    errors: list[Exception] = []

    def process(event: Event) -> None:
        if failures:
            raise failures.pop()

    receiver = Receiver(SECRET, process, store=MemoryStore(), consumer="orders", on_error=errors.append)
    assert [handle(receiver, is_async) for _ in range(3)] == [500, 204, 204]
    assert [str(error) for error in errors] == ["the database is down"]


@either
def test_frees_an_event_whose_process_is_interrupted(is_async: bool) -> None:
    store = MemoryStore()

    def process(event: Event) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        handle(Receiver(SECRET, process, store=store, consumer="orders"), is_async)
    assert store.begin("orders/evt_1") == "new"


def test_takes_asynchronous_functions_and_stores() -> None:
    calls: list[object] = []

    class Store:
        async def begin(self, key: str) -> State:
            calls.append(("begin", key))
            return "new"

        async def end(self, key: str, done: bool) -> None:
            calls.append(("end", key, done))

    async def process(event: Event) -> None:
        calls.append(event.type)

    errors: list[Exception] = []
    receiver = Receiver(SECRET, process, store=Store(), consumer="orders", on_error=errors.append)
    assert handle(receiver, is_async=True) == 204
    assert calls == [("begin", "orders/evt_1"), "message.received", ("end", "orders/evt_1", True)]
    assert handle(receiver, is_async=False) == 500
    assert "asynchronous" in str(errors[0])


def test_processes_an_event_for_each_consumer_that_shares_a_store() -> None:
    store = MemoryStore()
    seen: list[str] = []
    for consumer in ("orders", "crm", "crm"):
        process = partial(lambda name, _: seen.append(name), consumer)
        receiver = Receiver(SECRET, process, store=store, consumer=consumer)
        assert handle(receiver, is_async=False) == 204
    assert seen == ["orders", "crm"]
    with pytest.raises(ValueError, match="needs a consumer"):
        Receiver(SECRET, ignore, store=store)


def test_forgets_the_oldest_events_of_a_memory_store_that_is_full() -> None:
    store = MemoryStore(2)
    for id in ("a", "b", "c"):
        assert store.begin(id) == "new"
        store.end(id, True)
    assert (store.begin("c"), store.begin("a")) == ("done", "new")


def test_logs_what_it_refuses_without_the_secret(caplog: pytest.LogCaptureFixture) -> None:
    receiver = Receiver(OTHER_SECRET, ignore)
    assert receiver.handle(*a_request()) == 400
    assert "No signature of the request matches" in caplog.text
    assert OTHER_SECRET not in caplog.text + repr(receiver)


@pytest.fixture
def receiver() -> Receiver:
    return Receiver(SECRET, ignore, on_error=ignore)


def test_serves_with_flask(receiver: Receiver) -> None:
    from flask import Flask

    from conversation_service.receiver.flask import view

    app = Flask("app")
    app.add_url_rule("/hooks", view_func=view(receiver), methods=["POST"])
    client = app.test_client()
    headers, body = a_request()
    assert client.post("/hooks", headers=headers, data=body).status_code == 204
    assert client.post("/hooks", headers=headers, data=TOO_LARGE).status_code == 413
    assert client.post("/hooks", data=body).status_code == 400


@pytest.mark.parametrize("module", ["fastapi.FastAPI", "starlette.applications.Starlette"])
def test_serves_with_fastapi_and_starlette(receiver: Receiver, module: str) -> None:
    from importlib import import_module

    import httpx

    from conversation_service.receiver.starlette import endpoint

    path, name = module.rsplit(".", 1)
    app: Any = getattr(import_module(path), name)()
    app.add_route("/hooks", endpoint(receiver), methods=["POST"])
    headers, body = a_request()

    async def post(**request: Any) -> int:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as client:
            return (await client.post("/hooks", **request)).status_code

    assert asyncio.run(post(headers=headers, content=body)) == 204
    assert asyncio.run(post(headers=headers, content=TOO_LARGE)) == 413
    assert asyncio.run(post(content=body)) == 400


def test_serves_with_django(receiver: Receiver) -> None:
    from django.conf import settings
    from django.test import RequestFactory

    settings.configure(ALLOWED_HOSTS=["testserver"])
    from conversation_service.receiver.django import view

    receive, requests = view(receiver), RequestFactory(enforce_csrf_checks=True)
    headers, body = a_request()

    def status_of(content: bytes, headers: dict[str, str]) -> int:
        request = requests.post("/hooks", content, content_type="application/json", headers=headers)
        return receive(request).status_code

    assert status_of(body, headers) == 204
    assert status_of(TOO_LARGE, headers) == 413
    assert status_of(body, {}) == 400
    assert receive(requests.get("/hooks")).status_code == 405
    assert getattr(receive, "csrf_exempt", False)


@pytest.mark.parametrize("is_encoded", [False, True])
def test_serves_with_lambda(receiver: Receiver, is_encoded: bool) -> None:
    from conversation_service.receiver.aws_lambda import function

    handler = function(receiver)
    headers, body = a_request()
    sent = base64.b64encode(body) if is_encoded else body
    event = {"headers": headers, "body": sent.decode(), "isBase64Encoded": is_encoded}
    assert handler(event, None) == {"statusCode": 204}
    assert handler({"headers": None, "body": None}, None) == {"statusCode": 400}


@pytest.fixture
def server(receiver: Receiver) -> Iterator[HTTPServer]:
    from conversation_service.receiver.http_server import handler

    with HTTPServer(("127.0.0.1", 0), handler(receiver)) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_serves_with_the_standard_library(server: HTTPServer) -> None:
    headers, body = a_request()

    def post(content: bytes, headers: dict[str, str]) -> int:
        connection = HTTPConnection("127.0.0.1", server.server_port, timeout=30)
        try:
            connection.request("POST", "/hooks", content, headers)
            return connection.getresponse().status
        finally:
            connection.close()

    assert post(body, headers) == 204
    assert post(body, {}) == 400
    assert post(body, {"content-length": "none"}) == 400


def test_imports_no_framework() -> None:
    code = """
import sys
from conversation_service.receiver import aws_lambda, django, flask, http_server, starlette
print([name for name in ('django', 'flask', 'starlette', 'fastapi') if name in sys.modules])
"""
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONPATH": "src"}
    )
    assert printed.stdout.strip() == "[]"
