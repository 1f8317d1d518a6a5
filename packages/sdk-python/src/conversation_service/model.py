"""Bases of the types that are generated from the API document."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict


def to_wire_name(name: str) -> str:
    """The name of a field in JSON: `external_user_id` → `externalUserId`, `from_` → `from`."""
    first, *others = name.rstrip("_").split("_")
    return first + "".join(word.capitalize() for word in others)


class Model(BaseModel):
    """What the service sends. Fields that are added later are kept, under their names in JSON."""

    model_config = ConfigDict(
        alias_generator=to_wire_name,
        validate_by_name=True,
        validate_by_alias=True,
        extra="allow",
        frozen=True,
        # At its first use, because a program uses few of the models.
        defer_build=True,
    )


class UnknownModel(Model):
    """
    A resource of a kind that was added after this version, for example a channel. It is in no union, so that
    a misspelled kind does not pass a type checker.
    """


class ReceivedEvent(Model):
    """A verified event, with what its headers say."""

    id: str
    """The `webhook-id` header: the same for all attempts, endpoints and redeliveries of the event."""
    delivery_id: str | None = None
    """The `webhook-delivery-id` header."""
    endpoint_id: str | None = None
    """The `webhook-endpoint-id` header: the endpoint, or the channel."""
    attempt: int | None = None
    """The `webhook-attempt` header, from 1."""
    is_example: bool = False
    """The `webhook-example` header, which is not signed: a test sent the event. Nothing of it happened."""


class UnknownEvent(ReceivedEvent):
    """An event of a type, or of a schema version, that was added after this version. It is in no union."""

    type: str
    schema_version: int | None = None
    data: dict[str, Any] = {}
