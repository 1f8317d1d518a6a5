import { randomUUID } from 'node:crypto';
import { until } from 'aws-local/test/until.ts';
import { SubscribableType } from '../../../../../functions/events/events.ts';
import type { Data, Teller } from '../transcript.ts';
import { NOTHING, pages } from './conversations.ts';

/** Origins of the endpoints, the same for live and sandbox. */
export interface Places {
  /** The receiver that behaves as the URL says. */
  programmed: string;
  /** No server listens there. */
  nobody: string;
}

interface Program {
  /** The query of the URL. */
  query: string;
  at?: keyof Places;
  /** The number of deliveries to it. */
  tests: number;
}

/** Not caused while endpoints with programs exist: they get only deliveries of the test operation. */
const EVENTS = ['ticket.created'];

const PROGRAMS = {
  accepts: { query: 'simulate=200', tests: 3 },
  'accepts in its way': { query: 'simulate=204&shop=7', tests: 1 },
  recovers: { query: 'simulate=503,503,200', tests: 1 },
  fails: { query: 'simulate=500', tests: 1 },
  'fails in turns': { query: 'simulate=404,reset,301,429,500,410,400,599', tests: 1 },
  'never answers at first': { query: 'simulate=timeout,200', tests: 1 },
  'is too slow at first': { query: 'simulate=200@25s,200', tests: 1 },
  resets: { query: 'simulate=reset,reset,200', tests: 1 },
  redirects: { query: 'simulate=301,308,200', tests: 1 },
  'is slow': { query: 'simulate=200@700ms', tests: 2 },
  'fails slowly': { query: 'simulate=503@700ms,503@700ms,200', tests: 1 },
  'is not there': { query: 'simulate=refused', at: 'nobody', tests: 1 },
  'has less time': { query: 'simulate=503,200@300ms&simulate-speed=2', tests: 1 },
  'is disabled': { query: 'simulate=500', tests: 10 },
} as const satisfies Record<string, Program>;
type Name = keyof typeof PROGRAMS;

const everyProgram = Object.entries(PROGRAMS) as [Name, Program][];

/**
 * An endpoint for all events, registered before the first event.
 * @returns its path
 */
export async function listener({ tell }: Teller, { programmed }: Places): Promise<string> {
  const url = `${programmed}/all?simulate=200`;
  const { id } = await tell('POST', '/v1/webhooks', { body: { url, events: SubscribableType.options } });
  return `/v1/webhooks/${id}`;
}

/** One endpoint for each program, and its deliveries. */
export async function deliveries(it: Teller, places: Places): Promise<void> {
  const { tell } = it;
  const paths = new Map<Name, string>();
  for (const [name, { query, at = 'programmed', tests }] of everyProgram) {
    const url = `${places[at]}/${encodeURIComponent(name)}?${query}`;
    const path = `/v1/webhooks/${(await tell('POST', '/v1/webhooks', { body: { url, events: EVENTS } })).id}`;
    paths.set(name, path);
    for (let test = 0; test < tests; test += 1) await tell('POST', `${path}/test`);
    if (name === 'never answers at first') await whileUnderWay(it, path);
  }
  const pathOf = (name: Name) => paths.get(name) ?? '';
  for (const [name, { tests }] of everyProgram) {
    await ended(it, pathOf(name), tests);
    await account(it, pathOf(name), tests);
  }
  await disabled(it, pathOf('is disabled'));
  await again(it, pathOf('recovers'));
  await tell('PATCH', pathOf('fails'), { body: { url: `${places.programmed}/healed?simulate=200` } });
  await again(it, pathOf('fails'));
  await repeated(it, pathOf('accepts'));
}

/** All reads of an endpoint whose deliveries have ended. */
export async function account(it: Teller, path: string, expected: number): Promise<void> {
  const { tell } = it;
  await tell('GET', path);
  await tell('GET', `${path}/deliveries?include=request`);
  for (const { id } of await listed(it, path)) await tell('GET', `${path}/deliveries/${id}`);
  await until(`${expected} deliveries of ${path} in the stats`, async () => {
    const { totals } = await it.look(`${path}/stats`);
    return Object(totals).owed === expected && Object(totals).pending === 0;
  });
  await tell('GET', `${path}/stats?hours=2`);
}

export const ended = (it: Teller, path: string, count: number) =>
  until(`${count} deliveries of ${path} to end`, async () => {
    const all = await listed(it, path);
    return all.length === count && all.every(({ terminalAt }) => terminalAt !== null);
  });

async function listed({ look }: Teller, path: string): Promise<Data[]> {
  const { items } = await look(`${path}/deliveries?limit=100`);
  return items as Data[];
}

async function whileUnderWay(it: Teller, path: string): Promise<void> {
  const delivery = await until(`an attempt at ${path}`, async () => {
    const [newest] = await listed(it, path);
    return newest !== undefined && Number(newest.attempts) > 0 && newest;
  });
  await it.tell('POST', `${path}/deliveries/${delivery.id}/redeliver`);
}

async function disabled(it: Teller, path: string): Promise<void> {
  const [exhausted] = await listed(it, path);
  await it.tell('POST', `${path}/test`);
  await it.tell('POST', `${path}/deliveries/${exhausted?.id}/redeliver`);
  await it.tell('PATCH', path, { body: { events: ['message.received'] } });
  await account(it, path, 10);
  await pages(it, `${path}/deliveries`);
}

/** A redelivery of the only delivery that there is. */
async function again(it: Teller, path: string): Promise<void> {
  const [first] = await listed(it, path);
  const once = randomUUID();
  const redeliver = `${path}/deliveries/${first?.id}/redeliver`;
  await it.tell('POST', redeliver, { once });
  await it.tell('POST', redeliver, { once });
  await it.tell('POST', `${path}/deliveries/dlv_${NOTHING}/redeliver`, { once });
  await ended(it, path, 2);
  await account(it, path, 2);
}

/** The test operation with one idempotency key, and the deletion of an endpoint. */
async function repeated(it: Teller, path: string): Promise<void> {
  const { tell } = it;
  const once = randomUUID();
  await tell('POST', `${path}/test`, { once });
  await tell('POST', `${path}/test`, { once });
  await ended(it, path, 4);
  const [newest] = await listed(it, path);
  await tell('DELETE', path);
  await tell('GET', `${path}/deliveries/${newest?.id}`);
  await tell('POST', `${path}/deliveries/${newest?.id}/redeliver`);
  await tell('POST', `${path}/test`, { once });
}
