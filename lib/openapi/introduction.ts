import type { Tag } from './operation-text.ts';

/** The document's opening text, in CommonMark with tables. */
export const INTRODUCTION = `Programs record conversations through this API and receive signed webhooks for every event, so that none has to poll. This page
lists every operation, event and error; the document itself is at \`/api/v1/openapi.json\`.

## Requests and answers

JSON in UTF-8, at most 256 KiB, with \`Content-Type: application/json\`. Unknown fields and unknown query parameters are ignored.
Timestamps are ISO 8601 in UTC with milliseconds. Identifiers sort by their time of creation. Lengths of texts are counted in UTF-16 code
units.

A success is \`{"success": true, "data": …}\`, an error \`{"error": {"type", "message", "requestId"}}\` with a status of 400 or more.
Decide by \`error.type\`, show \`error.message\`, quote \`error.requestId\` to support; it is also the \`Request-Id\` header of every answer.
What API Gateway answers by itself (an unknown path, a method that a path does not have) has the same form.

## Authentication

Operations under \`/api/v1\` take an API key: \`Authorization: Bearer ck_live_…\`, or \`ck_sandbox_…\` for the sandbox. Operations under
\`/api/settings\` take the session of a person, never a key. Some are the same operation for both, at two paths; with a session
\`environment=sandbox\` then takes the place of a sandbox key. What a visitor’s browser calls, under \`/api/v1/widget\`, takes the token of one
conversation, \`Authorization: Bearer cvt_…\`.

## Sandbox

An organization may have one sandbox: an organization beside it with its own data, in which you try everything without
effects outside. An admin provisions it (\`provisionSandbox\`) and gets a key. The key alone chooses where a request acts: addresses, operations and
answers are the same. A sandbox key reaches the sandbox of its own organization and nothing else, and no live key reaches the sandbox.

The same code does the same work: events, signatures, retries, disabling, counts, lists, idempotency, errors. Different is only this:

| | Live | Sandbox |
|---|---|---|
| Key | \`ck_live_…\` | \`ck_sandbox_…\` |
| \`orgId\` in events | the organization | the sandbox organization |
| Rate limit | as the tier has it | 60 requests a minute, with \`"sandbox"\` in the headers, in every tier |
| A webhook’s request | goes to the receiver | is made and signed, then taken by a simulated receiver: nothing is connected to or looked up |
| What the receiver answers | is its own matter | is what the endpoint’s URL says (\`registerWebhook\`), 200 if it says nothing |
| \`terminalReason\` of a success | null | \`sandbox_simulated\` |
| \`request\` of an attempt | null | the request as it would have gone out |
| \`atRealSpeed\` | null | when it would have been, where \`simulate-speed\` lets time pass faster |
| A source of knowledge | is fetched | is not: its URL says what would have been there (\`createSource\`) |
| A channel’s request | goes to the receiver | is taken by a simulated receiver, like a webhook’s |
| What a web widget’s visitor reads | what was said | nothing, ever |
| Other effects outside | e-mails, usage that is billed | none |
| Data | stays | is deleted when an admin asks for it (\`resetSandbox\`) |

To try your own receiver on what the sandbox would have sent it, list the deliveries with \`include=request\` and send the requests to it
yourself (\`listDeliveries\`).

## Retries and idempotency

A \`POST\` with an \`Idempotency-Key\` (a UUID of your choice) can be repeated without fear: a repetition gets the first answer again, with
\`Idempotency-Replayed: true\`. Repeat after a 429 or 503 when \`Retry-After\` says, after a 500 or a broken connection a moment later, each
time waiting longer. \`GET\`, \`PATCH\` and \`DELETE\` can be repeated as they are.

## Lists

Newest first, in pages. \`nextCursor\` is the \`cursor\` of the next page, and null on the last one. A cursor is opaque: do not parse or
construct one. A walk through the pages neither skips nor repeats what existed when it began.

## Rate limits

An organization has tokens for each minute: 600 in the tier \`standard\`, 6,000 in \`scale\`, and 60 in a sandbox, whichever of its
keys a request comes with. A request costs one token; one that reads or writes much, like a large message or statistics of a week, costs
more, as it turns out. What a minute uses beyond its tokens is taken from the next one. \`RateLimit-Policy\` and \`RateLimit\` tell the quota and what is left of it; beyond it the answer is 429 with
\`Retry-After\`. The dashboard and the sandbox have budgets of their own.

## You receive requests from this service

Requests with the user agent \`ConversationService-Webhooks\` come from an organization that registered a URL at your host for its events, and
those with \`ConversationService-Knowledge\` from one that imports your page, table or feed, once an hour. An organization can have at most
ten webhook endpoints at one host. Failed requests are repeated up to eight times within about an hour, and ten such failures in a row disable an
endpoint.

Genuine requests are signed as [Standard Webhooks](https://www.standardwebhooks.com) says; the organization that registered the URL has the secret. To have them
stopped, ask the organization to delete the endpoint or source (\`webhook-endpoint-id\` names the endpoint, \`orgId\` in the body the organization),
or write to the operator, at the address in the user agent where there is one. The operator can block your host for all organizations.

## Versions

Fields, operations, event types and values of answers are added without notice: tolerate what you do not know. Everything else that
changes gets a new version beside this one. An operation that will end says so in \`Deprecation\` and \`Sunset\` headers on every answer.`;

/** What the groups of operations are about, in the order in which they are shown. */
export const TAGS: Record<Tag | 'Events', string> = {
  Conversations:
    'Conversations with external users, their messages, and handoffs to a human. Each write sends an event to the endpoints that subscribe to it.',
  Channels:
    'Where conversations happen, and where messages of agents and assistants are sent: your own address, or a widget on a page. An organization may have 50.',
  Tickets: 'Fallback tickets: what is left for people to follow up.',
  Knowledge:
    'Sources of knowledge: pages, spreadsheets and feeds behind URLs, imported when they are created and checked every hour. An organization may have 1,000.',
  Webhooks: 'Endpoints that receive events. An organization may have 50.',
  Deliveries:
    'What became of each event at each endpoint. One event makes one delivery for each active endpoint that subscribes to it; deliveries are kept for 30 days.',
  Events: 'What endpoints and channels receive.',
  Organization: 'The organization and its settings, for people with a dashboard session.',
  'API keys': 'The keys that programs call with, managed by admins with a dashboard session.',
  Sandbox:
    'The organization’s sandbox: the same service without effects on the outside world. Provisioned, read and reset with a dashboard session; used with its keys.',
};
