"""Methods of the client, against the API document."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from conftest import Services
from pydantic import BaseModel
from service import BASE_URL, Service, collect, wait

from conversation_service import Widget, models
from conversation_service.generated import async_resources, operations, resources
from conversation_service.generated.error_types import CLASSES
from conversation_service.operation import Operation
from conversation_service.receiver import Event
from conversation_service.receiver.events import MODELS

ROOT = Path(__file__).parents[3]
DOCUMENT = json.loads((ROOT / "docs/openapi/v1.json").read_text())
SCHEMAS = DOCUMENT["components"]["schemas"]
TABLE = (ROOT / "docs/reference/python-client.md").read_text()

OPERATIONS: dict[str, tuple[str, str, dict[str, Any]]] = {
    operation["operationId"]: (method.upper(), path, operation)
    for path, item in DOCUMENT["paths"].items()
    for method, operation in item.items()
}
ROWS = re.findall(r"^\| `(\w+)` \| `(\w+) (\S+)` \| `(\S+)` \|$", TABLE, re.M)


def examples(operation: dict[str, Any]) -> Iterator[Any]:
    """The documented bodies of successful responses."""
    for status, response in operation["responses"].items():
        content = response.get("content", {}).get("application/json", {})
        if status.startswith("2"):
            yield from [content["example"]] if "example" in content else []
            yield from (example["value"] for example in content.get("examples", {}).values())


def find_method(service: Service, name: str) -> Any:
    root, *parts = name.split(".")
    if root == "widget":
        http = httpx.Client(transport=httpx.MockTransport(service._answer))
        widget = Widget(visitor_token="cvt_1", base_url=BASE_URL, http=http)
        return widget.send if parts == ["send"] else widget.messages
    found: Any = service.client
    for part in parts:
        found = getattr(found, part)
    return found


def test_has_the_route_of_every_operation_of_the_document() -> None:
    known = [value for value in vars(operations).values() if isinstance(value, Operation)]
    assert {each.id: (each.method, each.path) for each in known} == {
        id: (method, path) for id, (method, path, _) in OPERATIONS.items()
    }


def test_has_a_method_for_every_operation() -> None:
    assert {(id, method, path) for id, method, path, _ in ROWS} == {
        (id, method, path) for id, (method, path, _) in OPERATIONS.items()
    }


@pytest.mark.parametrize(("id", "verb", "path", "name"), ROWS, ids=[row[3] for row in ROWS])
def test_calls_its_operation_and_reads_what_is_documented(
    a_service: Services, id: str, verb: str, path: str, name: str
) -> None:
    [_, _, operation] = OPERATIONS[id]
    bodies = list(examples(operation)) or [None]
    for body in bodies:
        service = a_service(
            lambda *_, body=body: httpx.Response(204) if body is None else httpx.Response(200, json=body)
        )
        method = find_method(service, name)
        arguments = [f"id_{number}" for number in range(path.count("{"))]
        result = method(*arguments)
        if name.endswith(".follow"):
            continue
        data = None if body is None else body["data"]
        read = collect(result) if isinstance(data, list) else wait(result)
        assert written(read) == data
        [request] = service.sent
        assert (request.method, request.url.path) == (verb, re.sub(r"\{\w+\}", "{}", path).format(*arguments))
        assert ("idempotency-key" in request.headers) == (verb == "POST")


def written(value: Any) -> Any:
    """As the service has sent it."""
    if isinstance(value, list):
        return [written(item) for item in value]
    if not isinstance(value, BaseModel):
        return value
    text = value.model_dump_json(by_alias=True, exclude_unset=True)
    # Pydantic writes microseconds, the service milliseconds.
    return json.loads(re.sub(r"(:\d\d\.\d{3})000Z", r"\1Z", re.sub(r"(:\d\d)Z\"", r'\1.000Z"', text)))


def test_has_the_same_methods_with_and_without_async() -> None:
    assert describe(resources) == describe(async_resources)


def describe(module: Any) -> dict[str, dict[str, list[str]]]:
    """Classes with their methods and parameters."""
    classes = inspect.getmembers(
        module, lambda value: inspect.isclass(value) and value.__module__ == module.__name__
    )
    return {
        name: {
            method: list(inspect.signature(function).parameters)
            for method, function in inspect.getmembers(owner, inspect.isfunction)
        }
        for name, owner in classes
    }


def test_has_a_class_for_every_type_of_error() -> None:
    assert list(CLASSES) == SCHEMAS["ApiError"]["properties"]["type"]["x-extensible-enum"]


def test_has_a_type_for_every_event() -> None:
    received = [
        hook["post"]["requestBody"]["content"]["application/json"]["schema"]["$ref"]
        for hook in DOCUMENT["webhooks"].values()
    ]
    assert [model.__name__ for model in MODELS.values()] == [ref.rsplit("/", 1)[1] for ref in received]
    assert {type for type, _ in MODELS} == set(DOCUMENT["webhooks"])
    assert Event == eval(
        " | ".join(f"models.{model.__name__}" for model in MODELS.values()), {"models": models}
    )
