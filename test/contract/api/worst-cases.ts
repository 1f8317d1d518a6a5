import { randomBytes } from 'node:crypto';
import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import { type RouteKey, routes } from '../../../functions/api/routes.ts';
import {
  ChannelId,
  ConversationId,
  DeliveryId,
  deriveDeliveryId,
  deriveEventId,
  EndpointId,
  EscalationId,
  EventId,
  KeyId,
  MessageId,
  newId,
  type OrgId,
  RedeliveryJobId,
  SourceId,
  TicketId,
} from '../../../functions/aws/ids.ts';
import type { Table } from '../../../functions/aws/table.ts';
import { type Commit, committer } from '../../../functions/aws/transaction.ts';
import { createErasure, ERASED_AT_ONCE } from '../../../functions/conversations/erasures.ts';
import type { Delivery } from '../../../functions/delivery/delivery.ts';
import { getHourBefore } from '../../../functions/delivery/ledger.ts';
import { type OutboxEvent, SubscribableType } from '../../../functions/events/events.ts';
import { getLatestMonths } from '../../../functions/events/usage.ts';
import type { Route } from '../../../functions/http/route.ts';
import { sourceVersions } from '../../../functions/knowledge/source-checks.ts';
import { MAX_TEXT_BYTES } from '../../../functions/knowledge/text.ts';
import { MAX_CHANNELS } from '../../../functions/receivers/channels.ts';
import { MAX_ENDPOINTS } from '../../../functions/receivers/endpoint.ts';
import type { RedeliveryJob } from '../../../functions/redelivery/jobs.ts';
import { type ApiKey, generateApiKey, hashApiKey, Scope } from '../../../functions/tenancy/api-keys.ts';
import {
  AUDIT_SHARDS,
  buildSandboxMark,
  keys,
  listShards,
  USAGE_SHARDS,
} from '../../../functions/tenancy/keys.ts';
import { createSandbox } from '../../../functions/tenancy/organizations.ts';
import {
  aConversation,
  aDelivery,
  aLedgerEntry,
  aMessage,
  anApiKey,
  anAuditEntry,
  anEndpoint,
  anEscalation,
  anEvent,
  anHttpChannel,
  anOrganization,
  aRedeliveryJob,
  aSource,
  aTicket,
  aWebWidget,
  later,
} from '../../builders.ts';
import type { TestTables } from '../../engines.ts';
import { largestBody } from '../../support/largest-body.ts';
import type { Api, Call } from '../store/api-handlers.ts';
import { SANDBOX_ORGANIZATION } from '../store/stores.ts';

/** Text with the maximum of four bytes for each of its characters. */
const long = (characters: number): string => '𠀀'.repeat(characters);
/** The longest content that fits in a body of 256 KiB. */
const CONTENT = long(65_400);
const REASON = long(1000);
const NAME = long(200);
/** Four bytes for each code point. */
const DESCRIPTION = '🚚'.repeat(200);
const URL = `https://example.com/${'a'.repeat(2000)}?simulate=200`;
const MOVED_URL = URL.replace('example.com', 'example.org');
/** Twenty entries of the longest names and values. */
const METADATA = Object.fromEntries(
  Array.from({ length: 20 }, (_, index) => [`${String(index).padStart(2)}${long(38)}`, long(500)]),
);
const FULL_PAGE = { limit: '100' };
const LARGEST_QUERY = { ...FULL_PAGE, hours: '168', months: '24' };
/** Rows of a collection: more than a page has. */
const ROWS = 130;

/** Stores rows as they are. */
async function fill({ client, name }: Table, rows: readonly object[]): Promise<void> {
  for (let start = 0; start < rows.length; start += 25) {
    const requests = rows.slice(start, start + 25).map((Item) => ({ PutRequest: { Item } }));
    await client.send(new BatchWriteCommand({ RequestItems: { [name]: requests } }));
  }
}

const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

/**
 * An id in a shard of the log. Entries in turn over the shards are its worst case: a page reads most of each.
 * At random, one run in ten read a third less.
 */
function pickAuditId(orgId: OrgId, at: Date, shard: number) {
  for (;;) {
    const id = newId('aud', at);
    if (keys.auditEntry(orgId, id).pk === keys.auditLog(orgId, shard)) return id;
  }
}

/** An hour of an endpoint, counted from as many shards of a stream as an endpoint's deliveries use. */
const ledgerRow = (changes: Parameters<typeof aLedgerEntry>[0]) => {
  const entry = aLedgerEntry({ owed: 1_000_000, succeeded: 1_000_000, ...changes });
  return {
    ...keys.ledger(entry.webhookId, entry.generation, entry.hour),
    ...buildSandboxMark(entry),
    ...entry,
    ...Object.fromEntries(times(8, (shard) => [`to_${String(shard).padStart(12, '0')}`, '1'.repeat(40)])),
  };
};

/** A delivery with eight attempts of maximum size. */
function aLargeDelivery(now: Date, changes: Partial<Delivery>): Delivery {
  const request = {
    method: 'POST',
    url: URL,
    headers: {},
    body: JSON.stringify({ reason: REASON }),
  } as const;
  return aDelivery({
    eventId: newId('evt', now),
    status: 'exhausted',
    attempts: 8,
    terminalAt: now.toISOString(),
    terminalReason: 'max_attempts',
    attemptLog: times(8, (index) => ({
      number: index + 1,
      startedAt: now.toISOString(),
      durationMs: 10_000,
      error: 'the receiver answered 500',
      response: 'x'.repeat(1024),
      request,
    })),
    ...changes,
  });
}

/**
 * An organization with a sandbox and as many resources of each kind as possible, and the most expensive
 * request of each route. Requests use sandbox keys: these read the pairing, and their rows are in one more
 * index.
 */
export async function worstCases(tables: TestTables, api: Api) {
  const { service, outbox, deliveries, ledger, knowledge, usage } = tables;
  const commit: Commit = committer(service.client);
  const now = new Date();
  const organization = anOrganization({ tier: 'scale' });
  const { pairing, sandbox } = createSandbox(organization.id, now);
  const tenant = { orgId: sandbox.id, generation: sandbox.generation };
  const mark = buildSandboxMark(tenant);
  /** Rows of the sandbox, by their keys. */
  const rowsOf = <T extends object>(items: readonly T[], key: (item: T) => object) =>
    items.map((item) => ({ ...key(item), ...mark, ...item }));
  const live = { orgId: organization.id, generation: 0 };

  const large = anEndpoint({
    orgId: tenant.orgId,
    url: URL,
    events: [...SubscribableType.options],
    description: DESCRIPTION,
    consecutiveFailures: 1,
    failingSince: now.toISOString(),
  });
  const disabled = { status: 'auto_disabled', disabledAt: now.toISOString() } as const;
  const others = times(MAX_ENDPOINTS - 2, () => ({ ...large, id: newId('whk', now) }));
  // A registration can recover what it missed.
  others.splice(-1, 1, { ...large, ...disabled, id: newId('whk', now) });
  const [plain = large, gone = large] = others;
  const spare = { ...large, id: newId('whk', now) };
  others.push(spare);
  const messenger = anHttpChannel({ orgId: tenant.orgId, name: NAME, url: URL });
  const widget = aWebWidget({ orgId: organization.id });
  const goneChannel = anHttpChannel({ orgId: tenant.orgId, name: NAME, url: URL });
  const conversations = times(ROWS, () =>
    aConversation({
      id: newId('cnv', now),
      channelId: NAME,
      externalUserId: NAME,
      status: 'resolved',
      resolvedAt: now.toISOString(),
      resolvedBy: NAME,
      metadata: METADATA,
    }),
  );
  const talk = aConversation({ channelId: messenger.id, externalUserId: NAME, metadata: METADATA });
  const [handedOff = talk, resolved = talk, quiet = talk, erased = talk] = times(4, () =>
    aConversation({ ...talk, id: newId('cnv', now) }),
  );
  const ofContact = times(50, () => ({
    ...conversations[0],
    ...aConversation({ ...talk, externalUserId: 'ada' }),
  })).map((conversation) => ({ ...conversation, id: newId('cnv', now) }));
  /** All endpoints have failed to confirm it. */
  const erasure = createErasure('contact', ofContact.slice(0, ERASED_AT_ONCE), later(now, -60_000));
  const unconfirmed = erasure.conversationIds.flatMap((id) =>
    [large, ...others].map(({ id: webhookId }) =>
      aDelivery({
        ...tenant,
        webhookId,
        eventId: deriveEventId('conversation.deleted', id, new Date(erasure.requestedAt)),
        status: 'exhausted',
      }),
    ),
  );
  const watched = aConversation({ channelId: widget.id });
  const widgetTalk = aConversation({ channelId: widget.id });
  const buildMessage = (conversationId: typeof talk.id, id = newId('msg', now)) =>
    aMessage({ id, conversationId, role: 'agent', content: CONTENT });
  const largeMessage = buildMessage(talk.id);
  const escalation = anEscalation({ conversationId: talk.id, reason: REASON });
  /** Values that the schemas of bodies do not have. */
  const given = { conversationId: talk.id, channelId: messenger.id, kind: 'http', url: URL };
  const ticket = aTicket(largestBody(routes.createTicket.body, given));
  const source = aSource({ ...tenant, url: URL, name: NAME });
  const bridge = anHttpChannel({ orgId: tenant.orgId, name: NAME, url: URL });
  const [job, channelJob] = [spare.id, bridge.id].map((webhookId) =>
    aRedeliveryJob({ ...tenant, id: newId('rdj', now), webhookId, createdAt: now.toISOString() }),
  ) as [RedeliveryJob, RedeliveryJob];
  const rows = times(160, (index) =>
    aLargeDelivery(later(now, -60_000 * (index + 2)), { ...tenant, webhookId: large.id }),
  );
  const channelRows = times(160, (index) =>
    aLargeDelivery(later(now, -60_000 * index), {
      ...{ ...tenant, webhookId: messenger.id, eventType: 'channel.message' },
    }),
  );
  const [largest = aDelivery()] = rows;
  const deliveryRows = (all: readonly Delivery[]) =>
    rowsOf(all, ({ webhookId, generation, id }) => keys.delivery(webhookId, generation, id));
  const recordRows = (resent: readonly Delivery[]) =>
    rowsOf(
      resent.map(({ id, eventId, webhookId }) => ({ eventId, webhookId, deliveryId: id, succeededId: id })),
      ({ webhookId, eventId }) => keys.redeliveryRecord(tenant, webhookId, eventId),
    );

  const keyRows = (secret: string, key: ApiKey) => [
    { ...keys.apiKey(hashApiKey(secret)), ...key },
    { ...keys.listedApiKey(key.orgId, key.id), ...key, digest: hashApiKey(secret) },
  ];
  /** An unused key, so that its use is recorded. */
  async function pickKey(environment: 'live' | 'sandbox'): Promise<string> {
    const secret = generateApiKey(environment);
    const scopes = [...Scope.options];
    const key = anApiKey({ id: newId('key', now), orgId: organization.id, environment, name: NAME, scopes });
    await fill(service, keyRows(secret, key));
    return secret;
  }
  const revoked = anApiKey({ orgId: organization.id });
  const unpaired = anOrganization({ tier: 'scale' });

  const versions = sourceVersions(knowledge);
  const words = () => randomBytes(MAX_TEXT_BYTES / 2 - 1).toString('hex');
  const stored = [1, 2, 3].map((version) => ({ version, ...versions.add(source, version, words()) }));
  for (const { changes } of stored) await commit(changes);
  const announcedSource = {
    ...source,
    announcedFrom: 1,
    baseline: 2,
    lastNotifiedAt: now.toISOString(),
    stored: stored.map(({ version, parts }) => ({ version, parts })),
    content: { version: 3, digest: 'd', words: 1, title: '漢'.repeat(300), etag: 'e'.repeat(1000) },
  };

  await fill(service, [
    { ...keys.organization(organization.id), ...organization },
    { ...keys.organization(unpaired.id), ...unpaired },
    { ...keys.pairing(organization.id), ...pairing },
    { ...keys.organization(sandbox.id), ...SANDBOX_ORGANIZATION, ...sandbox },
    ...keyRows('a revoked key', revoked),
    ...[large, ...others].map((one) => ({ ...keys.endpoint(tenant.orgId, one.id), ...one })),
    { ...keys.endpointCount(tenant.orgId), endpoints: MAX_ENDPOINTS - 1 },
    ...[
      ...[messenger, bridge, goneChannel],
      ...times(MAX_CHANNELS - 3, () => anHttpChannel({ ...messenger, id: newId('chn', now) })),
    ].map((one) => ({ ...keys.endpoint(tenant.orgId, one.id), ...one })),
    { ...keys.channelCount(tenant.orgId), channels: 10 },
    { ...keys.endpoint(organization.id, widget.id), ...widget },
    { ...keys.erasure(tenant, erasure.id), ...mark, ...erasure },
    ...ofContact.map(({ id }) => ({ ...keys.userConversation(tenant, 'ada', id), ...mark, id })),
    ...rowsOf([...conversations, ...ofContact, talk, handedOff, resolved, quiet, erased], ({ id }) =>
      keys.conversation(tenant, id),
    ),
    ...[watched, widgetTalk].map((one) => ({ ...keys.conversation(live, one.id), ...one })),
    ...rowsOf([largeMessage, ...times(12, () => buildMessage(talk.id))], ({ id }) =>
      keys.message(tenant, talk.id, id),
    ),
    ...times(12, () => buildMessage(watched.id)).map((message) => ({
      ...keys.message(live, watched.id, message.id),
      ...message,
    })),
    ...rowsOf([escalation, ...times(ROWS, () => ({ ...escalation, id: newId('esc', now) }))], ({ id }) =>
      keys.escalation(tenant, talk.id, id),
    ),
    ...rowsOf([ticket, ...times(ROWS, () => ({ ...ticket, id: newId('tkt', now) }))], ({ id }) =>
      keys.ticket(tenant, id),
    ),
    ...[job, channelJob].flatMap((running) => [
      ...rowsOf(
        [running, ...times(ROWS, () => ({ ...running, id: newId('rdj', now), status: 'done' }))],
        (row) => keys.redeliveryJob(tenant, running.webhookId, row.id),
      ),
      { ...keys.redeliveryRun(running), ...mark, ...running, remindedAt: now.toISOString() },
    ]),
    ...times(ROWS, () => anApiKey({ orgId: organization.id, id: newId('key', now), name: NAME })).map(
      (key) => ({ ...keys.listedApiKey(organization.id, key.id), ...key, digest: 'a digest' }),
    ),
  ]);
  // An update of all that an endpoint can have.
  const entry = anAuditEntry({
    orgId: organization.id,
    actorId: 'u'.repeat(255),
    actorEmail: 'e'.repeat(320),
    changes: ['url', 'name'].map((field) => ({ field, before: field === 'url' ? URL : NAME, after: URL })),
  });
  await fill(
    service,
    times(ROWS, (index) => pickAuditId(organization.id, later(now, -index), index % AUDIT_SHARDS)).map(
      (id) => ({ ...keys.auditEntry(organization.id, id), ...entry, id }),
    ),
  );
  await fill(knowledge, [
    ...rowsOf(
      [announcedSource, ...times(ROWS, () => ({ ...announcedSource, id: newId('src', now) }))],
      ({ id }) => keys.source(tenant, id),
    ),
    { ...keys.sourceCount(tenant), ...mark, sources: 200 },
  ]);
  /** An event whose record is as large as a message can be. */
  const aboutMessage = (made: OutboxEvent, data = {}): OutboxEvent => ({
    ...made,
    body: JSON.stringify({
      ...JSON.parse(made.body),
      data: { ...data, conversationId: talk.id, messageId: largeMessage.id },
    }),
  });
  const event = aboutMessage(anEvent({ tenant, now }));
  const deleted = times(60, (index) => ({
    ...large,
    id: newId('whk', now),
    deletedAt: later(now, index).toISOString(),
  }));
  const redelivered = later(now, 60_000);
  const ofEvent = [large, ...others, ...deleted].flatMap(({ id: webhookId }) =>
    [deriveDeliveryId(event.id, webhookId), newId('dlv', redelivered)].map((id) =>
      aLargeDelivery(now, { ...tenant, webhookId, eventId: event.id, id }),
    ),
  );
  await fill(outbox, [
    { ...keys.event(tenant, event.id), ...mark, ...event },
    ...rowsOf(
      times(ROWS, () => anEvent({ tenant, now })).map((event) => ({
        ...event,
        // The longest message for a channel.
        body: JSON.stringify({ ...JSON.parse(event.body), data: { content: CONTENT } }),
      })),
      ({ id }) => keys.event(tenant, id),
    ),
  ]);
  await fill(service, [
    ...deleted.map((one) => ({ ...keys.deletedEndpoint(tenant.orgId, one.deletedAt, one.id), ...one })),
    ...recordRows(ofEvent.filter((_, index) => index % 2 === 1)),
  ]);
  await fill(deliveries, deliveryRows(ofEvent));
  // The newest event has as many deliveries of that size, so that a page with deliveries ends at it.
  const newest = aboutMessage(anEvent({ tenant, now: later(now, 1) }), { content: CONTENT });
  await fill(outbox, [{ ...keys.event(tenant, newest.id), ...mark, ...newest }]);
  const ofNewest = ofEvent.map((delivery, index) => ({
    ...delivery,
    eventId: newest.id,
    id:
      index % 2 === 0 ? deriveDeliveryId(newest.id, delivery.webhookId) : newId('dlv', later(redelivered, 1)),
  }));
  await fill(deliveries, deliveryRows(ofNewest));
  await fill(service, recordRows(ofNewest.filter((_, index) => index % 2 === 1)));
  const retrying = aLargeDelivery(later(now, 1), {
    ...tenant,
    webhookId: large.id,
    status: 'retrying',
    attempts: 7,
  });
  const retryingAtChannel: Delivery = {
    ...{ ...retrying, id: newId('dlv', later(now, 1)) },
    ...{ webhookId: messenger.id, eventType: 'channel.message' },
  };
  const open = aDelivery({ ...tenant, eventId: newId('evt', later(now, -120_000)), webhookId: large.id });
  const each = [retrying, retryingAtChannel, ...rows, ...channelRows, ...unconfirmed, open];
  await fill(deliveries, deliveryRows(each));
  await fill(
    ledger,
    [large, ...others, messenger].flatMap(({ id: webhookId }) =>
      times(168, (back) =>
        ledgerRow({ ...tenant, webhookId, hour: getHourBefore(now, back), skipped: back === 1 ? -1 : 0 }),
      ),
    ),
  );
  await fill(
    usage,
    getLatestMonths(now, 24).flatMap((month) =>
      listShards(USAGE_SHARDS).map((shard) => ({
        ...keys.usageOf(organization.id, month, shard),
        orgId: organization.id,
        month,
        conversations: 1_000_000,
        messages: 1_000_000,
      })),
    ),
  );

  const to = (id: string): Call => ({ params: { id } });
  const deliveryId = largest.id;
  const events = [...SubscribableType.options];
  const filter = { ...FULL_PAGE, status: 'skipped' };
  /** By the schema of the parameter. */
  const ids = new Map<unknown, string>([
    [EndpointId, large.id],
    [EventId, event.id],
    [DeliveryId, deliveryId],
    [ConversationId, talk.id],
    [MessageId, largeMessage.id],
    [EscalationId, escalation.id],
    [TicketId, ticket.id],
    [ChannelId, messenger.id],
    [SourceId, source.id],
    [RedeliveryJobId, job.id],
    [KeyId, revoked.id],
  ]);
  const largestCall = ({ params, query, body }: Route): Call => ({
    ...(params instanceof z.ZodMiniObject && {
      params: Object.fromEntries(
        Object.entries(params.shape).map(([name, schema]) => [name, ids.get(schema) ?? '']),
      ),
    }),
    ...(query !== undefined && {
      query: Object.fromEntries(Object.entries(LARGEST_QUERY).filter(([name]) => name in query.shape)),
    }),
    ...(body !== undefined && { body: largestBody(body, given) }),
  });
  /** Calls that differ from the largest of their schemas: in their resource, a filter or a bound. */
  const special: Partial<Record<RouteKey, Call>> = {
    updateWebhook: {
      ...to(large.id),
      // Keeps all types: deliveries of another one are not resent.
      body: { url: MOVED_URL, events: events.toReversed(), description: DESCRIPTION },
    },
    deleteWebhook: to(gone.id),
    testWebhook: { ...to(plain.id), body: { type: 'handoff.requested' } },
    readWebhookStats: { ...to(plain.id), query: { hours: '168' } },
    retryDelivery: { params: { id: large.id, deliveryId: retrying.id } },
    startRedelivery: { ...to(plain.id), body: { from: later(now, -3_600_000).toISOString() } },
    listEvents: { query: { ...FULL_PAGE, include: 'deliveries,record' } },
    readEvent: { ...to(event.id), query: { include: 'record' } },
    listRedeliveries: { ...to(spare.id), query: FULL_PAGE },
    readRedelivery: { params: { id: spare.id, redeliveryId: job.id } },
    stopRedelivery: { params: { id: spare.id, redeliveryId: job.id } },
    // Sets `updatedAt`, too.
    createMessage: { ...to(quiet.id), body: { role: 'agent', content: CONTENT } },
    requestHandoff: { ...to(handedOff.id), body: { reason: REASON } },
    resolveConversation: { ...to(resolved.id), body: { resolvedBy: NAME } },
    deleteConversation: to(erased.id),
    deleteContact: { params: { externalUserId: 'ada' } },
    readErasure: to(erasure.id),
    deleteChannel: to(goneChannel.id),
    updateChannel: { ...to(messenger.id), body: { url: MOVED_URL, name: DESCRIPTION.slice(0, 200) } },
    retryChannelDelivery: { params: { id: messenger.id, deliveryId: retryingAtChannel.id } },
    redeliverChannelDelivery: { params: { id: messenger.id, deliveryId: channelRows[0]?.id ?? '' } },
    startChannelRedelivery: { ...to(messenger.id), body: { from: later(now, -3_600_000).toISOString() } },
    listChannelRedeliveries: { ...to(bridge.id), query: FULL_PAGE },
    readChannelRedelivery: { params: { id: bridge.id, redeliveryId: channelJob.id } },
    stopChannelRedelivery: { params: { id: bridge.id, redeliveryId: channelJob.id } },
    readChannelDelivery: { params: { id: messenger.id, deliveryId: channelRows[0]?.id ?? '' } },
    createVisitorToken: to(widgetTalk.id),
    createSource: { body: largestBody(routes.createSource.body, { ...given, kind: 'url' }) },
    updateOrganization: { body: { contentChangeThreshold: 30 } },
  };
  const calls = Object.fromEntries(
    Object.entries(routes).map(([key, route]) => [key, special[key as RouteKey] ?? largestCall(route)]),
  ) as Record<RouteKey, Call>;

  const session = await api.session(organization.id);
  const pickToken = async () =>
    String((await api.caller(await pickKey('live'))('createVisitorToken', to(watched.id))).token);
  const credentials: Partial<Record<RouteKey, () => Promise<string>>> = {
    provisionSandbox: () => api.session(unpaired.id),
    createVisitorToken: () => pickKey('live'),
    readWidgetMessages: pickToken,
    createWidgetMessage: pickToken,
  };

  return {
    calls,
    /** The units that a call consumes, with an unused key where the route takes one. */
    async consumedBy(route: RouteKey, isOfSettings: boolean, call: Call = calls[route]) {
      const credential =
        credentials[route] ?? (isOfSettings ? async () => session : () => pickKey('sandbox'));
      const caller = api.caller(await credential());
      await caller(route, call);
      return api.consumed();
    },
    filtered: { ...to(large.id), query: filter },
  };
}
