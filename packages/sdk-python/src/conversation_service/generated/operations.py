# Written by `npm run generate -- python`. Do not edit.
from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import Field

from .. import models
from ..operation import Operation

CreatedChannel: TypeAlias = Annotated[
    models.CreatedHttpChannel | models.CreatedWebWidgetChannel, Field(discriminator="kind")
]
Channel: TypeAlias = Annotated[models.HttpChannel | models.WebWidgetChannel, Field(discriminator="kind")]
UpdatedChannel: TypeAlias = Annotated[
    models.UpdatedHttpChannel | models.UpdatedWebWidgetChannel, Field(discriminator="kind")
]

REGISTER_WEBHOOK: Operation[models.RegisteredWebhook] = Operation(
    "registerWebhook", "POST", "/api/v1/webhooks", models.RegisteredWebhook
)
LIST_WEBHOOKS: Operation[models.Webhook] = Operation(
    "listWebhooks", "GET", "/api/v1/webhooks", models.Webhook
)
READ_WEBHOOK: Operation[models.Webhook] = Operation(
    "readWebhook", "GET", "/api/v1/webhooks/{id}", models.Webhook
)
UPDATE_WEBHOOK: Operation[models.UpdatedWebhook] = Operation(
    "updateWebhook", "PATCH", "/api/v1/webhooks/{id}", models.UpdatedWebhook
)
DELETE_WEBHOOK: Operation[None] = Operation("deleteWebhook", "DELETE", "/api/v1/webhooks/{id}", None)
TEST_WEBHOOK: Operation[models.TestEvent] = Operation(
    "testWebhook", "POST", "/api/v1/webhooks/{id}/test", models.TestEvent
)
LIST_DELIVERIES: Operation[models.ListedDelivery] = Operation(
    "listDeliveries", "GET", "/api/v1/webhooks/{id}/deliveries", models.ListedDelivery
)
READ_DELIVERY: Operation[models.DeliveryWithAttempts] = Operation(
    "readDelivery", "GET", "/api/v1/webhooks/{id}/deliveries/{deliveryId}", models.DeliveryWithAttempts
)
RETRY_DELIVERY: Operation[models.Delivery] = Operation(
    "retryDelivery", "POST", "/api/v1/webhooks/{id}/deliveries/{deliveryId}/retry", models.Delivery
)
REDELIVER_DELIVERY: Operation[models.Delivery] = Operation(
    "redeliverDelivery", "POST", "/api/v1/webhooks/{id}/deliveries/{deliveryId}/redeliver", models.Delivery
)
READ_DELIVERY_STATS: Operation[models.DeliveryStats] = Operation(
    "readDeliveryStats", "GET", "/api/v1/deliveries/stats", models.DeliveryStats
)
READ_WEBHOOK_STATS: Operation[models.WebhookStats] = Operation(
    "readWebhookStats", "GET", "/api/v1/webhooks/{id}/stats", models.WebhookStats
)
START_REDELIVERY: Operation[models.Redelivery] = Operation(
    "startRedelivery", "POST", "/api/v1/webhooks/{id}/redeliveries", models.Redelivery
)
LIST_REDELIVERIES: Operation[models.Redelivery] = Operation(
    "listRedeliveries", "GET", "/api/v1/webhooks/{id}/redeliveries", models.Redelivery
)
READ_REDELIVERY: Operation[models.Redelivery] = Operation(
    "readRedelivery", "GET", "/api/v1/webhooks/{id}/redeliveries/{redeliveryId}", models.Redelivery
)
STOP_REDELIVERY: Operation[None] = Operation(
    "stopRedelivery", "DELETE", "/api/v1/webhooks/{id}/redeliveries/{redeliveryId}", None
)
LIST_EVENTS: Operation[models.Event] = Operation("listEvents", "GET", "/api/v1/events", models.Event)
READ_EVENT: Operation[models.EventWithDeliveries] = Operation(
    "readEvent", "GET", "/api/v1/events/{id}", models.EventWithDeliveries
)
CREATE_CONVERSATION: Operation[models.Conversation] = Operation(
    "createConversation", "POST", "/api/v1/conversations", models.Conversation
)
LIST_CONVERSATIONS: Operation[models.Conversation] = Operation(
    "listConversations", "GET", "/api/v1/conversations", models.Conversation
)
READ_CONVERSATION: Operation[models.Conversation] = Operation(
    "readConversation", "GET", "/api/v1/conversations/{id}", models.Conversation
)
UPDATE_CONVERSATION: Operation[models.Conversation] = Operation(
    "updateConversation", "PATCH", "/api/v1/conversations/{id}", models.Conversation
)
DELETE_CONVERSATION: Operation[None] = Operation(
    "deleteConversation", "DELETE", "/api/v1/conversations/{id}", None
)
DELETE_CONTACT: Operation[None] = Operation(
    "deleteContact", "DELETE", "/api/v1/contacts/{externalUserId}", None
)
READ_ERASURE: Operation[models.Erasure] = Operation(
    "readErasure", "GET", "/api/v1/erasures/{id}", models.Erasure
)
CREATE_MESSAGE: Operation[models.Message] = Operation(
    "createMessage", "POST", "/api/v1/conversations/{id}/messages", models.Message
)
LIST_MESSAGES: Operation[models.Message] = Operation(
    "listMessages", "GET", "/api/v1/conversations/{id}/messages", models.Message
)
READ_MESSAGE: Operation[models.Message] = Operation(
    "readMessage", "GET", "/api/v1/conversations/{id}/messages/{messageId}", models.Message
)
REQUEST_HANDOFF: Operation[models.Escalation] = Operation(
    "requestHandoff", "POST", "/api/v1/conversations/{id}/handoff", models.Escalation
)
LIST_ESCALATIONS: Operation[models.Escalation] = Operation(
    "listEscalations", "GET", "/api/v1/conversations/{id}/escalations", models.Escalation
)
READ_ESCALATION: Operation[models.Escalation] = Operation(
    "readEscalation", "GET", "/api/v1/conversations/{id}/escalations/{escalationLogId}", models.Escalation
)
RESOLVE_CONVERSATION: Operation[models.Conversation] = Operation(
    "resolveConversation", "POST", "/api/v1/conversations/{id}/resolve", models.Conversation
)
CREATE_CHANNEL: Operation[CreatedChannel] = Operation(
    "createChannel", "POST", "/api/v1/channels", CreatedChannel
)
LIST_CHANNELS: Operation[Channel] = Operation("listChannels", "GET", "/api/v1/channels", Channel)
READ_CHANNEL: Operation[Channel] = Operation("readChannel", "GET", "/api/v1/channels/{id}", Channel)
UPDATE_CHANNEL: Operation[UpdatedChannel] = Operation(
    "updateChannel", "PATCH", "/api/v1/channels/{id}", UpdatedChannel
)
DELETE_CHANNEL: Operation[None] = Operation("deleteChannel", "DELETE", "/api/v1/channels/{id}", None)
TEST_CHANNEL: Operation[models.TestEvent] = Operation(
    "testChannel", "POST", "/api/v1/channels/{id}/test", models.TestEvent
)
READ_CHANNEL_STATS: Operation[models.ChannelStats] = Operation(
    "readChannelStats", "GET", "/api/v1/channels/{id}/stats", models.ChannelStats
)
RETRY_CHANNEL_DELIVERY: Operation[models.ChannelDelivery] = Operation(
    "retryChannelDelivery",
    "POST",
    "/api/v1/channels/{id}/deliveries/{deliveryId}/retry",
    models.ChannelDelivery,
)
REDELIVER_CHANNEL_DELIVERY: Operation[models.ChannelDelivery] = Operation(
    "redeliverChannelDelivery",
    "POST",
    "/api/v1/channels/{id}/deliveries/{deliveryId}/redeliver",
    models.ChannelDelivery,
)
START_CHANNEL_REDELIVERY: Operation[models.ChannelRedelivery] = Operation(
    "startChannelRedelivery", "POST", "/api/v1/channels/{id}/redeliveries", models.ChannelRedelivery
)
LIST_CHANNEL_REDELIVERIES: Operation[models.ChannelRedelivery] = Operation(
    "listChannelRedeliveries", "GET", "/api/v1/channels/{id}/redeliveries", models.ChannelRedelivery
)
READ_CHANNEL_REDELIVERY: Operation[models.ChannelRedelivery] = Operation(
    "readChannelRedelivery",
    "GET",
    "/api/v1/channels/{id}/redeliveries/{redeliveryId}",
    models.ChannelRedelivery,
)
STOP_CHANNEL_REDELIVERY: Operation[None] = Operation(
    "stopChannelRedelivery", "DELETE", "/api/v1/channels/{id}/redeliveries/{redeliveryId}", None
)
LIST_CHANNEL_DELIVERIES: Operation[models.ListedChannelDelivery] = Operation(
    "listChannelDeliveries", "GET", "/api/v1/channels/{id}/deliveries", models.ListedChannelDelivery
)
READ_CHANNEL_DELIVERY: Operation[models.ChannelDeliveryWithAttempts] = Operation(
    "readChannelDelivery",
    "GET",
    "/api/v1/channels/{id}/deliveries/{deliveryId}",
    models.ChannelDeliveryWithAttempts,
)
CREATE_VISITOR_TOKEN: Operation[models.VisitorToken] = Operation(
    "createVisitorToken", "POST", "/api/v1/conversations/{id}/visitor-token", models.VisitorToken
)
READ_WIDGET_MESSAGES: Operation[models.WidgetMessage] = Operation(
    "readWidgetMessages", "GET", "/api/v1/widget/messages", models.WidgetMessage
)
CREATE_WIDGET_MESSAGE: Operation[models.WidgetMessage] = Operation(
    "createWidgetMessage", "POST", "/api/v1/widget/messages", models.WidgetMessage
)
CREATE_TICKET: Operation[models.Ticket] = Operation("createTicket", "POST", "/api/v1/tickets", models.Ticket)
LIST_TICKETS: Operation[models.Ticket] = Operation("listTickets", "GET", "/api/v1/tickets", models.Ticket)
READ_TICKET: Operation[models.Ticket] = Operation("readTicket", "GET", "/api/v1/tickets/{id}", models.Ticket)
UPDATE_TICKET: Operation[models.Ticket] = Operation(
    "updateTicket", "PATCH", "/api/v1/tickets/{id}", models.Ticket
)
CREATE_SOURCE: Operation[models.Source] = Operation(
    "createSource", "POST", "/api/v1/knowledge/sources", models.Source
)
LIST_SOURCES: Operation[models.Source] = Operation(
    "listSources", "GET", "/api/v1/knowledge/sources", models.Source
)
READ_SOURCE: Operation[models.Source] = Operation(
    "readSource", "GET", "/api/v1/knowledge/sources/{id}", models.Source
)
DELETE_SOURCE: Operation[None] = Operation("deleteSource", "DELETE", "/api/v1/knowledge/sources/{id}", None)
READ_SOURCE_CONTENT: Operation[models.SourceContent] = Operation(
    "readSourceContent", "GET", "/api/v1/knowledge/sources/{id}/content", models.SourceContent
)
READ_SOURCE_CHANGES: Operation[models.SourceChanges] = Operation(
    "readSourceChanges", "GET", "/api/v1/knowledge/sources/{id}/changes", models.SourceChanges
)
SYNC_SOURCE: Operation[models.Source] = Operation(
    "syncSource", "POST", "/api/v1/knowledge/sources/{id}/sync", models.Source
)
