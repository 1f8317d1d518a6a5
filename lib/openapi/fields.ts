import type * as z from 'zod/mini';
import { MAX_RECEIVER_URL_LENGTH } from '../../functions/domain/receiver-url.ts';
import type { Schema } from './openapi.ts';
import type { BODIES, RESOURCES } from './schemas.ts';

/*
 * What the fields mean. The types ask for a text for every field that a schema has, so that a new one without does not compile.
 */

type Texts<T extends Record<string, z.ZodMiniType>> = {
  [Name in keyof T]: Record<keyof z.output<T[Name]>, string>;
};

const CREATED = 'When it was created, UTC.';
const SCOPES =
  'What the key may do. A `write:` scope implies the `read:` scope of the same resource. Each scope at most once.';

const webhook = {
  id: 'Identifies the endpoint.',
  url: 'Where its deliveries go, as the service understood it: host names in lower case, for example.',
  events: 'The event types it receives. There is no wildcard.',
  status:
    '`active`, or `auto_disabled`: after 10 deliveries in a row ended `exhausted`, or by support. A disabled endpoint stays disabled: register it again, or ask support.',
  consecutiveFailures:
    'How many of its deliveries ended `exhausted` since one last ended `succeeded`. A failed attempt that is retried does not count.',
  failing:
    'While its last deliveries ended `exhausted` and it is not disabled yet: since when, and how many more will disable it. Null otherwise.',
  disabledAt: 'When it was disabled, UTC; null while it is `active`.',
  disabledReason:
    'Why it was disabled: `consecutive_failures`, 10 deliveries in a row ended `exhausted`. Null while it is `active`, and when support disabled it.',
  createdAt: 'When it was registered, UTC.',
};

const delivery = {
  id: 'Identifies the delivery, and is its `webhook-id` header on every attempt. Use it, or `eventId`, to recognise duplicates.',
  webhookId: 'The endpoint that it is for.',
  eventId: 'The event that it delivers. The same for all endpoints and for redeliveries.',
  eventType: 'Type of the event.',
  status:
    '`pending`: no attempt has finished. `retrying`: an attempt failed and another will come. Terminal: `succeeded` (an attempt was answered 2xx), `exhausted` (8 attempts failed), `skipped` (given up without another attempt; `terminalReason` says why).',
  attempts: 'Attempts started so far, 8 at most.',
  nextRetryAt:
    'When the next attempt is due; null unless `retrying`. The waits double from 30 seconds to 1 hour.',
  terminalAt: 'When it became terminal; null before.',
  terminalReason:
    'Why it ended without success: `max_attempts`, `endpoint_disabled` or `endpoint_deleted`. Two more are failures of the service, and not of the receiver: `event_missing`, the event could not be found any more, and `expired`, the delivery could not be dealt with for 3 days. After these it can be sent again, which succeeds where the event still exists. In a sandbox a success says `sandbox_simulated`: it would have been sent, and its simulated receiver accepted it. Null otherwise.',
  lastError:
    'What went wrong in the last failed attempt, in one line; it stays after a success. Null when no attempt failed.',
  lastResponseStatus: 'HTTP status of the last attempt; null when there was none or it got no answer.',
  redeliveryOf: 'The delivery that this one repeats on request; null for the first one of its event.',
  createdAt: CREATED,
  atRealSpeed:
    'In a sandbox, where its endpoint’s `simulate-speed` lets time pass faster: when the next attempt and the end would have been without it. Null otherwise, and live.',
};

const LISTED_REQUEST =
  'With `include=request`, for a delivery of a sandbox that was attempted: the request of its last attempt with the time of this answer, signed for it. Absent otherwise, and live.';
const ATTEMPT_LOG =
  'Its finished attempts, oldest first. One whose worker was lost counts in `attempts` and is missing here.';

const { webhookId: _, ...deliveryToAny } = delivery;
const channelDelivery = { ...deliveryToAny, channelId: 'The channel that it is for.' };

const channel = {
  id: 'Identifies the channel: the `channelId` of conversations that take place on it.',
  kind: '`http`: messages are sent to `url`. `web_widget`: visitors read them.',
  name: 'Label for people.',
  url: 'Where messages go, as the service understood it; null for a `web_widget`.',
  status:
    '`active`, or `auto_disabled`: after 10 deliveries in a row ended `exhausted`, or by support. A disabled channel stays disabled: set up another one, or ask support.',
  consecutiveFailures: webhook.consecutiveFailures,
  failing: webhook.failing,
  disabledAt: webhook.disabledAt,
  disabledReason: webhook.disabledReason,
  createdAt: CREATED,
};

const counts = {
  owed: 'Deliveries that came into being: the sum of the next four.',
  pending: 'Those that have not ended: `pending` or `retrying`.',
  succeeded: 'Those that ended `succeeded`.',
  exhausted: 'Those that ended `exhausted`.',
  skipped: 'Those that ended `skipped`.',
  duplicates:
    'Attempts whose outcome the service lost: the receiver may have had the event once more than the attempt logs say. Counted when the delivery ends, and not a part of `owed`.',
};

const organizationSettings = {
  contentChangeThreshold:
    'How much of an imported source’s text, in percent, must have changed before the admins get an e-mail.',
  contentChangeNotifications: 'Whether admins get e-mails about changed content at all.',
};

const SANDBOX_ID = 'Identifies the sandbox organization. Events in the sandbox call it `orgId`.';

const apiKey = {
  id: 'Identifies the key. It is not the key itself.',
  environment: 'The key selects the mode: `live` acts on the organization, `sandbox` on its sandbox.',
  name: 'Label for people.',
  scopes: SCOPES,
  createdAt: CREATED,
  lastUsedAt:
    'When it was last used, UTC, some minutes behind; null when it was not within a year. Refused requests count as well.',
  revokedAt: 'When it was revoked, UTC; null while it works.',
};

const failing = {
  since:
    'When the first of the present failures in a row was counted, UTC; null where the endpoint began to fail before this was recorded.',
  failuresUntilDisabled: 'How many more deliveries in a row that end `exhausted` disable the endpoint.',
};

export const RESOURCE_FIELDS: Texts<typeof RESOURCES> = {
  Webhook: webhook,
  RegisteredWebhook: {
    ...webhook,
    secret:
      'The signing secret of this endpoint: `whsec_` and the base64 of 32 bytes. Only this answer has it. There is no rotation: for a new secret register again and delete this endpoint.',
  },
  Failing: failing,
  FailingUntil: {
    ...failing,
    disablesAt:
      'When the endpoint is disabled if none of its deliveries succeeds from now on and attempts take as long as they last did, UTC: as deliveries that are under way run out of retries. Null when fewer are under way than it takes.',
  },
  Redelivery: {
    id: 'Identifies the redelivery.',
    webhookId: 'The endpoint whose deliveries are sent again.',
    status: '`running`, `done` when it has come to the end of its time, or `stopped` before that.',
    reason:
      'Why it was stopped: `cancelled` on request, `endpoint_disabled` or `endpoint_deleted`. Null otherwise.',
    from: 'Beginning of the time whose deliveries it sends again, included: 30 days before it was started at the earliest.',
    to: 'End of that time, excluded: when it was started at the latest.',
    statuses: 'How the deliveries ended that it sends again.',
    examined: 'How many deliveries of the time it has looked at so far, whatever became of them.',
    redelivered: 'How many new deliveries it has made so far, one for each event.',
    progress: 'The part of its time that it has examined so far, from 0 to 1. 1 when it is `done`.',
    createdAt: 'When it was started, UTC. Each of its deliveries has the time at which it was made.',
    finishedAt: 'When it was done or stopped, UTC; null while it runs.',
  },
  TestEvent: {
    eventId: 'The event that was written.',
    deliveryId:
      'Its delivery to this endpoint. It can be read within a moment of this answer, and is 404 until then.',
  },
  Delivery: delivery,
  ListedDelivery: { ...delivery, request: LISTED_REQUEST },
  DeliveryWithAttempts: { ...delivery, attemptLog: ATTEMPT_LOG },
  Attempt: {
    number: 'Counts from 1; the `webhook-attempt` header.',
    startedAt: 'When it began, UTC.',
    durationMs: 'How long it took, in milliseconds. The limit is 10 seconds.',
    status: 'HTTP status of the receiver’s answer; null when there was none.',
    error: 'Why it failed, in one line; null when it succeeded.',
    response: 'The beginning of the answer’s body, at most 1 KiB; null when it succeeded or there was none.',
    request:
      'In a sandbox: the request as it would have gone out, signature included. Null when its body is larger than 32 KiB, and live, where none is kept.',
    atRealSpeed:
      'In a sandbox, where time passes faster: when it would have begun, and how long it would have taken. Null otherwise, and live.',
  },
  WebhookRequest: {
    method: 'Always `POST`.',
    url: 'Where it would have gone, the parameters of the simulated receiver included.',
    headers: 'All that a receiver would get but for what concerns the connection alone; names in lower case.',
    body: 'The body to the byte, as text: what the signature is over.',
  },
  DeliveryAtRealSpeed: {
    nextRetryAt: 'When the next attempt would be due, UTC; null unless `retrying`.',
    terminalAt: 'When it would have ended, UTC; null before.',
  },
  AttemptAtRealSpeed: {
    startedAt: 'When it would have begun, UTC.',
    durationMs: 'How long it would have taken, in milliseconds.',
  },
  WebhookStats: {
    webhookId: 'The endpoint.',
    from: 'Beginning of the earliest hour that was asked for, UTC.',
    to: 'End of the hour under way, UTC.',
    totals: 'All hours together.',
    oldestPending:
      'Beginning of the earliest of these hours with deliveries that have not ended, UTC; null when all have.',
    hours: 'The hours with deliveries, newest first. The others are left out.',
  },
  DeliveryStats: {
    from: 'Beginning of the earliest hour that was asked for, UTC.',
    to: 'End of the hour under way, UTC.',
    totals: 'All hours of all endpoints together.',
    backlog: 'What of these hours has not ended.',
    hours: 'The hours with deliveries, all endpoints together, newest first. The others are left out.',
    endpoints: 'Each endpoint there is, newest first.',
  },
  Backlog: {
    pending: 'How many deliveries have not ended.',
    oldestPending: 'Beginning of the earliest hour with such deliveries, UTC; null when all have ended.',
  },
  EndpointStats: {
    webhookId: 'The endpoint.',
    url: webhook.url,
    status: webhook.status,
    consecutiveFailures: webhook.consecutiveFailures,
    failing: 'While its deliveries fail: since when, what disables it, and when. Null otherwise.',
    disabledAt: webhook.disabledAt,
    disabledReason: webhook.disabledReason,
    totals: 'All hours together.',
    oldestPending:
      'Beginning of the earliest of these hours with deliveries that have not ended, UTC; null when all have.',
    waitingSince:
      'Since when a delivery waits, UTC: of the endpoint’s latest deliveries that are more than a minute old, when the oldest one that has not ended was created. Null when they all have.',
  },
  DeliveryCounts: counts,
  DeliveryCountsOfHour: {
    hour: 'Beginning of the hour, UTC. A delivery counts under the hour of its event; one that was sent again, under the hour in which that was asked for.',
    ...counts,
  },
  Conversation: {
    id: 'Identifies the conversation.',
    channelId: 'The channel it takes place on, in your own naming.',
    externalUserId: 'Who is talking to you, in your own naming.',
    status: '`open`; `handed_off` once a human was asked for; `resolved`. A message reopens a resolved one.',
    resolvedAt: 'When it was resolved, UTC; null unless it is resolved.',
    resolvedBy: 'Who resolved it; null unless it is resolved.',
    createdAt: CREATED,
  },
  Message: {
    id: 'Identifies the message.',
    conversationId: 'The conversation it belongs to.',
    role: 'Who said it: the external `user`, the `assistant`, a human `agent`, or the `system`.',
    content: 'Its text.',
    createdAt: CREATED,
  },
  Channel: channel,
  CreatedChannel: {
    ...channel,
    secret:
      'The signing secret of this channel, for the kind `http`: `whsec_` and the base64 of 32 bytes. Only this answer has it. Null for a `web_widget`.',
  },
  ChannelDelivery: channelDelivery,
  ListedChannelDelivery: { ...channelDelivery, request: LISTED_REQUEST },
  ChannelDeliveryWithAttempts: { ...channelDelivery, attemptLog: ATTEMPT_LOG },
  VisitorToken: {
    token: 'For `Authorization: Bearer`. Only this answer has it; it is stored nowhere.',
    expiresAt: 'When it ends, UTC: 15 minutes after it was made. A reset of the sandbox ends it as well.',
  },
  WidgetMessages: {
    messages: 'What was said, oldest first.',
    after: 'The `after` of the next request: the last message that was looked at, or the one given.',
  },
  WidgetMessage: {
    id: 'Identifies the message.',
    role: 'Who said it: the external `user`, the `assistant` or a human `agent`.',
    content: 'Its text.',
    createdAt: CREATED,
  },
  Escalation: {
    id: 'Identifies the entry of the escalation log. Events call it `escalationLogId`.',
    conversationId: 'The conversation that was handed off.',
    reason: 'Why, if that was said.',
    createdAt: 'When the handoff was requested, UTC.',
  },
  Ticket: {
    id: 'Identifies the ticket.',
    conversationId: 'The conversation it came out of, if any.',
    reason: 'What it is about, if that was said.',
    createdAt: CREATED,
  },
  SourceChanges: {
    sourceId: 'The source.',
    from: 'The version that admins know: the one that they were last told of, or the first. Null before the first import.',
    to: 'The present version. Null before the first import.',
    difference:
      'How much the two differ, in percent of the words of both: 0 for the same words, 100 where they share none. Null where there is nothing to compare.',
    added:
      'The lines that came, 4,000 characters at most, with `…` where something is left out. Text, never markup.',
    removed: 'The lines that went, in the same way.',
  },
  SourceVersion: {
    version: 'Counts the different contents of the source, from 1.',
    words: 'Number of words in it.',
  },
  Source: {
    id: 'Identifies the source.',
    kind: 'What is at its URL: `url`, an HTML page; `spreadsheet`, CSV or XLSX; `feed`, RSS or Atom.',
    url: 'Where it is fetched from, as the service understood it: host names in lower case, for example.',
    name: 'Label for people, if one was given.',
    status:
      '`pending`: no check has ended. `ok`: the last check brought content, or found that it is as before. `failing`: the last check brought none; the content from before stays.',
    title: 'Title of the content, if it has one; null before the import.',
    words: 'How many words the text has; null before the import.',
    version:
      'Counts the texts that were found, from 1; null before the import. A check that finds the same text changes nothing.',
    difference:
      'How much the text differs from the one that admins were last told of, or that was imported: the share of the words of both that are in one and not in the other, in percent. Moved text counts as unchanged. Null before the import, and until the next change after an e-mail that was overtaken by a newer version.',
    createdAt: CREATED,
    lastCheckedAt: 'When the last check that has ended began, UTC; null before.',
    lastChangedAt: 'When another text was last found, the import included, UTC; null before.',
    lastNotifiedAt: 'When admins were last told of a change by e-mail, UTC; null when they were not.',
    nextCheckAt: 'When the next check is due, UTC. Checks take a moment more.',
    lastError: 'Why the last check brought no content, in one line; null when it did.',
  },
  SignedIn: {
    userId: 'The issuer’s identifier of the person.',
    email: 'Address of the person, to be shown. `null` where the issuer does not say it.',
    organizationId: 'The organization that the person acts for.',
    organizationName: 'Its name.',
    role: 'A `member` sees, an `admin` also changes.',
    expiresAt: 'When the session ends, unless it is renewed before.',
  },
  Organization: {
    id: 'Identifies the organization. Events call it `orgId`.',
    name: 'Its name.',
    environment: '`live`, or `sandbox` for a paired sandbox organization.',
    tier: 'Its rate limit: `sandbox` 60, `standard` 600, `scale` 6,000 requests a minute.',
    ...organizationSettings,
    mailer:
      'Whether this deployment sends e-mail to admins. Where it is `false`, nobody gets any, whatever the settings say.',
    createdAt: CREATED,
  },
  Usage: {
    organizationId: 'The organization.',
    months: 'The months asked for, newest first; those in which nothing was used as well.',
  },
  UsageOfMonth: {
    month: 'The month, UTC: `2026-11`. What is used counts under the month in which it happened.',
    conversations: 'Conversations that were started.',
    messages: 'Messages that were recorded, of every role.',
  },
  ApiKey: apiKey,
  CreatedApiKey: {
    ...apiKey,
    secretOnce: 'The key itself, for `Authorization: Bearer`. Only this answer has it; it is stored nowhere.',
  },
  Sandbox: {
    sandboxOrganizationId: SANDBOX_ID,
    createdAt: 'When it was provisioned, UTC.',
    lastResetAt: 'When it was last reset, UTC; null when it never was.',
    purge:
      'While something that a reset has wiped is still stored: how far its deletion is. Nobody can see it any more. Null otherwise.',
  },
  Purge: {
    since: 'The earliest reset whose data is not deleted yet, UTC.',
    deleted: 'How many rows were deleted since.',
  },
  ProvisionedSandbox: {
    sandboxOrganizationId: SANDBOX_ID,
    provisioned: 'Whether this call made the sandbox; false when there was one already.',
    key: 'A new key of the sandbox, with `secretOnce`.',
  },
  ResetSandbox: {
    sandboxOrganizationId: SANDBOX_ID,
    resetAt: 'When it was reset, UTC. Nothing that was in it before can be seen any more.',
  },
};

const events =
  'The event types to receive, each at most once. `webhook.test` cannot be subscribed to: the test operation sends it.';
const url =
  'An `https` URL of at most 2,048 characters with a public host name or address; port 443 or from 1024 on; without credentials and fragment.';

export const BODY_FIELDS: Texts<typeof BODIES> = {
  RegisterWebhook: { url, events },
  StartRedelivery: {
    from: 'Beginning of the time, UTC, included. What is more than 30 days ago counts as 30 days ago.',
    to: 'End of the time, UTC, excluded. Left out, or in the future, it is now.',
    statuses: 'How the deliveries ended that are to be sent again. Left out, it is both.',
  },
  UpdateWebhook: { url: `${url} Left out: stays as it is.`, events: `${events} Left out: stay as they are.` },
  CreateConversation: {
    channelId:
      'The channel it takes place on: the identifier of one that you have set up (`createChannel`), which then gets what is said there, or any other text as a label of your own.',
    externalUserId: 'Who is talking to you, in your own naming.',
  },
  CreateChannel: {
    kind: '`http`: messages are sent to `url`. `web_widget`: visitors read them.',
    name: 'Label for people.',
    url: `${url} For the kind \`http\`, and no other.`,
  },
  CreateMessage: {
    role: 'Who said it: the external `user`, the `assistant`, a human `agent`, or the `system`.',
    content: 'Its text.',
  },
  RequestHandoff: { reason: 'Why a human is needed. The event carries it.' },
  ResolveConversation: { resolvedBy: 'Who resolved it, in your own naming. The event carries it.' },
  CreateTicket: {
    conversationId: 'The conversation it comes out of. It must exist.',
    reason: 'What it is about. The event carries it.',
  },
  CreateSource: {
    kind: 'What is at the URL: `url`, an HTML page; `spreadsheet`, CSV or XLSX; `feed`, RSS or Atom.',
    url: 'Where it is: https, on port 443 or one from 1024 on, with a public host name or a public address, without credentials and fragment.',
    name: 'Label for people.',
  },
  UpdateOrganization: {
    contentChangeThreshold: `${organizationSettings.contentChangeThreshold} Left out: stays as it is.`,
    contentChangeNotifications: `${organizationSettings.contentChangeNotifications} Left out: stays as it is.`,
  },
  CreateApiKey: { name: 'Label for people.', scopes: SCOPES },
};

/** Constraints that use cases and refinements apply, which a schema cannot be asked for. */
export const BODY_CONSTRAINTS: { [Name in keyof typeof BODIES]?: Record<string, Schema> } = {
  RegisterWebhook: {
    url: { format: 'uri', maxLength: MAX_RECEIVER_URL_LENGTH },
    events: { uniqueItems: true },
  },
  CreateChannel: { url: { format: 'uri', maxLength: MAX_RECEIVER_URL_LENGTH } },
  UpdateWebhook: {
    url: { format: 'uri', maxLength: MAX_RECEIVER_URL_LENGTH },
    events: { uniqueItems: true },
  },
  CreateSource: { url: { format: 'uri', maxLength: MAX_RECEIVER_URL_LENGTH } },
  CreateApiKey: { scopes: { uniqueItems: true } },
};

export const ENVELOPE_FIELDS = {
  type: 'Type of the event. Handle the types you know and answer 2xx to others: types are added without notice.',
  schemaVersion: 'Version of the shape of `data`. A change of the shape has a new version.',
  orgId: 'The organization it happened in.',
  createdAt: 'When it happened, UTC.',
  data: 'What happened: these fields and no others.',
};

export const ERROR_FIELDS = {
  type: 'What went wrong, for programs. New types may be added: treat an unknown one by its status.',
  message: 'What went wrong, for people: names the field and the constraint. Its wording may change.',
  requestId: 'Names the request; the same as the `Request-Id` header. Quote it to support.',
};
