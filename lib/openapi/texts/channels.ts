import * as channels from '../../../functions/api/channels/routes.ts';
import * as widget from '../../../functions/api/conversations/routes.ts';
import { MAX_RECEIVER_URL_LENGTH } from '../../../functions/receivers/url-text.ts';
import * as examples from '../example-values.ts';
import { CREATED, described, type OperationText } from '../operation-text.ts';
import { from, ordered } from '../redelivery-examples.ts';
import { ATTEMPT_LOG, deliveryFields, LISTED_REQUEST, LISTED_RESPONSE, statsFields } from './deliveries.ts';
import { redeliveryFields } from './redeliveries.ts';
import { RECEIVER_URL, webhookFields } from './webhooks.ts';

const at = `/api/v1/channels/${examples.httpChannel.id}`;
const { kind, name, url } = examples.httpChannel;

const redelivered = {
  ...examples.ofChannel(examples.redelivery),
  eventType: 'channel.message',
  eventId: examples.channelDelivery.eventId,
  redeliveryOf: examples.channelDelivery.id,
};
const job = examples.ofChannel(ordered);
/** Begins 90 seconds after the request. */
const recovering = { ...ordered, to: '2026-11-21T14:06:37.412Z' };

export const operations = {
  createChannel: {
    tag: 'Channels',
    summary: 'Create a channel',
    mostTokens: 2,
    description: `Creates a channel. It receives the messages of roles \`agent\` and \`assistant\`, not \`user\`
and \`system\`, in conversations that are started with its identifier as \`channelId\`.

| \`kind\` | Behavior |
|---|---|
| \`http\` | each such message is sent as a \`channel.message\` event to \`url\`, which is required: signed with the \`secret\` in this response, and retried, recorded and counted like a webhook delivery |
| \`web_widget\` | nothing is sent; the visitor’s browser reads the messages and writes its own (\`createVisitorToken\`, \`readWidgetMessages\`, \`createWidgetMessage\`) |

The URL follows the rules of \`registerWebhook\`, including simulated receivers in a sandbox. After 10
consecutive deliveries that end \`exhausted\`, a channel is disabled and its messages are \`skipped\`;
\`updateChannel\` resumes it and resends them.

An organization can have 40 channels; beyond that the request fails with \`LIMIT_EXCEEDED\`. A repeated request
whose channel was deleted since fails with \`GONE\`. A sandbox reset keeps channels.`,
    body: { name, kind, url },
    answer: 'The channel, with its signing secret for the kind `http`.',
    data: { ...examples.httpChannel, secret: examples.signingSecret },
    location: at,
  },
  listChannels: {
    tag: 'Channels',
    summary: 'List channels',
    description:
      'Returns the organization’s channels, newest first, including disabled ones. Secrets are not included.',
    answer: 'A page of channels.',
    data: [examples.httpChannel, examples.widgetChannel],
  },
  readChannel: {
    tag: 'Channels',
    summary: 'Read a channel',
    description:
      'Returns a channel without its secret. `status` and `failing` show whether its deliveries fail.',
    answer: 'The channel.',
    data: examples.widgetChannel,
  },
  updateChannel: {
    tag: 'Channels',
    summary: 'Update a channel',
    mostTokens: 2,
    description: `Changes the name or the URL, and pauses or resumes a channel. Omitted fields keep their values. A new
URL applies to the next attempts of open deliveries as well. The secret stays the same. A \`web_widget\` has a name only.

\`paused: true\` pauses a channel: its messages become \`skipped\` with \`endpoint_paused\`, nothing counts as a
failure, and a running redelivery job stops. Fails with \`CONFLICT\` if the channel is disabled.

\`paused: false\` resumes a channel that is paused or disabled, without failures, and starts a redelivery job for its
messages (\`redelivery\`), which begins after 90 seconds: for what was skipped in a pause, or, of a disabled channel, for all
deliveries that ended without success since two hours before its first failure. So conversations keep their channel, and
each message arrives. Fails with \`CONFLICT\` if another redelivery job of the channel is running.`,
    body: { paused: false },
    answer: 'The updated channel.',
    data: { ...examples.httpChannel, redelivery: examples.ofChannel(recovering) },
  },
  testChannel: {
    tag: 'Channels',
    summary: 'Send a test event to a channel',
    description: `Sends a \`channel.test\` event to a channel of kind \`http\`. It is signed, retried and recorded like a
message. Read the delivery (\`readChannelDelivery\`) for the response of the receiver, in a sandbox the simulated one.

A failed test counts like any failed delivery. Fails with \`CONFLICT\` if the channel is disabled or paused, or is a
\`web_widget\`.`,
    answer: 'The identifiers of the test event and its delivery.',
    data: { eventId: examples.webhookTest.id, deliveryId: examples.webhookTest.deliveryId },
  },
  readChannelStats: {
    tag: 'Channels',
    summary: 'Count the deliveries to a channel by hour and outcome',
    description: 'Counts the deliveries to a channel, as `readWebhookStats` does for an endpoint.',
    answer: 'The counts by hour and their totals.',
    data: examples.ofChannel(examples.webhookStats),
  },
  retryChannelDelivery: {
    tag: 'Channels',
    summary: 'Attempt a retrying delivery to a channel now',
    mostTokens: 13,
    description: `Makes the next attempt of a \`retrying\` delivery now instead of at \`nextRetryAt\`, as
\`retryDelivery\` does. Fails with \`CONFLICT\` if the delivery is not \`retrying\`, while an attempt is in progress, if
the attempt was already requested, and if the channel is disabled or paused.`,
    answer: 'The delivery, with its next attempt due now.',
    data: {
      ...examples.ofChannel(examples.retryingDelivery),
      eventType: 'channel.message',
      nextRetryAt: '2026-11-20T09:32:05.118Z',
    },
  },
  redeliverChannelDelivery: {
    tag: 'Channels',
    summary: 'Resend a delivery to a channel',
    description: `Resends the message of a delivery that \`succeeded\`, is \`exhausted\` or was \`skipped\`, as
\`redeliverDelivery\` does. Fails with \`CONFLICT\` while the delivery is open, if the channel is disabled or paused, and
if the message is more than 30 days old.`,
    answer: 'The new delivery.',
    data: redelivered,
    location: `${at}/deliveries/${redelivered.id}`,
  },
  startChannelRedelivery: {
    tag: 'Channels',
    summary: 'Resend the failed deliveries to a channel in a time range',
    mostTokens: 2,
    description: `Starts a background job that resends messages of a period, oldest first, as \`startRedelivery\` does for an
endpoint: those whose deliveries ended \`exhausted\` or \`skipped\`, each once, and one after the other. To resume a disabled channel use
\`updateChannel\`, which starts such a job itself.

One job runs at a time for a channel. Another one fails with \`CONFLICT\`, as does a job for a channel that is disabled or
paused, or a \`web_widget\`. A job stops when the channel is disabled, paused or deleted.`,
    body: { from },
    answer: 'The running redelivery job.',
    data: job,
    location: `${at}/redeliveries/${job.id}`,
  },
  listChannelRedeliveries: {
    tag: 'Channels',
    summary: 'List the redelivery jobs of a channel',
    description:
      'Returns the redelivery jobs of a channel, newest first. Jobs are kept for 30 days after they end.',
    answer: 'A page of redelivery jobs.',
    data: [recovering].map(examples.ofChannel),
  },
  readChannelRedelivery: {
    tag: 'Channels',
    summary: 'Read a redelivery job of a channel',
    description: 'Returns a redelivery job with its progress and outcome.',
    answer: 'The redelivery job.',
    data: job,
  },
  stopChannelRedelivery: {
    tag: 'Channels',
    summary: 'Stop a redelivery job of a channel',
    description: `Stops a redelivery job, as \`stopRedelivery\` does. Stopping a job that has ended or does not exist
succeeds, so retries are safe.`,
    answer: 'The redelivery job is stopped.',
  },
  deleteChannel: {
    tag: 'Channels',
    summary: 'Delete a channel',
    mostTokens: 2,
    description: `Deletes a channel. Nothing more is sent to it: its open deliveries become \`skipped\`, and its
deliveries can no longer be read. Its conversations stay and continue without a channel. Visitor tokens stay
valid until they expire.

Deleting a channel that does not exist succeeds, so retries are safe.`,
    answer: 'The channel is deleted.',
  },
  listChannelDeliveries: {
    tag: 'Channels',
    summary: 'List the deliveries to a channel',
    mostTokens: 18,
    description: `Returns the deliveries to a channel of kind \`http\`, newest first, one for each message. A
\`web_widget\` has none. Deliveries are kept for 30 days. For a deleted channel the response is a 404.

Filters, pages and, in a sandbox, \`include=request\` work as in \`listDeliveries\`.`,
    answer: 'A page of deliveries.',
    data: [examples.channelDelivery],
  },
  readChannelDelivery: {
    tag: 'Channels',
    summary: 'Read a delivery to a channel with its attempts',
    description:
      'Returns a delivery with its attempt log, as `readDelivery` does for webhooks. In a sandbox, each attempt has its `request` unless the body is larger than 32 KiB.',
    answer: 'The delivery with its attempts.',
    data: { ...examples.channelDelivery, attemptLog: examples.channelAttempts },
  },
  createVisitorToken: {
    tag: 'Channels',
    summary: 'Create a visitor token',
    description: `Creates a token with which a visitor’s browser can read this conversation and write in it, and
nothing else, for 15 minutes (\`readWidgetMessages\`, \`createWidgetMessage\`). Call this from your server after authenticating the visitor, and pass
the token to your page. Create a new one before it expires.

Fails with \`CONFLICT\` unless the conversation is on a channel of kind \`web_widget\`, and a retry with an
\`Idempotency-Key\` after the conversation was erased with \`GONE\`. The token is not stored.`,
    answer: 'The visitor token.',
    data: { token: examples.visitorToken, expiresAt: examples.visitorTokenExpiresAt },
  },
  readWidgetMessages: {
    tag: 'Channels',
    summary: 'Read new messages as a visitor',
    mostTokens: 4,
    description: `Returns the messages of the user, the assistant and agents in the token’s conversation, oldest
first. Browsers can call it from any site: preflight requests are answered, and \`Access-Control-Allow-Origin\`
is \`*\`.

Call it without \`cursor\` first, then every few seconds with the previous \`followCursor\`, at once while
\`nextCursor\` is not null. Each message comes exactly once, as soon as it is recorded. Of messages recorded at the
same moment, an earlier one may come after a later one: show them by \`createdAt\`. Of more than 50 messages, or
1 MB, in 15 seconds, the last ones may come after that time.

All visitors of a conversation share 60 requests a minute, apart from the organization’s rate limit. **In a
sandbox**, the list is always empty.`,
    answer: 'A page of new messages.',
    data: examples.widgetMessages,
    followCursor: examples.CURSOR,
    sandbox: [],
  },
  createWidgetMessage: {
    tag: 'Channels',
    summary: 'Send a message as a visitor',
    mostTokens: 4,
    description: `Records a message of role \`user\` in the token’s conversation, with the event \`message.received\`, and
opens the conversation if it is resolved. Browsers can call it from any site, as \`readWidgetMessages\`, which
returns the message too: tell them apart by \`id\`. An \`Idempotency-Key\` counts for its conversation alone.

All visitors of a conversation share 20 messages a minute, apart from what they read and from the organization’s
rate limit. Fails with \`NOT_FOUND\` when the conversation was deleted.`,
    body: { content: examples.message.content },
    answer: 'The message.',
    data: examples.widgetMessages[0],
  },
} as const satisfies Record<string, OperationText>;

const { webhookId: _, ...deliveryToAny } = deliveryFields;
const channelDelivery = { ...deliveryToAny, channelId: 'The channel.' };

const channelFields = {
  id: 'Identifier of the channel: the `channelId` of its conversations.',
  kind: '`http` sends messages to `url`; `web_widget` lets visitors read them and answer.',
  name: 'Display name.',
  url: 'Receiver URL, normalized; null for a `web_widget`.',
  status:
    '`active`; `paused` by `updateChannel`; or `auto_disabled`: after 10 consecutive deliveries that ended `exhausted`, or by support. `updateChannel` resumes it.',
  consecutiveFailures: webhookFields.consecutiveFailures,
  failing: webhookFields.failing,
  pausedAt: webhookFields.pausedAt,
  disabledAt: webhookFields.disabledAt,
  disabledReason: webhookFields.disabledReason,
  createdAt: CREATED,
};

/** The schemas of answers. */
export const answers = {
  Channel: described(
    channels.Channel,
    channelFields,
    {},
    {
      property: 'kind',
      of: {
        http: { name: 'HttpChannel', present: ['url'] },
        web_widget: { name: 'WebWidgetChannel' },
      },
    },
  ),
  UpdatedChannel: described(
    channels.UpdatedChannel,
    {
      ...channelFields,
      redelivery: 'The redelivery job that this request has started; null if it has started none.',
    },
    {},
    {
      property: 'kind',
      of: {
        http: { name: 'UpdatedHttpChannel', present: ['url'] },
        web_widget: { name: 'UpdatedWebWidgetChannel' },
      },
    },
  ),
  CreatedChannel: described(
    channels.CreatedChannel,
    {
      ...channelFields,
      secret:
        'Signing secret of a channel of kind `http`: `whsec_` and the base64 of 32 bytes. Returned by this operation only. Null for a `web_widget`.',
    },
    {},
    {
      property: 'kind',
      of: {
        http: { name: 'CreatedHttpChannel', present: ['url', 'secret'] },
        web_widget: { name: 'CreatedWebWidgetChannel' },
      },
    },
  ),
  ChannelDelivery: described(channels.ChannelDelivery, channelDelivery),
  ListedChannelDelivery: described(channels.ListedChannelDelivery, {
    ...channelDelivery,
    request: LISTED_REQUEST,
    lastResponse: LISTED_RESPONSE,
  }),
  ChannelDeliveryWithAttempts: described(channels.ChannelDeliveryWithAttempts, {
    ...channelDelivery,
    attemptLog: ATTEMPT_LOG,
  }),
  ChannelStats: described(channels.ChannelStats, { channelId: 'The channel.', ...statsFields }),
  ChannelRedelivery: described(channels.ChannelRedelivery, {
    channelId: 'The channel.',
    ...redeliveryFields,
  }),
  VisitorToken: described(widget.VisitorToken, {
    token: 'Token for `Authorization: Bearer`. Returned by this operation only; it is not stored.',
    expiresAt: 'Expiry, UTC: 15 minutes after creation. A sandbox reset revokes it earlier.',
  }),
  WidgetMessage: described(widget.WidgetMessage, {
    id: 'Identifier of the message.',
    role: 'Author: the external `user`, the `assistant` or a human `agent`.',
    content: 'Text of the message.',
    createdAt: CREATED,
  }),
};

/** The schemas of requests. */
export const bodies = {
  CreateWidgetMessage: described(widget.CreateWidgetMessage, { content: 'Text of the message.' }),
  CreateChannel: described(
    channels.CreateChannel,
    {
      kind: '`http` sends messages to `url`; `web_widget` lets visitors read them.',
      name: 'Display name.',
      url: `${RECEIVER_URL} Required for the kind \`http\`, not allowed otherwise.`,
    },
    { url: { format: 'uri', maxLength: MAX_RECEIVER_URL_LENGTH } },
    {
      property: 'kind',
      of: {
        http: { name: 'CreateHttpChannel', required: ['url'] },
        web_widget: { name: 'CreateWebWidgetChannel', without: ['url'] },
      },
    },
  ),
  UpdateChannel: described(
    channels.UpdateChannel,
    {
      name: 'Display name. Omit to keep it.',
      url: `${RECEIVER_URL} Omit to keep the URL. Only for the kind \`http\`.`,
      paused:
        'True pauses the channel, and false resumes it, also one that is disabled. Only for the kind `http`.',
    },
    { url: { format: 'uri', maxLength: MAX_RECEIVER_URL_LENGTH } },
  ),
};
