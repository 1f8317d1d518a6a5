import type { Tag } from './operation-text.ts';

/** The document's opening text, in CommonMark with tables. */
export const INTRODUCTION = `Record conversations and receive a signed webhook for every event. This page lists
all operations, events and errors. The OpenAPI document is at \`/api/openapi.json\`.

## Requests and responses

Bodies are JSON in UTF-8, at most 256 KiB, with \`Content-Type: application/json\`. Unknown fields
and query parameters are refused. Timestamps are ISO 8601 in UTC with milliseconds; requests may give an offset.
Identifiers sort by creation time. Text lengths are counted in characters (Unicode code points).

A successful response is \`{"success": true, "data": …}\`. An error is
\`{"error": {"type", "message", "requestId"}}\` with a status of 400 or more. Handle errors by \`error.type\`,
show \`error.message\` to users, find each fault of a request in \`error.details\`, and quote \`error.requestId\` to support; every response has it in the
\`Request-Id\` header. Errors of API Gateway, such as an unknown path or method, have the same form.

## Authentication

Operations take an API key: \`Authorization: Bearer ck_live_…\`, or \`ck_sandbox_…\` for the sandbox. An admin creates
and revokes keys in the dashboard. Operations under \`/api/v1/widget\` take the visitor token of one conversation:
\`Authorization: Bearer cvt_…\`.

## Sandbox

A sandbox is a second organization with its own data, for testing without external effects. An organization has
at most one. An admin provisions it in the dashboard and gets a key. The key alone selects the
environment: URLs, operations and responses are the same. Sandbox keys reach only the sandbox of their
organization; live keys do not reach it.

Events, signatures, retries, disabling, counts, lists, idempotency and errors work as they do live. The
differences are:

| | Live | Sandbox |
|---|---|---|
| Key | \`ck_live_…\` | \`ck_sandbox_…\` |
| \`orgId\` in events | the organization | the sandbox organization |
| Rate limit | that of the tier | 60 requests a minute in every tier; \`"sandbox"\` in the headers |
| Webhook request | sent to the receiver | built and signed, then handled by a simulated receiver without any connection or lookup |
| Receiver’s response | that of the receiver | set by the endpoint’s URL (\`registerWebhook\`), 200 by default |
| \`terminalReason\` of a success | null | \`sandbox_simulated\` |
| \`request\` of an attempt | null | the request that would have been sent |
| Content source | fetched | simulated, as set by its URL (\`createSource\`) |
| Channel request | sent to the receiver | handled by a simulated receiver, like a webhook request |
| Messages for a web widget’s visitor | those of the conversation | none |
| Other external effects | e-mails, billable usage | none |
| Data | kept | deleted when an admin resets the sandbox in the dashboard |

To test your own receiver with sandbox requests, list the deliveries with \`include=request\` and send the
requests to it (\`listDeliveries\`).

## Retries and idempotency

To retry a \`POST\` safely, send an \`Idempotency-Key\`, a UUID of your choice: a repeated request gets the
first response, with \`Idempotency-Replayed: true\`. After a 429 or 503, retry after \`Retry-After\` seconds.
After a 500 or a broken connection, retry with increasing delays. \`GET\`, \`PATCH\` and \`DELETE\` can be
retried as they are.

## Lists

Lists are paginated, newest first. Pass \`nextCursor\` as \`cursor\` to get the next page; it is null on the
last page. Cursors are opaque: do not parse or construct them. Pages neither skip nor repeat an item that
existed when the listing began. A list that can be followed has a \`followCursor\` as well: pass it as
\`cursor\` to get later items.

## Rate limits

An organization has 600 tokens a minute in tier \`standard\`, 6,000 in \`scale\`, and 60 in a sandbox, shared by
all its keys. A request costs one token, or more if it reads or writes much, such as a large message or the
statistics of a week. Excess tokens are taken from the next minute. \`RateLimit-Policy\` and \`RateLimit\`
report the limit and the remaining tokens; beyond it the response is a 429 with \`Retry-After\`. The dashboard
and the sandbox have their own limits.

## If your server receives our requests

Requests with user agent \`ConversationService-Webhooks\` are from an organization that registered a URL at your
host for its events; those with \`ConversationService-Knowledge\` are from one that imports your page,
spreadsheet or feed every hour. An organization can have at most ten webhook endpoints at one host. A failed
request is sent up to eight times within about an hour; ten consecutive failures of this kind disable an
endpoint.

Genuine webhook requests are signed according to [Standard Webhooks](https://www.standardwebhooks.com); the
organization has the secret. To stop requests, ask the organization to delete the endpoint or source
(\`webhook-endpoint-id\` identifies the endpoint, \`orgId\` in the body the organization), or write to the
operator at the contact in the user agent, if present. The operator can block your host for all organizations.

## Versions

Fields, operations, event types and response values are added without notice; ignore those that you do not know.
Any other change ships as a new version beside this one. Responses of a deprecated operation have
\`Deprecation\` and \`Sunset\` headers, except those that API Gateway makes without the operation: for a body over
10 MB, for example, or while the operation does not answer.`;

/** The opening text of the document of the dashboard's operations. */
export const DASHBOARD_INTRODUCTION = `Operations of the dashboard. They take a session and no API keys, and can change
together with the dashboard. Operations with the parameter \`environment\` exist under \`/api/v1\` as well, for API keys.`;

/** What the groups of operations are about, in the order in which they are shown. */
export const TAGS: Record<Tag | 'Webhook events', string> = {
  Conversations:
    'Conversations with external users, their messages, and handoffs to a human. Each write sends an event to the endpoints that subscribe to it.',
  Channels:
    'Channels of conversations, which receive the messages of agents and assistants: your own URL, or a widget on a page. An organization can have 40.',
  Tickets: 'Fallback tickets for follow-up by a human.',
  Knowledge:
    'Content sources: pages, spreadsheets and feeds that are imported when they are created and checked every hour. An organization can have 1,000.',
  Webhooks: 'Endpoints that receive events. An organization can have 50.',
  Deliveries:
    'Deliveries of events to endpoints. An event makes one delivery for each active endpoint that subscribes to its type. Deliveries are kept for 30 days.',
  Events: 'The event log: events of the last 30 days with their payloads and deliveries.',
  'Webhook events': 'Events that endpoints and channels receive.',
  Organization: 'The organization and its settings.',
  'API keys': 'API keys of the organization.',
  Sandbox: 'The organization’s sandbox, for testing without external effects. It has its own API keys.',
};
