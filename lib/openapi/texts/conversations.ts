import * as conversations from '../../../functions/api/conversations/schemas.ts';
import * as examples from '../example-values.ts';
import { CREATED, described, type OperationText } from '../operation-text.ts';

const at = `/api/v1/conversations/${examples.conversation.id}`;

export const operations = {
  createConversation: {
    tag: 'Conversations',
    atMost: { reads: 5, writes: 20 },
    description: `Starts a conversation with an external user on a channel. Sends \`conversation.created\`. The user is named as you name them.
\`channelId\` may be the identifier of a channel that you have set up (\`createChannel\`): it then gets what agents and the assistant say. An identifier
of no channel is refused; any other text is a label of your own, to which nothing is sent.

Several conversations with the same user on the same channel may exist. Send an \`Idempotency-Key\` so that a repeated request starts no
second one.`,
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
    atMost: { reads: 85, writes: 3 },
    description: 'The organization’s conversations in every state, the one that started last first.',
    answer: 'A page of conversations.',
    data: [examples.resolvedConversation],
  },
  readConversation: {
    tag: 'Conversations',
    atMost: { reads: 5, writes: 3 },
    description:
      'One conversation and the state it is in. Its messages have a list of their own (`listMessages`).',
    answer: 'The conversation.',
    data: examples.resolvedConversation,
  },
  createMessage: {
    tag: 'Conversations',
    atMost: { reads: 5, writes: 1550 },
    description: `Records a message of any role. Sends \`message.received\`. A message to a resolved conversation opens it again;
one that comes at the same moment as the resolving counts as before it.

Without an \`Idempotency-Key\` a repeated request records the message again.`,
    body: { role: examples.message.role, content: examples.message.content },
    answer: 'The message.',
    data: examples.message,
    location: `${at}/messages/${examples.message.id}`,
  },
  listMessages: {
    tag: 'Conversations',
    atMost: { reads: 768, writes: 4 },
    description: 'The messages of a conversation, newest first.',
    answer: 'A page of messages.',
    data: [examples.reply, examples.message],
  },
  readMessage: {
    tag: 'Conversations',
    atMost: { reads: 75, writes: 3 },
    description: 'One message, for example the one that a `message.received` event names.',
    answer: 'The message.',
    data: examples.message,
  },
  requestHandoff: {
    tag: 'Conversations',
    atMost: { reads: 5, writes: 35 },
    description: `Asks for a human. The conversation becomes \`handed_off\`, an entry of its escalation log is written, and
\`handoff.requested\` is sent.

Only an open conversation can be handed off: one that is handed off already, or resolved, is refused with \`CONFLICT\`. A message opens
a resolved one again. The body may be left out.`,
    body: { reason: examples.escalation.reason },
    answer: 'The entry of the escalation log.',
    data: examples.escalation,
    location: `${at}/escalations/${examples.escalation.id}`,
  },
  listEscalations: {
    tag: 'Conversations',
    atMost: { reads: 95, writes: 3 },
    description: 'When and why a conversation was handed off, the last time first.',
    answer: 'A page of the escalation log.',
    data: [examples.escalation],
  },
  readEscalation: {
    tag: 'Conversations',
    atMost: { reads: 5, writes: 3 },
    description:
      'One entry of the escalation log, for example the one that a `handoff.requested` event names.',
    answer: 'The entry of the escalation log.',
    data: examples.escalation,
  },
  resolveConversation: {
    tag: 'Conversations',
    atMost: { reads: 5, writes: 20 },
    description: `Marks a conversation resolved, handed off or not, and sends \`conversation.resolved\`. Resolving one that is resolved already
changes nothing and sends nothing: the answer is the conversation as it is, with who resolved it first. The body may be left out.`,
    body: { resolvedBy: examples.resolvedConversation.resolvedBy },
    answer: 'The conversation, resolved.',
    data: examples.resolvedConversation,
  },
} as const satisfies Record<string, OperationText>;

/** The schemas of answers. */
export const answers = {
  Conversation: described(conversations.Conversation, {
    id: 'Identifies the conversation.',
    channelId: 'The channel it takes place on, in your own naming.',
    externalUserId: 'Who is talking to you, in your own naming.',
    status: '`open`; `handed_off` once a human was asked for; `resolved`. A message reopens a resolved one.',
    resolvedAt: 'When it was resolved, UTC; null unless it is resolved.',
    resolvedBy: 'Who resolved it; null unless it is resolved.',
    createdAt: CREATED,
  }),
  Message: described(conversations.Message, {
    id: 'Identifies the message.',
    conversationId: 'The conversation it belongs to.',
    role: 'Who said it: the external `user`, the `assistant`, a human `agent`, or the `system`.',
    content: 'Its text.',
    createdAt: CREATED,
  }),
  Escalation: described(conversations.Escalation, {
    id: 'Identifies the entry of the escalation log. Events call it `escalationLogId`.',
    conversationId: 'The conversation that was handed off.',
    reason: 'Why, if that was said.',
    createdAt: 'When the handoff was requested, UTC.',
  }),
};

/** The schemas of requests. */
export const bodies = {
  CreateConversation: described(conversations.CreateConversation, {
    channelId:
      'The channel it takes place on: the identifier of one that you have set up (`createChannel`), which then gets what is said there, or any other text as a label of your own.',
    externalUserId: 'Who is talking to you, in your own naming.',
  }),
  CreateMessage: described(conversations.CreateMessage, {
    role: 'Who said it: the external `user`, the `assistant`, a human `agent`, or the `system`.',
    content: 'Its text.',
  }),
  RequestHandoff: described(conversations.RequestHandoff, {
    reason: 'Why a human is needed. The event carries it.',
  }),
  ResolveConversation: described(conversations.ResolveConversation, {
    resolvedBy: 'Who resolved it, in your own naming. The event carries it.',
  }),
};
