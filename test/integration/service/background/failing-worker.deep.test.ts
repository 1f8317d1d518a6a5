import { until } from 'aws-local/test/until.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aTenant, type Tenant } from '../../../support/tenant.ts';
import { aPlace } from '../place.ts';
import { failedRequests } from '../stacks/faults.ts';
import { WITHOUT_WAITS } from '../stacks/settings.ts';

const MESSAGES = 12;

/* A worker behind the bus that always fails affects no other worker: the meter, once its table is gone. */
const place = aPlace({ settings: WITHOUT_WAITS });
afterAll(() => expect(failedRequests(place.log())).toEqual([]));

describe('a worker that fails on everything', () => {
  let tenant: Tenant;
  let endpoint: string;
  /** Log lines before the failures. */
  let before: number;

  beforeAll(async () => {
    const service = place.service();
    tenant = place.keep(await aTenant(service));
    await service.setQueueClocks('Bus/Meter/Queue', { visibilityTimeout: 1, maxReceiveCount: 3 });
    before = place.log().length;
    await service.drop('Usage');
    endpoint = `/api/v1/webhooks/${(await tenant.api.register(tenant.receiver, ['message.received'])).id}`;
    const conversation = `/api/v1/conversations/${await tenant.api.createConversation()}`;
    for (let sent = 0; sent < MESSAGES; sent += 1)
      expect(
        (await tenant.api.post(`${conversation}/messages`, { role: 'user', content: 'Hello' })).status,
      ).toBe(201);
  });

  it('does not delay webhooks: all are delivered at the first attempt', async () => {
    const deliveries = await until(`${MESSAGES} deliveries to end`, async () => {
      const all = await tenant.api.all(`${endpoint}/deliveries`);
      return all.length === MESSAGES && all.every(({ terminalAt }) => terminalAt !== null) && all;
    });
    for (const delivery of deliveries) expect(delivery).toMatchObject({ status: 'succeeded', attempts: 1 });
  });

  it('moves exactly its own events to its dead-letter queue', async () => {
    const ownIn = (queue: string) =>
      place
        .service()
        .bodies(queue)
        .filter((body) => body.includes(tenant.orgId));
    // The messages, and the conversation.
    await until('the events to be dead', () => ownIn('Bus/Meter/DeadLetters').length === MESSAGES + 1);
    expect(ownIn('Bus/Meter/Queue')).toEqual([]);
    for (const other of ['Bus/Notify', 'Bus/CheckSource']) expect(ownIn(`${other}/DeadLetters`)).toEqual([]);
  });

  it('logs each failure with the event that failed', async () => {
    await until('a failure to be logged', () =>
      place
        .log()
        .slice(before)
        .some(({ text }) => /could not be (?:processed|counted)/.test(text)),
    );
  });
});
