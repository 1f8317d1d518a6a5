import { until } from 'aws-local/test/until.ts';
import { mapConcurrently } from '../../../functions/aws/concurrency.ts';
import { ReceiverId } from '../../../functions/aws/ids.ts';
import type { Table } from '../../../functions/aws/table.ts';
import { deliveryStore } from '../../../functions/delivery/rows.ts';
import { succeeded } from '../growth/seeds.ts';
import type { PlannedCall } from './client.ts';
import { makeHonestCalls, summarize } from './honest-calls.ts';
import { PATHS } from './path-server.ts';
import { AT_ONCE, HONEST, type Place } from './place.ts';
import type { Scenario } from './scenario.ts';

const ENDPOINTS = 50;
const HOURS = 168;
/** Deliveries of one endpoint, none of which matches a filtered list. */
const ROWS = 3_000;
const MS_PER_HOUR = 3_600_000;
const HONEST_PER_SECOND = 10;
/** Of the 10 in its budget: the rest would use up the processor, which no budget here divides. */
const HOSTILE_PER_SECOND = 4;
const COUNTED_MS = 300_000;

/** The table and key of deliveries, found by one that the service made. */
async function deliveriesTable(place: Place, endpoint: string): Promise<string> {
  const { status } = await place.hostile.api.post(`/api/v1/webhooks/${endpoint}/test`);
  if (status !== 202) throw new Error(`the test was answered ${status}`);
  return until('a delivery of the test', async () => {
    const rows = await place.service.rows([endpoint]);
    return rows.find(({ item }) => String(item.sk).startsWith('dlv_'))?.table;
  });
}

/**
 * A delivery in each hour of a week at each endpoint, and many in the last hours of one; the service itself
 * counts them.
 */
async function seed(place: Place, endpoints: readonly string[]): Promise<number> {
  const { service, hostile } = place;
  const [first = ''] = endpoints;
  const table = await deliveriesTable(place, first);
  const store = deliveryStore({ name: table } as Table);
  const now = Date.now();
  const at = [
    ...endpoints.flatMap((id) =>
      Array.from({ length: HOURS }, (_, hour) => ({ id, time: now - hour * MS_PER_HOUR })),
    ),
    ...Array.from({ length: ROWS }, (_, row) => ({ id: first, time: now - (row / ROWS) * MS_PER_HOUR })),
  ];
  await mapConcurrently(at, AT_ONCE, async ({ id, time }) => {
    const { write } = store.adding(succeeded(hostile.orgId, ReceiverId.parse(id), new Date(time)));
    await service.rewrite({ table, item: write.Put?.Item ?? {} });
  });
  return at.length;
}

export const reads: Scenario = {
  name: 'reads',
  about: `call to answer of creating messages and listing conversations; the hostile organization reads a week of ${ENDPOINTS} endpoints`,
  scarce: `Tables and processors: there is no slot here that one organization could take from another, since each route has functions of its own. The hostile organization makes ${HOSTILE_PER_SECOND} calls a second of the 10 in its budget, in turn statistics of ${HOURS} hours and filtered lists over ${ROWS} deliveries that find none. What the processors take of the ratio, the two figures of their use tell.`,
  context: {},
  leadSeconds: 2,
  async prepare(place, { progress }) {
    const { honest, hostile, hostileClient, pathServer } = place;
    const calls: PlannedCall[] = [];
    for (const { api, key } of honest) {
      const path = `/api/v1/conversations/${await api.createConversation()}/messages`;
      calls.push({ key, method: 'POST', path, body: { role: 'user', content: 'hello' } });
    }
    const lists = honest.map(
      ({ key }): PlannedCall => ({ key, method: 'GET', path: '/api/v1/conversations' }),
    );
    const mixed = calls.flatMap((call, index) => [call, lists[(index + HONEST / 2) % HONEST] ?? call]);

    const endpoints = await mapConcurrently([...Array(ENDPOINTS).keys()], AT_ONCE, async (number) => {
      const { id } = await hostile.api.register(pathServer.url(`${PATHS.accept}/${number}`), [
        'ticket.created',
      ]);
      return id;
    });
    progress('deliveries of a week are written');
    const written = await seed(place, endpoints);
    // One hour more each time: with fewer hours the service would use its cache, and count nothing again.
    let hours = HOURS / 2;
    await until(
      'the ledger to count them',
      async () => {
        hours = Math.min(hours + 1, HOURS);
        const { body } = await hostile.api.get(`/api/v1/deliveries/stats?hours=${hours}`);
        const { owed } = Object(body.data?.totals);
        // The oldest hour may have passed.
        const expected = written - ENDPOINTS * (HOURS - hours + 1);
        progress(`${owed} of ${expected} are counted`);
        return owed >= expected;
      },
      COUNTED_MS,
      2_000,
    );
    const read = (path: string): PlannedCall => ({ key: hostile.key, method: 'GET', path });
    const hostileCalls = [
      read(`/api/v1/deliveries/stats?hours=${HOURS}`),
      read(`/api/v1/webhooks/${endpoints[0]}/deliveries?status=exhausted&limit=100`),
    ];
    return {
      honestTurn: (seconds) => makeHonestCalls(place, mixed, { perSecond: HONEST_PER_SECOND, seconds }),
      async startHostile() {
        const job = hostileClient.start({
          kind: 'calls',
          calls: hostileCalls,
          perSecond: HOSTILE_PER_SECOND,
        });
        return {
          async stop() {
            job.stop();
            return summarize(await job.result);
          },
        };
      },
    };
  },
};
