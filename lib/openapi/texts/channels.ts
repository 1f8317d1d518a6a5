import * as channels from '../../../functions/api/channels/schemas.ts';
import * as widget from '../../../functions/api/widget/schemas.ts';
import { MAX_RECEIVER_URL_LENGTH } from '../../../functions/domain/receiver-url.ts';
import * as examples from '../example-values.ts';
import { CREATED, described, type OperationText } from '../operation-text.ts';
import { ATTEMPT_LOG, deliveryFields, LISTED_REQUEST } from './deliveries.ts';
import { RECEIVER_URL, webhookFields } from './webhooks.ts';

const at = `/api/v1/channels/${examples.httpChannel.id}`;
const { kind, name, url } = examples.httpChannel;

export const operations = {
  createChannel: {
    tag: 'Channels',
    atMost: { reads: 4, writes: 20 },
    description: `Sets up a place where conversations happen. A conversation that is started with its identifier as \`channelId\` takes place on it,
and what an \`agent\` or the \`assistant\` says there gets to it. What the \`user\` and the \`system\` say does not.

| \`kind\` | What the channel gets |
|---|---|
| \`http\` | for each such message a \`channel.message\` event at its \`url\`, which must be given: signed with the \`secret\` that this answer shows, retried, recorded and counted as a webhook’s |
| \`web_widget\` | nothing is sent; the visitor’s browser reads the messages (\`createVisitorToken\`, \`readWidgetMessages\`) |

Addresses are as for webhooks (\`registerWebhook\`), and so is what a simulated receiver does in a sandbox. After 10 deliveries in a row that end
\`exhausted\` a channel is disabled and its messages are \`skipped\`: set up a new one.

An organization may have 50 channels; one more is refused with \`LIMIT_EXCEEDED\`. A reset of the sandbox leaves them.`,
    body: { name, kind, url },
    answer: 'The channel; one of the kind `http` with its signing secret.',
    data: { ...examples.httpChannel, secret: examples.signingSecret },
    location: at,
  },
  listChannels: {
    tag: 'Channels',
    atMost: { reads: 45, writes: 3 },
    description:
      'The organization’s channels, newest first, disabled ones included. Never with their secrets.',
    answer: 'A page of channels.',
    data: [examples.httpChannel, examples.widgetChannel],
  },
  readChannel: {
    tag: 'Channels',
    atMost: { reads: 5, writes: 3 },
    description:
      'One channel, never with its secret. `status` and `failing` tell how its receiver is doing, and how far it is from being disabled.',
    answer: 'The channel.',
    data: examples.widgetChannel,
  },
  deleteChannel: {
    tag: 'Channels',
    atMost: { reads: 4, writes: 15 },
    description: `Deletes a channel. Nothing is sent to it from then on: its deliveries that are not finished become \`skipped\`, and none of its
deliveries can be read any more. Its conversations stay, and go on without a channel. Tokens that visitors have are good until they expire.

A channel that does not exist, or not any more, is a success as well, so that a repetition is safe.`,
    answer: 'There is no such channel any more.',
  },
  listChannelDeliveries: {
    tag: 'Channels',
    atMost: { reads: 1600, writes: 4 },
    description: `What was, is and will be sent to a channel of the kind \`http\`, newest first: one delivery for each message. Deliveries are kept for 30
days. Those of a deleted channel cannot be read: 404. To a \`web_widget\` nothing is sent. The filters are those of \`listDeliveries\`, pages that are short
included.

**In a sandbox** \`include=request\` adds the request of the last attempt, as it does for webhooks (\`listDeliveries\`).`,
    answer: 'A page of deliveries.',
    data: [examples.channelDelivery],
  },
  readChannelDelivery: {
    tag: 'Channels',
    atMost: { reads: 20, writes: 3 },
    description:
      'One delivery with the log of its attempts, as `readDelivery` shows those to webhooks. In a sandbox each attempt has its `request`, unless the body is larger than 32 KiB.',
    answer: 'The delivery with its attempts.',
    data: { ...examples.channelDelivery, attemptLog: examples.channelAttempts },
  },
  createVisitorToken: {
    tag: 'Channels',
    atMost: { reads: 5, writes: 5 },
    description: `Makes a token with which the visitor’s browser reads this conversation and nothing else (\`readWidgetMessages\`), for 15 minutes. Have your
own server call this, after it has established who the visitor is, and hand the token to your page; ask for another one before it expires.

Only for conversations on a channel of the kind \`web_widget\`: any other is refused with \`CONFLICT\`. The token is stored nowhere.`,
    answer: 'The token.',
    data: { token: examples.visitorToken, expiresAt: examples.visitorTokenExpiresAt },
  },
  readWidgetMessages: {
    tag: 'Channels',
    atMost: { reads: 350, writes: 4 },
    description: `What was said in the token’s conversation after the message \`after\`, oldest first: by the user, the assistant and agents. For browsers, on
any site: preflights are answered, and \`Access-Control-Allow-Origin\` is \`*\`.

Ask without \`after\` first, then every few seconds with the \`after\` of the answer before. As soon as it stays the same, everything there is
was read. Two messages that are recorded at the same moment may become visible one before the other; a widget that must never miss one asks
again from a message that is half a minute old, and recognises by \`id\` what it has shown.

A conversation’s visitors may ask 60 times a minute together, which is no part of the organization’s budget. **In a sandbox** there are never
any messages here: nothing of it gets to a widget.`,
    answer: 'What the visitor has not seen yet.',
    data: { messages: examples.widgetMessages, after: examples.reply.id },
    sandbox: { messages: [], after: null },
  },
} as const satisfies Record<string, OperationText>;

const { webhookId: _, ...deliveryToAny } = deliveryFields;
const channelDelivery = { ...deliveryToAny, channelId: 'The channel that it is for.' };

const channelFields = {
  id: 'Identifies the channel: the `channelId` of conversations that take place on it.',
  kind: '`http`: messages are sent to `url`. `web_widget`: visitors read them.',
  name: 'Label for people.',
  url: 'Where messages go, as the service understood it; null for a `web_widget`.',
  status:
    '`active`, or `auto_disabled`: after 10 deliveries in a row ended `exhausted`, or by support. A disabled channel stays disabled: set up another one, or ask support.',
  consecutiveFailures: webhookFields.consecutiveFailures,
  failing: webhookFields.failing,
  disabledAt: webhookFields.disabledAt,
  disabledReason: webhookFields.disabledReason,
  createdAt: CREATED,
};

/** The schemas of answers. */
export const answers = {
  Channel: described(channels.Channel, channelFields),
  CreatedChannel: described(channels.CreatedChannel, {
    ...channelFields,
    secret:
      'The signing secret of this channel, for the kind `http`: `whsec_` and the base64 of 32 bytes. Only this answer has it. Null for a `web_widget`.',
  }),
  ChannelDelivery: described(channels.ChannelDelivery, channelDelivery),
  ListedChannelDelivery: described(channels.ListedChannelDelivery, {
    ...channelDelivery,
    request: LISTED_REQUEST,
  }),
  ChannelDeliveryWithAttempts: described(channels.ChannelDeliveryWithAttempts, {
    ...channelDelivery,
    attemptLog: ATTEMPT_LOG,
  }),
  VisitorToken: described(widget.VisitorToken, {
    token: 'For `Authorization: Bearer`. Only this answer has it; it is stored nowhere.',
    expiresAt: 'When it ends, UTC: 15 minutes after it was made. A reset of the sandbox ends it as well.',
  }),
  WidgetMessages: described(widget.WidgetMessages, {
    messages: 'What was said, oldest first.',
    after: 'The `after` of the next request: the last message that was read, or the one given.',
  }),
  WidgetMessage: described(widget.WidgetMessage, {
    id: 'Identifies the message.',
    role: 'Who said it: the external `user`, the `assistant` or a human `agent`.',
    content: 'Its text.',
    createdAt: CREATED,
  }),
};

/** The schemas of requests. */
export const bodies = {
  CreateChannel: described(
    channels.CreateChannel,
    {
      kind: '`http`: messages are sent to `url`. `web_widget`: visitors read them.',
      name: 'Label for people.',
      url: `${RECEIVER_URL} For the kind \`http\`, and no other.`,
    },
    { url: { format: 'uri', maxLength: MAX_RECEIVER_URL_LENGTH } },
  ),
};
