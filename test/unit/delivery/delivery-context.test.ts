import { describe, expect, it } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { put } from '../../../functions/aws/table.ts';
import { deliveryContexts } from '../../../functions/delivery/dispatch.ts';
import { keys } from '../../../functions/tenancy/keys.ts';
import { anEndpoint, anEvent, aTenant, NOW } from '../../builders.ts';
import type { Interceptor } from '../../doubles/tables/memory-tables.ts';
import { sharedMemoryTables } from '../../doubles/tables/stack-tables.ts';

/* Rows that are absent, unreadable or refused: test/contract/store/partial-failures.test.ts. */

/** Ten pairs of an endpoint and an event. `pass` passes on the requests, or not. */
async function tenPairs(pass: Interceptor) {
  const operations: string[] = [];
  const { service, outbox } = sharedMemoryTables()((operation, input, answer) => {
    operations.push(operation);
    return pass(operation, input, answer);
  });
  const pairs = await Promise.all(
    Array.from({ length: 10 }, async () => {
      const tenant = aTenant();
      const [endpoint, event] = [anEndpoint({ orgId: tenant.orgId }), anEvent({ tenant })];
      await put(service, { ...keys.endpoint(tenant.orgId, endpoint.id), ...endpoint });
      await put(outbox, { ...keys.event(tenant, event.id), ...event });
      const ref = { ...tenant, id: newId('dlv', NOW), webhookId: endpoint.id, eventId: event.id };
      return { endpoint, event, ref };
    }),
  );
  operations.length = 0;
  return { pairs, operations, read: deliveryContexts(service, outbox, () => undefined) };
}

describe('contexts of a batch of deliveries', () => {
  it('have the endpoint and the event of each delivery, read in one request', async () => {
    const { pairs, operations, read } = await tenPairs(async (_operation, _input, answer) => answer());

    const getContext = await read(pairs.map(({ ref }) => ref));

    for (const { ref, endpoint, event } of pairs) expect(getContext(ref)).toEqual({ endpoint, event });
    expect(operations).toEqual(['BatchGet']);
  });

  it("have no endpoint of another organization than the message's", async () => {
    const { pairs, read } = await tenPairs(async (_operation, _input, answer) => answer());
    const [foreign] = pairs.map(({ ref }) => ({ ...ref, orgId: newId('org', NOW) }));
    if (foreign === undefined) throw new Error('ten pairs expected');

    expect((await read([foreign]))(foreign)).toEqual({ endpoint: undefined, event: undefined });
  });

  it.each(['service', 'outbox'] as const)(
    'fail, and no others, whose row of the %s stays unprocessed, and it is not read again alone',
    async (table) => {
      const { pairs, operations, read } = await tenPairs(async (operation, input, answer) => {
        if (operation !== 'BatchGet') return answer();
        const asked = Object(input.RequestItems)[table];
        const [first, ...others] = asked.Keys;
        asked.Keys = others;
        return { ...Object(answer()), UnprocessedKeys: { [table]: { Keys: [first] } } };
      });

      const getContext = await read(pairs.map(({ ref }) => ref));

      const [broken, ...others] = pairs;
      expect(() => broken && getContext(broken.ref)).toThrow(
        expect.objectContaining({ name: 'ThrottlingException' }),
      );
      for (const { ref, endpoint, event } of others) expect(getContext(ref)).toEqual({ endpoint, event });
      expect(operations).not.toContain('Get');
    },
  );

  it.each(['ThrottlingException', 'ProvisionedThroughputExceededException', 'TimeoutError'])(
    'fail as a whole, without further reads, when their read fails with %s',
    async (name) => {
      const { pairs, operations, read } = await tenPairs(async (operation, _input, answer) => {
        if (operation === 'BatchGet') throw Object.assign(new Error('not now'), { name });
        return answer();
      });

      await expect(read(pairs.map(({ ref }) => ref))).rejects.toThrow('not now');
      expect(operations).not.toContain('Get');
    },
  );
});
