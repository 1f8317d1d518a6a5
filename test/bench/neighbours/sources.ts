import { until } from 'aws-local/test/until.ts';
import { mapConcurrently } from '../../../functions/aws/concurrency.ts';
import { wallClock } from '../measure/open-loop.ts';
import type { PlannedCall } from './client.ts';
import { summarize } from './honest-calls.ts';
import { PATHS } from './path-server.ts';
import { AT_ONCE, HONEST, type Place } from './place.ts';
import type { HostileLoad, Scenario } from './scenario.ts';

const COLLECTION = '/api/v1/knowledge/sources';
const HOSTILE_SOURCES = 100;
/**
 * Checks requested by all honest organizations together, and by the hostile one: less than its budget of 10,
 * which would need the processor.
 */
const HONEST_PER_SECOND = 2;
const HOSTILE_PER_SECOND = 4;
/** A check that settles within this time had no others before it. */
const FREE_MS = 1_500;
/** This many of them in a row. */
const FREE_CHECKS = 3;
const DRAIN_MS = 300_000;

async function createSource({ api }: Place['hostile'], url: string): Promise<string> {
  const { status, body } = await api.post(COLLECTION, { kind: 'url', url });
  if (status !== 201) throw new Error(`the creation of a source was answered ${status}`);
  return String(body.data?.id);
}

async function checkHonest({ api }: Place['hostile'], id: string): Promise<number> {
  const askedAt = wallClock.now();
  await api.post(`${COLLECTION}/${id}/sync`);
  await until(
    'a check of an honest source',
    async () =>
      Date.parse(String((await api.get(`${COLLECTION}/${id}`)).body.data?.lastCheckedAt)) >= askedAt,
    DRAIN_MS,
  );
  return wallClock.now() - askedAt;
}

/** Waits until checks of an honest source settle without a backlog. */
async function awaitFreeChecks(tenant: Place['hostile'], id: string): Promise<void> {
  for (let free = 0; free < FREE_CHECKS; ) free = (await checkHonest(tenant, id)) < FREE_MS ? free + 1 : 0;
}

async function startLoad(place: Place, drained: () => Promise<void>): Promise<HostileLoad> {
  const { hostile, hostileClient, pathServer } = place;
  pathServer.setRecovered(false);
  const ids = await mapConcurrently([...Array(HOSTILE_SOURCES).keys()], AT_ONCE, (number) =>
    createSource(hostile, pathServer.url(`${PATHS.trickle}/${number}`)),
  );
  const calls = ids.map(
    (id): PlannedCall => ({ key: hostile.key, method: 'POST', path: `${COLLECTION}/${id}/sync` }),
  );
  const job = hostileClient.start({ kind: 'calls', calls, perSecond: HOSTILE_PER_SECOND });
  return {
    async stop() {
      job.stop();
      const answered = await job.result;
      pathServer.setRecovered(true);
      await mapConcurrently(ids, AT_ONCE, (id) =>
        hostile.api.call({ method: 'DELETE', path: `${COLLECTION}/${id}` }),
      );
      await drained();
      return `checks of ${HOSTILE_SOURCES} sources: ${summarize(answered)}`;
    },
  };
}

export const sources: Scenario = {
  name: 'sources',
  about: `request of a check to its end for ${HONEST} sources; the hostile organization has ${HOSTILE_SOURCES} whose server sends a byte a second`,
  scarce:
    'Batches of source checks: 6 with 5 checks each on one machine, 20 in production. A check of a page that trickles holds its batch until the deadline of 20 s. The hostile organization creates its sources and requests 4 checks a second, of the 10 in its budget.',
  // Checks are requested of the same sources repeatedly, by both sides.
  context: { syncCooldownSeconds: 0 },
  leadSeconds: 5,
  async prepare(place) {
    const { honest, client } = place;
    const sources = await mapConcurrently([...honest.entries()], AT_ONCE, async ([number, tenant]) => {
      const path = `${PATHS.steady}/${number}`;
      return { tenant, key: tenant.key, path, id: await createSource(tenant, client.pageUrl(path)) };
    });
    const drained = async () => {
      const [first] = sources;
      if (first !== undefined) await awaitFreeChecks(first.tenant, first.id);
    };
    await drained();
    return {
      async honestTurn(seconds) {
        const count = Math.ceil(seconds * HONEST_PER_SECOND);
        const checked = sources.map(({ key, id, path }) => ({ key, id, path }));
        const job = { kind: 'checks', sources: checked, perSecond: HONEST_PER_SECOND, count } as const;
        const checks = await client.start(job).result;
        const missing = checks.filter(({ isSettled }) => !isSettled).length;
        return {
          samples: { 'request to check': checks.map(({ ms }) => ms) },
          calls: count,
          refused: 0,
          missing,
        };
      },
      startHostile: () => startLoad(place, drained),
    };
  },
};
