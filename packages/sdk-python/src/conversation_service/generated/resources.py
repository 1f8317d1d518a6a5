# Written by `npm run generate -- python`. Do not edit.
from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, overload

from .. import models
from ..calls import Calls
from ..pages import Batch, Pages
from ..request import Call
from . import operations

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .. import params


class ConversationsMessages:
    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def create(
        self,
        conversation_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        **body: Unpack[params.CreateMessage],
    ) -> models.Message:
        """Record a message in a conversation: `POST /api/v1/conversations/{id}/messages`"""
        call = Call(
            operations.CREATE_MESSAGE,
            {"id": conversation_id},
            body=body,
            timeout=timeout,
            idempotency_key=idempotency_key,
        )
        return self._calls.send(call)

    def list(
        self, conversation_id: str, *, timeout: float | None = None, **query: Unpack[params.ListMessages]
    ) -> Pages[models.Message]:
        """List the messages of a conversation: `GET /api/v1/conversations/{id}/messages`"""
        call = Call(operations.LIST_MESSAGES, {"id": conversation_id}, query=query, timeout=timeout)
        return self._calls.list(call)

    def get(self, conversation_id: str, message_id: str, *, timeout: float | None = None) -> models.Message:
        """Read a message: `GET /api/v1/conversations/{id}/messages/{messageId}`"""
        call = Call(
            operations.READ_MESSAGE, {"id": conversation_id, "messageId": message_id}, timeout=timeout
        )
        return self._calls.send(call)


class ConversationsEscalations:
    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def list(
        self, conversation_id: str, *, timeout: float | None = None, **query: Unpack[params.ListEscalations]
    ) -> Pages[models.Escalation]:
        """List the escalation log of a conversation: `GET /api/v1/conversations/{id}/escalations`"""
        call = Call(operations.LIST_ESCALATIONS, {"id": conversation_id}, query=query, timeout=timeout)
        return self._calls.list(call)

    def get(
        self, conversation_id: str, escalation_log_id: str, *, timeout: float | None = None
    ) -> models.Escalation:
        """Read an escalation log entry: `GET /api/v1/conversations/{id}/escalations/{escalationLogId}`"""
        call = Call(
            operations.READ_ESCALATION,
            {"id": conversation_id, "escalationLogId": escalation_log_id},
            timeout=timeout,
        )
        return self._calls.send(call)


class ChannelsDeliveries:
    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def list(
        self, channel_id: str, *, timeout: float | None = None, **query: Unpack[params.ListChannelDeliveries]
    ) -> Pages[models.ListedChannelDelivery]:
        """List the deliveries to a channel: `GET /api/v1/channels/{id}/deliveries`"""
        call = Call(operations.LIST_CHANNEL_DELIVERIES, {"id": channel_id}, query=query, timeout=timeout)
        return self._calls.list(call)

    def get(
        self, channel_id: str, delivery_id: str, *, timeout: float | None = None
    ) -> models.ChannelDeliveryWithAttempts:
        """Read a delivery to a channel with its attempts: `GET /api/v1/channels/{id}/deliveries/{deliveryId}`"""
        call = Call(
            operations.READ_CHANNEL_DELIVERY, {"id": channel_id, "deliveryId": delivery_id}, timeout=timeout
        )
        return self._calls.send(call)


class Webhooks:
    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def create(
        self,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        **body: Unpack[params.RegisterWebhook],
    ) -> models.RegisteredWebhook:
        """Register a webhook endpoint: `POST /api/v1/webhooks`"""
        call = Call(
            operations.REGISTER_WEBHOOK, {}, body=body, timeout=timeout, idempotency_key=idempotency_key
        )
        return self._calls.send(call)

    def list(
        self, *, timeout: float | None = None, **query: Unpack[params.ListWebhooks]
    ) -> Pages[models.Webhook]:
        """List webhook endpoints: `GET /api/v1/webhooks`"""
        call = Call(operations.LIST_WEBHOOKS, {}, query=query, timeout=timeout)
        return self._calls.list(call)

    def get(self, webhook_id: str, *, timeout: float | None = None) -> models.Webhook:
        """Read a webhook endpoint: `GET /api/v1/webhooks/{id}`"""
        call = Call(operations.READ_WEBHOOK, {"id": webhook_id}, timeout=timeout)
        return self._calls.send(call)

    def update(
        self, webhook_id: str, *, timeout: float | None = None, **body: Unpack[params.UpdateWebhook]
    ) -> models.UpdatedWebhook:
        """Update a webhook endpoint: `PATCH /api/v1/webhooks/{id}`"""
        call = Call(operations.UPDATE_WEBHOOK, {"id": webhook_id}, body=body, timeout=timeout)
        return self._calls.send(call)

    def delete(self, webhook_id: str, *, timeout: float | None = None) -> None:
        """Delete a webhook endpoint: `DELETE /api/v1/webhooks/{id}`"""
        call = Call(operations.DELETE_WEBHOOK, {"id": webhook_id}, timeout=timeout)
        self._calls.send(call)

    def test(
        self,
        webhook_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        **body: Unpack[params.TestWebhook],
    ) -> models.TestEvent:
        """Send a test event to a webhook endpoint: `POST /api/v1/webhooks/{id}/test`"""
        call = Call(
            operations.TEST_WEBHOOK,
            {"id": webhook_id},
            body=body,
            timeout=timeout,
            idempotency_key=idempotency_key,
        )
        return self._calls.send(call)

    def stats(
        self, webhook_id: str, *, timeout: float | None = None, **query: Unpack[params.ReadWebhookStats]
    ) -> models.WebhookStats:
        """Count the deliveries of a webhook endpoint by hour and outcome: `GET /api/v1/webhooks/{id}/stats`"""
        call = Call(operations.READ_WEBHOOK_STATS, {"id": webhook_id}, query=query, timeout=timeout)
        return self._calls.send(call)


class Deliveries:
    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def list(
        self, webhook_id: str, *, timeout: float | None = None, **query: Unpack[params.ListDeliveries]
    ) -> Pages[models.ListedDelivery]:
        """List the deliveries of a webhook endpoint: `GET /api/v1/webhooks/{id}/deliveries`"""
        call = Call(operations.LIST_DELIVERIES, {"id": webhook_id}, query=query, timeout=timeout)
        return self._calls.list(call)

    def get(
        self, webhook_id: str, delivery_id: str, *, timeout: float | None = None
    ) -> models.DeliveryWithAttempts:
        """Read a delivery with its attempts: `GET /api/v1/webhooks/{id}/deliveries/{deliveryId}`"""
        call = Call(operations.READ_DELIVERY, {"id": webhook_id, "deliveryId": delivery_id}, timeout=timeout)
        return self._calls.send(call)

    def retry(
        self,
        webhook_id: str,
        delivery_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Delivery:
        """Attempt a retrying delivery now: `POST /api/v1/webhooks/{id}/deliveries/{deliveryId}/retry`"""
        call = Call(
            operations.RETRY_DELIVERY,
            {"id": webhook_id, "deliveryId": delivery_id},
            timeout=timeout,
            idempotency_key=idempotency_key,
        )
        return self._calls.send(call)

    def redeliver(
        self,
        webhook_id: str,
        delivery_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> models.Delivery:
        """Resend a delivery: `POST /api/v1/webhooks/{id}/deliveries/{deliveryId}/redeliver`"""
        call = Call(
            operations.REDELIVER_DELIVERY,
            {"id": webhook_id, "deliveryId": delivery_id},
            timeout=timeout,
            idempotency_key=idempotency_key,
        )
        return self._calls.send(call)

    def stats(
        self, *, timeout: float | None = None, **query: Unpack[params.ReadDeliveryStats]
    ) -> models.DeliveryStats:
        """Count the deliveries of all webhook endpoints by hour and outcome: `GET /api/v1/deliveries/stats`"""
        call = Call(operations.READ_DELIVERY_STATS, {}, query=query, timeout=timeout)
        return self._calls.send(call)


class Redeliveries:
    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def start(
        self,
        webhook_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        **body: Unpack[params.StartRedelivery],
    ) -> models.Redelivery:
        """Resend the failed deliveries of a webhook endpoint in a time range: `POST /api/v1/webhooks/{id}/redeliveries`"""
        call = Call(
            operations.START_REDELIVERY,
            {"id": webhook_id},
            body=body,
            timeout=timeout,
            idempotency_key=idempotency_key,
        )
        return self._calls.send(call)

    def list(
        self, webhook_id: str, *, timeout: float | None = None, **query: Unpack[params.ListRedeliveries]
    ) -> Pages[models.Redelivery]:
        """List the redelivery jobs of a webhook endpoint: `GET /api/v1/webhooks/{id}/redeliveries`"""
        call = Call(operations.LIST_REDELIVERIES, {"id": webhook_id}, query=query, timeout=timeout)
        return self._calls.list(call)

    def get(self, webhook_id: str, redelivery_id: str, *, timeout: float | None = None) -> models.Redelivery:
        """Read a redelivery job: `GET /api/v1/webhooks/{id}/redeliveries/{redeliveryId}`"""
        call = Call(
            operations.READ_REDELIVERY, {"id": webhook_id, "redeliveryId": redelivery_id}, timeout=timeout
        )
        return self._calls.send(call)

    def stop(self, webhook_id: str, redelivery_id: str, *, timeout: float | None = None) -> None:
        """Stop a redelivery job: `DELETE /api/v1/webhooks/{id}/redeliveries/{redeliveryId}`"""
        call = Call(
            operations.STOP_REDELIVERY, {"id": webhook_id, "redeliveryId": redelivery_id}, timeout=timeout
        )
        self._calls.send(call)


class Events:
    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def list(
        self, *, timeout: float | None = None, **query: Unpack[params.ListEvents]
    ) -> Pages[models.Event]:
        """List events: `GET /api/v1/events`"""
        call = Call(operations.LIST_EVENTS, {}, query=query, timeout=timeout)
        return self._calls.list(call)

    def get(self, event_id: str, *, timeout: float | None = None) -> models.EventWithDeliveries:
        """Read an event with its payload and deliveries: `GET /api/v1/events/{id}`"""
        call = Call(operations.READ_EVENT, {"id": event_id}, timeout=timeout)
        return self._calls.send(call)

    def follow(
        self,
        *,
        cursor: str | None = None,
        poll_seconds: float = 2.0,
        timeout: float | None = None,
        **query: Unpack[params.FollowEvents],
    ) -> Iterator[Batch[models.Event]]:
        """
        Reads on without an end, in their order, each event once, some 15 seconds after it happened. Process
        a batch, then store its `follow_cursor`: after a restart the batch that was not stored comes again.
        """
        call = Call(operations.LIST_EVENTS, query={**query, "order": "asc"}, timeout=timeout)
        return self._calls.follow(call, cursor, poll_seconds)


class Conversations:
    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self.messages = ConversationsMessages(calls)
        self.escalations = ConversationsEscalations(calls)

    def create(
        self,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        **body: Unpack[params.CreateConversation],
    ) -> models.Conversation:
        """Start a conversation: `POST /api/v1/conversations`"""
        call = Call(
            operations.CREATE_CONVERSATION, {}, body=body, timeout=timeout, idempotency_key=idempotency_key
        )
        return self._calls.send(call)

    def list(
        self, *, timeout: float | None = None, **query: Unpack[params.ListConversations]
    ) -> Pages[models.Conversation]:
        """List conversations: `GET /api/v1/conversations`"""
        call = Call(operations.LIST_CONVERSATIONS, {}, query=query, timeout=timeout)
        return self._calls.list(call)

    def get(self, conversation_id: str, *, timeout: float | None = None) -> models.Conversation:
        """Read a conversation: `GET /api/v1/conversations/{id}`"""
        call = Call(operations.READ_CONVERSATION, {"id": conversation_id}, timeout=timeout)
        return self._calls.send(call)

    def update(
        self, conversation_id: str, *, timeout: float | None = None, **body: Unpack[params.UpdateConversation]
    ) -> models.Conversation:
        """Update a conversation: `PATCH /api/v1/conversations/{id}`"""
        call = Call(operations.UPDATE_CONVERSATION, {"id": conversation_id}, body=body, timeout=timeout)
        return self._calls.send(call)

    def resolve(
        self,
        conversation_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        **body: Unpack[params.ResolveConversation],
    ) -> models.Conversation:
        """Mark a conversation resolved: `POST /api/v1/conversations/{id}/resolve`"""
        call = Call(
            operations.RESOLVE_CONVERSATION,
            {"id": conversation_id},
            body=body,
            timeout=timeout,
            idempotency_key=idempotency_key,
        )
        return self._calls.send(call)

    def handoff(
        self,
        conversation_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        **body: Unpack[params.RequestHandoff],
    ) -> models.Escalation:
        """Hand a conversation off to a human: `POST /api/v1/conversations/{id}/handoff`"""
        call = Call(
            operations.REQUEST_HANDOFF,
            {"id": conversation_id},
            body=body,
            timeout=timeout,
            idempotency_key=idempotency_key,
        )
        return self._calls.send(call)

    def create_visitor_token(
        self, conversation_id: str, *, idempotency_key: str | None = None, timeout: float | None = None
    ) -> models.VisitorToken:
        """Create a visitor token: `POST /api/v1/conversations/{id}/visitor-token`"""
        call = Call(
            operations.CREATE_VISITOR_TOKEN,
            {"id": conversation_id},
            timeout=timeout,
            idempotency_key=idempotency_key,
        )
        return self._calls.send(call)

    def delete(self, conversation_id: str, *, timeout: float | None = None) -> None:
        """Erase a conversation: `DELETE /api/v1/conversations/{id}`"""
        call = Call(operations.DELETE_CONVERSATION, {"id": conversation_id}, timeout=timeout)
        self._calls.send(call)


class Channels:
    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self.deliveries = ChannelsDeliveries(calls)

    @overload
    def create(
        self,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        **body: Unpack[params.CreateHttpChannel],
    ) -> models.CreatedHttpChannel: ...

    @overload
    def create(
        self,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        **body: Unpack[params.CreateWebWidgetChannel],
    ) -> models.CreatedWebWidgetChannel: ...

    def create(
        self, *, idempotency_key: str | None = None, timeout: float | None = None, **body: Any
    ) -> operations.CreatedChannel:
        """Create a channel: `POST /api/v1/channels`"""
        call = Call(
            operations.CREATE_CHANNEL, {}, body=body, timeout=timeout, idempotency_key=idempotency_key
        )
        return self._calls.send(call)

    def list(
        self, *, timeout: float | None = None, **query: Unpack[params.ListChannels]
    ) -> Pages[operations.Channel]:
        """List channels: `GET /api/v1/channels`"""
        call = Call(operations.LIST_CHANNELS, {}, query=query, timeout=timeout)
        return self._calls.list(call)

    def get(self, channel_id: str, *, timeout: float | None = None) -> operations.Channel:
        """Read a channel: `GET /api/v1/channels/{id}`"""
        call = Call(operations.READ_CHANNEL, {"id": channel_id}, timeout=timeout)
        return self._calls.send(call)

    def delete(self, channel_id: str, *, timeout: float | None = None) -> None:
        """Delete a channel: `DELETE /api/v1/channels/{id}`"""
        call = Call(operations.DELETE_CHANNEL, {"id": channel_id}, timeout=timeout)
        self._calls.send(call)


class Contacts:
    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def delete(self, external_user_id: str, *, timeout: float | None = None) -> None:
        """Erase the conversations of an external user: `DELETE /api/v1/contacts/{externalUserId}`"""
        call = Call(operations.DELETE_CONTACT, {"externalUserId": external_user_id}, timeout=timeout)
        self._calls.send(call)


class Erasures:
    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def get(self, erasure_id: str, *, timeout: float | None = None) -> models.Erasure:
        """Read the receipt of an erasure: `GET /api/v1/erasures/{id}`"""
        call = Call(operations.READ_ERASURE, {"id": erasure_id}, timeout=timeout)
        return self._calls.send(call)


class Tickets:
    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def create(
        self,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        **body: Unpack[params.CreateTicket],
    ) -> models.Ticket:
        """Create a fallback ticket: `POST /api/v1/tickets`"""
        call = Call(operations.CREATE_TICKET, {}, body=body, timeout=timeout, idempotency_key=idempotency_key)
        return self._calls.send(call)

    def list(
        self, *, timeout: float | None = None, **query: Unpack[params.ListTickets]
    ) -> Pages[models.Ticket]:
        """List tickets: `GET /api/v1/tickets`"""
        call = Call(operations.LIST_TICKETS, {}, query=query, timeout=timeout)
        return self._calls.list(call)

    def get(self, ticket_id: str, *, timeout: float | None = None) -> models.Ticket:
        """Read a ticket: `GET /api/v1/tickets/{id}`"""
        call = Call(operations.READ_TICKET, {"id": ticket_id}, timeout=timeout)
        return self._calls.send(call)

    def update(
        self, ticket_id: str, *, timeout: float | None = None, **body: Unpack[params.UpdateTicket]
    ) -> models.Ticket:
        """Update a ticket: `PATCH /api/v1/tickets/{id}`"""
        call = Call(operations.UPDATE_TICKET, {"id": ticket_id}, body=body, timeout=timeout)
        return self._calls.send(call)


class Sources:
    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def create(
        self,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        **body: Unpack[params.CreateSource],
    ) -> models.Source:
        """Create a content source: `POST /api/v1/knowledge/sources`"""
        call = Call(operations.CREATE_SOURCE, {}, body=body, timeout=timeout, idempotency_key=idempotency_key)
        return self._calls.send(call)

    def list(
        self, *, timeout: float | None = None, **query: Unpack[params.ListSources]
    ) -> Pages[models.Source]:
        """List content sources: `GET /api/v1/knowledge/sources`"""
        call = Call(operations.LIST_SOURCES, {}, query=query, timeout=timeout)
        return self._calls.list(call)

    def get(self, source_id: str, *, timeout: float | None = None) -> models.Source:
        """Read a content source: `GET /api/v1/knowledge/sources/{id}`"""
        call = Call(operations.READ_SOURCE, {"id": source_id}, timeout=timeout)
        return self._calls.send(call)

    def delete(self, source_id: str, *, timeout: float | None = None) -> None:
        """Delete a content source: `DELETE /api/v1/knowledge/sources/{id}`"""
        call = Call(operations.DELETE_SOURCE, {"id": source_id}, timeout=timeout)
        self._calls.send(call)

    def content(self, source_id: str, *, timeout: float | None = None) -> models.SourceContent:
        """Read the content of a content source: `GET /api/v1/knowledge/sources/{id}/content`"""
        call = Call(operations.READ_SOURCE_CONTENT, {"id": source_id}, timeout=timeout)
        return self._calls.send(call)

    def changes(self, source_id: str, *, timeout: float | None = None) -> models.SourceChanges:
        """Read the changes of a content source: `GET /api/v1/knowledge/sources/{id}/changes`"""
        call = Call(operations.READ_SOURCE_CHANGES, {"id": source_id}, timeout=timeout)
        return self._calls.send(call)

    def sync(
        self, source_id: str, *, idempotency_key: str | None = None, timeout: float | None = None
    ) -> models.Source:
        """Check a content source now: `POST /api/v1/knowledge/sources/{id}/sync`"""
        call = Call(
            operations.SYNC_SOURCE, {"id": source_id}, timeout=timeout, idempotency_key=idempotency_key
        )
        return self._calls.send(call)


class WidgetResources:
    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    def messages(
        self, *, timeout: float | None = None, **query: Unpack[params.ReadWidgetMessages]
    ) -> Pages[models.WidgetMessage]:
        """Read new messages as a visitor: `GET /api/v1/widget/messages`"""
        call = Call(operations.READ_WIDGET_MESSAGES, {}, query=query, timeout=timeout)
        return self._calls.list(call)

    def follow(
        self, *, cursor: str | None = None, poll_seconds: float = 2.0, timeout: float | None = None
    ) -> Iterator[Batch[models.WidgetMessage]]:
        """
        Reads on without an end, each message once, as soon as it is recorded. Show them by `created_at`.
        """
        call = Call(operations.READ_WIDGET_MESSAGES, timeout=timeout)
        return self._calls.follow(call, cursor, poll_seconds)


class Resources:
    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self.webhooks = Webhooks(calls)
        self.deliveries = Deliveries(calls)
        self.redeliveries = Redeliveries(calls)
        self.events = Events(calls)
        self.conversations = Conversations(calls)
        self.channels = Channels(calls)
        self.contacts = Contacts(calls)
        self.erasures = Erasures(calls)
        self.tickets = Tickets(calls)
        self.sources = Sources(calls)
