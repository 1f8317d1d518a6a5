"""The events that receivers get."""

from __future__ import annotations

from typing import Any, get_args

from ..generated.events import Event
from ..model import ReceivedEvent, UnknownEvent

__all__ = ["Event", "parse_event"]


def _key_of(model: type[ReceivedEvent]) -> tuple[str, int]:
    """The type and the schema version of an event's model."""
    type_, version = (model.model_fields[name].annotation for name in ("type", "schema_version"))
    return get_args(type_)[0], get_args(version)[0]


MODELS: dict[tuple[str, int], type[ReceivedEvent]] = {_key_of(model): model for model in get_args(Event)}


def parse_event(payload: dict[str, Any], headers: dict[str, Any]) -> ReceivedEvent:
    """
    :raises pydantic.ValidationError: for a body that is no event
    """
    fields = {**payload, **headers}
    try:
        model = MODELS.get((payload.get("type", ""), payload.get("schemaVersion", 0)), UnknownEvent)
    except TypeError:
        model = UnknownEvent
    return model.model_validate(fields)
