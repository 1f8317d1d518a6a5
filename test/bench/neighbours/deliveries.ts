import { until } from 'aws-local/test/until.ts';
import { mapConcurrently } from '../../../functions/aws/concurrency.ts';
import { wallClock } from '../measure/open-loop.ts';
import { type Receipt, startReceivers } from '../measure/receivers.ts';
import type { PlannedCall } from './client.ts';
import { answersOf, summarize } from './honest-calls.ts';
import { PATHS } from './path-server.ts';
import { AT_ONCE, HONEST, type Place } from './place.ts';
import type { HostileLoad, Prepared, Scenario } from './scenario.ts';

/** Events of each honest organization. */
const HONEST_PER_SECOND = 1;
/** After the last message, until missing deliveries are given up. */
const PATIENCE_MS = 60_000;
/** Until the ledger has counted the last deliveries of a turn. */
const COUNTED_MS = 5_000;
const DRAIN_MS = 240_000;

/**
 * A 25th of production, where the queues have 100, 50, 40 and 40 batches at once; a stage permits at least 2.
 */
const CONTEXT = {
  dispatchersFresh: 4,
  dispatchersRetry: 2,
  dispatchersSlow: 2,
  dispatchersStalled: 2,
  watchWindowSeconds: 2,
};

interface Load {
  path: string;
  endpoints: number;
  eventsPerSecond: number;
  /** All events of a turn; without it they continue until the turn ends. */
  events?: number;
}

async function conversationOf({ api, key }: Place['hostile']): Promise<PlannedCall> {
  const path = `/api/v1/conversations/${await api.createConversation()}/messages`;
  return { key, method: 'POST', path, body: { role: 'user', content: 'hello' } };
}

/**
 * @param refusesFirst whether the receivers of the honest organizations answer 503 to the first attempt of
 * each delivery
 */
async function prepareHonest(
  place: Place,
  refusesFirst: boolean,
): Promise<Pick<Prepared, 'honestTurn' | 'close'>> {
  const accepted = new Map<string, Receipt>();
  const refused = new Map<string, Receipt>();
  const receivers = await startReceivers(
    place.service.tls,
    (receipt) => {
      const receipts = receipt.isAccepted ? accepted : refused;
      if (!receipts.has(receipt.id)) receipts.set(receipt.id, receipt);
    },
    { refusesFirst },
  );
  const calls: PlannedCall[] = [];
  for (const [number, tenant] of place.honest.entries()) {
    await tenant.api.register(receivers.url(`/${number}`), ['message.received']);
    calls.push(await conversationOf(tenant));
  }
  return {
    async honestTurn(seconds) {
      const perSecond = HONEST * HONEST_PER_SECOND;
      const count = Math.ceil(perSecond * seconds);
      const answered = await place.client.start({ kind: 'calls', calls, perSecond, count }).result;
      const ids = answered.flatMap(({ id }) => (id === undefined ? [] : [id]));
      const missing = () => ids.filter((id) => !accepted.has(id)).length;
      const givenUpAt = wallClock.now() + PATIENCE_MS;
      await until('receipts', () => missing() === 0 || wallClock.now() > givenUpAt, 2 * PATIENCE_MS);
      const times = (receipts: ReadonlyMap<string, Receipt>) =>
        ids.flatMap((id) => {
          const receipt = receipts.get(id);
          return receipt === undefined ? [] : [receipt.receivedAt - receipt.committedAt];
        });
      const turn = {
        samples: {
          ...(refusesFirst ? { 'commit to accepted retry': times(accepted) } : {}),
          'commit to receipt': times(refusesFirst ? refused : accepted),
        },
        calls: count,
        refused: answersOf(answered).refused,
        missing: missing(),
      };
      accepted.clear();
      refused.clear();
      return turn;
    },
    close: () => receivers.stop(),
  };
}

/** Registers new endpoints for each turn, so that the state of earlier ones has no effect. */
async function startLoad(place: Place, message: PlannedCall, load: Load): Promise<HostileLoad> {
  const { hostile, hostileClient, pathServer } = place;
  pathServer.setRecovered(false);
  const endpoints = await mapConcurrently([...Array(load.endpoints).keys()], AT_ONCE, async (number) => {
    const { id } = await hostile.api.register(pathServer.url(`${load.path}/${number}`), ['message.received']);
    return id;
  });
  const { eventsPerSecond: perSecond, events } = load;
  const job = hostileClient.start({
    kind: 'calls',
    calls: [message],
    perSecond,
    ...(events !== undefined && { count: events }),
  });
  return {
    async stop() {
      job.stop();
      const answered = await job.result;
      const waiting = await until('a count', () => pendingOf(hostile), COUNTED_MS).catch(() => 'unknown');
      pathServer.setRecovered(true);
      const began = wallClock.now();
      await until(
        'the hostile deliveries to end',
        async () => wallClock.now() - began > COUNTED_MS && (await pendingOf(hostile)) === 0,
        DRAIN_MS,
        1_000,
      );
      await mapConcurrently(endpoints, AT_ONCE, (id) =>
        hostile.api.call({ method: 'DELETE', path: `/api/v1/webhooks/${id}` }),
      );
      return `${answered.length} events to ${load.endpoints} endpoints, ${waiting} deliveries open at the end: ${summarize(answered)}`;
    },
  };
}

/** Its open deliveries, as the API counts them; undefined when the API is too busy to answer. */
async function pendingOf({ api }: Place['hostile']): Promise<number | undefined> {
  const { status, body } = await api.get('/api/v1/deliveries/stats?hours=2');
  return status === 200 ? Number(Object(body.data?.backlog).pending) : undefined;
}

const preparedWith =
  (load: Load, { refusesFirst }: { refusesFirst: boolean }): Scenario['prepare'] =>
  async (place) => {
    const honest = await prepareHonest(place, refusesFirst);
    const message = await conversationOf(place.hostile);
    return { ...honest, startHostile: () => startLoad(place, message, load) };
  };

/**
 * A 25th of the 500 deliveries a second that ten events make at 50 endpoints. An event makes ten at once, not
 * 50: in production such a burst is five batches of 100, here it would be five of four.
 */
const RETRIES: Load = { path: PATHS.fail, endpoints: 10, eventsPerSecond: 2 };
const SILENCE: Load = { path: PATHS.silent, endpoints: 10, eventsPerSecond: 1, events: 5 };

export const retries: Scenario = {
  name: 'retries',
  about: `commit to the retry that ${HONEST} endpoints accept, after a 503; the hostile organization has ${RETRIES.endpoints} that answer 500 after 0.45 s`,
  scarce:
    'Batches of the dispatcher: 4 for first attempts and 2 for retries, a 25th of production. The hostile organization sends 2 events a second to 10 endpoints, a 25th of 10 a second to 50: 20 deliveries a second, each with 8 attempts, waits of 4 and 8 s between them (30 s to an hour in production): more than the retry lane can make.',
  context: { ...CONTEXT, retryBaseSeconds: 4, retryCapSeconds: 8 },
  leadSeconds: 20,
  prepare: preparedWith(RETRIES, { refusesFirst: true }),
};

export const silence: Scenario = {
  name: 'silence',
  about: `commit to receipt at ${HONEST} endpoints that answer at once; the hostile organization has ${SILENCE.endpoints} that never answer`,
  scarce:
    'Batches of the dispatcher, as for retries: each attempt that gets no answer holds its batch for up to 10 s. The hostile organization sends 5 events in 5 s at the beginning of the turn: 50 deliveries, more than the 40 that the fresh lane attempts at once.',
  context: { ...CONTEXT, retryBaseSeconds: 2, retryCapSeconds: 4 },
  leadSeconds: 0,
  prepare: preparedWith(SILENCE, { refusesFirst: false }),
};
