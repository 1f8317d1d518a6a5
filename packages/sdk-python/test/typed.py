"""Read by mypy: what a caller's editor knows. `assert_type` fails the check."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from typing_extensions import assert_type

from conversation_service import AsyncClient, Batch, Client, Page, WithResponse, models
from conversation_service.receiver import Event, verify


def calls(client: Client) -> None:
    assert_type(client.conversations.create(channel_id="a", external_user_id="b"), models.Conversation)
    assert_type(client.endpoints.delete("whk_1"), None)
    assert_type([each.created_at for each in client.events.list(type=["webhook.test"])], list[datetime])
    assert_type(client.tickets.list().page(), Page[models.Ticket])
    result = client.with_response(lambda client: client.tickets.get("tkt_1"))
    assert_type(result, WithResponse[models.Ticket])
    assert_type(client.events.follow(), Iterator[Batch[models.Event]])
    http = client.channels.create(kind="http", name="a", url="https://example.com")
    assert_type(http, models.CreatedHttpChannel)
    widget = client.channels.create(kind="web_widget", name="a")
    assert_type(widget, models.CreatedWebWidgetChannel)


def mistakes(client: Client) -> None:
    client.conversations.create(channel_id="a")  # type: ignore[call-arg]
    client.conversations.create(channel_id="a", external_user_id=1)  # type: ignore[arg-type]
    client.conversations.messages.create("cnv_1", role="pigeon", content="a")  # type: ignore[arg-type]
    client.endpoints.update("whk_1", eventz=[])  # type: ignore[call-arg]
    client.channels.create(kind="web_widget", name="a", url="https://example.com")  # type: ignore[call-overload]


async def awaited(client: AsyncClient) -> None:
    assert_type(await client.conversations.get("cnv_1"), models.Conversation)
    result = await client.with_response(lambda client: client.tickets.get("tkt_1"))
    assert_type(result, WithResponse[models.Ticket])
    async for message in client.conversations.messages.list("cnv_1"):
        assert_type(message, models.Message)


def narrowed(body: bytes) -> str:
    event = verify({}, body, "whsec_")
    assert_type(event, Event)
    if event.type == "message.received":
        assert_type(event.data, models.MessageReceivedEventData)
    if event.type == "mesage.received":  # type: ignore[comparison-overlap]
        pass
    match event:
        case models.ConversationCreatedEvent(data=data):
            return data.external_user_id
        case models.MessageReceivedEvent() | models.ChannelMessageEvent():
            return event.data.message_id
        case (
            models.HandoffRequestedEvent()
            | models.ConversationResolvedEvent()
            | models.ConversationDeletedEvent()
        ):
            return event.data.conversation_id
        case models.WebhookFailingEvent() | models.WebhookDisabledEvent() | models.WebhookRecoveredEvent():
            return event.data.webhook_id
        case models.WebhookTestEvent() | models.ChannelTestEvent():
            return event.org_id
        case models.TicketCreatedEvent():
            return event.data.ticket_id
        case _:
            return event.type
