"""What is sent for a call."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from platform import python_version
from typing import Any, Generic, TypeVar
from urllib.parse import quote
from uuid import uuid4

import httpx

from .model import to_wire_name
from .operation import Operation
from .version import VERSION

T = TypeVar("T")

#: Hosts that are this machine, to which a request needs no encryption.
LOOPBACK = ("localhost", "::1")


@dataclass(frozen=True)
class Call(Generic[T]):
    """A call of an operation, with the names of fields and parameters that Python has."""

    operation: Operation[T]
    path: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Mapping[str, Any] = field(default_factory=dict)
    idempotency_key: str | None = None


def check_base_url(base_url: str) -> str:
    """
    :raises ValueError: when the credential would be sent unencrypted
    """
    url = httpx.URL(base_url)
    is_loopback = url.host in LOOPBACK or url.host.startswith("127.")
    if url.scheme != "https" and not (url.scheme == "http" and is_loopback):
        raise ValueError(f"{base_url} must be an https URL: the key would be sent unencrypted.")
    if url.userinfo:
        raise ValueError("The URL of the service must not have a user name: it would replace the key.")
    return base_url.rstrip("/")


def build_request(
    http: httpx.Client | httpx.AsyncClient, base_url: str, credential: str, call: Call[Any], timeout: float
) -> httpx.Request:
    """A request that is sent unchanged by each try: all have one idempotency key."""
    operation = call.operation
    headers = {
        "authorization": f"Bearer {credential}",
        "accept": "application/json",
        "user-agent": f"conversation-service-sdk/{VERSION} Python/{python_version()}",
    }
    if operation.method == "POST":
        headers["idempotency-key"] = call.idempotency_key or str(uuid4())
    content = None
    if call.body:
        headers["content-type"] = "application/json"
        content = json.dumps(to_wire(call.body), default=to_text).encode()
    return http.build_request(
        operation.method,
        f"{base_url}{fill_in(operation.path, call.path)}",
        params={name: to_parameter(value) for name, value in to_wire(call.query).items()},
        headers=headers,
        content=content,
        timeout=timeout,
    )


def to_wire(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {to_wire_name(name): value for name, value in fields.items()}


def fill_in(template: str, path: Mapping[str, str]) -> str:
    for name, value in path.items():
        if value == "":
            raise ValueError(f"{name} must not be empty.")
        template = template.replace(f"{{{name}}}", quote(value, safe=""))
    return template


def to_parameter(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, int, float)):
        return str(value)
    if isinstance(value, datetime):
        return to_text(value)
    return ",".join(value)


def to_text(value: Any) -> str:
    """
    :raises TypeError: for what JSON does not have, and for times without a time zone, which are ambiguous
    """
    if not isinstance(value, datetime):
        raise TypeError(f"{type(value).__name__} has no form in JSON.")
    if value.tzinfo is None:
        raise TypeError(f"{value} has no time zone.")
    return value.isoformat()
