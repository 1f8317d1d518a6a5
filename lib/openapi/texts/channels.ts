import * as channels from '../../../functions/api/channels/routes.ts';
import * as widget from '../../../functions/api/conversations/routes.ts';
import { MAX_RECEIVER_URL_LENGTH } from '../../../functions/receivers/url-text.ts';
import * as examples from '../example-values.ts';
import { CREATED, described, type OperationText } from '../operation-text.ts';
import { ATTEMPT_LOG, deliveryFields, LISTED_REQUEST, LISTED_RESPONSE } from './deliveries.ts';
import { RECEIVER_URL, webhookFields } from './webhooks.ts';

const at = `/api/v1/channels/${examples.httpChannel.id}`;
const { kind, name, url } = examples.httpChannel;

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
| \`web_widget\` | nothing is sent; the visitor’s browser reads the messages (\`createVisitorToken\`, \`readWidgetMessages\`) |

The URL follows the rules of \`registerWebhook\`, including simulated receivers in a sandbox. After 10
consecutive deliveries that end \`exhausted\`, a channel is disabled and its messages are \`skipped\`; create a
new one.

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
    description: `Creates a token with which a visitor’s browser can read this conversation, and nothing else,
for 15 minutes (\`readWidgetMessages\`). Call this from your server after authenticating the visitor, and pass
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
} as const satisfies Record<string, OperationText>;

const { webhookId: _, ...deliveryToAny } = deliveryFields;
const channelDelivery = { ...deliveryToAny, channelId: 'The channel.' };

const channelFields = {
  id: 'Identifier of the channel: the `channelId` of its conversations.',
  kind: '`http` sends messages to `url`; `web_widget` lets visitors read them.',
  name: 'Display name.',
  url: 'Receiver URL, normalized; null for a `web_widget`.',
  status:
    '`active`, or `auto_disabled`: after 10 consecutive deliveries that ended `exhausted`, or by support. No operation enables it: create a new channel, or contact support.',
  consecutiveFailures: webhookFields.consecutiveFailures,
  failing: webhookFields.failing,
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
};
