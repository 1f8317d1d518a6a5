import * as conversations from '../../../functions/api/conversations/routes.ts';
import * as examples from '../example-values.ts';
import {
  CREATED,
  described,
  METADATA_CHANGED,
  METADATA_GIVEN,
  METADATA_SHOWN,
  type OperationText,
} from '../operation-text.ts';

const at = `/api/v1/conversations/${examples.conversation.id}`;

export const operations = {
  createConversation: {
    tag: 'Conversations',
    summary: 'Start a conversation',
    mostTokens: 10,
    description: `Starts a conversation with an external user. Sends \`conversation.created\`. \`channelId\` is
the identifier of an existing channel (\`createChannel\`), which then receives the messages of agents and the
assistant, or any other text as your own label.

A user can have several conversations on a channel. Send an \`Idempotency-Key\` so that a retry does not start
another one. A retry after the conversation was erased fails with \`GONE\`.`,
    body: {
      channelId: examples.conversation.channelId,
      externalUserId: examples.conversation.externalUserId,
    },
    answer: 'The conversation.',
    data: examples.conversation,
    location: at,
  },
  listConversations: {
    tag: 'Conversations',
    summary: 'List conversations',
    mostTokens: 11,
    description: `Returns the organization’s conversations, newest first. The filters can be combined in any way;
those of one external user are found at once, others by reading on.

A page may be short, or empty, and still have a \`nextCursor\`. To find what has changed since an earlier call, ask
from a minute before it on: the \`updatedAt\` of messages is exact to a minute.`,
    answer: 'A page of conversations.',
    data: [examples.resolvedConversation],
  },
  readConversation: {
    tag: 'Conversations',
    summary: 'Read a conversation',
    description: 'Returns a conversation and its status. Read its messages with `listMessages`.',
    answer: 'The conversation.',
    data: examples.resolvedConversation,
  },
  updateConversation: {
    tag: 'Conversations',
    summary: 'Update a conversation',
    mostTokens: 5,
    description: `Changes the channel or the metadata of a conversation. Omitted fields keep their values. \`metadata\`
replaces all entries; \`{}\` removes them. Messages that are recorded from then on go to the new channel. Sends no event.`,
    body: { metadata: examples.conversation.metadata },
    answer: 'The conversation.',
    data: examples.conversation,
  },
  deleteConversation: {
    tag: 'Conversations',
    summary: 'Erase a conversation',
    mostTokens: 7,
    description: `Erases a conversation with its messages, escalations and tickets. From the response on, no
operation shows any of it, deliveries of its channel’s messages that are not sent yet end as \`skipped\`, and
visitor tokens are no longer valid. The stored data is deleted within minutes, and responses of receivers to
resent events at the latest after 30 days. The event log keeps the identifiers of its events.

Sends \`conversation.deleted\`. \`Location\` names the receipt (\`readErasure\`). Erasing a conversation that does
not exist succeeds, so retries are safe.`,
    answer: 'The conversation is erased, or does not exist.',
    location: `/api/v1/erasures/${examples.erasure.id}`,
  },
  deleteContact: {
    tag: 'Conversations',
    summary: 'Erase the conversations of an external user',
    mostTokens: 320,
    description: `Erases all conversations that were started with this \`externalUserId\`, as
\`deleteConversation\` does, in one erasure for each 10 of them. \`Location\` names the receipt of the last one,
and each receipt the one before. Of a user with more than 50 conversations the response is
a 503 until a repeated request has erased the rest: repeat it until the response is 204.

Encode the identifier for a path: \`a/b\` as \`a%2Fb\`.`,
    answer: 'All conversations of the user are erased; there may have been none.',
    location: `/api/v1/erasures/${examples.erasure.id}`,
  },
  readErasure: {
    tag: 'Conversations',
    summary: 'Read the receipt of an erasure',
    mostTokens: 14,
    description: `Returns what was erased, and for each webhook endpoint that was sent
\`conversation.deleted\` whether it confirmed the event with a 2xx status. Kept for 400 days, the notifications
for 30.`,
    answer: 'The receipt.',
    data: examples.erasure,
  },
  createMessage: {
    tag: 'Conversations',
    summary: 'Record a message in a conversation',
    mostTokens: 83,
    description: `Records a message of any role. Sends \`message.received\`. A message to a resolved
conversation reopens it; one that is recorded at the same moment as the resolution counts as before it.

Without an \`Idempotency-Key\`, a retry records the message again; with one, a retry after the conversation was
erased fails with \`GONE\`.`,
    body: { role: examples.message.role, content: examples.message.content },
    answer: 'The message.',
    data: examples.message,
    location: `${at}/messages/${examples.message.id}`,
  },
  listMessages: {
    tag: 'Conversations',
    summary: 'List the messages of a conversation',
    mostTokens: 8,
    description: `Returns the messages of a conversation, newest first, or oldest first with \`order=asc\`. To follow a
conversation, subscribe to \`message.received\`.`,
    answer: 'A page of messages.',
    data: [examples.reply, examples.message],
  },
  readMessage: {
    tag: 'Conversations',
    summary: 'Read a message',
    description: 'Returns a message, for example that of a `message.received` event.',
    answer: 'The message.',
    data: examples.message,
  },
  requestHandoff: {
    tag: 'Conversations',
    summary: 'Hand a conversation off to a human',
    mostTokens: 7,
    description: `Hands a conversation off to a human. Its status becomes \`handed_off\`, an entry is added to
its escalation log, and \`handoff.requested\` is sent.

A conversation that is handed off already does not change: the response is 200 with the open escalation. Fails
with \`CONFLICT\` if the conversation is resolved; a message reopens it. A retry with an
\`Idempotency-Key\` after the conversation was erased fails with \`GONE\`. The body is optional.`,
    body: { reason: examples.escalation.reason },
    answer: 'The escalation log entry.',
    unchanged: 'The open escalation of a conversation that was handed off before.',
    data: examples.escalation,
    location: `${at}/escalations/${examples.escalation.id}`,
  },
  listEscalations: {
    tag: 'Conversations',
    summary: 'List the escalation log of a conversation',
    mostTokens: 2,
    description:
      'Returns the escalation log of a conversation, newest first: when and why it was handed off.',
    answer: 'A page of the escalation log.',
    data: [examples.escalation],
  },
  readEscalation: {
    tag: 'Conversations',
    summary: 'Read an escalation log entry',
    description: 'Returns an entry of the escalation log, for example that of a `handoff.requested` event.',
    answer: 'The escalation log entry.',
    data: examples.escalation,
  },
  resolveConversation: {
    tag: 'Conversations',
    summary: 'Mark a conversation resolved',
    mostTokens: 10,
    description: `Marks an open or handed-off conversation as resolved, and sends \`conversation.resolved\`. If
it is already resolved, nothing changes and nothing is sent; the response has the original \`resolvedBy\`. A
retry with an \`Idempotency-Key\` after the conversation was erased fails with \`GONE\`. The body is optional.`,
    body: { resolvedBy: examples.resolvedConversation.resolvedBy },
    answer: 'The resolved conversation.',
    data: examples.resolvedConversation,
  },
} as const satisfies Record<string, OperationText>;

/** The schemas of answers. */
export const answers = {
  Conversation: described(conversations.Conversation, {
    id: 'Identifier of the conversation.',
    channelId: 'The channel: an identifier, or your own label.',
    externalUserId: 'Your identifier of the external user.',
    status:
      '`open`, `handed_off` after a handoff to a human, or `resolved`. A message reopens a resolved conversation.',
    resolvedAt: 'When it was resolved, UTC; null unless `resolved`.',
    resolvedBy: 'Who resolved it; null unless `resolved`.',
    metadata: METADATA_SHOWN,
    createdAt: CREATED,
    updatedAt: 'Time of its last change or message, UTC; of a message, exact to a minute.',
  }),
  Message: described(conversations.Message, {
    id: 'Identifier of the message.',
    conversationId: 'The conversation.',
    role: 'Author: the external `user`, the `assistant`, a human `agent` or the `system`.',
    content: 'Text of the message.',
    metadata: METADATA_SHOWN,
    createdAt: CREATED,
  }),
  Escalation: described(conversations.Escalation, {
    id: 'Identifier of the escalation log entry, `escalationLogId` in events.',
    conversationId: 'The conversation that was handed off.',
    reason: 'Reason for the handoff; null if none was given.',
    createdAt: 'Time of the handoff, UTC.',
  }),
  ErasureNotification: described(conversations.ErasureNotification, {
    conversationId: 'The erased conversation.',
    webhookId: 'The webhook endpoint.',
    deliveryId: 'The delivery of `conversation.deleted`.',
    status: 'Status of the delivery. `skipped` for an endpoint that was paused or disabled.',
    confirmed: 'Whether the endpoint responded with a 2xx status, also to a later redelivery.',
  }),
  Erasure: described(conversations.Erasure, {
    id: 'Identifier of the erasure.',
    reason:
      '`conversation` or `contact` for a request to erase one, `retention` for conversations whose `retentionDays` were over.',
    conversationIds: 'The erased conversations.',
    notifications: 'The deliveries of `conversation.deleted`, one for each conversation and endpoint.',
    previousId: 'The erasure before of the same request; null for the first one.',
    requestedAt: 'Time of the erasure, UTC. From then on nothing shows the conversations.',
    completedAt: 'When the stored data had been deleted, UTC; null until then.',
  }),
};

/** The schemas of requests. */
export const bodies = {
  CreateConversation: described(conversations.CreateConversation, {
    channelId: 'Identifier of an existing channel, or any other text as your own label.',
    externalUserId: 'Your identifier of the external user.',
    metadata: METADATA_GIVEN,
  }),
  UpdateConversation: described(conversations.UpdateConversation, {
    channelId: 'Identifier of an existing channel, or any other text as your own label. Omit to keep it.',
    metadata: METADATA_CHANGED,
  }),
  CreateMessage: described(conversations.CreateMessage, {
    role: 'Author: the external `user`, the `assistant`, a human `agent` or the `system`.',
    content: 'Text of the message.',
    metadata: METADATA_GIVEN,
  }),
  RequestHandoff: described(conversations.RequestHandoff, {
    reason: 'Reason for the handoff, included in the event.',
  }),
  ResolveConversation: described(conversations.ResolveConversation, {
    resolvedBy: 'Who resolved it, included in the event.',
  }),
};
