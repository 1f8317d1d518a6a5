# Written by `npm run generate -- python`. Do not edit.
from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any, overload

from .. import models
from ..calls import AsyncCalls
from ..pages import AsyncPages, Batch
from ..request import Call
from . import operations

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .. import params


class ConversationsMessages:
    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    async def create(
        self,
        conversation_id: str,
        *,
        idempotency_key: str | None = None,
        **body: Unpack[params.CreateMessage],
    ) -> models.Message:
        """Record a message in a conversation: `POST /api/v1/conversations/{id}/messages`"""
        call = Call(
            operations.CREATE_MESSAGE, {"id": conversation_id}, body=body, idempotency_key=idempotency_key
        )
        return await self._calls.send(call)

    def list(self, conversation_id: str, **query: Unpack[params.ListMessages]) -> AsyncPages[models.Message]:
        """List the messages of a conversation: `GET /api/v1/conversations/{id}/messages`"""
        call = Call(operations.LIST_MESSAGES, {"id": conversation_id}, query=query)
        return self._calls.list(call)

    async def get(self, conversation_id: str, message_id: str) -> models.Message:
        """Read a message: `GET /api/v1/conversations/{id}/messages/{messageId}`"""
        call = Call(operations.READ_MESSAGE, {"id": conversation_id, "messageId": message_id})
        return await self._calls.send(call)


class ConversationsEscalations:
    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    def list(
        self, conversation_id: str, **query: Unpack[params.ListEscalations]
    ) -> AsyncPages[models.Escalation]:
        """List the escalation log of a conversation: `GET /api/v1/conversations/{id}/escalations`"""
        call = Call(operations.LIST_ESCALATIONS, {"id": conversation_id}, query=query)
        return self._calls.list(call)

    async def get(self, conversation_id: str, escalation_log_id: str) -> models.Escalation:
        """Read an escalation log entry: `GET /api/v1/conversations/{id}/escalations/{escalationLogId}`"""
        call = Call(operations.READ_ESCALATION, {"id": conversation_id, "escalationLogId": escalation_log_id})
        return await self._calls.send(call)


class ChannelsDeliveries:
    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    def list(
        self, channel_id: str, **query: Unpack[params.ListChannelDeliveries]
    ) -> AsyncPages[models.ListedChannelDelivery]:
        """List the deliveries to a channel: `GET /api/v1/channels/{id}/deliveries`"""
        call = Call(operations.LIST_CHANNEL_DELIVERIES, {"id": channel_id}, query=query)
        return self._calls.list(call)

    async def get(self, channel_id: str, delivery_id: str) -> models.ChannelDeliveryWithAttempts:
        """Read a delivery to a channel with its attempts: `GET /api/v1/channels/{id}/deliveries/{deliveryId}`"""
        call = Call(operations.READ_CHANNEL_DELIVERY, {"id": channel_id, "deliveryId": delivery_id})
        return await self._calls.send(call)

    async def retry(
        self, channel_id: str, delivery_id: str, *, idempotency_key: str | None = None
    ) -> models.ChannelDelivery:
        """Attempt a retrying delivery to a channel now: `POST /api/v1/channels/{id}/deliveries/{deliveryId}/retry`"""
        call = Call(
            operations.RETRY_CHANNEL_DELIVERY,
            {"id": channel_id, "deliveryId": delivery_id},
            idempotency_key=idempotency_key,
        )
        return await self._calls.send(call)

    async def redeliver(
        self, channel_id: str, delivery_id: str, *, idempotency_key: str | None = None
    ) -> models.ChannelDelivery:
        """Resend a delivery to a channel: `POST /api/v1/channels/{id}/deliveries/{deliveryId}/redeliver`"""
        call = Call(
            operations.REDELIVER_CHANNEL_DELIVERY,
            {"id": channel_id, "deliveryId": delivery_id},
            idempotency_key=idempotency_key,
        )
        return await self._calls.send(call)


class ChannelsRedeliveries:
    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    async def start(
        self, channel_id: str, *, idempotency_key: str | None = None, **body: Unpack[params.StartRedelivery]
    ) -> models.ChannelRedelivery:
        """Resend the failed deliveries to a channel in a time range: `POST /api/v1/channels/{id}/redeliveries`"""
        call = Call(
            operations.START_CHANNEL_REDELIVERY,
            {"id": channel_id},
            body=body,
            idempotency_key=idempotency_key,
        )
        return await self._calls.send(call)

    def list(
        self, channel_id: str, **query: Unpack[params.ListChannelRedeliveries]
    ) -> AsyncPages[models.ChannelRedelivery]:
        """List the redelivery jobs of a channel: `GET /api/v1/channels/{id}/redeliveries`"""
        call = Call(operations.LIST_CHANNEL_REDELIVERIES, {"id": channel_id}, query=query)
        return self._calls.list(call)

    async def get(self, channel_id: str, redelivery_id: str) -> models.ChannelRedelivery:
        """Read a redelivery job of a channel: `GET /api/v1/channels/{id}/redeliveries/{redeliveryId}`"""
        call = Call(operations.READ_CHANNEL_REDELIVERY, {"id": channel_id, "redeliveryId": redelivery_id})
        return await self._calls.send(call)

    async def stop(self, channel_id: str, redelivery_id: str) -> None:
        """Stop a redelivery job of a channel: `DELETE /api/v1/channels/{id}/redeliveries/{redeliveryId}`"""
        call = Call(operations.STOP_CHANNEL_REDELIVERY, {"id": channel_id, "redeliveryId": redelivery_id})
        await self._calls.send(call)


class Endpoints:
    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    async def register(
        self, *, idempotency_key: str | None = None, **body: Unpack[params.RegisterWebhook]
    ) -> models.RegisteredWebhook:
        """Register a webhook endpoint: `POST /api/v1/webhooks`"""
        call = Call(operations.REGISTER_WEBHOOK, {}, body=body, idempotency_key=idempotency_key)
        return await self._calls.send(call)

    def list(self, **query: Unpack[params.ListWebhooks]) -> AsyncPages[models.Webhook]:
        """List webhook endpoints: `GET /api/v1/webhooks`"""
        call = Call(operations.LIST_WEBHOOKS, {}, query=query)
        return self._calls.list(call)

    async def get(self, endpoint_id: str) -> models.Webhook:
        """Read a webhook endpoint: `GET /api/v1/webhooks/{id}`"""
        call = Call(operations.READ_WEBHOOK, {"id": endpoint_id})
        return await self._calls.send(call)

    async def update(self, endpoint_id: str, **body: Unpack[params.UpdateWebhook]) -> models.UpdatedWebhook:
        """Update a webhook endpoint: `PATCH /api/v1/webhooks/{id}`"""
        call = Call(operations.UPDATE_WEBHOOK, {"id": endpoint_id}, body=body)
        return await self._calls.send(call)

    async def delete(self, endpoint_id: str) -> None:
        """Delete a webhook endpoint: `DELETE /api/v1/webhooks/{id}`"""
        call = Call(operations.DELETE_WEBHOOK, {"id": endpoint_id})
        await self._calls.send(call)

    async def test(
        self, endpoint_id: str, *, idempotency_key: str | None = None, **body: Unpack[params.TestWebhook]
    ) -> models.TestEvent:
        """Send a test event to a webhook endpoint: `POST /api/v1/webhooks/{id}/test`"""
        call = Call(operations.TEST_WEBHOOK, {"id": endpoint_id}, body=body, idempotency_key=idempotency_key)
        return await self._calls.send(call)

    async def stats(self, endpoint_id: str, **query: Unpack[params.ReadWebhookStats]) -> models.WebhookStats:
        """Count the deliveries of a webhook endpoint by hour and outcome: `GET /api/v1/webhooks/{id}/stats`"""
        call = Call(operations.READ_WEBHOOK_STATS, {"id": endpoint_id}, query=query)
        return await self._calls.send(call)


class Deliveries:
    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    def list(
        self, endpoint_id: str, **query: Unpack[params.ListDeliveries]
    ) -> AsyncPages[models.ListedDelivery]:
        """List the deliveries of a webhook endpoint: `GET /api/v1/webhooks/{id}/deliveries`"""
        call = Call(operations.LIST_DELIVERIES, {"id": endpoint_id}, query=query)
        return self._calls.list(call)

    async def get(self, endpoint_id: str, delivery_id: str) -> models.DeliveryWithAttempts:
        """Read a delivery with its attempts: `GET /api/v1/webhooks/{id}/deliveries/{deliveryId}`"""
        call = Call(operations.READ_DELIVERY, {"id": endpoint_id, "deliveryId": delivery_id})
        return await self._calls.send(call)

    async def retry(
        self, endpoint_id: str, delivery_id: str, *, idempotency_key: str | None = None
    ) -> models.Delivery:
        """Attempt a retrying delivery now: `POST /api/v1/webhooks/{id}/deliveries/{deliveryId}/retry`"""
        call = Call(
            operations.RETRY_DELIVERY,
            {"id": endpoint_id, "deliveryId": delivery_id},
            idempotency_key=idempotency_key,
        )
        return await self._calls.send(call)

    async def redeliver(
        self, endpoint_id: str, delivery_id: str, *, idempotency_key: str | None = None
    ) -> models.Delivery:
        """Resend a delivery: `POST /api/v1/webhooks/{id}/deliveries/{deliveryId}/redeliver`"""
        call = Call(
            operations.REDELIVER_DELIVERY,
            {"id": endpoint_id, "deliveryId": delivery_id},
            idempotency_key=idempotency_key,
        )
        return await self._calls.send(call)

    async def stats(self, **query: Unpack[params.ReadDeliveryStats]) -> models.DeliveryStats:
        """Count the deliveries of all webhook endpoints by hour and outcome: `GET /api/v1/deliveries/stats`"""
        call = Call(operations.READ_DELIVERY_STATS, {}, query=query)
        return await self._calls.send(call)


class Redeliveries:
    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    async def start(
        self, endpoint_id: str, *, idempotency_key: str | None = None, **body: Unpack[params.StartRedelivery]
    ) -> models.Redelivery:
        """Resend the failed deliveries of a webhook endpoint in a time range: `POST /api/v1/webhooks/{id}/redeliveries`"""
        call = Call(
            operations.START_REDELIVERY, {"id": endpoint_id}, body=body, idempotency_key=idempotency_key
        )
        return await self._calls.send(call)

    def list(
        self, endpoint_id: str, **query: Unpack[params.ListRedeliveries]
    ) -> AsyncPages[models.Redelivery]:
        """List the redelivery jobs of a webhook endpoint: `GET /api/v1/webhooks/{id}/redeliveries`"""
        call = Call(operations.LIST_REDELIVERIES, {"id": endpoint_id}, query=query)
        return self._calls.list(call)

    async def get(self, endpoint_id: str, redelivery_id: str) -> models.Redelivery:
        """Read a redelivery job: `GET /api/v1/webhooks/{id}/redeliveries/{redeliveryId}`"""
        call = Call(operations.READ_REDELIVERY, {"id": endpoint_id, "redeliveryId": redelivery_id})
        return await self._calls.send(call)

    async def stop(self, endpoint_id: str, redelivery_id: str) -> None:
        """Stop a redelivery job: `DELETE /api/v1/webhooks/{id}/redeliveries/{redeliveryId}`"""
        call = Call(operations.STOP_REDELIVERY, {"id": endpoint_id, "redeliveryId": redelivery_id})
        await self._calls.send(call)


class Events:
    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    def list(self, **query: Unpack[params.ListEvents]) -> AsyncPages[models.Event]:
        """List events: `GET /api/v1/events`"""
        call = Call(operations.LIST_EVENTS, {}, query=query)
        return self._calls.list(call)

    async def get(self, event_id: str, **query: Unpack[params.ReadEvent]) -> models.EventWithDeliveries:
        """Read an event with its payload and deliveries: `GET /api/v1/events/{id}`"""
        call = Call(operations.READ_EVENT, {"id": event_id}, query=query)
        return await self._calls.send(call)

    def follow(
        self, *, cursor: str | None = None, poll_seconds: float = 2.0, **query: Unpack[params.FollowEvents]
    ) -> AsyncIterator[Batch[models.Event]]:
        """
        Reads on without an end, in their order, each event once, some 15 seconds after it happened. Process
        a batch, then store its `follow_cursor`: after a restart the batch that was not stored comes again.
        """
        call = Call(operations.LIST_EVENTS, query={**query, "order": "asc"})
        return self._calls.follow(call, cursor, poll_seconds)


class Conversations:
    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls
        self.messages = ConversationsMessages(calls)
        self.escalations = ConversationsEscalations(calls)

    async def create(
        self, *, idempotency_key: str | None = None, **body: Unpack[params.CreateConversation]
    ) -> models.Conversation:
        """Start a conversation: `POST /api/v1/conversations`"""
        call = Call(operations.CREATE_CONVERSATION, {}, body=body, idempotency_key=idempotency_key)
        return await self._calls.send(call)

    def list(self, **query: Unpack[params.ListConversations]) -> AsyncPages[models.Conversation]:
        """List conversations: `GET /api/v1/conversations`"""
        call = Call(operations.LIST_CONVERSATIONS, {}, query=query)
        return self._calls.list(call)

    async def get(self, conversation_id: str) -> models.Conversation:
        """Read a conversation: `GET /api/v1/conversations/{id}`"""
        call = Call(operations.READ_CONVERSATION, {"id": conversation_id})
        return await self._calls.send(call)

    async def update(
        self, conversation_id: str, **body: Unpack[params.UpdateConversation]
    ) -> models.Conversation:
        """Update a conversation: `PATCH /api/v1/conversations/{id}`"""
        call = Call(operations.UPDATE_CONVERSATION, {"id": conversation_id}, body=body)
        return await self._calls.send(call)

    async def resolve(
        self,
        conversation_id: str,
        *,
        idempotency_key: str | None = None,
        **body: Unpack[params.ResolveConversation],
    ) -> models.Conversation:
        """Mark a conversation resolved: `POST /api/v1/conversations/{id}/resolve`"""
        call = Call(
            operations.RESOLVE_CONVERSATION,
            {"id": conversation_id},
            body=body,
            idempotency_key=idempotency_key,
        )
        return await self._calls.send(call)

    async def handoff(
        self,
        conversation_id: str,
        *,
        idempotency_key: str | None = None,
        **body: Unpack[params.RequestHandoff],
    ) -> models.Escalation:
        """Hand a conversation off to a human: `POST /api/v1/conversations/{id}/handoff`"""
        call = Call(
            operations.REQUEST_HANDOFF, {"id": conversation_id}, body=body, idempotency_key=idempotency_key
        )
        return await self._calls.send(call)

    async def create_visitor_token(
        self, conversation_id: str, *, idempotency_key: str | None = None
    ) -> models.VisitorToken:
        """Create a visitor token: `POST /api/v1/conversations/{id}/visitor-token`"""
        call = Call(operations.CREATE_VISITOR_TOKEN, {"id": conversation_id}, idempotency_key=idempotency_key)
        return await self._calls.send(call)

    async def delete(self, conversation_id: str) -> None:
        """Erase a conversation: `DELETE /api/v1/conversations/{id}`"""
        call = Call(operations.DELETE_CONVERSATION, {"id": conversation_id})
        await self._calls.send(call)


class Channels:
    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls
        self.deliveries = ChannelsDeliveries(calls)
        self.redeliveries = ChannelsRedeliveries(calls)

    @overload
    async def create(
        self, *, idempotency_key: str | None = None, **body: Unpack[params.CreateHttpChannel]
    ) -> models.CreatedHttpChannel: ...

    @overload
    async def create(
        self, *, idempotency_key: str | None = None, **body: Unpack[params.CreateWebWidgetChannel]
    ) -> models.CreatedWebWidgetChannel: ...

    async def create(self, *, idempotency_key: str | None = None, **body: Any) -> operations.CreatedChannel:
        """Create a channel: `POST /api/v1/channels`"""
        call = Call(operations.CREATE_CHANNEL, {}, body=body, idempotency_key=idempotency_key)
        return await self._calls.send(call)

    def list(self, **query: Unpack[params.ListChannels]) -> AsyncPages[operations.Channel]:
        """List channels: `GET /api/v1/channels`"""
        call = Call(operations.LIST_CHANNELS, {}, query=query)
        return self._calls.list(call)

    async def get(self, channel_id: str) -> operations.Channel:
        """Read a channel: `GET /api/v1/channels/{id}`"""
        call = Call(operations.READ_CHANNEL, {"id": channel_id})
        return await self._calls.send(call)

    async def update(
        self, channel_id: str, **body: Unpack[params.UpdateChannel]
    ) -> operations.UpdatedChannel:
        """Update a channel: `PATCH /api/v1/channels/{id}`"""
        call = Call(operations.UPDATE_CHANNEL, {"id": channel_id}, body=body)
        return await self._calls.send(call)

    async def delete(self, channel_id: str) -> None:
        """Delete a channel: `DELETE /api/v1/channels/{id}`"""
        call = Call(operations.DELETE_CHANNEL, {"id": channel_id})
        await self._calls.send(call)

    async def test(self, channel_id: str, *, idempotency_key: str | None = None) -> models.TestEvent:
        """Send a test event to a channel: `POST /api/v1/channels/{id}/test`"""
        call = Call(operations.TEST_CHANNEL, {"id": channel_id}, idempotency_key=idempotency_key)
        return await self._calls.send(call)

    async def stats(self, channel_id: str, **query: Unpack[params.ReadChannelStats]) -> models.ChannelStats:
        """Count the deliveries to a channel by hour and outcome: `GET /api/v1/channels/{id}/stats`"""
        call = Call(operations.READ_CHANNEL_STATS, {"id": channel_id}, query=query)
        return await self._calls.send(call)


class Contacts:
    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    async def delete(self, external_user_id: str) -> None:
        """Erase the conversations of an external user: `DELETE /api/v1/contacts/{externalUserId}`"""
        call = Call(operations.DELETE_CONTACT, {"externalUserId": external_user_id})
        await self._calls.send(call)


class Erasures:
    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    async def get(self, erasure_id: str) -> models.Erasure:
        """Read the receipt of an erasure: `GET /api/v1/erasures/{id}`"""
        call = Call(operations.READ_ERASURE, {"id": erasure_id})
        return await self._calls.send(call)


class Tickets:
    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    async def create(
        self, *, idempotency_key: str | None = None, **body: Unpack[params.CreateTicket]
    ) -> models.Ticket:
        """Create a fallback ticket: `POST /api/v1/tickets`"""
        call = Call(operations.CREATE_TICKET, {}, body=body, idempotency_key=idempotency_key)
        return await self._calls.send(call)

    def list(self, **query: Unpack[params.ListTickets]) -> AsyncPages[models.Ticket]:
        """List tickets: `GET /api/v1/tickets`"""
        call = Call(operations.LIST_TICKETS, {}, query=query)
        return self._calls.list(call)

    async def get(self, ticket_id: str) -> models.Ticket:
        """Read a ticket: `GET /api/v1/tickets/{id}`"""
        call = Call(operations.READ_TICKET, {"id": ticket_id})
        return await self._calls.send(call)

    async def update(self, ticket_id: str, **body: Unpack[params.UpdateTicket]) -> models.Ticket:
        """Update a ticket: `PATCH /api/v1/tickets/{id}`"""
        call = Call(operations.UPDATE_TICKET, {"id": ticket_id}, body=body)
        return await self._calls.send(call)


class Sources:
    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    async def create(
        self, *, idempotency_key: str | None = None, **body: Unpack[params.CreateSource]
    ) -> models.Source:
        """Create a content source: `POST /api/v1/knowledge/sources`"""
        call = Call(operations.CREATE_SOURCE, {}, body=body, idempotency_key=idempotency_key)
        return await self._calls.send(call)

    def list(self, **query: Unpack[params.ListSources]) -> AsyncPages[models.Source]:
        """List content sources: `GET /api/v1/knowledge/sources`"""
        call = Call(operations.LIST_SOURCES, {}, query=query)
        return self._calls.list(call)

    async def get(self, source_id: str) -> models.Source:
        """Read a content source: `GET /api/v1/knowledge/sources/{id}`"""
        call = Call(operations.READ_SOURCE, {"id": source_id})
        return await self._calls.send(call)

    async def delete(self, source_id: str) -> None:
        """Delete a content source: `DELETE /api/v1/knowledge/sources/{id}`"""
        call = Call(operations.DELETE_SOURCE, {"id": source_id})
        await self._calls.send(call)

    async def content(self, source_id: str) -> models.SourceContent:
        """Read the content of a content source: `GET /api/v1/knowledge/sources/{id}/content`"""
        call = Call(operations.READ_SOURCE_CONTENT, {"id": source_id})
        return await self._calls.send(call)

    async def changes(self, source_id: str) -> models.SourceChanges:
        """Read the changes of a content source: `GET /api/v1/knowledge/sources/{id}/changes`"""
        call = Call(operations.READ_SOURCE_CHANGES, {"id": source_id})
        return await self._calls.send(call)

    async def sync(self, source_id: str, *, idempotency_key: str | None = None) -> models.Source:
        """Check a content source now: `POST /api/v1/knowledge/sources/{id}/sync`"""
        call = Call(operations.SYNC_SOURCE, {"id": source_id}, idempotency_key=idempotency_key)
        return await self._calls.send(call)


class WidgetResources:
    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls

    def messages(self, **query: Unpack[params.ReadWidgetMessages]) -> AsyncPages[models.WidgetMessage]:
        """Read new messages as a visitor: `GET /api/v1/widget/messages`"""
        call = Call(operations.READ_WIDGET_MESSAGES, {}, query=query)
        return self._calls.list(call)

    def follow(
        self, *, cursor: str | None = None, poll_seconds: float = 2.0
    ) -> AsyncIterator[Batch[models.WidgetMessage]]:
        """
        Reads on without an end, each message once, as soon as it is recorded. Show them by `created_at`.
        """
        call = Call(operations.READ_WIDGET_MESSAGES)
        return self._calls.follow(call, cursor, poll_seconds)

    async def send(
        self, *, idempotency_key: str | None = None, **body: Unpack[params.CreateWidgetMessage]
    ) -> models.WidgetMessage:
        """Send a message as a visitor: `POST /api/v1/widget/messages`"""
        call = Call(operations.CREATE_WIDGET_MESSAGE, {}, body=body, idempotency_key=idempotency_key)
        return await self._calls.send(call)


class Resources:
    def __init__(self, calls: AsyncCalls) -> None:
        self._calls = calls
        self.endpoints = Endpoints(calls)
        self.deliveries = Deliveries(calls)
        self.redeliveries = Redeliveries(calls)
        self.events = Events(calls)
        self.conversations = Conversations(calls)
        self.channels = Channels(calls)
        self.contacts = Contacts(calls)
        self.erasures = Erasures(calls)
        self.tickets = Tickets(calls)
        self.sources = Sources(calls)
