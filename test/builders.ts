import { deriveDeliveryId, newId } from '../functions/aws/ids.ts';
import { Keyring } from '../functions/aws/keyrings.ts';
import { Conversation, Escalation, Message, Ticket } from '../functions/conversations/conversations.ts';
import { Delivery } from '../functions/delivery/delivery.ts';
import { type LedgerAddition, LedgerEntry, NO_COUNTS, toStartOfHour } from '../functions/delivery/ledger.ts';
import { BusEvent } from '../functions/events/bus.ts';
import { buildEvent, type OutboxEvent } from '../functions/events/events.ts';
import { createSource, Source } from '../functions/knowledge/sources.ts';
import { HttpChannel, WebWidgetChannel } from '../functions/receivers/channels.ts';
import { Endpoint } from '../functions/receivers/endpoint.ts';
import { RedeliveryJob } from '../functions/redelivery/jobs.ts';
import { ApiKey } from '../functions/tenancy/api-keys.ts';
import { AuditEntry } from '../functions/tenancy/audit.ts';
import { FIRST_SANDBOX_GENERATION, Organization, Session, type Tenant } from '../functions/tenancy/tenant.ts';

/*
 * Typical domain objects, each with a new identifier. A test names only the fields that matter: `aDelivery({
 * attempts: 7 })`. All pass the schema of stored rows, so no test uses an impossible object.
 */

/** The creation time of built objects. */
export const NOW = new Date('2026-11-20T09:30:00.000Z');

export const seconds = (count: number): number => count * 1000;
/** Not called `after`, which linters take for the test hook. */
export const later = (start: Date, milliseconds: number): Date => new Date(start.getTime() + milliseconds);

/** A user who has just signed in, for an hour. */
export const aSession = (changes: Partial<Session> = {}): Session =>
  Session.parse({
    userId: 'ada',
    orgId: newId('org', NOW),
    role: 'admin',
    email: 'ada@example.com',
    expiresAt: later(NOW, seconds(3600)),
    ...changes,
  });

export const aTenant = (changes: Partial<Tenant> = {}): Tenant => ({
  orgId: newId('org', NOW),
  generation: 0,
  ...changes,
});

/** The data of a sandbox that was never reset. */
export const aSandboxTenant = (changes: Partial<Tenant> = {}): Tenant =>
  aTenant({ generation: FIRST_SANDBOX_GENERATION, ...changes });

/** A live organization with the default settings. */
export const anOrganization = (changes: Partial<Organization> = {}): Organization =>
  Organization.parse({
    id: newId('org', NOW),
    name: 'Example Ltd',
    environment: 'live',
    tier: 'standard',
    createdAt: NOW.toISOString(),
    ...changes,
  });

/** A live API key with all scopes. */
export const anApiKey = (changes: Partial<ApiKey> = {}): ApiKey =>
  ApiKey.parse({
    id: newId('key', NOW),
    orgId: newId('org', NOW),
    environment: 'live',
    name: 'Test key',
    scopes: ['write:webhooks', 'write:conversations', 'write:knowledge'],
    createdAt: NOW.toISOString(),
    ...changes,
  });

/** An active endpoint, subscribed to new conversations. */
export const anEndpoint = (changes: Partial<Endpoint> = {}): Endpoint =>
  Endpoint.parse({
    id: newId('whk', NOW),
    orgId: newId('org', NOW),
    url: 'https://receiver.example.com/hook',
    events: ['conversation.created'],
    status: 'active',
    consecutiveFailures: 0,
    keyVersion: '1',
    createdAt: NOW.toISOString(),
    ...changes,
  });

/** A new conversation's event, of the given tenant and time. */
export function anEvent({
  tenant = aTenant(),
  now = NOW,
  onlyTo,
}: {
  tenant?: Tenant;
  now?: Date;
  onlyTo?: Endpoint['id'];
} = {}): OutboxEvent {
  const data = { conversationId: newId('cnv', now), channelId: 'chn_web', externalUserId: 'visitor-1' };
  return buildEvent('conversation.created', data, { tenant, now, ...(onlyTo && { onlyTo }) });
}

/** A new message's event, as published on the bus. */
export const aBusEvent = (changes: Partial<BusEvent> = {}): BusEvent =>
  BusEvent.parse({
    id: newId('evt', NOW),
    type: 'message.received',
    ...aTenant(),
    createdAt: NOW.toISOString(),
    data: { conversationId: newId('cnv', NOW), messageId: newId('msg', NOW), role: 'user' },
    ...changes,
  });

/** A pending delivery. Its identifier is that of its event and endpoint. */
export function aDelivery(changes: Partial<Delivery> = {}): Delivery {
  const eventId = changes.eventId ?? newId('evt', NOW);
  const webhookId = changes.webhookId ?? newId('whk', NOW);
  return Delivery.parse({
    id: deriveDeliveryId(eventId, webhookId),
    orgId: newId('org', NOW),
    generation: 0,
    webhookId,
    eventId,
    eventType: 'conversation.created',
    status: 'pending',
    attempts: 0,
    attemptLog: [],
    createdAt: NOW.toISOString(),
    ...changes,
  });
}

/** The ledger entry of an endpoint for the hour of `NOW`, with nothing counted. */
export const aLedgerEntry = (changes: Partial<LedgerAddition> = {}): LedgerAddition => {
  const { orgId = newId('org', NOW), ...given } = changes;
  const entry = {
    ...NO_COUNTS,
    webhookId: newId('whk', NOW),
    generation: 0,
    hour: toStartOfHour(NOW),
    ...given,
  };
  return { ...LedgerEntry.parse(entry), orgId };
};

/** A keyring of so many versions, the last one current. Each version's key is `fill` and its number. */
export function aKeyring({ versions = 1, fill = 'k' }: { versions?: number; fill?: string } = {}): Keyring {
  const numbers = Array.from({ length: versions }, (_, index) => String(index + 1));
  return Keyring.parse({
    ...Object.fromEntries(numbers.map((number) => [number, number.padStart(43, fill)])),
    current: String(versions),
  });
}

/** A channel whose messages are sent to a URL. */
export const anHttpChannel = (changes: Partial<HttpChannel> = {}): HttpChannel =>
  HttpChannel.parse({
    ...anEndpoint({ id: newId('chn', NOW), events: [] }),
    kind: 'http',
    name: 'Messenger',
    ...changes,
  });

/** A channel whose messages are read by visitors. */
export const aWebWidget = (changes: Partial<WebWidgetChannel> = {}): WebWidgetChannel =>
  WebWidgetChannel.parse({
    id: newId('chn', NOW),
    orgId: newId('org', NOW),
    kind: 'web_widget',
    name: 'Website',
    createdAt: NOW.toISOString(),
    ...changes,
  });

/** An open conversation. */
export const aConversation = (changes: Partial<Conversation> = {}): Conversation =>
  Conversation.parse({
    id: newId('cnv', NOW),
    channelId: 'chn_web',
    externalUserId: 'visitor-1',
    status: 'open',
    createdAt: NOW.toISOString(),
    updatedAt: NOW.toISOString(),
    ...changes,
  });

/** A message of a user. */
export const aMessage = (changes: Partial<Message> = {}): Message =>
  Message.parse({
    id: newId('msg', NOW),
    conversationId: newId('cnv', NOW),
    role: 'user',
    content: 'Hello',
    createdAt: NOW.toISOString(),
    ...changes,
  });

/** An escalation without a reason. */
export const anEscalation = (changes: Partial<Escalation> = {}): Escalation =>
  Escalation.parse({
    id: newId('esc', NOW),
    conversationId: newId('cnv', NOW),
    createdAt: NOW.toISOString(),
    ...changes,
  });

/** A ticket without a conversation and without a reason. */
export const aTicket = (changes: Partial<Ticket> = {}): Ticket =>
  Ticket.parse({ id: newId('tkt', NOW), status: 'open', createdAt: NOW.toISOString(), ...changes });

/** A page that was never checked. */
export const aSource = (changes: Partial<Source> = {}): Source =>
  Source.parse({
    ...createSource({
      ...aTenant(),
      id: newId('src', NOW),
      kind: 'url',
      url: 'https://www.example.com/prices',
      createdAt: NOW.toISOString(),
    }),
    ...changes,
  });

/** A job that resends what has failed in the hour before `NOW`, and has not started. */
export const aRedeliveryJob = (changes: Partial<RedeliveryJob> = {}): RedeliveryJob =>
  RedeliveryJob.parse({
    id: newId('rdj', NOW),
    ...aTenant(),
    webhookId: newId('whk', NOW),
    status: 'running',
    what: 'failed',
    from: later(NOW, -seconds(3600)).toISOString(),
    to: NOW.toISOString(),
    statuses: ['exhausted', 'skipped'],
    examined: 0,
    redelivered: 0,
    eventTypes: {},
    round: 0,
    createdAt: NOW.toISOString(),
    ...changes,
  });

export const anAuditEntry = (changes: Partial<AuditEntry> = {}): AuditEntry =>
  AuditEntry.parse({
    id: newId('aud', NOW),
    orgId: newId('org', NOW),
    action: 'webhook.updated',
    targetId: newId('whk', NOW),
    actorType: 'user',
    actorId: 'ada',
    changes: [{ field: 'url', before: 'https://old.example.com/', after: 'https://new.example.com/' }],
    requestId: 'a-request',
    createdAt: NOW.toISOString(),
    ...changes,
  });
