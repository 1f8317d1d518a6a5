# Written by `npm run generate -- python --types`. Do not edit.

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, TypedDict

from typing_extensions import NotRequired


class RegisterWebhook(TypedDict):
    url: str
    """
    An `https` URL of at most 2,048 characters with a public host name or IP address and port 443 or
    from 1024 on; no credentials or fragment.
    """
    events: Sequence[
        Literal[
            "conversation.created",
            "message.received",
            "handoff.requested",
            "ticket.created",
            "conversation.resolved",
            "conversation.deleted",
            "webhook.failing",
            "webhook.disabled",
            "webhook.recovered",
        ]
    ]
    """
    Event types to send, each at most once. `webhook.test` is not allowed; send it with `testWebhook`.
    """
    filter: NotRequired[Mapping[str, Any]]
    """
    Sends only those events of the types whose values are in each given list.
    """
    description: NotRequired[str]
    """
    What the endpoint is for, at most 200 characters (Unicode code points).
    """
    max_per_second: NotRequired[int]
    """
    Maximum number of attempts per second, 1 to 1,000. Deliveries beyond it wait for their turn, which
    does not count as an attempt.
    """
    recover: NotRequired[Literal["predecessor"]]
    """
    `predecessor`: sends a test, and after its success what the disabled endpoint with this `url`
    missed. Fails if there is none.
    """


class UpdateWebhook(TypedDict):
    url: NotRequired[str]
    """
    An `https` URL of at most 2,048 characters with a public host name or IP address and port 443 or
    from 1024 on; no credentials or fragment. Omit to keep the URL.
    """
    events: NotRequired[
        Sequence[
            Literal[
                "conversation.created",
                "message.received",
                "handoff.requested",
                "ticket.created",
                "conversation.resolved",
                "conversation.deleted",
                "webhook.failing",
                "webhook.disabled",
                "webhook.recovered",
            ]
        ]
    ]
    """
    Event types to send, each at most once. `webhook.test` is not allowed; send it with `testWebhook`.
    Omit to keep the event types.
    """
    filter: NotRequired[Mapping[str, Any] | None]
    """
    Sends only those events of the types whose values are in each given list. Null removes the filter;
    omit to keep it.
    """
    description: NotRequired[str | None]
    """
    What the endpoint is for, at most 200 characters (Unicode code points). Null removes it; omit to
    keep it.
    """
    max_per_second: NotRequired[int | None]
    """
    Maximum number of attempts per second, 1 to 1,000. Deliveries beyond it wait for their turn, which
    does not count as an attempt. Null removes the limit; omit to keep it.
    """
    paused: NotRequired[bool]
    """
    True pauses the endpoint, and false resumes it; omit to leave it as it is.
    """


class TestWebhook(TypedDict):
    type: NotRequired[
        Literal[
            "webhook.test",
            "conversation.created",
            "message.received",
            "handoff.requested",
            "ticket.created",
            "conversation.resolved",
            "conversation.deleted",
            "webhook.failing",
            "webhook.disabled",
            "webhook.recovered",
        ]
    ]
    """
    Event type to send: a test, or an example of a type that endpoints can subscribe to.
    """


class StartRedelivery(TypedDict):
    what: NotRequired[Literal["failed", "missing"]]
    """
    `failed` (default) or `missing`: which events to resend.
    """
    dry_run: NotRequired[bool]
    """
    Whether to only count. Default: false.
    """
    from_: datetime | str
    """
    Start of the period, UTC, inclusive. A time more than 30 days ago counts as 30 days ago.
    """
    to: NotRequired[datetime | str]
    """
    End of the period, UTC, exclusive. Default and maximum: now.
    """
    statuses: NotRequired[Sequence[Literal["exhausted", "skipped", "succeeded"]]]
    """
    Terminal statuses of the deliveries to resend. Default: `exhausted` and `skipped`. Only for
    `failed`.
    """


class CreateConversation(TypedDict):
    channel_id: str
    """
    Identifier of an existing channel, or any other text as your own label.
    """
    external_user_id: str
    """
    Your identifier of the external user.
    """
    metadata: NotRequired[Mapping[str, str]]
    """
    Your own texts by name, of at most 20 entries. Not in events, and not shown to visitors.
    """


class UpdateConversation(TypedDict):
    channel_id: NotRequired[str]
    """
    Identifier of an existing channel, or any other text as your own label. Omit to keep it.
    """
    metadata: NotRequired[Mapping[str, str]]
    """
    Your own texts by name, of at most 20 entries. Replaces all entries; omit to keep them.
    """


class CreateMessage(TypedDict):
    role: Literal["user", "assistant", "agent", "system"]
    """
    Author: the external `user`, the `assistant`, a human `agent` or the `system`.
    """
    content: str
    """
    Text of the message.
    """
    metadata: NotRequired[Mapping[str, str]]
    """
    Your own texts by name, of at most 20 entries. Not in events, and not shown to visitors.
    """


class RequestHandoff(TypedDict):
    reason: NotRequired[str]
    """
    Reason for the handoff, included in the event.
    """


class ResolveConversation(TypedDict):
    resolved_by: NotRequired[str]
    """
    Who resolved it, included in the event.
    """


class CreateHttpChannel(TypedDict):
    kind: Literal["http"]
    """
    `http` sends messages to `url`; `web_widget` lets visitors read them.
    """
    name: str
    """
    Display name.
    """
    url: str
    """
    An `https` URL of at most 2,048 characters with a public host name or IP address and port 443 or
    from 1024 on; no credentials or fragment. Required for the kind `http`, not allowed otherwise.
    """


class CreateWebWidgetChannel(TypedDict):
    kind: Literal["web_widget"]
    """
    `http` sends messages to `url`; `web_widget` lets visitors read them.
    """
    name: str
    """
    Display name.
    """


class UpdateChannel(TypedDict):
    name: NotRequired[str]
    """
    Display name. Omit to keep it.
    """
    url: NotRequired[str]
    """
    An `https` URL of at most 2,048 characters with a public host name or IP address and port 443 or
    from 1024 on; no credentials or fragment. Omit to keep the URL. Only for the kind `http`.
    """
    paused: NotRequired[bool]
    """
    True pauses the channel, and false resumes it, also one that is disabled. Only for the kind `http`.
    """


class CreateWidgetMessage(TypedDict):
    content: str
    """
    Text of the message.
    """


class CreateTicket(TypedDict):
    conversation_id: NotRequired[str]
    """
    An existing conversation.
    """
    reason: NotRequired[str]
    """
    Why the ticket is created; included in the event.
    """
    metadata: NotRequired[Mapping[str, str]]
    """
    Your own texts by name, of at most 20 entries. Not in events, and not shown to visitors.
    """


class UpdateTicket(TypedDict):
    status: NotRequired[Literal["open", "closed"]]
    """
    `closed` closes the ticket, `open` opens it again; omit to keep it.
    """
    metadata: NotRequired[Mapping[str, str]]
    """
    Your own texts by name, of at most 20 entries. Replaces all entries; omit to keep them.
    """


class CreateSource(TypedDict):
    kind: Literal["url", "spreadsheet", "feed"]
    """
    Content at the URL: `url` (an HTML page), `spreadsheet` (CSV or XLSX) or `feed` (RSS or Atom).
    """
    url: str
    """
    An `https` URL of at most 2,048 characters with a public host name or IP address and port 443 or
    from 1024 on; no credentials or fragment.
    """
    name: NotRequired[str]
    """
    Display name.
    """


class ListWebhooks(TypedDict):
    limit: NotRequired[int]
    """
    Maximum number of items in a page. A page of about 2 MB ends earlier; only `nextCursor: null` marks
    the last page. Integers below 1 and above 100 are clamped to these, an empty value is the default,
    others are rejected.
    """


class ListDeliveries(TypedDict):
    limit: NotRequired[int]
    """
    Maximum number of items in a page. A page of about 2 MB ends earlier; only `nextCursor: null` marks
    the last page. Integers below 1 and above 100 are clamped to these, an empty value is the default,
    others are rejected.
    """
    status: NotRequired[Sequence[Literal["pending", "retrying", "succeeded", "exhausted", "skipped"]] | str]
    """
    Only deliveries with these statuses, separated by commas.
    """
    event_type: NotRequired[
        Sequence[
            Literal[
                "conversation.created",
                "message.received",
                "handoff.requested",
                "ticket.created",
                "conversation.resolved",
                "conversation.deleted",
                "webhook.failing",
                "webhook.disabled",
                "webhook.recovered",
                "webhook.test",
                "channel.test",
                "channel.message",
            ]
        ]
        | str
    ]
    """
    Only deliveries of these event types, separated by commas.
    """
    from_: NotRequired[datetime | str]
    """
    Only deliveries from this time on, UTC. Compares the time of the event, or of the request that
    resent it; `createdAt` is moments later.
    """
    to: NotRequired[datetime | str]
    """
    Only deliveries before this time, UTC. Compares the same time as `from`.
    """
    include: NotRequired[Literal["request", "response"]]
    """
    `request` adds the request of the last attempt, signed with the current time, to each attempted
    delivery of a sandbox, without effect live. `response` adds the beginning of the response of the
    last attempt, if that failed. Other values are rejected.
    """


class ReadDeliveryStats(TypedDict):
    hours: NotRequired[int]
    """
    Number of hours to count, including the current one. Integers below 1 and above 168 are clamped to
    these, an empty value is the default, others are rejected.
    """


class ReadWebhookStats(TypedDict):
    hours: NotRequired[int]
    """
    Number of hours to count, including the current one. Integers below 1 and above 168 are clamped to
    these, an empty value is the default, others are rejected.
    """


class ListRedeliveries(TypedDict):
    limit: NotRequired[int]
    """
    Maximum number of items in a page. A page of about 2 MB ends earlier; only `nextCursor: null` marks
    the last page. Integers below 1 and above 100 are clamped to these, an empty value is the default,
    others are rejected.
    """


class ListEvents(TypedDict):
    limit: NotRequired[int]
    """
    Maximum number of items in a page. A page of about 2 MB ends earlier; only `nextCursor: null` marks
    the last page. Integers below 1 and above 100 are clamped to these, an empty value is the default,
    others are rejected.
    """
    type: NotRequired[
        Sequence[
            Literal[
                "conversation.created",
                "message.received",
                "handoff.requested",
                "ticket.created",
                "conversation.resolved",
                "conversation.deleted",
                "webhook.failing",
                "webhook.disabled",
                "webhook.recovered",
                "webhook.test",
                "channel.test",
                "channel.message",
            ]
        ]
        | str
    ]
    """
    Only events of these types, separated by commas.
    """
    from_: NotRequired[datetime | str]
    """
    Only events of this time or later, UTC. At most 30 days ago.
    """
    to: NotRequired[datetime | str]
    """
    Only events before this time, UTC.
    """
    order: NotRequired[Literal["asc", "desc"]]
    """
    `desc`: newest first. `asc`: oldest first, to follow the log.
    """
    ids: NotRequired[str]
    """
    Only events with these identifiers, up to 100, separated by commas. Those that do not exist are left
    out.
    """
    include: NotRequired[Literal["deliveries", "record", "deliveries,record"]]
    """
    `deliveries` adds to each event its deliveries, without their attempts. `record` adds what the event
    is about, as it is now. Other values are rejected.
    """


class ReadEvent(TypedDict):
    include: NotRequired[Literal["record"]]
    """
    `record` adds what the event is about, as it is now. Other values are rejected.
    """


class ListConversations(TypedDict):
    limit: NotRequired[int]
    """
    Maximum number of items in a page. A page of about 2 MB ends earlier; only `nextCursor: null` marks
    the last page. Integers below 1 and above 100 are clamped to these, an empty value is the default,
    others are rejected.
    """
    external_user_id: NotRequired[str]
    """
    Only conversations of this external user.
    """
    channel_id: NotRequired[str]
    """
    Only conversations with this channel: an identifier, or your own label.
    """
    status: NotRequired[Sequence[Literal["open", "handed_off", "resolved"]] | str]
    """
    Only conversations with these statuses, separated by commas.
    """
    updated_after: NotRequired[datetime | str]
    """
    Only conversations whose `updatedAt` is at this time or later, UTC.
    """
    updated_before: NotRequired[datetime | str]
    """
    Only conversations whose `updatedAt` is before this time, UTC.
    """


class ListMessages(TypedDict):
    limit: NotRequired[int]
    """
    Maximum number of items in a page. A page of about 2 MB ends earlier; only `nextCursor: null` marks
    the last page. Integers below 1 and above 100 are clamped to these, an empty value is the default,
    others are rejected.
    """
    order: NotRequired[Literal["asc", "desc"]]
    """
    `desc`: newest first. `asc`: oldest first; its last page ends the list, and later messages need a
    new one.
    """


class ListEscalations(TypedDict):
    limit: NotRequired[int]
    """
    Maximum number of items in a page. A page of about 2 MB ends earlier; only `nextCursor: null` marks
    the last page. Integers below 1 and above 100 are clamped to these, an empty value is the default,
    others are rejected.
    """


class ListChannels(TypedDict):
    limit: NotRequired[int]
    """
    Maximum number of items in a page. A page of about 2 MB ends earlier; only `nextCursor: null` marks
    the last page. Integers below 1 and above 100 are clamped to these, an empty value is the default,
    others are rejected.
    """


class ReadChannelStats(TypedDict):
    hours: NotRequired[int]
    """
    Number of hours to count, including the current one. Integers below 1 and above 168 are clamped to
    these, an empty value is the default, others are rejected.
    """


class ListChannelRedeliveries(TypedDict):
    limit: NotRequired[int]
    """
    Maximum number of items in a page. A page of about 2 MB ends earlier; only `nextCursor: null` marks
    the last page. Integers below 1 and above 100 are clamped to these, an empty value is the default,
    others are rejected.
    """


class ListChannelDeliveries(TypedDict):
    limit: NotRequired[int]
    """
    Maximum number of items in a page. A page of about 2 MB ends earlier; only `nextCursor: null` marks
    the last page. Integers below 1 and above 100 are clamped to these, an empty value is the default,
    others are rejected.
    """
    status: NotRequired[Sequence[Literal["pending", "retrying", "succeeded", "exhausted", "skipped"]] | str]
    """
    Only deliveries with these statuses, separated by commas.
    """
    event_type: NotRequired[
        Sequence[
            Literal[
                "conversation.created",
                "message.received",
                "handoff.requested",
                "ticket.created",
                "conversation.resolved",
                "conversation.deleted",
                "webhook.failing",
                "webhook.disabled",
                "webhook.recovered",
                "webhook.test",
                "channel.test",
                "channel.message",
            ]
        ]
        | str
    ]
    """
    Only deliveries of these event types, separated by commas.
    """
    from_: NotRequired[datetime | str]
    """
    Only deliveries from this time on, UTC. Compares the time of the event, or of the request that
    resent it; `createdAt` is moments later.
    """
    to: NotRequired[datetime | str]
    """
    Only deliveries before this time, UTC. Compares the same time as `from`.
    """
    include: NotRequired[Literal["request", "response"]]
    """
    `request` adds the request of the last attempt, signed with the current time, to each attempted
    delivery of a sandbox, without effect live. `response` adds the beginning of the response of the
    last attempt, if that failed. Other values are rejected.
    """


class ReadWidgetMessages(TypedDict):
    limit: NotRequired[int]
    """
    Maximum number of items in a page. A page of about 2 MB ends earlier; only `nextCursor: null` marks
    the last page. Integers below 1 and above 100 are clamped to these, an empty value is the default,
    others are rejected.
    """


class ListTickets(TypedDict):
    limit: NotRequired[int]
    """
    Maximum number of items in a page. A page of about 2 MB ends earlier; only `nextCursor: null` marks
    the last page. Integers below 1 and above 100 are clamped to these, an empty value is the default,
    others are rejected.
    """


class ListSources(TypedDict):
    limit: NotRequired[int]
    """
    Maximum number of items in a page. A page of about 2 MB ends earlier; only `nextCursor: null` marks
    the last page. Integers below 1 and above 100 are clamped to these, an empty value is the default,
    others are rejected.
    """


class FollowEvents(TypedDict):
    limit: NotRequired[int]
    """
    Maximum number of items in a page. A page of about 2 MB ends earlier; only `nextCursor: null` marks
    the last page. Integers below 1 and above 100 are clamped to these, an empty value is the default,
    others are rejected.
    """
    type: NotRequired[
        Sequence[
            Literal[
                "conversation.created",
                "message.received",
                "handoff.requested",
                "ticket.created",
                "conversation.resolved",
                "conversation.deleted",
                "webhook.failing",
                "webhook.disabled",
                "webhook.recovered",
                "webhook.test",
                "channel.test",
                "channel.message",
            ]
        ]
        | str
    ]
    """
    Only events of these types, separated by commas.
    """
    from_: NotRequired[datetime | str]
    """
    Only events of this time or later, UTC. At most 30 days ago.
    """
    include: NotRequired[Literal["deliveries", "record", "deliveries,record"]]
    """
    `deliveries` adds to each event its deliveries, without their attempts. `record` adds what the event
    is about, as it is now. Other values are rejected.
    """
