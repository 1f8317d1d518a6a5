import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { failureMessage } from 'aws-local/sources/failure-destination.ts';
import { toStreamRecord } from 'aws-local/sources/stream-records.ts';
import { until } from 'aws-local/test/until.ts';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { type ReceivedDelivery, startReceiver } from '../../../../packages/cli/src/receiver/receiver.ts';
import type { ApiClient } from '../../../support/api.ts';
import type { Row } from '../../../support/tables.ts';
import { aTenant } from '../../../support/tenant.ts';
import { aPlace } from '../place.ts';
import { POLL_MS } from '../receivers.ts';
import { untilDrained } from './until-drained.ts';

type Reader = 'dead-fan-outs' | 'dead-publications';
/** The queue that each reader reads; it postpones work by a new message to the same queue. */
const QUEUES = { 'dead-fan-outs': 'Delivery/DeadFanOuts', 'dead-publications': 'Bus/DeadPublications' };
/** What a reader answers: the messages to retry. */
const Answer = z.object({ batchItemFailures: z.array(z.object({ itemIdentifier: z.string() })) });

/* Records that the streams of the outbox gave up, in the form of Lambda's failure destination. */
const { service, keep } = aPlace('withoutWaits');
/** Waits for the row of a table that contains the text and satisfies the predicate. */
const row = (table: string, text: string, is: (item: Row['item']) => boolean) =>
  until(
    `a row of ${table} with ${text}`,
    async () => (await service().rows([text], table)).find((found) => is(found.item)),
    undefined,
    POLL_MS,
  );
const entry = (id: string) => row('Outbox', id, ({ sk }) => sk === id);

/** A dead letter that names the stream record of one event. */
async function deadLetter(eventId: string): Promise<string> {
  const { streamArn, shardId, record } = await service().streamed(await entry(eventId));
  const batch = {
    records: [toStreamRecord(record, streamArn)],
    condition: 'RetryAttemptsExhausted',
    invocations: 101,
    functionArn: 'arn:aws:lambda:us-east-1:000000000000:function:reader',
    streamArn,
    shardId,
  } as const;
  return JSON.stringify(failureMessage(batch, new Date()));
}
async function postponedMessage(...ids: string[]): Promise<string> {
  const rows = await Promise.all(ids.map(entry));
  return JSON.stringify({ kind: 'entries', keys: rows.map(({ item: { pk, sk } }) => ({ pk, sk })) });
}

/**
 * Invokes the reader with letters until all succeed, as SQS does: on a busy machine a call may fail.
 * @param postponed messages about these events that the reader has to postpone
 */
async function read(
  reader: Reader,
  letters: readonly string[],
  eventIds: readonly string[],
  postponed: readonly string[],
): Promise<void> {
  const Records = letters.map((body) => ({ messageId: randomUUID(), body }));
  const notes = () =>
    service()
      .bodies(QUEUES[reader])
      .filter((body) => eventIds.some((id) => body.includes(id)));
  await until(`${reader} to process the letters and to postpone [${postponed}]`, async () => {
    const before = notes().length;
    const { batchItemFailures } = Answer.parse(await service().invoke(reader, { Records }));
    const added = new Set(notes().slice(before));
    return batchItemFailures.length === 0 && isDeepStrictEqual([...added], postponed);
  });
}

const ended = (api: ApiClient, path: string, count: number) =>
  until(`${count} deliveries of ${path}`, async () => {
    const all = await api.all(`${path}/deliveries`);
    return all.length >= count && all.every(({ terminalAt }) => terminalAt !== null) && all;
  });

async function aReceiver() {
  const received: ReceivedDelivery[] = [];
  const { url, stop } = await startReceiver({
    ...service().tls,
    onDelivery: (delivery) => received.push(delivery),
  });
  keep({ close: stop });
  return { url, received };
}

describe.concurrent('a dead letter of the fan-out', { timeout: 120_000 }, () => {
  /** An event that one endpoint has received. The other endpoint did not exist when the fan-out ran. */
  async function anEventWithMissingDelivery() {
    const { api, orgId } = keep(await aTenant(service()));
    const { url, received } = await aReceiver();
    const endpoint = async () => `/api/v1/webhooks/${(await api.register(url, ['conversation.created'])).id}`;
    const served = await endpoint();
    await api.createConversation();
    const [{ eventId } = expect.fail('a delivery was to be made')] = await ended(api, served, 1);
    return { api, orgId, received, served, owed: await endpoint(), eventId: String(eventId) };
  }

  it('makes only the missing deliveries of the event that it names', async () => {
    const { api, orgId, received, served, owed, eventId } = await anEventWithMissingDelivery();
    const letter = await deadLetter(eventId);

    await read('dead-fan-outs', [letter], [eventId], []);
    const made = await ended(api, owed, 1);
    expect(made).toMatchObject([{ eventId, status: 'succeeded', attempts: 1 }]);

    await read('dead-fan-outs', [letter], [eventId], []);
    await untilDrained(service(), 'Delivery/Fresh', orgId);
    expect(await ended(api, owed, 1)).toEqual(made);
    const [before] = await ended(api, served, 1);
    expect(received.map(({ headers }) => headers['webhook-delivery-id'])).toEqual([before?.id, made[0]?.id]);
  });

  it('is postponed while its event cannot be processed, and then delivered to a slow or stalled receiver', async () => {
    const [hindered, other] = [await anEventWithMissingDelivery(), await anEventWithMissingDelivery()];
    const ids = [hindered.eventId, other.eventId];
    const id = String(hindered.owed.split('/').at(-1));
    const endpoint = await row('Service', id, ({ sk }) => sk === id);
    const letters = [await deadLetter(hindered.eventId), await deadLetter(other.eventId)];
    const { orgId } = endpoint.item;
    const organization = await row(
      'Service',
      String(orgId),
      ({ pk, sk }) => pk === orgId && sk === 'organization',
    );
    const { pk, sk } = organization.item;
    await service().rewrite({ ...organization, item: { pk, sk, note: 'broken by a test' } });

    const postponed = [await postponedMessage(hindered.eventId)];
    await read('dead-fan-outs', letters, ids, postponed);

    expect(await ended(other.api, other.owed, 1)).toMatchObject([{ eventId: other.eventId }]);
    await service().rewrite(organization);
    const until = new Date(Date.now() + 600_000).toISOString();
    await service().rewrite({ ...endpoint, item: { ...endpoint.item, pace: { is: 'slow', until } } });
    expect(await hindered.api.all(`${hindered.owed}/deliveries`)).toEqual([]);

    await read('dead-fan-outs', postponed, ids, []);
    expect(await ended(hindered.api, hindered.owed, 1)).toMatchObject([
      { eventId: hindered.eventId, status: 'succeeded' },
    ]);

    // A delivery to a stalled endpoint goes to the stalled queue; the first attempt that does not stall
    // clears the mark.
    const mark = { pace: { is: 'stalled', until } };
    await service().rewrite({ ...endpoint, item: { ...endpoint.item, ...mark } });
    await read('dead-fan-outs', postponed, ids, []);
    await hindered.api.createConversation();
    expect(await ended(hindered.api, hindered.owed, 2)).toMatchObject([
      { status: 'succeeded', attempts: 1 },
      { eventId: hindered.eventId },
    ]);
    await row('Service', id, ({ sk, pace }) => sk === id && Object(pace).is !== 'stalled');
  });
});

describe.concurrent('a dead letter of the publisher', { timeout: 120_000 }, () => {
  /** Messages whose usage rows are removed: published again, each counts once more. */
  async function messagesNotCounted(count: number) {
    const tenant = keep(await aTenant(service()));
    const conversation = await tenant.api.createConversation();
    const say = async () => {
      const { status, body } = await tenant.api.post(`/api/v1/conversations/${conversation}/messages`, {
        role: 'user',
        content: 'Hello',
      });
      expect(status).toBe(201);
      const { item } = await row('Outbox', String(body.data?.id), () => true);
      return String(item.sk);
    };
    const counted = (id: string) => row('Usage', id, () => true);
    const ids = await Promise.all(Array.from({ length: count }, say));
    for (const id of ids) await service().remove(await counted(id));
    return {
      ids,
      counted,
      async messages() {
        await untilDrained(service(), 'Bus/Meter/Queue', tenant.orgId);
        const { body } = await tenant.admin.get('/api/settings/usage?months=2');
        const months: { messages: number }[] = Object(body.data).months;
        return months.reduce((sum, month) => sum + month.messages, 0);
      },
    };
  }

  it('publishes the event that it names again, and a repeated event counts once', async () => {
    const { ids, counted, messages } = await messagesNotCounted(2);
    const [first = '', second = ''] = ids;
    const letter = await deadLetter(first);

    await read('dead-publications', [letter], [first], []);
    await counted(first);
    expect(await messages()).toBe(3);

    await read('dead-publications', [letter], [first], []);
    await read('dead-publications', [await deadLetter(second)], [second], []);
    await counted(second);
    expect(await messages()).toBe(4);
  });

  it('is postponed only for the events that the bus refuses, and loses none', async () => {
    const { ids, counted, messages } = await messagesNotCounted(2);
    const [refused = '', other = ''] = ids;
    const stored = await entry(refused);
    // EventBridge refuses an entry without a type.
    const untyped = { ...stored.item, kind: 'notice', type: '', data: {} };
    await service().rewrite({ ...stored, item: untyped });

    const postponed = [await postponedMessage(refused)];
    await read('dead-publications', [await postponedMessage(...ids)], ids, postponed);

    await counted(other);
    expect(await messages()).toBe(3);
    await service().rewrite(stored);

    await read('dead-publications', postponed, ids, []);
    await counted(refused);
    expect(await messages()).toBe(4);
  });
});
