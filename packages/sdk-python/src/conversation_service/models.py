# Written by `npm run generate -- python --types`. Do not edit.

from __future__ import annotations

from typing import Any, Literal

from pydantic import AwareDatetime

from conversation_service.model import Model, ReceivedEvent


class Failing(Model):
    since: AwareDatetime | None
    """
    Time of the first of the current consecutive failures, UTC; null if it was not recorded.
    """
    failures_until_disabled: int
    """
    Number of further consecutive `exhausted` deliveries that disable the endpoint.
    """


class Predecessor(Model):
    id: str
    """
    Identifier of the disabled endpoint.
    """
    failing_since: AwareDatetime | None
    """
    Time of the first of the consecutive failures that disabled it, UTC. The events of those failures
    are up to about an hour older. Null if support disabled it.
    """
    disabled_at: AwareDatetime
    """
    When it was disabled, UTC.
    """


class EventFilter(Model):
    channel_ids: list[str] | None = None
    """
    Channels, of events with a `channelId`; absent for all.
    """
    roles: list[Literal["user", "assistant", "agent", "system"] | str] | None = None
    """
    Roles of authors, of events with a `role`; absent for all.
    """


class TestEvent(Model):
    event_id: str
    """
    The test event.
    """
    delivery_id: str
    """
    Its delivery to this receiver. Reading it returns 404 for a moment after this response.
    """


class Delivery(Model):
    id: str
    """
    Identifier of the delivery, sent as `webhook-delivery-id`.
    """
    webhook_id: str
    """
    The endpoint.
    """
    event_id: str
    """
    The event, the same for all endpoints and redeliveries.
    """
    event_type: (
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
        | str
    )
    """
    Type of the event.
    """
    status: Literal["pending", "retrying", "succeeded", "exhausted", "skipped"] | str
    """
    `pending`: no attempt has finished. `retrying`: an attempt failed and another one is scheduled.
    Terminal: `succeeded` (a 2xx response), `exhausted` (8 failed attempts), `skipped` (ended without
    another attempt; see `terminalReason`).
    """
    attempts: int
    """
    Number of attempts started, at most 8.
    """
    next_retry_at: AwareDatetime | None
    """
    When the next attempt is due, the first one included; null while an attempt is in progress, and once
    the delivery has ended. Waits double from 30 seconds up to 1 hour.
    """
    next_retry_reason: Literal["retry_after"] | str | None
    """
    Why the next attempt is later than its wait: `retry_after`, the receiver asked for the time by
    `Retry-After` with a 429 or 503, of which at most 1 hour counts. Null otherwise.
    """
    terminal_at: AwareDatetime | None
    """
    When the delivery became terminal; null before.
    """
    terminal_reason: (
        Literal[
            "max_attempts",
            "sandbox_simulated",
            "endpoint_disabled",
            "endpoint_deleted",
            "endpoint_paused",
            "not_subscribed",
            "erased",
            "event_missing",
            "expired",
        ]
        | str
        | None
    )
    """
    Why the delivery ended without success: `max_attempts`, `endpoint_disabled`, `endpoint_deleted`,
    `endpoint_paused`, `not_subscribed` (the endpoint no longer subscribes to the event type, or its
    filter excludes the event), `erased` (the conversation of the event was erased), `event_missing`
    (the event no longer exists) or `expired` (still open after 3 days). After the last two, which are
    failures of the service, resend the delivery; this works if the event still exists.
    `sandbox_simulated` for a success in a sandbox. Null otherwise.
    """
    last_error: str | None
    """
    Error of the last failed attempt; kept after a success. Null if no attempt failed.
    """
    last_error_code: (
        Literal[
            "http_status",
            "redirect",
            "timeout",
            "connection_refused",
            "connection_closed",
            "dns",
            "tls",
            "address_forbidden",
            "invalid_response",
            "lost",
        ]
        | str
        | None
    )
    """
    Code of `lastError`, for programs, as of an attempt’s `errorCode`. Codes may be added: handle
    unknown ones as a failure.
    """
    last_response_status: int | None
    """
    HTTP status of the last attempt; null if there was no attempt or no response.
    """
    redelivery_of: str | None
    """
    The delivery that this one resends; null for an original delivery, and where a redelivery job
    resends an event that the endpoint had no delivery of.
    """
    created_at: AwareDatetime
    """
    Creation time, UTC.
    """


class WebhookRequest(Model):
    method: Literal["POST"] | str
    """
    Always `POST`.
    """
    url: str
    """
    Receiver URL, including the parameters of the simulated receiver.
    """
    headers: dict[str, str]
    """
    All headers except those of the connection; names in lower case.
    """
    body: str
    """
    The exact body as text, as signed.
    """


class FailingUntil(Model):
    since: AwareDatetime | None
    """
    Time of the first of the current consecutive failures, UTC; null if it was not recorded.
    """
    failures_until_disabled: int
    """
    Number of further consecutive `exhausted` deliveries that disable the endpoint.
    """
    disables_at: AwareDatetime | None
    """
    When the deliveries in progress will disable the endpoint, UTC, if none succeeds: by the schedule of
    retries, without the time that attempts take. Null if too few are in progress.
    """


class Backlog(Model):
    pending: int
    """
    Number of deliveries that have not ended.
    """
    oldest_pending: AwareDatetime | None
    """
    Start of the earliest hour with such deliveries, UTC; null if there is none.
    """


class Latency(Model):
    p50_ms: int
    """
    Half of the attempts took at most so many milliseconds. Estimated from counts by duration, in
    classes of 8 to 11.3, 11.3 to 16, 16 to 22.6 milliseconds and so on up to 10 seconds: up to 41 %
    off.
    """
    p95_ms: int
    """
    95 % of the attempts took at most so many milliseconds. Estimated from counts by duration, in
    classes of 8 to 11.3, 11.3 to 16, 16 to 22.6 milliseconds and so on up to 10 seconds: up to 41 %
    off.
    """


class DeliveryCounts(Model):
    owed: int
    """
    Deliveries created: the sum of `pending`, `succeeded`, `exhausted` and `skipped`.
    """
    pending: int
    """
    Deliveries that are `pending` or `retrying`.
    """
    succeeded: int
    """
    Deliveries that ended `succeeded`.
    """
    exhausted: int
    """
    Deliveries that ended `exhausted`.
    """
    skipped: int
    """
    Deliveries that ended `skipped`.
    """
    duplicates: int
    """
    Attempts whose outcome was lost, which the receiver may have received. Counted when the delivery
    ends; not part of `owed`.
    """


class DeliveryCountsOfHour(Model):
    hour: AwareDatetime
    """
    Start of the hour, UTC. A delivery counts in the hour of its event; a redelivery in the hour it was
    requested.
    """
    owed: int
    """
    Deliveries created: the sum of `pending`, `succeeded`, `exhausted` and `skipped`.
    """
    pending: int
    """
    Deliveries that are `pending` or `retrying`.
    """
    succeeded: int
    """
    Deliveries that ended `succeeded`.
    """
    exhausted: int
    """
    Deliveries that ended `exhausted`.
    """
    skipped: int
    """
    Deliveries that ended `skipped`.
    """
    duplicates: int
    """
    Attempts whose outcome was lost, which the receiver may have received. Counted when the delivery
    ends; not part of `owed`.
    """


class RedeliveryEventTypes(Model):
    type: (
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
        | str
    )
    count: int


class Redelivery(Model):
    id: str
    """
    Identifier of the redelivery job.
    """
    webhook_id: str
    """
    The endpoint.
    """
    status: Literal["running", "done", "stopped"] | str
    """
    `running`, `done` (the whole period was processed) or `stopped` (ended early; see `reason`).
    """
    reason: (
        Literal["cancelled", "endpoint_disabled", "endpoint_deleted", "endpoint_paused", "test_failed"]
        | str
        | None
    )
    """
    Why it was stopped: `cancelled` by a request; `endpoint_disabled`, `endpoint_deleted` or
    `endpoint_paused`, of a channel as well; or `test_failed`. Null otherwise.
    """
    from_: AwareDatetime
    """
    Start of the period, inclusive; at most 30 days before the start of the job.
    """
    to: AwareDatetime
    """
    End of the period, exclusive; at most the start of the job.
    """
    what: Literal["failed", "missing"] | str
    """
    `failed`: deliveries that ended without success. `missing`: events that the endpoint has not
    received.
    """
    dry_run: bool
    """
    Whether the job only counts.
    """
    statuses: list[Literal["exhausted", "skipped", "succeeded"] | str]
    """
    Terminal statuses of the deliveries to resend; empty for `missing`.
    """
    examined: int
    """
    Number of deliveries (`failed`) or events (`missing`) of the period examined so far, resent or not.
    """
    redelivered: int
    """
    Number of new deliveries created so far, one for each event, without those behind one that still
    waits for its first attempt. In a dry run: the number it would create.
    """
    event_types: list[RedeliveryEventTypes]
    """
    The same by event type, the most frequent first.
    """
    first_event_at: AwareDatetime | None
    """
    Time of the first of these events, UTC; null while there is none.
    """
    progress: float
    """
    Fraction of the period examined so far, from 0 to 1. 1 when `done`.
    """
    created_at: AwareDatetime
    """
    When the job was started, UTC. Its deliveries are created later.
    """
    finished_at: AwareDatetime | None
    """
    When the job ended, UTC; null while `running`.
    """


class ListedEventDelivery(Model):
    id: str
    """
    Identifier of the delivery, sent as `webhook-delivery-id`.
    """
    webhook_id: str | None
    """
    The endpoint; null for a channel.
    """
    channel_id: str | None
    """
    The channel; null for an endpoint.
    """
    url: str | None
    """
    Current URL of the receiver, or its last one before it was deleted. Null for a deleted channel.
    """
    receiver_status: Literal["active", "paused", "auto_disabled", "deleted"] | str
    """
    State of the endpoint or channel: `active`, `paused`, `auto_disabled` or `deleted`.
    """
    status: Literal["pending", "retrying", "succeeded", "exhausted", "skipped"] | str
    """
    `pending`: no attempt has finished. `retrying`: an attempt failed and another one is scheduled.
    Terminal: `succeeded` (a 2xx response), `exhausted` (8 failed attempts), `skipped` (ended without
    another attempt; see `terminalReason`).
    """
    attempts: int
    """
    Number of attempts started, at most 8.
    """
    next_retry_at: AwareDatetime | None
    """
    When the next attempt is due, the first one included; null while an attempt is in progress, and once
    the delivery has ended. Waits double from 30 seconds up to 1 hour.
    """
    next_retry_reason: Literal["retry_after"] | str | None
    """
    Why the next attempt is later than its wait: `retry_after`, the receiver asked for the time by
    `Retry-After` with a 429 or 503, of which at most 1 hour counts. Null otherwise.
    """
    terminal_at: AwareDatetime | None
    """
    When the delivery became terminal; null before.
    """
    terminal_reason: (
        Literal[
            "max_attempts",
            "sandbox_simulated",
            "endpoint_disabled",
            "endpoint_deleted",
            "endpoint_paused",
            "not_subscribed",
            "erased",
            "event_missing",
            "expired",
        ]
        | str
        | None
    )
    """
    Why the delivery ended without success: `max_attempts`, `endpoint_disabled`, `endpoint_deleted`,
    `endpoint_paused`, `not_subscribed` (the endpoint no longer subscribes to the event type, or its
    filter excludes the event), `erased` (the conversation of the event was erased), `event_missing`
    (the event no longer exists) or `expired` (still open after 3 days). After the last two, which are
    failures of the service, resend the delivery; this works if the event still exists.
    `sandbox_simulated` for a success in a sandbox. Null otherwise.
    """
    last_error: str | None
    """
    Error of the last failed attempt; kept after a success. Null if no attempt failed.
    """
    last_error_code: (
        Literal[
            "http_status",
            "redirect",
            "timeout",
            "connection_refused",
            "connection_closed",
            "dns",
            "tls",
            "address_forbidden",
            "invalid_response",
            "lost",
        ]
        | str
        | None
    )
    """
    Code of `lastError`, for programs, as of an attempt’s `errorCode`. Codes may be added: handle
    unknown ones as a failure.
    """
    last_response_status: int | None
    """
    HTTP status of the last attempt; null if there was no attempt or no response.
    """
    redelivery_of: str | None
    """
    The delivery that this one resends; null for an original delivery, and where a redelivery job
    resends an event that the endpoint had no delivery of.
    """
    created_at: AwareDatetime
    """
    Creation time, UTC.
    """


class UndeliveredTo(Model):
    webhook_id: str
    """
    The endpoint.
    """
    url: str
    """
    Its receiver URL.
    """
    receiver_status: Literal["active", "paused", "auto_disabled", "deleted"] | str
    """
    State of the endpoint: `active`, `paused`, `auto_disabled` or `deleted`.
    """
    reason: (
        Literal[
            "not_subscribed",
            "filtered",
            "erased",
            "registered_later",
            "paused",
            "disabled",
            "deleted",
            "example_for_another",
            "about_itself",
        ]
        | str
    )
    """
    Why: `not_subscribed` (to the type when the event happened), `filtered` (by the filter of the
    endpoint), `erased` (the conversation was erased before an attempt), `registered_later` (after the
    event), `paused` or `disabled` (at that time), `deleted`, `example_for_another` (an example that was
    sent to another endpoint), or `about_itself` (an event about the endpoint, which only others get).
    Values may be added.
    """


class Conversation(Model):
    id: str
    """
    Identifier of the conversation.
    """
    channel_id: str
    """
    The channel: an identifier, or your own label.
    """
    external_user_id: str
    """
    Your identifier of the external user.
    """
    status: Literal["open", "handed_off", "resolved"] | str
    """
    `open`, `handed_off` after a handoff to a human, or `resolved`. A message reopens a resolved
    conversation.
    """
    resolved_at: AwareDatetime | None
    """
    When it was resolved, UTC; null unless `resolved`.
    """
    resolved_by: str | None
    """
    Who resolved it; null unless `resolved`.
    """
    metadata: dict[str, str]
    """
    Your own texts by name; empty if there are none.
    """
    created_at: AwareDatetime
    """
    Creation time, UTC.
    """
    updated_at: AwareDatetime
    """
    Time of its last change or message, UTC; of a message, exact to a minute.
    """


class Message(Model):
    id: str
    """
    Identifier of the message.
    """
    conversation_id: str
    """
    The conversation.
    """
    role: Literal["user", "assistant", "agent", "system"] | str
    """
    Author: the external `user`, the `assistant`, a human `agent` or the `system`.
    """
    content: str
    """
    Text of the message.
    """
    metadata: dict[str, str]
    """
    Your own texts by name; empty if there are none.
    """
    created_at: AwareDatetime
    """
    Creation time, UTC.
    """


class Escalation(Model):
    id: str
    """
    Identifier of the escalation log entry, `escalationLogId` in events.
    """
    conversation_id: str
    """
    The conversation that was handed off.
    """
    reason: str | None
    """
    Reason for the handoff; null if none was given.
    """
    created_at: AwareDatetime
    """
    Time of the handoff, UTC.
    """


class ErasureNotification(Model):
    conversation_id: str
    """
    The erased conversation.
    """
    webhook_id: str
    """
    The webhook endpoint.
    """
    delivery_id: str
    """
    The delivery of `conversation.deleted`.
    """
    status: Literal["pending", "retrying", "succeeded", "exhausted", "skipped"] | str
    """
    Status of the delivery. `skipped` for an endpoint that was paused or disabled.
    """
    confirmed: bool
    """
    Whether the endpoint responded with a 2xx status, also to a later redelivery.
    """


class Erasure(Model):
    id: str
    """
    Identifier of the erasure.
    """
    reason: Literal["conversation", "contact", "retention"] | str
    """
    `conversation` or `contact` for a request to erase one, `retention` for conversations whose
    `retentionDays` were over.
    """
    conversation_ids: list[str]
    """
    The erased conversations.
    """
    notifications: list[ErasureNotification]
    """
    The deliveries of `conversation.deleted`, one for each conversation and endpoint.
    """
    previous_id: str | None
    """
    The erasure before of the same request; null for the first one.
    """
    requested_at: AwareDatetime
    """
    Time of the erasure, UTC. From then on nothing shows the conversations.
    """
    completed_at: AwareDatetime | None
    """
    When the stored data had been deleted, UTC; null until then.
    """


class ChannelDelivery(Model):
    id: str
    """
    Identifier of the delivery, sent as `webhook-delivery-id`.
    """
    channel_id: str
    """
    The channel.
    """
    event_id: str
    """
    The event, the same for all endpoints and redeliveries.
    """
    event_type: (
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
        | str
    )
    """
    Type of the event.
    """
    status: Literal["pending", "retrying", "succeeded", "exhausted", "skipped"] | str
    """
    `pending`: no attempt has finished. `retrying`: an attempt failed and another one is scheduled.
    Terminal: `succeeded` (a 2xx response), `exhausted` (8 failed attempts), `skipped` (ended without
    another attempt; see `terminalReason`).
    """
    attempts: int
    """
    Number of attempts started, at most 8.
    """
    next_retry_at: AwareDatetime | None
    """
    When the next attempt is due, the first one included; null while an attempt is in progress, and once
    the delivery has ended. Waits double from 30 seconds up to 1 hour.
    """
    next_retry_reason: Literal["retry_after"] | str | None
    """
    Why the next attempt is later than its wait: `retry_after`, the receiver asked for the time by
    `Retry-After` with a 429 or 503, of which at most 1 hour counts. Null otherwise.
    """
    terminal_at: AwareDatetime | None
    """
    When the delivery became terminal; null before.
    """
    terminal_reason: (
        Literal[
            "max_attempts",
            "sandbox_simulated",
            "endpoint_disabled",
            "endpoint_deleted",
            "endpoint_paused",
            "not_subscribed",
            "erased",
            "event_missing",
            "expired",
        ]
        | str
        | None
    )
    """
    Why the delivery ended without success: `max_attempts`, `endpoint_disabled`, `endpoint_deleted`,
    `endpoint_paused`, `not_subscribed` (the endpoint no longer subscribes to the event type, or its
    filter excludes the event), `erased` (the conversation of the event was erased), `event_missing`
    (the event no longer exists) or `expired` (still open after 3 days). After the last two, which are
    failures of the service, resend the delivery; this works if the event still exists.
    `sandbox_simulated` for a success in a sandbox. Null otherwise.
    """
    last_error: str | None
    """
    Error of the last failed attempt; kept after a success. Null if no attempt failed.
    """
    last_error_code: (
        Literal[
            "http_status",
            "redirect",
            "timeout",
            "connection_refused",
            "connection_closed",
            "dns",
            "tls",
            "address_forbidden",
            "invalid_response",
            "lost",
        ]
        | str
        | None
    )
    """
    Code of `lastError`, for programs, as of an attempt’s `errorCode`. Codes may be added: handle
    unknown ones as a failure.
    """
    last_response_status: int | None
    """
    HTTP status of the last attempt; null if there was no attempt or no response.
    """
    redelivery_of: str | None
    """
    The delivery that this one resends; null for an original delivery, and where a redelivery job
    resends an event that the endpoint had no delivery of.
    """
    created_at: AwareDatetime
    """
    Creation time, UTC.
    """


class ListedChannelDelivery(Model):
    id: str
    """
    Identifier of the delivery, sent as `webhook-delivery-id`.
    """
    channel_id: str
    """
    The channel.
    """
    event_id: str
    """
    The event, the same for all endpoints and redeliveries.
    """
    event_type: (
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
        | str
    )
    """
    Type of the event.
    """
    status: Literal["pending", "retrying", "succeeded", "exhausted", "skipped"] | str
    """
    `pending`: no attempt has finished. `retrying`: an attempt failed and another one is scheduled.
    Terminal: `succeeded` (a 2xx response), `exhausted` (8 failed attempts), `skipped` (ended without
    another attempt; see `terminalReason`).
    """
    attempts: int
    """
    Number of attempts started, at most 8.
    """
    next_retry_at: AwareDatetime | None
    """
    When the next attempt is due, the first one included; null while an attempt is in progress, and once
    the delivery has ended. Waits double from 30 seconds up to 1 hour.
    """
    next_retry_reason: Literal["retry_after"] | str | None
    """
    Why the next attempt is later than its wait: `retry_after`, the receiver asked for the time by
    `Retry-After` with a 429 or 503, of which at most 1 hour counts. Null otherwise.
    """
    terminal_at: AwareDatetime | None
    """
    When the delivery became terminal; null before.
    """
    terminal_reason: (
        Literal[
            "max_attempts",
            "sandbox_simulated",
            "endpoint_disabled",
            "endpoint_deleted",
            "endpoint_paused",
            "not_subscribed",
            "erased",
            "event_missing",
            "expired",
        ]
        | str
        | None
    )
    """
    Why the delivery ended without success: `max_attempts`, `endpoint_disabled`, `endpoint_deleted`,
    `endpoint_paused`, `not_subscribed` (the endpoint no longer subscribes to the event type, or its
    filter excludes the event), `erased` (the conversation of the event was erased), `event_missing`
    (the event no longer exists) or `expired` (still open after 3 days). After the last two, which are
    failures of the service, resend the delivery; this works if the event still exists.
    `sandbox_simulated` for a success in a sandbox. Null otherwise.
    """
    last_error: str | None
    """
    Error of the last failed attempt; kept after a success. Null if no attempt failed.
    """
    last_error_code: (
        Literal[
            "http_status",
            "redirect",
            "timeout",
            "connection_refused",
            "connection_closed",
            "dns",
            "tls",
            "address_forbidden",
            "invalid_response",
            "lost",
        ]
        | str
        | None
    )
    """
    Code of `lastError`, for programs, as of an attempt’s `errorCode`. Codes may be added: handle
    unknown ones as a failure.
    """
    last_response_status: int | None
    """
    HTTP status of the last attempt; null if there was no attempt or no response.
    """
    redelivery_of: str | None
    """
    The delivery that this one resends; null for an original delivery, and where a redelivery job
    resends an event that the endpoint had no delivery of.
    """
    created_at: AwareDatetime
    """
    Creation time, UTC.
    """
    request: WebhookRequest | None = None
    last_response: str | None = None
    """
    With `include=response`: the beginning of the response body of the last attempt, at most 1 KiB.
    Absent for deliveries whose last attempt succeeded or got no response.
    """


class ChannelStats(Model):
    channel_id: str
    """
    The channel.
    """
    from_: AwareDatetime
    """
    Start of the earliest requested hour, UTC.
    """
    to: AwareDatetime
    """
    End of the current hour, UTC.
    """
    totals: DeliveryCounts
    latency: Latency | None
    """
    How long the attempts of deliveries that have ended took, failed attempts included. Null if there
    are none, and for hours before this was counted.
    """
    oldest_pending: AwareDatetime | None
    """
    Start of the earliest of these hours with `pending` deliveries, UTC; null if there is none.
    """
    hours: list[DeliveryCountsOfHour]
    """
    Hours with deliveries, newest first. Other hours are omitted.
    """


class ChannelRedeliveryEventTypes(Model):
    type: (
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
        | str
    )
    count: int


class ChannelRedelivery(Model):
    id: str
    """
    Identifier of the redelivery job.
    """
    channel_id: str
    """
    The channel.
    """
    status: Literal["running", "done", "stopped"] | str
    """
    `running`, `done` (the whole period was processed) or `stopped` (ended early; see `reason`).
    """
    reason: (
        Literal["cancelled", "endpoint_disabled", "endpoint_deleted", "endpoint_paused", "test_failed"]
        | str
        | None
    )
    """
    Why it was stopped: `cancelled` by a request; `endpoint_disabled`, `endpoint_deleted` or
    `endpoint_paused`, of a channel as well; or `test_failed`. Null otherwise.
    """
    from_: AwareDatetime
    """
    Start of the period, inclusive; at most 30 days before the start of the job.
    """
    to: AwareDatetime
    """
    End of the period, exclusive; at most the start of the job.
    """
    what: Literal["failed", "missing"] | str
    """
    `failed`: deliveries that ended without success. `missing`: events that the endpoint has not
    received.
    """
    dry_run: bool
    """
    Whether the job only counts.
    """
    statuses: list[Literal["exhausted", "skipped", "succeeded"] | str]
    """
    Terminal statuses of the deliveries to resend; empty for `missing`.
    """
    examined: int
    """
    Number of deliveries (`failed`) or events (`missing`) of the period examined so far, resent or not.
    """
    redelivered: int
    """
    Number of new deliveries created so far, one for each event, without those behind one that still
    waits for its first attempt. In a dry run: the number it would create.
    """
    event_types: list[ChannelRedeliveryEventTypes]
    """
    The same by event type, the most frequent first.
    """
    first_event_at: AwareDatetime | None
    """
    Time of the first of these events, UTC; null while there is none.
    """
    progress: float
    """
    Fraction of the period examined so far, from 0 to 1. 1 when `done`.
    """
    created_at: AwareDatetime
    """
    When the job was started, UTC. Its deliveries are created later.
    """
    finished_at: AwareDatetime | None
    """
    When the job ended, UTC; null while `running`.
    """


class VisitorToken(Model):
    token: str
    """
    Token for `Authorization: Bearer`. Returned by this operation only; it is not stored.
    """
    expires_at: AwareDatetime
    """
    Expiry, UTC: 15 minutes after creation. A sandbox reset revokes it earlier.
    """


class WidgetMessage(Model):
    id: str
    """
    Identifier of the message.
    """
    role: Literal["user", "assistant", "agent"] | str
    """
    Author: the external `user`, the `assistant` or a human `agent`.
    """
    content: str
    """
    Text of the message.
    """
    created_at: AwareDatetime
    """
    Creation time, UTC.
    """


class Ticket(Model):
    id: str
    """
    Identifier of the ticket.
    """
    conversation_id: str | None
    """
    The conversation; null if there is none.
    """
    reason: str | None
    """
    Why the ticket was created; null if no reason was given.
    """
    status: Literal["open", "closed"] | str
    """
    `open`, or `closed` by `updateTicket`.
    """
    metadata: dict[str, str]
    """
    Your own texts by name; empty if there are none.
    """
    created_at: AwareDatetime
    """
    Creation time, UTC.
    """


class SourceWarning(Model):
    code: (
        Literal["bytes_replaced", "sheets_left_out", "rows_left_out", "cells_left_out", "entries_left_out"]
        | str
    )
    """
    `bytes_replaced`: bytes are invalid in the encoding. `sheets_left_out`, `rows_left_out`,
    `cells_left_out`: parts of a spreadsheet that could not be read. `entries_left_out`: entries of a
    feed that could not be read.
    """
    count: int
    """
    How many parts.
    """


class SourceVersion(Model):
    version: int
    """
    Number of the version, from 1.
    """
    words: int
    """
    Number of words in the text.
    """


class ConversationCreatedEventData(Model):
    """
    Data of the event: these fields and no others.
    """

    conversation_id: str
    """
    The conversation.
    """
    channel_id: str
    """
    The channel of the conversation.
    """
    external_user_id: str
    """
    The external user, as you name them.
    """


class ConversationCreatedEvent(ReceivedEvent):
    type: Literal["conversation.created"]
    """
    Event type. Types are added without notice: respond with 2xx to unknown ones.
    """
    schema_version: Literal[1]
    """
    Version of the structure of `data`.
    """
    org_id: str
    """
    The organization.
    """
    created_at: AwareDatetime
    """
    Time of the event, UTC.
    """
    data: ConversationCreatedEventData
    """
    Data of the event: these fields and no others.
    """


class MessageReceivedEventData(Model):
    """
    Data of the event: these fields and no others.
    """

    conversation_id: str
    """
    The conversation.
    """
    message_id: str
    """
    The message. Read its content with the API.
    """
    role: Literal["user", "assistant", "agent", "system"] | str
    """
    Role of the author.
    """


class MessageReceivedEvent(ReceivedEvent):
    type: Literal["message.received"]
    """
    Event type. Types are added without notice: respond with 2xx to unknown ones.
    """
    schema_version: Literal[1]
    """
    Version of the structure of `data`.
    """
    org_id: str
    """
    The organization.
    """
    created_at: AwareDatetime
    """
    Time of the event, UTC.
    """
    data: MessageReceivedEventData
    """
    Data of the event: these fields and no others.
    """


class HandoffRequestedEventData(Model):
    """
    Data of the event: these fields and no others.
    """

    conversation_id: str
    """
    The conversation.
    """
    escalation_log_id: str
    """
    The escalation log entry.
    """
    reason: str | None = None
    """
    The reason; absent when not given.
    """


class HandoffRequestedEvent(ReceivedEvent):
    type: Literal["handoff.requested"]
    """
    Event type. Types are added without notice: respond with 2xx to unknown ones.
    """
    schema_version: Literal[1]
    """
    Version of the structure of `data`.
    """
    org_id: str
    """
    The organization.
    """
    created_at: AwareDatetime
    """
    Time of the event, UTC.
    """
    data: HandoffRequestedEventData
    """
    Data of the event: these fields and no others.
    """


class TicketCreatedEventData(Model):
    """
    Data of the event: these fields and no others.
    """

    ticket_id: str
    """
    The ticket.
    """
    conversation_id: str | None = None
    """
    The conversation that led to it; absent when there is none.
    """
    reason: str | None = None
    """
    What the ticket is about; absent when not given.
    """


class TicketCreatedEvent(ReceivedEvent):
    type: Literal["ticket.created"]
    """
    Event type. Types are added without notice: respond with 2xx to unknown ones.
    """
    schema_version: Literal[1]
    """
    Version of the structure of `data`.
    """
    org_id: str
    """
    The organization.
    """
    created_at: AwareDatetime
    """
    Time of the event, UTC.
    """
    data: TicketCreatedEventData
    """
    Data of the event: these fields and no others.
    """


class ConversationResolvedEventData(Model):
    """
    Data of the event: these fields and no others.
    """

    conversation_id: str
    """
    The conversation.
    """
    resolved_by: str
    """
    Who resolved it; `api` when the request did not name anyone.
    """


class ConversationResolvedEvent(ReceivedEvent):
    type: Literal["conversation.resolved"]
    """
    Event type. Types are added without notice: respond with 2xx to unknown ones.
    """
    schema_version: Literal[1]
    """
    Version of the structure of `data`.
    """
    org_id: str
    """
    The organization.
    """
    created_at: AwareDatetime
    """
    Time of the event, UTC.
    """
    data: ConversationResolvedEventData
    """
    Data of the event: these fields and no others.
    """


class ConversationDeletedEventData(Model):
    """
    Data of the event: these fields and no others.
    """

    conversation_id: str
    """
    The conversation, which can no longer be read.
    """


class ConversationDeletedEvent(ReceivedEvent):
    type: Literal["conversation.deleted"]
    """
    Event type. Types are added without notice: respond with 2xx to unknown ones.
    """
    schema_version: Literal[1]
    """
    Version of the structure of `data`.
    """
    org_id: str
    """
    The organization.
    """
    created_at: AwareDatetime
    """
    Time of the event, UTC.
    """
    data: ConversationDeletedEventData
    """
    Data of the event: these fields and no others.
    """


class WebhookFailingEventData(Model):
    """
    Data of the event: these fields and no others.
    """

    webhook_id: str
    """
    The affected endpoint.
    """


class WebhookFailingEvent(ReceivedEvent):
    type: Literal["webhook.failing"]
    """
    Event type. Types are added without notice: respond with 2xx to unknown ones.
    """
    schema_version: Literal[1]
    """
    Version of the structure of `data`.
    """
    org_id: str
    """
    The organization.
    """
    created_at: AwareDatetime
    """
    Time of the event, UTC.
    """
    data: WebhookFailingEventData
    """
    Data of the event: these fields and no others.
    """


class WebhookDisabledEventData(Model):
    """
    Data of the event: these fields and no others.
    """

    webhook_id: str
    """
    The affected endpoint.
    """


class WebhookDisabledEvent(ReceivedEvent):
    type: Literal["webhook.disabled"]
    """
    Event type. Types are added without notice: respond with 2xx to unknown ones.
    """
    schema_version: Literal[1]
    """
    Version of the structure of `data`.
    """
    org_id: str
    """
    The organization.
    """
    created_at: AwareDatetime
    """
    Time of the event, UTC.
    """
    data: WebhookDisabledEventData
    """
    Data of the event: these fields and no others.
    """


class WebhookRecoveredEventData(Model):
    """
    Data of the event: these fields and no others.
    """

    webhook_id: str
    """
    The affected endpoint.
    """


class WebhookRecoveredEvent(ReceivedEvent):
    type: Literal["webhook.recovered"]
    """
    Event type. Types are added without notice: respond with 2xx to unknown ones.
    """
    schema_version: Literal[1]
    """
    Version of the structure of `data`.
    """
    org_id: str
    """
    The organization.
    """
    created_at: AwareDatetime
    """
    Time of the event, UTC.
    """
    data: WebhookRecoveredEventData
    """
    Data of the event: these fields and no others.
    """


class WebhookTestEventData(Model):
    """
    Data of the event: these fields and no others.
    """

    webhook_id: str
    """
    The endpoint under test.
    """


class WebhookTestEvent(ReceivedEvent):
    type: Literal["webhook.test"]
    """
    Event type. Types are added without notice: respond with 2xx to unknown ones.
    """
    schema_version: Literal[1]
    """
    Version of the structure of `data`.
    """
    org_id: str
    """
    The organization.
    """
    created_at: AwareDatetime
    """
    Time of the event, UTC.
    """
    data: WebhookTestEventData
    """
    Data of the event: these fields and no others.
    """


class ChannelTestEventData(Model):
    """
    Data of the event: these fields and no others.
    """

    channel_id: str
    """
    The channel under test.
    """


class ChannelTestEvent(ReceivedEvent):
    type: Literal["channel.test"]
    """
    Event type. Types are added without notice: respond with 2xx to unknown ones.
    """
    schema_version: Literal[1]
    """
    Version of the structure of `data`.
    """
    org_id: str
    """
    The organization.
    """
    created_at: AwareDatetime
    """
    Time of the event, UTC.
    """
    data: ChannelTestEventData
    """
    Data of the event: these fields and no others.
    """


class ChannelMessageEventData(Model):
    """
    Data of the event: these fields and no others.
    """

    channel_id: str
    """
    The channel that receives it.
    """
    conversation_id: str
    """
    The conversation.
    """
    message_id: str
    """
    The message.
    """
    external_user_id: str
    """
    The external user of the conversation.
    """
    role: Literal["assistant", "agent"] | str
    """
    Role of the author.
    """
    content: str
    """
    Text of the message.
    """


class ChannelMessageEvent(ReceivedEvent):
    type: Literal["channel.message"]
    """
    Event type. Types are added without notice: respond with 2xx to unknown ones.
    """
    schema_version: Literal[1]
    """
    Version of the structure of `data`.
    """
    org_id: str
    """
    The organization.
    """
    created_at: AwareDatetime
    """
    Time of the event, UTC.
    """
    data: ChannelMessageEventData
    """
    Data of the event: these fields and no others.
    """


class ErrorDetail(Model):
    field: str
    """
    Path of the field in the body, with dots, or name of the parameter or header.
    """
    code: str
    """
    What is wrong, for programs. Codes may be added: handle unknown ones by `message`.
    """
    message: str
    """
    The constraint that it does not meet. The wording may change.
    """
    limit: float | None = None
    """
    The bound that the value exceeds, with the codes that begin with `too_`.
    """


class HttpChannel(Model):
    id: str
    """
    Identifier of the channel: the `channelId` of its conversations.
    """
    kind: Literal["http"]
    """
    `http` sends messages to `url`; `web_widget` lets visitors read them and answer.
    """
    name: str
    """
    Display name.
    """
    url: str
    """
    Receiver URL, normalized; null for a `web_widget`.
    """
    status: Literal["active", "paused", "auto_disabled"] | str
    """
    `active`; `paused` by `updateChannel`; or `auto_disabled`: after 10 consecutive deliveries that
    ended `exhausted`, or by support. `updateChannel` resumes it.
    """
    consecutive_failures: int
    """
    Number of deliveries that ended `exhausted` since the last one that `succeeded`. Failed attempts do
    not count.
    """
    failing: Failing | None
    """
    Failure state while `active` with recent deliveries that ended `exhausted`. Null otherwise.
    """
    paused_at: AwareDatetime | None
    """
    When it was paused, UTC; null unless `paused`.
    """
    disabled_at: AwareDatetime | None
    """
    When it was disabled, UTC; null while `active`.
    """
    disabled_reason: Literal["consecutive_failures"] | str | None
    """
    `consecutive_failures`: 10 consecutive deliveries ended `exhausted`. Null while `active`, and if
    support disabled it.
    """
    created_at: AwareDatetime
    """
    Creation time, UTC.
    """


class WebWidgetChannel(Model):
    id: str
    """
    Identifier of the channel: the `channelId` of its conversations.
    """
    kind: Literal["web_widget"]
    """
    `http` sends messages to `url`; `web_widget` lets visitors read them and answer.
    """
    name: str
    """
    Display name.
    """
    url: str | None
    """
    Receiver URL, normalized; null for a `web_widget`.
    """
    status: Literal["active", "paused", "auto_disabled"] | str
    """
    `active`; `paused` by `updateChannel`; or `auto_disabled`: after 10 consecutive deliveries that
    ended `exhausted`, or by support. `updateChannel` resumes it.
    """
    consecutive_failures: int
    """
    Number of deliveries that ended `exhausted` since the last one that `succeeded`. Failed attempts do
    not count.
    """
    failing: Failing | None
    """
    Failure state while `active` with recent deliveries that ended `exhausted`. Null otherwise.
    """
    paused_at: AwareDatetime | None
    """
    When it was paused, UTC; null unless `paused`.
    """
    disabled_at: AwareDatetime | None
    """
    When it was disabled, UTC; null while `active`.
    """
    disabled_reason: Literal["consecutive_failures"] | str | None
    """
    `consecutive_failures`: 10 consecutive deliveries ended `exhausted`. Null while `active`, and if
    support disabled it.
    """
    created_at: AwareDatetime
    """
    Creation time, UTC.
    """


class UpdatedHttpChannel(Model):
    id: str
    """
    Identifier of the channel: the `channelId` of its conversations.
    """
    kind: Literal["http"]
    """
    `http` sends messages to `url`; `web_widget` lets visitors read them and answer.
    """
    name: str
    """
    Display name.
    """
    url: str
    """
    Receiver URL, normalized; null for a `web_widget`.
    """
    status: Literal["active", "paused", "auto_disabled"] | str
    """
    `active`; `paused` by `updateChannel`; or `auto_disabled`: after 10 consecutive deliveries that
    ended `exhausted`, or by support. `updateChannel` resumes it.
    """
    consecutive_failures: int
    """
    Number of deliveries that ended `exhausted` since the last one that `succeeded`. Failed attempts do
    not count.
    """
    failing: Failing | None
    """
    Failure state while `active` with recent deliveries that ended `exhausted`. Null otherwise.
    """
    paused_at: AwareDatetime | None
    """
    When it was paused, UTC; null unless `paused`.
    """
    disabled_at: AwareDatetime | None
    """
    When it was disabled, UTC; null while `active`.
    """
    disabled_reason: Literal["consecutive_failures"] | str | None
    """
    `consecutive_failures`: 10 consecutive deliveries ended `exhausted`. Null while `active`, and if
    support disabled it.
    """
    created_at: AwareDatetime
    """
    Creation time, UTC.
    """
    redelivery: ChannelRedelivery | None
    """
    The redelivery job that this request has started; null if it has started none.
    """


class UpdatedWebWidgetChannel(Model):
    id: str
    """
    Identifier of the channel: the `channelId` of its conversations.
    """
    kind: Literal["web_widget"]
    """
    `http` sends messages to `url`; `web_widget` lets visitors read them and answer.
    """
    name: str
    """
    Display name.
    """
    url: str | None
    """
    Receiver URL, normalized; null for a `web_widget`.
    """
    status: Literal["active", "paused", "auto_disabled"] | str
    """
    `active`; `paused` by `updateChannel`; or `auto_disabled`: after 10 consecutive deliveries that
    ended `exhausted`, or by support. `updateChannel` resumes it.
    """
    consecutive_failures: int
    """
    Number of deliveries that ended `exhausted` since the last one that `succeeded`. Failed attempts do
    not count.
    """
    failing: Failing | None
    """
    Failure state while `active` with recent deliveries that ended `exhausted`. Null otherwise.
    """
    paused_at: AwareDatetime | None
    """
    When it was paused, UTC; null unless `paused`.
    """
    disabled_at: AwareDatetime | None
    """
    When it was disabled, UTC; null while `active`.
    """
    disabled_reason: Literal["consecutive_failures"] | str | None
    """
    `consecutive_failures`: 10 consecutive deliveries ended `exhausted`. Null while `active`, and if
    support disabled it.
    """
    created_at: AwareDatetime
    """
    Creation time, UTC.
    """
    redelivery: ChannelRedelivery | None
    """
    The redelivery job that this request has started; null if it has started none.
    """


class CreatedHttpChannel(Model):
    id: str
    """
    Identifier of the channel: the `channelId` of its conversations.
    """
    kind: Literal["http"]
    """
    `http` sends messages to `url`; `web_widget` lets visitors read them and answer.
    """
    name: str
    """
    Display name.
    """
    url: str
    """
    Receiver URL, normalized; null for a `web_widget`.
    """
    status: Literal["active", "paused", "auto_disabled"] | str
    """
    `active`; `paused` by `updateChannel`; or `auto_disabled`: after 10 consecutive deliveries that
    ended `exhausted`, or by support. `updateChannel` resumes it.
    """
    consecutive_failures: int
    """
    Number of deliveries that ended `exhausted` since the last one that `succeeded`. Failed attempts do
    not count.
    """
    failing: Failing | None
    """
    Failure state while `active` with recent deliveries that ended `exhausted`. Null otherwise.
    """
    paused_at: AwareDatetime | None
    """
    When it was paused, UTC; null unless `paused`.
    """
    disabled_at: AwareDatetime | None
    """
    When it was disabled, UTC; null while `active`.
    """
    disabled_reason: Literal["consecutive_failures"] | str | None
    """
    `consecutive_failures`: 10 consecutive deliveries ended `exhausted`. Null while `active`, and if
    support disabled it.
    """
    created_at: AwareDatetime
    """
    Creation time, UTC.
    """
    secret: str
    """
    Signing secret of a channel of kind `http`: `whsec_` and the base64 of 32 bytes. Returned by this
    operation only. Null for a `web_widget`.
    """


class CreatedWebWidgetChannel(Model):
    id: str
    """
    Identifier of the channel: the `channelId` of its conversations.
    """
    kind: Literal["web_widget"]
    """
    `http` sends messages to `url`; `web_widget` lets visitors read them and answer.
    """
    name: str
    """
    Display name.
    """
    url: str | None
    """
    Receiver URL, normalized; null for a `web_widget`.
    """
    status: Literal["active", "paused", "auto_disabled"] | str
    """
    `active`; `paused` by `updateChannel`; or `auto_disabled`: after 10 consecutive deliveries that
    ended `exhausted`, or by support. `updateChannel` resumes it.
    """
    consecutive_failures: int
    """
    Number of deliveries that ended `exhausted` since the last one that `succeeded`. Failed attempts do
    not count.
    """
    failing: Failing | None
    """
    Failure state while `active` with recent deliveries that ended `exhausted`. Null otherwise.
    """
    paused_at: AwareDatetime | None
    """
    When it was paused, UTC; null unless `paused`.
    """
    disabled_at: AwareDatetime | None
    """
    When it was disabled, UTC; null while `active`.
    """
    disabled_reason: Literal["consecutive_failures"] | str | None
    """
    `consecutive_failures`: 10 consecutive deliveries ended `exhausted`. Null while `active`, and if
    support disabled it.
    """
    created_at: AwareDatetime
    """
    Creation time, UTC.
    """
    secret: str | None
    """
    Signing secret of a channel of kind `http`: `whsec_` and the base64 of 32 bytes. Returned by this
    operation only. Null for a `web_widget`.
    """


class Webhook(Model):
    id: str
    """
    Identifier of the endpoint.
    """
    url: str
    """
    Receiver URL, normalized.
    """
    events: list[
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
        | str
    ]
    """
    Subscribed event types. There is no wildcard.
    """
    filter: EventFilter | None
    """
    Which events of these types are sent; null for all.
    """
    description: str | None
    """
    Text of the organization’s own; null if there is none.
    """
    max_per_second: int | None
    """
    Limit of attempts per second; null if there is none.
    """
    status: Literal["active", "paused", "auto_disabled"] | str
    """
    `active`; `paused` by `updateWebhook`; or `auto_disabled`: after 10 consecutive deliveries that
    ended `exhausted`, or by support. No operation enables it: register a new endpoint, or contact
    support.
    """
    consecutive_failures: int
    """
    Number of deliveries that ended `exhausted` since the last one that `succeeded`. Failed attempts do
    not count.
    """
    failing: Failing | None
    """
    Failure state while `active` with recent deliveries that ended `exhausted`. Null otherwise.
    """
    paused_at: AwareDatetime | None
    """
    When it was paused, UTC; null unless `paused`.
    """
    disabled_at: AwareDatetime | None
    """
    When it was disabled, UTC; null while `active`.
    """
    disabled_reason: Literal["consecutive_failures"] | str | None
    """
    `consecutive_failures`: 10 consecutive deliveries ended `exhausted`. Null while `active`, and if
    support disabled it.
    """
    predecessor: Predecessor | None
    """
    The endpoint of the organization with the same URL that was the last to be disabled before this one
    was registered, even if it was deleted since. Null if there was none. Of deleted endpoints, only the
    last 50 within 31 days are known.
    """
    created_at: AwareDatetime
    """
    Registration time, UTC.
    """


class UpdatedWebhook(Model):
    id: str
    """
    Identifier of the endpoint.
    """
    url: str
    """
    Receiver URL, normalized.
    """
    events: list[
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
        | str
    ]
    """
    Subscribed event types. There is no wildcard.
    """
    filter: EventFilter | None
    """
    Which events of these types are sent; null for all.
    """
    description: str | None
    """
    Text of the organization’s own; null if there is none.
    """
    max_per_second: int | None
    """
    Limit of attempts per second; null if there is none.
    """
    status: Literal["active", "paused", "auto_disabled"] | str
    """
    `active`; `paused` by `updateWebhook`; or `auto_disabled`: after 10 consecutive deliveries that
    ended `exhausted`, or by support. No operation enables it: register a new endpoint, or contact
    support.
    """
    consecutive_failures: int
    """
    Number of deliveries that ended `exhausted` since the last one that `succeeded`. Failed attempts do
    not count.
    """
    failing: Failing | None
    """
    Failure state while `active` with recent deliveries that ended `exhausted`. Null otherwise.
    """
    paused_at: AwareDatetime | None
    """
    When it was paused, UTC; null unless `paused`.
    """
    disabled_at: AwareDatetime | None
    """
    When it was disabled, UTC; null while `active`.
    """
    disabled_reason: Literal["consecutive_failures"] | str | None
    """
    `consecutive_failures`: 10 consecutive deliveries ended `exhausted`. Null while `active`, and if
    support disabled it.
    """
    predecessor: Predecessor | None
    """
    The endpoint of the organization with the same URL that was the last to be disabled before this one
    was registered, even if it was deleted since. Null if there was none. Of deleted endpoints, only the
    last 50 within 31 days are known.
    """
    created_at: AwareDatetime
    """
    Registration time, UTC.
    """
    redelivery: Redelivery | None
    """
    The redelivery job that this request has started; null if it has started none.
    """


class RegisteredWebhook(Model):
    id: str
    """
    Identifier of the endpoint.
    """
    url: str
    """
    Receiver URL, normalized.
    """
    events: list[
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
        | str
    ]
    """
    Subscribed event types. There is no wildcard.
    """
    filter: EventFilter | None
    """
    Which events of these types are sent; null for all.
    """
    description: str | None
    """
    Text of the organization’s own; null if there is none.
    """
    max_per_second: int | None
    """
    Limit of attempts per second; null if there is none.
    """
    status: Literal["active", "paused", "auto_disabled"] | str
    """
    `active`; `paused` by `updateWebhook`; or `auto_disabled`: after 10 consecutive deliveries that
    ended `exhausted`, or by support. No operation enables it: register a new endpoint, or contact
    support.
    """
    consecutive_failures: int
    """
    Number of deliveries that ended `exhausted` since the last one that `succeeded`. Failed attempts do
    not count.
    """
    failing: Failing | None
    """
    Failure state while `active` with recent deliveries that ended `exhausted`. Null otherwise.
    """
    paused_at: AwareDatetime | None
    """
    When it was paused, UTC; null unless `paused`.
    """
    disabled_at: AwareDatetime | None
    """
    When it was disabled, UTC; null while `active`.
    """
    disabled_reason: Literal["consecutive_failures"] | str | None
    """
    `consecutive_failures`: 10 consecutive deliveries ended `exhausted`. Null while `active`, and if
    support disabled it.
    """
    predecessor: Predecessor | None
    """
    The endpoint of the organization with the same URL that was the last to be disabled before this one
    was registered, even if it was deleted since. Null if there was none. Of deleted endpoints, only the
    last 50 within 31 days are known.
    """
    created_at: AwareDatetime
    """
    Registration time, UTC.
    """
    redelivery: Redelivery | None
    """
    The redelivery job that this request has started; null if it has started none.
    """
    secret: str
    """
    Signing secret: `whsec_` and the base64 of 32 bytes. Returned by this operation only. To rotate it,
    register again and delete this endpoint.
    """


class ListedDelivery(Model):
    id: str
    """
    Identifier of the delivery, sent as `webhook-delivery-id`.
    """
    webhook_id: str
    """
    The endpoint.
    """
    event_id: str
    """
    The event, the same for all endpoints and redeliveries.
    """
    event_type: (
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
        | str
    )
    """
    Type of the event.
    """
    status: Literal["pending", "retrying", "succeeded", "exhausted", "skipped"] | str
    """
    `pending`: no attempt has finished. `retrying`: an attempt failed and another one is scheduled.
    Terminal: `succeeded` (a 2xx response), `exhausted` (8 failed attempts), `skipped` (ended without
    another attempt; see `terminalReason`).
    """
    attempts: int
    """
    Number of attempts started, at most 8.
    """
    next_retry_at: AwareDatetime | None
    """
    When the next attempt is due, the first one included; null while an attempt is in progress, and once
    the delivery has ended. Waits double from 30 seconds up to 1 hour.
    """
    next_retry_reason: Literal["retry_after"] | str | None
    """
    Why the next attempt is later than its wait: `retry_after`, the receiver asked for the time by
    `Retry-After` with a 429 or 503, of which at most 1 hour counts. Null otherwise.
    """
    terminal_at: AwareDatetime | None
    """
    When the delivery became terminal; null before.
    """
    terminal_reason: (
        Literal[
            "max_attempts",
            "sandbox_simulated",
            "endpoint_disabled",
            "endpoint_deleted",
            "endpoint_paused",
            "not_subscribed",
            "erased",
            "event_missing",
            "expired",
        ]
        | str
        | None
    )
    """
    Why the delivery ended without success: `max_attempts`, `endpoint_disabled`, `endpoint_deleted`,
    `endpoint_paused`, `not_subscribed` (the endpoint no longer subscribes to the event type, or its
    filter excludes the event), `erased` (the conversation of the event was erased), `event_missing`
    (the event no longer exists) or `expired` (still open after 3 days). After the last two, which are
    failures of the service, resend the delivery; this works if the event still exists.
    `sandbox_simulated` for a success in a sandbox. Null otherwise.
    """
    last_error: str | None
    """
    Error of the last failed attempt; kept after a success. Null if no attempt failed.
    """
    last_error_code: (
        Literal[
            "http_status",
            "redirect",
            "timeout",
            "connection_refused",
            "connection_closed",
            "dns",
            "tls",
            "address_forbidden",
            "invalid_response",
            "lost",
        ]
        | str
        | None
    )
    """
    Code of `lastError`, for programs, as of an attempt’s `errorCode`. Codes may be added: handle
    unknown ones as a failure.
    """
    last_response_status: int | None
    """
    HTTP status of the last attempt; null if there was no attempt or no response.
    """
    redelivery_of: str | None
    """
    The delivery that this one resends; null for an original delivery, and where a redelivery job
    resends an event that the endpoint had no delivery of.
    """
    created_at: AwareDatetime
    """
    Creation time, UTC.
    """
    request: WebhookRequest | None = None
    last_response: str | None = None
    """
    With `include=response`: the beginning of the response body of the last attempt, at most 1 KiB.
    Absent for deliveries whose last attempt succeeded or got no response.
    """


class Attempt(Model):
    number: int
    """
    Number of the attempt, from 1; sent as `webhook-attempt`.
    """
    started_at: AwareDatetime
    """
    Start of the attempt, UTC.
    """
    duration_ms: int
    """
    Duration in milliseconds. The limit is 10 seconds.
    """
    status: int | None
    """
    HTTP status of the response; null if there was none.
    """
    error: str | None
    """
    Why the attempt failed; null if it succeeded. The wording may change.
    """
    error_code: (
        Literal[
            "http_status",
            "redirect",
            "timeout",
            "connection_refused",
            "connection_closed",
            "dns",
            "tls",
            "address_forbidden",
            "invalid_response",
            "lost",
        ]
        | str
        | None
    )
    """
    Why the attempt failed, for programs: `http_status` (a status other than 2xx), `redirect` (301, 302,
    303, 307 or 308), `timeout`, `connection_refused` (no connection: refused, or the host or network is
    unreachable), `connection_closed` (closed, or failed otherwise, before the response), `dns` (the
    host name does not resolve), `tls` (handshake or certificate), `address_forbidden` (the URL or its
    address is not public, or the operator has blocked it), `invalid_response` (not HTTP, or its headers
    are too large) or `lost` (the service lost the outcome). Null if it succeeded. Codes may be added:
    handle unknown ones as a failure.
    """
    response: str | None
    """
    First KiB of the response body; null after a success, or without a response.
    """
    request: WebhookRequest | None
    """
    In a sandbox: the request with its signature. Null if the body is larger than 32 KiB, and live.
    """


class WebhookStats(Model):
    webhook_id: str
    """
    The endpoint.
    """
    from_: AwareDatetime
    """
    Start of the earliest requested hour, UTC.
    """
    to: AwareDatetime
    """
    End of the current hour, UTC.
    """
    totals: DeliveryCounts
    latency: Latency | None
    """
    How long the attempts of deliveries that have ended took, failed attempts included. Null if there
    are none, and for hours before this was counted.
    """
    oldest_pending: AwareDatetime | None
    """
    Start of the earliest of these hours with `pending` deliveries, UTC; null if there is none.
    """
    hours: list[DeliveryCountsOfHour]
    """
    Hours with deliveries, newest first. Other hours are omitted.
    """


class EndpointStats(Model):
    webhook_id: str
    """
    The endpoint.
    """
    url: str
    """
    Receiver URL, normalized.
    """
    status: Literal["active", "paused", "auto_disabled"] | str
    """
    `active`; `paused` by `updateWebhook`; or `auto_disabled`: after 10 consecutive deliveries that
    ended `exhausted`, or by support. No operation enables it: register a new endpoint, or contact
    support.
    """
    consecutive_failures: int
    """
    Number of deliveries that ended `exhausted` since the last one that `succeeded`. Failed attempts do
    not count.
    """
    failing: FailingUntil | None
    """
    Failure state while `active` with recent deliveries that ended `exhausted`. Null otherwise.
    """
    disabled_at: AwareDatetime | None
    """
    When it was disabled, UTC; null while `active`.
    """
    disabled_reason: Literal["consecutive_failures"] | str | None
    """
    `consecutive_failures`: 10 consecutive deliveries ended `exhausted`. Null while `active`, and if
    support disabled it.
    """
    totals: DeliveryCounts
    latency: Latency | None
    """
    How long the attempts of deliveries that have ended took, failed attempts included. Null if there
    are none, and for hours before this was counted.
    """
    oldest_pending: AwareDatetime | None
    """
    Start of the earliest of these hours with `pending` deliveries, UTC; null if there is none.
    """
    waiting_since: AwareDatetime | None
    """
    Creation time of the oldest delivery that waits, among the latest ones, UTC: open for more than a
    minute, or `retrying`. Null if there is none.
    """


class Event(Model):
    id: str
    """
    Identifies the event. The `webhook-id` header of all its deliveries.
    """
    type: (
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
        | str
    )
    """
    Type of the event.
    """
    schema_version: int
    """
    Version of the shape of `data`.
    """
    created_at: AwareDatetime
    """
    When the event happened, UTC.
    """
    example: bool | None = None
    """
    True for an example that `testWebhook` sent; absent otherwise.
    """
    erased: bool | None = None
    """
    True when the conversation was erased: `data` has identifiers only. Absent otherwise.
    """
    data: dict[str, Any]
    """
    The fields of the event, as in its payload. They depend on `type`.
    """
    record: Message | Conversation | Escalation | Ticket | None = None
    """
    With `include=record`: the message, conversation, escalation log entry or ticket that the event is
    about, as it is now. The prefix of its `id` tells which. Absent otherwise.
    """
    record_omitted: Literal["missing_scope", "deleted", "no_record"] | str | None = None
    """
    With `include=record`, why there is no `record`: `missing_scope` (the key lacks
    `read:conversations`), `deleted`, or `no_record` (the event is an example, or about nothing that can
    be read). Absent otherwise. Values may be added.
    """
    deliveries: list[ListedEventDelivery] | None = None
    """
    With `include=deliveries`: its deliveries, oldest first. Absent otherwise.
    """


class EventDelivery(Model):
    id: str
    """
    Identifier of the delivery, sent as `webhook-delivery-id`.
    """
    webhook_id: str | None
    """
    The endpoint; null for a channel.
    """
    channel_id: str | None
    """
    The channel; null for an endpoint.
    """
    url: str | None
    """
    Current URL of the receiver, or its last one before it was deleted. Null for a deleted channel.
    """
    receiver_status: Literal["active", "paused", "auto_disabled", "deleted"] | str
    """
    State of the endpoint or channel: `active`, `paused`, `auto_disabled` or `deleted`.
    """
    status: Literal["pending", "retrying", "succeeded", "exhausted", "skipped"] | str
    """
    `pending`: no attempt has finished. `retrying`: an attempt failed and another one is scheduled.
    Terminal: `succeeded` (a 2xx response), `exhausted` (8 failed attempts), `skipped` (ended without
    another attempt; see `terminalReason`).
    """
    attempts: int
    """
    Number of attempts started, at most 8.
    """
    next_retry_at: AwareDatetime | None
    """
    When the next attempt is due, the first one included; null while an attempt is in progress, and once
    the delivery has ended. Waits double from 30 seconds up to 1 hour.
    """
    next_retry_reason: Literal["retry_after"] | str | None
    """
    Why the next attempt is later than its wait: `retry_after`, the receiver asked for the time by
    `Retry-After` with a 429 or 503, of which at most 1 hour counts. Null otherwise.
    """
    terminal_at: AwareDatetime | None
    """
    When the delivery became terminal; null before.
    """
    terminal_reason: (
        Literal[
            "max_attempts",
            "sandbox_simulated",
            "endpoint_disabled",
            "endpoint_deleted",
            "endpoint_paused",
            "not_subscribed",
            "erased",
            "event_missing",
            "expired",
        ]
        | str
        | None
    )
    """
    Why the delivery ended without success: `max_attempts`, `endpoint_disabled`, `endpoint_deleted`,
    `endpoint_paused`, `not_subscribed` (the endpoint no longer subscribes to the event type, or its
    filter excludes the event), `erased` (the conversation of the event was erased), `event_missing`
    (the event no longer exists) or `expired` (still open after 3 days). After the last two, which are
    failures of the service, resend the delivery; this works if the event still exists.
    `sandbox_simulated` for a success in a sandbox. Null otherwise.
    """
    last_error: str | None
    """
    Error of the last failed attempt; kept after a success. Null if no attempt failed.
    """
    last_error_code: (
        Literal[
            "http_status",
            "redirect",
            "timeout",
            "connection_refused",
            "connection_closed",
            "dns",
            "tls",
            "address_forbidden",
            "invalid_response",
            "lost",
        ]
        | str
        | None
    )
    """
    Code of `lastError`, for programs, as of an attempt’s `errorCode`. Codes may be added: handle
    unknown ones as a failure.
    """
    last_response_status: int | None
    """
    HTTP status of the last attempt; null if there was no attempt or no response.
    """
    redelivery_of: str | None
    """
    The delivery that this one resends; null for an original delivery, and where a redelivery job
    resends an event that the endpoint had no delivery of.
    """
    created_at: AwareDatetime
    """
    Creation time, UTC.
    """
    attempt_log: list[Attempt]
    """
    Finished attempts, oldest first. An attempt whose worker was lost counts in `attempts` but is
    missing here. Without `request`: its body is the payload of the event.
    """


class EventWithDeliveries(Model):
    id: str
    """
    Identifies the event. The `webhook-id` header of all its deliveries.
    """
    type: (
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
        | str
    )
    """
    Type of the event.
    """
    schema_version: int
    """
    Version of the shape of `data`.
    """
    created_at: AwareDatetime
    """
    When the event happened, UTC.
    """
    example: bool | None = None
    """
    True for an example that `testWebhook` sent; absent otherwise.
    """
    erased: bool | None = None
    """
    True when the conversation was erased: `data` has identifiers only. Absent otherwise.
    """
    data: dict[str, Any]
    """
    The fields of the event, as in its payload. They depend on `type`.
    """
    record: Message | Conversation | Escalation | Ticket | None = None
    """
    With `include=record`: the message, conversation, escalation log entry or ticket that the event is
    about, as it is now. The prefix of its `id` tells which. Absent otherwise.
    """
    record_omitted: Literal["missing_scope", "deleted", "no_record"] | str | None = None
    """
    With `include=record`, why there is no `record`: `missing_scope` (the key lacks
    `read:conversations`), `deleted`, or `no_record` (the event is an example, or about nothing that can
    be read). Absent otherwise. Values may be added.
    """
    payload: str
    """
    The request body of every delivery of this event, byte for byte.
    """
    deliveries: list[EventDelivery]
    """
    Its deliveries, oldest first.
    """
    undelivered: list[UndeliveredTo]
    """
    Endpoints that got no attempt of it, with the reason. Empty for a message of a channel.
    """


class ChannelDeliveryWithAttempts(Model):
    id: str
    """
    Identifier of the delivery, sent as `webhook-delivery-id`.
    """
    channel_id: str
    """
    The channel.
    """
    event_id: str
    """
    The event, the same for all endpoints and redeliveries.
    """
    event_type: (
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
        | str
    )
    """
    Type of the event.
    """
    status: Literal["pending", "retrying", "succeeded", "exhausted", "skipped"] | str
    """
    `pending`: no attempt has finished. `retrying`: an attempt failed and another one is scheduled.
    Terminal: `succeeded` (a 2xx response), `exhausted` (8 failed attempts), `skipped` (ended without
    another attempt; see `terminalReason`).
    """
    attempts: int
    """
    Number of attempts started, at most 8.
    """
    next_retry_at: AwareDatetime | None
    """
    When the next attempt is due, the first one included; null while an attempt is in progress, and once
    the delivery has ended. Waits double from 30 seconds up to 1 hour.
    """
    next_retry_reason: Literal["retry_after"] | str | None
    """
    Why the next attempt is later than its wait: `retry_after`, the receiver asked for the time by
    `Retry-After` with a 429 or 503, of which at most 1 hour counts. Null otherwise.
    """
    terminal_at: AwareDatetime | None
    """
    When the delivery became terminal; null before.
    """
    terminal_reason: (
        Literal[
            "max_attempts",
            "sandbox_simulated",
            "endpoint_disabled",
            "endpoint_deleted",
            "endpoint_paused",
            "not_subscribed",
            "erased",
            "event_missing",
            "expired",
        ]
        | str
        | None
    )
    """
    Why the delivery ended without success: `max_attempts`, `endpoint_disabled`, `endpoint_deleted`,
    `endpoint_paused`, `not_subscribed` (the endpoint no longer subscribes to the event type, or its
    filter excludes the event), `erased` (the conversation of the event was erased), `event_missing`
    (the event no longer exists) or `expired` (still open after 3 days). After the last two, which are
    failures of the service, resend the delivery; this works if the event still exists.
    `sandbox_simulated` for a success in a sandbox. Null otherwise.
    """
    last_error: str | None
    """
    Error of the last failed attempt; kept after a success. Null if no attempt failed.
    """
    last_error_code: (
        Literal[
            "http_status",
            "redirect",
            "timeout",
            "connection_refused",
            "connection_closed",
            "dns",
            "tls",
            "address_forbidden",
            "invalid_response",
            "lost",
        ]
        | str
        | None
    )
    """
    Code of `lastError`, for programs, as of an attempt’s `errorCode`. Codes may be added: handle
    unknown ones as a failure.
    """
    last_response_status: int | None
    """
    HTTP status of the last attempt; null if there was no attempt or no response.
    """
    redelivery_of: str | None
    """
    The delivery that this one resends; null for an original delivery, and where a redelivery job
    resends an event that the endpoint had no delivery of.
    """
    created_at: AwareDatetime
    """
    Creation time, UTC.
    """
    attempt_log: list[Attempt]
    """
    Finished attempts, oldest first. An attempt whose worker was lost counts in `attempts` but is
    missing here.
    """


class Source(Model):
    id: str
    """
    Identifier of the source.
    """
    kind: Literal["url", "spreadsheet", "feed"] | str
    """
    Content at the URL: `url` (an HTML page), `spreadsheet` (CSV or XLSX) or `feed` (RSS or Atom).
    """
    url: str
    """
    URL of the content, normalized.
    """
    name: str | None
    """
    Display name; null if none was given.
    """
    status: Literal["pending", "ok", "failing"] | str
    """
    `pending`: no check has ended. `ok`: the last check found content, new or unchanged. `failing`: the
    last check failed; the previous content is kept.
    """
    title: str | None
    """
    Title of the content; null if it has none, and before the import.
    """
    words: int | None
    """
    Number of words in the text; null before the import.
    """
    version: int | None
    """
    Version of the text, from 1; null before the import. A check that finds the same text does not
    change it.
    """
    difference: float | None
    """
    Percentage of words that differ from the text of the last e-mail to admins, or of the import. Moved
    text counts as unchanged. Null before the import, and after an e-mail about an outdated version
    until the next change.
    """
    created_at: AwareDatetime
    """
    Creation time, UTC.
    """
    last_checked_at: AwareDatetime | None
    """
    Start of the last check that has ended, UTC; null before.
    """
    last_changed_at: AwareDatetime | None
    """
    When a new text was last found, including the import, UTC; null before.
    """
    last_notified_at: AwareDatetime | None
    """
    When admins last got an e-mail about a change, UTC; null if never.
    """
    next_check_at: AwareDatetime
    """
    When the next check is due, UTC. The check follows within moments.
    """
    last_error: str | None
    """
    Why the last check failed; null if it did not.
    """
    warnings: list[SourceWarning]
    """
    What was left out of the text or may be wrong in it, one for each reason; empty if nothing is, and
    before the import.
    """


class SourceContent(Model):
    source_id: str
    """
    The source.
    """
    version: int
    """
    Version of the text, from 1.
    """
    words: int
    """
    Number of words in the text.
    """
    title: str | None
    """
    Title of the content; null if it has none.
    """
    text: str
    """
    The imported text. Lines are separated by line feeds.
    """
    warnings: list[SourceWarning]
    """
    What was left out of the text or may be wrong in it, one for each reason; empty if nothing is, and
    before the import.
    """


class AnnouncedChanges(Model):
    from_: SourceVersion | None
    """
    Version that admins knew before the e-mail; null if its text is no longer stored.
    """
    to: SourceVersion | None
    """
    Version that the e-mail reported.
    """
    difference: float | None
    """
    Percentage of words that differ between both versions.
    """
    added: str
    """
    Added lines as plain text, at most 4,000 characters. Of more, the three largest passages, largest
    first, with an empty line between two and `…` where one is cut.
    """
    removed: str
    """
    Removed lines, in the same form.
    """
    announced_at: AwareDatetime
    """
    When the e-mail was sent, UTC.
    """


class ApiError(Model):
    type: str
    """
    Error type, for programs. Types may be added: handle unknown ones by status.
    """
    message: str
    """
    Error message, for users. Names the field and the constraint. The wording may change.
    """
    request_id: str
    """
    Identifier of the request, equal to the `Request-Id` header. Quote it to support.
    """
    details: list[ErrorDetail] | None = None
    """
    The invalid parts of the request, of a `VALIDATION_ERROR`; absent where there are none to name.
    """


class DeliveryWithAttempts(Model):
    id: str
    """
    Identifier of the delivery, sent as `webhook-delivery-id`.
    """
    webhook_id: str
    """
    The endpoint.
    """
    event_id: str
    """
    The event, the same for all endpoints and redeliveries.
    """
    event_type: (
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
        | str
    )
    """
    Type of the event.
    """
    status: Literal["pending", "retrying", "succeeded", "exhausted", "skipped"] | str
    """
    `pending`: no attempt has finished. `retrying`: an attempt failed and another one is scheduled.
    Terminal: `succeeded` (a 2xx response), `exhausted` (8 failed attempts), `skipped` (ended without
    another attempt; see `terminalReason`).
    """
    attempts: int
    """
    Number of attempts started, at most 8.
    """
    next_retry_at: AwareDatetime | None
    """
    When the next attempt is due, the first one included; null while an attempt is in progress, and once
    the delivery has ended. Waits double from 30 seconds up to 1 hour.
    """
    next_retry_reason: Literal["retry_after"] | str | None
    """
    Why the next attempt is later than its wait: `retry_after`, the receiver asked for the time by
    `Retry-After` with a 429 or 503, of which at most 1 hour counts. Null otherwise.
    """
    terminal_at: AwareDatetime | None
    """
    When the delivery became terminal; null before.
    """
    terminal_reason: (
        Literal[
            "max_attempts",
            "sandbox_simulated",
            "endpoint_disabled",
            "endpoint_deleted",
            "endpoint_paused",
            "not_subscribed",
            "erased",
            "event_missing",
            "expired",
        ]
        | str
        | None
    )
    """
    Why the delivery ended without success: `max_attempts`, `endpoint_disabled`, `endpoint_deleted`,
    `endpoint_paused`, `not_subscribed` (the endpoint no longer subscribes to the event type, or its
    filter excludes the event), `erased` (the conversation of the event was erased), `event_missing`
    (the event no longer exists) or `expired` (still open after 3 days). After the last two, which are
    failures of the service, resend the delivery; this works if the event still exists.
    `sandbox_simulated` for a success in a sandbox. Null otherwise.
    """
    last_error: str | None
    """
    Error of the last failed attempt; kept after a success. Null if no attempt failed.
    """
    last_error_code: (
        Literal[
            "http_status",
            "redirect",
            "timeout",
            "connection_refused",
            "connection_closed",
            "dns",
            "tls",
            "address_forbidden",
            "invalid_response",
            "lost",
        ]
        | str
        | None
    )
    """
    Code of `lastError`, for programs, as of an attempt’s `errorCode`. Codes may be added: handle
    unknown ones as a failure.
    """
    last_response_status: int | None
    """
    HTTP status of the last attempt; null if there was no attempt or no response.
    """
    redelivery_of: str | None
    """
    The delivery that this one resends; null for an original delivery, and where a redelivery job
    resends an event that the endpoint had no delivery of.
    """
    created_at: AwareDatetime
    """
    Creation time, UTC.
    """
    attempt_log: list[Attempt]
    """
    Finished attempts, oldest first. An attempt whose worker was lost counts in `attempts` but is
    missing here.
    """


class DeliveryStats(Model):
    from_: AwareDatetime
    """
    Start of the earliest requested hour, UTC.
    """
    to: AwareDatetime
    """
    End of the current hour, UTC.
    """
    totals: DeliveryCounts
    latency: Latency | None
    """
    How long the attempts of deliveries that have ended took, failed attempts included. Null if there
    are none, and for hours before this was counted. All endpoints together.
    """
    backlog: Backlog
    hours: list[DeliveryCountsOfHour]
    """
    Hours with deliveries, all endpoints together, newest first. Other hours are omitted.
    """
    endpoints: list[EndpointStats]
    """
    All current endpoints, newest first.
    """


class SourceChanges(Model):
    source_id: str
    """
    The source.
    """
    from_: SourceVersion | None
    """
    Version of the last e-mail to admins, or the first version; null before the import.
    """
    to: SourceVersion | None
    """
    Current version; null before the import.
    """
    difference: float | None
    """
    Percentage of the words of both versions that are in only one of them: 0 if all are in both, 100 if
    none. Null if there is nothing to compare.
    """
    added: str
    """
    Added lines as plain text, at most 4,000 characters. Of more, the three largest passages, largest
    first, with an empty line between two and `…` where one is cut.
    """
    removed: str
    """
    Removed lines, in the same form.
    """
    announced: AnnouncedChanges | None
    """
    Changes that the last e-mail to admins was about; null before the first one.
    """


class ErrorResponse(Model):
    error: ApiError
