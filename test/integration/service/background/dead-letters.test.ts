import { randomUUID } from 'node:crypto';
import { failureMessage } from 'aws-local/sources/failure-destination.ts';
import { toStreamRecord } from 'aws-local/sources/stream-records.ts';
import { PATIENCE } from 'aws-local/test/patience.ts';
import { until } from 'aws-local/test/until.ts';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { type ReceivedDelivery, startReceiver } from '../../../../packages/cli/src/receiver/receiver.ts';
import type { ApiClient } from '../../../support/api.ts';
import type { Row } from '../../../support/tables.ts';
import { aTenant } from '../../../support/tenant.ts';
import { aPlace } from '../place.ts';
import { untilDrained } from './until-drained.ts';

type Reader = 'dead-fan-outs' | 'dead-publications';
/** The messages to retry. */
const Answer = z.object({ batchItemFailures: z.array(z.object({ itemIdentifier: z.string() })) });

/* Records that the streams of the outbox gave up, in the form of Lambda's failure destination. */
const { service, keep } = aPlace();
/** Waits for the row of a table that contains the text and satisfies the predicate. */
const row = (table: string, text: string, is: (item: Row['item']) => boolean) =>
  until(`a row of ${table} with ${text}`, async () =>
    (await service().rows([text], table)).find((found) => is(found.item)),
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

/** Invokes the reader with a letter until it succeeds, as SQS does: on a busy machine a call may fail. */
async function read(reader: Reader, body: string): Promise<void> {
  const event = { Records: [{ messageId: randomUUID(), body }] };
  await until(`${reader} to process the letter`, async () => {
    const { batchItemFailures } = Answer.parse(await service().invoke(reader, event));
    return batchItemFailures.length === 0;
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

describe.concurrent('a dead letter of the fan-out', { timeout: 120_000 * PATIENCE }, () => {
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

    await read('dead-fan-outs', letter);
    const made = await ended(api, owed, 1);
    expect(made).toMatchObject([{ eventId, status: 'succeeded', attempts: 1 }]);

    await read('dead-fan-outs', letter);
    await untilDrained(service(), 'Delivery/Fresh', orgId);
    expect(await ended(api, owed, 1)).toEqual(made);
    const [before] = await ended(api, served, 1);
    expect(received.map(({ headers }) => headers['webhook-delivery-id'])).toEqual([before?.id, made[0]?.id]);
  });
});

describe.concurrent('a dead letter of the publisher', { timeout: 120_000 * PATIENCE }, () => {
  /** Two messages whose usage rows are removed: published again, each counts once more. */
  async function messagesNotCounted() {
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
    const ids = [await say(), await say()] as const;
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
    const { ids, counted, messages } = await messagesNotCounted();
    const [first, second] = ids;
    const letter = await deadLetter(first);

    await read('dead-publications', letter);
    await counted(first);
    expect(await messages()).toBe(3);

    await read('dead-publications', letter);
    await read('dead-publications', await deadLetter(second));
    await counted(second);
    expect(await messages()).toBe(4);
  });
});
