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
another one.`,
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
  createMessage: {
    tag: 'Conversations',
    summary: 'Record a message in a conversation',
    mostTokens: 82,
    description: `Records a message of any role. Sends \`message.received\`. A message to a resolved
conversation reopens it; one that is recorded at the same moment as the resolution counts as before it.

Without an \`Idempotency-Key\`, a retry records the message again.`,
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
with \`CONFLICT\` if the conversation is resolved; a message reopens it. The body is optional.`,
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
it is already resolved, nothing changes and nothing is sent; the response has the original \`resolvedBy\`. The
body is optional.`,
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
