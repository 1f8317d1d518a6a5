import { createHash } from 'node:crypto';
import { v7 } from 'uuid';
import { deriveDeliveryId } from '../../functions/aws/ids.ts';
import type { LedgerEntry } from '../../functions/delivery/ledger.ts';
import { buildDeliveryStats, buildEndpointStats } from '../../functions/delivery/statistics.ts';
import { DEFAULT_RETRY_POLICY, scheduleNextAttempt } from '../../functions/delivery/timing.ts';

/*
 * The data of all examples: an organization, its endpoint, one conversation and its outcome. Values that the
 * service derives are derived here as well (identifiers carry the time of creation, a delivery's follows from
 * event and endpoint, retries are spaced by the policy), so that an example is what an answer would hold.
 */

/**
 * An identifier as the service makes them, but the same at each call: its random bits are those of its prefix
 * and time.
 */
export function exampleId<P extends string>(prefix: P, createdAt: string): `${P}_${string}` {
  const random = createHash('sha256').update(`${prefix}/${createdAt}`).digest().subarray(0, 16);
  return `${prefix}_${v7({ msecs: Date.parse(createdAt), random }).replaceAll('-', '')}`;
}

/** Identifier and time of what was created then. */
export const created = <P extends string>(prefix: P, createdAt: string) => ({
  id: exampleId(prefix, createdAt),
  createdAt,
});

export const organization = {
  ...created('org', '2026-06-01T08:00:00.000Z'),
  name: 'Acme',
  environment: 'live',
  tier: 'standard',
  contentChangeThreshold: 20,
  contentChangeNotifications: true,
  retentionDays: null,
  mailer: true,
} as const;

/** One of its admins. */
export const signedIn = {
  userId: '7c1e5a34-60d1-7013-8f5e-2d9b1c4f6a20',
  email: 'ada@acme.example',
  organizationId: organization.id,
  organizationName: organization.name,
  role: 'admin',
  expiresAt: '2026-11-20T10:30:00.000Z',
} as const;

/** Of three months. */
export const usage = {
  organizationId: organization.id,
  months: [
    { month: '2026-11', conversations: 1204, messages: 9377 },
    { month: '2026-10', conversations: 1688, messages: 13_102 },
    { month: '2026-09', conversations: 0, messages: 0 },
  ],
} as const;

export const apiKey = {
  ...created('key', '2026-06-01T08:05:12.480Z'),
  environment: 'live',
  name: 'Production backend',
  scopes: ['write:conversations', 'write:webhooks'],
  lastUsedAt: null,
  revokedAt: null,
} as const;

/** The same, as it is listed later. */
export const usedApiKey = { ...apiKey, lastUsedAt: '2026-11-20T09:29:14.803Z' } as const;

export const sandbox = {
  sandboxOrganizationId: exampleId('org', '2026-11-20T09:28:15.377Z'),
  createdAt: '2026-11-20T09:28:15.377Z',
  lastResetAt: '2026-11-20T14:00:02.518Z',
  purge: { since: '2026-11-20T14:00:02.518Z', deleted: 1850 },
} as const;

/** It came with the sandbox. */
export const sandboxKey = {
  ...created('key', sandbox.createdAt),
  environment: 'sandbox',
  name: 'Continuous integration',
  scopes: ['write:conversations', 'write:webhooks'],
  lastUsedAt: null,
  revokedAt: null,
} as const;

export const sandboxKeySecret = 'ck_sandbox_An-example-of-the-form-and-no-key-of-anyone';

/** Of the right form, and not a key. */
export const apiKeySecret = 'ck_live_An-example-of-the-form-and-no-key-of-anyone';

export const revokedApiKey = {
  ...created('key', '2026-06-01T08:00:00.000Z'),
  environment: 'live',
  name: 'First key',
  scopes: [
    'read:webhooks',
    'write:webhooks',
    'read:conversations',
    'write:conversations',
    'read:knowledge',
    'write:knowledge',
  ],
  lastUsedAt: '2026-06-01T08:09:30.262Z',
  revokedAt: '2026-06-01T08:12:44.009Z',
} as const;

export const webhook = {
  ...created('whk', '2026-11-20T09:30:00.000Z'),
  url: 'https://hooks.example.com/conversations',
  events: ['conversation.created', 'handoff.requested', 'ticket.created'],
  filter: null,
  description: 'Helpdesk',
  maxPerSecond: 50,
  status: 'active',
  consecutiveFailures: 0,
  failing: null,
  pausedAt: null,
  disabledAt: null,
  disabledReason: null,
  predecessor: null,
} as const;

/** The endpoint that it replaces was disabled after an outage. */
export const predecessor = {
  id: exampleId('whk', '2026-11-03T14:12:09.118Z'),
  failingSince: '2026-11-20T07:05:51.337Z',
  disabledAt: '2026-11-20T08:20:13.902Z',
} as const;

/** The same, after three deliveries in a row were exhausted. */
export const failingWebhook = {
  ...webhook,
  consecutiveFailures: 3,
  failing: { since: '2026-11-20T10:34:39.406Z', failuresUntilDisabled: 7 },
} as const;

/** Of the right form: the base64 of 32 bytes. */
export const signingSecret = `whsec_${Buffer.from('example signing secret, not real').toString('base64')}`;

export const conversation = {
  ...created('cnv', '2026-11-20T09:31:00.250Z'),
  channelId: 'chn_web',
  externalUserId: 'ada@customer.example',
  status: 'open',
  resolvedAt: null,
  resolvedBy: null,
  metadata: { order: '2026-10442' },
  updatedAt: '2026-11-20T09:31:00.250Z',
} as const;

export const resolvedConversation = {
  ...conversation,
  status: 'resolved',
  resolvedAt: '2026-11-20T09:52:41.730Z',
  resolvedBy: 'agent-42',
  updatedAt: '2026-11-20T09:52:41.730Z',
} as const;

export const message = {
  ...created('msg', '2026-11-20T09:31:04.512Z'),
  conversationId: conversation.id,
  role: 'user',
  content: 'My parcel has not arrived. Can I talk to a person?',
  metadata: {},
} as const;

export const reply = {
  ...created('msg', '2026-11-20T09:31:06.037Z'),
  conversationId: conversation.id,
  role: 'assistant',
  content: 'Of course. I will hand you over to a colleague.',
  metadata: {},
} as const;

export const escalation = {
  ...created('esc', '2026-11-20T09:31:07.118Z'),
  conversationId: conversation.id,
  reason: 'The customer asked for a person',
} as const;

export const erasure = {
  id: exampleId('era', '2026-11-27T08:00:00.000Z'),
  reason: 'conversation',
  conversationIds: [conversation.id],
  notifications: [
    {
      conversationId: conversation.id,
      webhookId: exampleId('whk', '2026-11-20T09:00:00.000Z'),
      deliveryId: exampleId('dlv', '2026-11-27T08:00:00.000Z'),
      status: 'succeeded',
      confirmed: true,
    },
  ],
  previousId: null,
  requestedAt: '2026-11-27T08:00:00.000Z',
  completedAt: '2026-11-27T08:03:11.482Z',
} as const;

/** An event has its cause's time; its deliveries carry it in their identifiers too. */
export const eventAt = (createdAt: string) => {
  const id = exampleId('evt', createdAt);
  return { id, createdAt, deliveryId: deriveDeliveryId(id, webhook.id) };
};

export const conversationCreated = eventAt(conversation.createdAt);
const handoffRequested = eventAt(escalation.createdAt);
export const webhookTest = eventAt('2026-11-20T09:30:42.905Z');

/** Answered with a 200 at the first attempt. */
export const succeededDelivery = {
  id: conversationCreated.deliveryId,
  webhookId: webhook.id,
  eventId: conversationCreated.id,
  eventType: 'conversation.created',
  status: 'succeeded',
  attempts: 1,
  nextRetryAt: null,
  nextRetryReason: null,
  terminalAt: '2026-11-20T09:31:00.512Z',
  terminalReason: null,
  lastError: null,
  lastErrorCode: null,
  lastResponseStatus: 200,
  redeliveryOf: null,
  createdAt: '2026-11-20T09:31:00.368Z',
} as const;

/** Its second attempt ended then. */
const secondFailureAt = new Date('2026-11-20T09:31:47.940Z');

/** Failed twice, to be tried again. */
export const retryingDelivery = {
  id: handoffRequested.deliveryId,
  webhookId: webhook.id,
  eventId: handoffRequested.id,
  eventType: 'handoff.requested',
  status: 'retrying',
  attempts: 2,
  nextRetryAt: scheduleNextAttempt(2, secondFailureAt, DEFAULT_RETRY_POLICY).toISOString(),
  nextRetryReason: null,
  terminalAt: null,
  terminalReason: null,
  lastError: 'timed out after 10 s',
  lastErrorCode: 'timeout',
  lastResponseStatus: null,
  redeliveryOf: null,
  createdAt: '2026-11-20T09:31:07.236Z',
} as const;

/** An event as the event log shows it. */
const toLogged = (event: { id: string; createdAt: string }, type: string, data: object) => ({
  id: event.id,
  type,
  schemaVersion: 1,
  createdAt: event.createdAt,
  data,
});

export const conversationEvent = toLogged(conversationCreated, 'conversation.created', {
  conversationId: conversation.id,
  channelId: conversation.channelId,
  externalUserId: conversation.externalUserId,
});
export const handoffEvent = toLogged(handoffRequested, 'handoff.requested', {
  conversationId: conversation.id,
  escalationLogId: escalation.id,
  reason: escalation.reason,
});

export const retryingDeliveryWithAttempts = {
  ...retryingDelivery,
  attemptLog: [
    {
      number: 1,
      startedAt: '2026-11-20T09:31:07.301Z',
      durationMs: 214,
      status: 503,
      error: 'the receiver answered 503',
      errorCode: 'http_status',
      response: 'upstream unavailable',
      request: null,
    },
    {
      number: 2,
      startedAt: '2026-11-20T09:31:37.938Z',
      durationMs: 10_002,
      status: null,
      error: 'timed out after 10 s',
      errorCode: 'timeout',
      response: null,
      request: null,
    },
  ],
} as const;

/** What visitors of a website see their conversation in. */
const { eventId, eventType, ...retryingState } = retryingDeliveryWithAttempts;

export const eventWithDeliveries = {
  ...handoffEvent,
  payload: JSON.stringify({
    type: handoffEvent.type,
    schemaVersion: handoffEvent.schemaVersion,
    orgId: organization.id,
    createdAt: handoffEvent.createdAt,
    data: handoffEvent.data,
  }),
  deliveries: [{ ...retryingState, channelId: null, url: webhook.url, receiverStatus: webhook.status }],
  undelivered: [
    {
      webhookId: exampleId('whk', '2026-11-21T08:00:00.000Z'),
      url: 'https://crm.example.com/hook',
      receiverStatus: 'active',
      reason: 'registered_later',
    },
  ],
} as const;

export const widgetChannel = {
  ...created('chn', '2026-11-20T09:24:10.000Z'),
  kind: 'web_widget',
  name: 'Website',
  url: null,
  status: 'active',
  consecutiveFailures: 0,
  failing: null,
  pausedAt: null,
  disabledAt: null,
  disabledReason: null,
} as const;

/** A bridge to a messenger. */
export const httpChannel = {
  ...widgetChannel,
  ...created('chn', '2026-11-20T09:26:00.000Z'),
  kind: 'http',
  name: 'Messenger',
  url: 'https://messenger.example.com/outgoing',
} as const;

/** What an agent says in a conversation on the messenger. @public the catalogue of events picks it */
export const channelMessage = {
  createdAt: '2026-11-20T09:41:19.804Z',
  channelId: httpChannel.id,
  conversationId: exampleId('cnv', '2026-11-20T09:40:02.115Z'),
  messageId: exampleId('msg', '2026-11-20T09:41:19.804Z'),
  externalUserId: '+15550100',
  role: 'agent',
  content: 'Your parcel is in Hamburg and comes tomorrow.',
} as const;

const channelEventId = exampleId('evt', channelMessage.createdAt);

/** Something of an endpoint as it is of the channel. */
export const ofChannel = <View extends { webhookId: unknown }>({ webhookId, ...view }: View) => ({
  ...view,
  channelId: httpChannel.id,
});

export const channelDelivery = {
  ...ofChannel(succeededDelivery),
  id: deriveDeliveryId(channelEventId, httpChannel.id),
  eventId: channelEventId,
  eventType: 'channel.message',
  terminalAt: '2026-11-20T09:41:20.377Z',
  createdAt: '2026-11-20T09:41:20.102Z',
} as const;

export const channelAttempts = [
  {
    number: 1,
    startedAt: '2026-11-20T09:41:20.211Z',
    durationMs: 158,
    status: 200,
    error: null,
    errorCode: null,
    response: null,
    request: null,
  },
] as const;

/** Of the right form, and not a token. */
export const visitorToken = 'cvt_An-example-of-the-form-and-no-token-of-anyone';
export const visitorTokenExpiresAt = '2026-11-20T09:46:05.000Z';

export const widgetMessages = [message, reply].map(({ id, role, content, createdAt }) => ({
  id,
  role,
  content,
  createdAt,
}));

const counted: Omit<LedgerEntry, 'webhookId' | 'generation'>[] = [
  {
    hour: '2026-11-20T09:00:00.000Z',
    owed: 4,
    succeeded: 3,
    exhausted: 1,
    skipped: 0,
    duplicates: 0,
    durations: { 14: 3, 27: 8 },
  },
  {
    hour: '2026-11-20T11:00:00.000Z',
    owed: 212,
    succeeded: 209,
    exhausted: 0,
    skipped: 0,
    duplicates: 1,
    durations: { 13: 41, 14: 150, 15: 22 },
  },
];

/** The day's counts, read shortly after noon: the first hour is complete, a later one has retries to come. */
export const webhookStats = buildEndpointStats(
  webhook.id,
  { now: new Date('2026-11-20T12:10:00.000Z'), count: 24 },
  counted.map((counts) => ({ webhookId: webhook.id, generation: 0, ...counts })),
);

/** The same hours of the organization, whose only endpoint fails. */
export const deliveryStats = buildDeliveryStats(
  [
    {
      ...failingWebhook,
      failing: { ...failingWebhook.failing, disablesAt: '2026-11-20T12:41:07.310Z' },
      waitingSince: '2026-11-20T11:43:56.008Z',
    },
  ],
  { now: new Date('2026-11-20T12:10:00.000Z'), count: 24 },
  counted.map((counts) => ({ webhookId: webhook.id, generation: 0, ...counts })),
);

/** The succeeded delivery, sent once more. */
export const redelivery = {
  ...succeededDelivery,
  id: exampleId('dlv', '2026-11-21T14:02:33.870Z'),
  status: 'pending',
  attempts: 0,
  terminalAt: null,
  lastResponseStatus: null,
  redeliveryOf: succeededDelivery.id,
  createdAt: '2026-11-21T14:02:33.870Z',
} as const;

export const REQUEST_ID = 'UKxQwG4jIAMEbRg=';
export const IDEMPOTENCY_KEY = '7d0f3c4e-9a52-4f6b-8c1d-2e5b90a7f413';
/** Of the length and alphabet of a real cursor, and as opaque. */
export const CURSOR =
  'AfsH3kq0ZmTnUe9oD1xYtJ8cRwL5vNqP2aGhKbSi7MzX4EyQuC6dVjWr-OlTpBfIg_zHsAn3kRe8uYc0LmDo5tJxWqPvZiGb';

const noActor = { id: null, email: null } as const;

/** An endpoint that the service disabled. */
export const disablingEntry = {
  ...created('aud', '2026-11-20T09:12:44.310Z'),
  action: 'webhook.disabled',
  actor: { ...noActor, type: 'service' },
  target: { type: 'webhook', id: webhook.id },
  changes: [{ field: 'status', before: 'active', after: 'auto_disabled' }],
  requestId: null,
} as const;

/** A change by an admin. */
export const updateEntry = {
  ...created('aud', '2026-11-19T15:02:10.007Z'),
  action: 'webhook.updated',
  actor: { type: 'user', id: signedIn.userId, email: signedIn.email },
  target: { type: 'webhook', id: webhook.id },
  changes: [{ field: 'events', before: ['ticket.created'], after: webhook.events }],
  requestId: 'Jv2xTEG3oAMFYhA=',
} as const;
