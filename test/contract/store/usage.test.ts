import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { OrgId } from '../../../functions/aws/ids.ts';
import type { Table } from '../../../functions/aws/table.ts';
import { type MeteredEvent, sumUsage, usageMeter, usageReader } from '../../../functions/events/usage.ts';
import type { Permit } from '../../../functions/tenancy/gate.ts';
import { keys } from '../../../functions/tenancy/keys.ts';
import { aBusEvent, aTenant, later, NOW, seconds } from '../../builders.ts';
import { dynamoDb } from '../../engines.ts';
import { aPermit } from '../../unit/delivery/outbound/permit.ts';
import { cancelTransactions, conflictOnOverlap, readInPagesOf } from './faults.ts';
import { rowsIn } from './rows.ts';

const engine = dynamoDb();
const atOnce = async () => undefined;

/** The meter and the reader of usage. */
const usagesOf = (metered: Table, read: Table) => ({
  ...usageMeter(metered, atOnce),
  read: usageReader(read),
});
type Usages = ReturnType<typeof usagesOf>;

/** A live organization, and the gate's permit for it. */
async function aCustomer() {
  const { orgId } = aTenant();
  return { orgId, permit: await aPermit(orgId) };
}

const aMeteredEvent = (changes: Partial<MeteredEvent> = {}): MeteredEvent => {
  const { id, createdAt } = aBusEvent();
  return { id, type: 'message.received', createdAt, ...changes };
};

/** The usage of an organization in all months. */
const allOf = async (usages: Pick<Usages, 'read'>, orgId: OrgId) =>
  Object.fromEntries(await usages.read(orgId, { from: '0000-01', to: '9999-12' }));

/**
 * Counts events as the queue does: all of them first, then those that failed or were left.
 * @returns the events that are left in the end
 */
async function countUntilDone(
  usages: Pick<Usages, 'count'>,
  events: readonly MeteredEvent[],
  permit: Permit,
): Promise<MeteredEvent[]> {
  let left = [...events];
  for (let receive = 1; left.length > 0 && receive <= 20; receive += 1)
    left = await usages.count(left, permit).catch(() => left);
  return left;
}

/** A meter with a table of its own, and a client for faults that no other code uses. */
async function aMeter() {
  const client = engine.client();
  const { usage } = await engine.tables();
  return {
    client,
    usage,
    ...usagesOf({ client, name: usage.name }, usage),
  };
}

/** Fails calls of the SDK, some before they take effect, some after; `undefined` lets one pass. */
function failCalls(client: DynamoDBDocumentClient, fates: ('before' | 'after' | undefined)[]): void {
  client.middlewareStack.add(
    (next) => async (request) => {
      const fate = fates.shift();
      if (fate === 'before') throw new Error('the table is out of reach');
      const answer = await next(request);
      if (fate === 'after') throw new Error('the answer was lost');
      return answer;
    },
    { step: 'initialize', name: 'failCalls' },
  );
}

const someEvents = (count: number) => Array.from({ length: count }, () => aMeteredEvent());

describe('usage in the table', () => {
  it('has a mark for each event that expires after 60 days, and a counter that never expires', async () => {
    const { usage, count } = await aMeter();
    const { orgId, permit } = await aCustomer();
    const event = aMeteredEvent();

    await count([event], permit);

    const rows = await rowsIn(usage);
    expect(rows).toHaveLength(2);
    expect(rows).toContainEqual({
      ...keys.metered(orgId, event.id),
      orgId,
      expiresAt: later(NOW, seconds(60 * 86_400)).getTime() / 1000,
    });
    expect(rows).toContainEqual({
      pk: keys.usage(orgId),
      sk: expect.stringMatching(/^2026-11#[0-7]$/),
      orgId,
      month: '2026-11',
      conversations: 0,
      messages: 1,
    });
  });

  it('is spread over the shards of a month, and read from all of them in all pages', async () => {
    const { usage, count } = await aMeter();
    const { orgId, permit } = await aCustomer();
    for (const event of someEvents(60)) await count([event], permit);
    const client = engine.client();
    readInPagesOf(client, 3);

    const counters = (await rowsIn(usage)).filter(({ pk }) => pk === keys.usage(orgId));

    expect(counters.length).toBeGreaterThan(4);
    expect(await allOf({ read: usageReader({ client, name: usage.name }) }, orgId)).toEqual({
      '2026-11': { conversations: 0, messages: 60 },
    });
  });
});

describe('concurrently counted usage', () => {
  it('is returned as uncounted when conflicts continue', async () => {
    const { client, count, read } = await aMeter();
    const { orgId, permit } = await aCustomer();
    const events = someEvents(3);
    cancelTransactions(client, () => true);

    expect(await count(events, permit)).toEqual(events);

    expect(await allOf({ read }, orgId)).toEqual({});
  });
});

describe('usage whose answer was lost', () => {
  it('is exact when calls of concurrent meters fail before or after their effect', async () => {
    const meters = await aMeter();
    const fates: ('before' | 'after' | undefined)[] = [];
    conflictOnOverlap(meters.client);
    failCalls(meters.client, fates);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('before' as const, 'after' as const, undefined), { maxLength: 12 }),
        fc.array(fc.array(fc.nat(9), { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 4 }),
        async (faults, batches) => {
          const { orgId, permit } = await aCustomer();
          const events = someEvents(10);
          fates.splice(0, fates.length, ...faults);

          await Promise.all(
            batches.map((members) =>
              countUntilDone(
                meters,
                members.flatMap((member) => events[member] ?? []),
                permit,
              ),
            ),
          );
          expect(await countUntilDone(meters, events, permit)).toEqual([]);

          expect(await allOf(meters, orgId)).toEqual(Object.fromEntries(sumUsage(events)));
        },
      ),
      { numRuns: 40 },
    );
  });
});

describe('counted usage', () => {
  it('needs a permit of the gate', async () => {
    const usages = await aMeter();
    const { orgId } = await aCustomer();

    await expect(usages.count([aMeteredEvent()], { orgId } as Permit)).rejects.toThrow('the gate');

    expect(await allOf(usages, orgId)).toEqual({});
  });
});
