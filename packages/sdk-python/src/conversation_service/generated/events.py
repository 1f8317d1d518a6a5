# Written by `npm run generate -- python`. Do not edit.
from typing import TypeAlias

from .. import models

Event: TypeAlias = (
    models.ConversationCreatedEvent
    | models.MessageReceivedEvent
    | models.HandoffRequestedEvent
    | models.TicketCreatedEvent
    | models.ConversationResolvedEvent
    | models.ConversationDeletedEvent
    | models.WebhookFailingEvent
    | models.WebhookDisabledEvent
    | models.WebhookRecoveredEvent
    | models.WebhookTestEvent
    | models.ChannelTestEvent
    | models.ChannelMessageEvent
)
"""The body of a webhook request. `type` narrows `data`."""
