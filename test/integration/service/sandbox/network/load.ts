import { setTimeout as sleep } from 'node:timers/promises';
import type { Environment } from '../../../../../functions/domain/tenant.ts';
import type { ApiClient } from '../../../../support/api.ts';
import type { Pair } from '../../place.ts';
import { eventually } from '../eventually.ts';

/** How often {@link cause} causes each event. */
const CAUSED = {
  'conversation.created': 1,
  'message.received': 2,
  'handoff.requested': 1,
  'ticket.created': 1,
  'conversation.resolved': 1,
};
type Event = keyof typeof CAUSED;

/** What a receiver does, and the events of the endpoint there. */
interface Program {
  query: string;
  events: Event[];
  /** Tests that are sent to it at once; one otherwise. */
  tests?: number;
}

/** Receivers succeed, fail for a while or for good, and keep workers waiting. */
const PROGRAMS: readonly Program[] = [
  { query: 'simulate=200', events: Object.keys(CAUSED) as Event[] },
  { query: 'simulate=503,200', events: ['conversation.created', 'conversation.resolved'] },
  { query: 'simulate=reset,200', events: ['handoff.requested'] },
  { query: 'simulate=301,204', events: ['handoff.requested'] },
  { query: 'simulate=timeout,200', events: ['ticket.created'] },
  { query: 'simulate=200@700ms', events: ['message.received'] },
];
/** Until it is disabled. */
const DISABLED: Program = { query: 'simulate=500', events: ['conversation.resolved'], tests: 10 };
/** What only simulated ones do. */
const SIMULATED: readonly Program[] = [
  { query: 'simulate=dns,refused,200', events: ['ticket.created'] },
  { query: 'simulate=tls,certificate,200', events: ['message.received'] },
  { query: 'simulate=500&simulate-speed=3600', events: ['handoff.requested'] },
];

interface Endpoint extends Program {
  path: string;
  /** Deliveries that it was owed since the last reset. */
  owed: number;
}

/** Registers an endpoint for each program, in turn at one of the places. */
const register = (
  api: ApiClient,
  places: readonly string[],
  programs: readonly Program[],
): Promise<Endpoint[]> =>
  Promise.all(
    programs.map(async (program, index) => {
      const url = `${places[index % places.length]}/${index}?${program.query}`;
      return {
        ...program,
        path: `/api/v1/webhooks/${(await api.register(url, program.events)).id}`,
        owed: 0,
      };
    }),
  );

/** Waits between tries of a call that the service is too busy for. */
const BUSY_MS = [100, 300, 1000, 3000];

async function expectStatus(status: number, call: () => Promise<{ status: number }>): Promise<void> {
  let answer = await call();
  for (const wait of BUSY_MS) {
    if (answer.status !== 503) break;
    await sleep(wait);
    answer = await call();
  }
  if (answer.status !== status) throw new Error(`a call of the load answered ${answer.status}`);
}

/** Causes every kind of event, and tests of all endpoints: one of each, or as many as its program says. */
async function cause(
  api: ApiClient,
  endpoints: readonly Endpoint[],
  which: 'one test' | 'all tests' = 'one test',
): Promise<void> {
  const conversation = `/api/v1/conversations/${await api.createConversation()}`;
  const message = { role: 'user', content: 'Hello' };
  const messages = Array.from({ length: CAUSED['message.received'] }, () =>
    expectStatus(201, () => api.post(`${conversation}/messages`, message)),
  );
  const tests = endpoints.flatMap((endpoint) => {
    const { path, events, tests = 1 } = endpoint;
    const count = which === 'all tests' ? tests : 1;
    endpoint.owed += count + events.reduce((sum, event) => sum + CAUSED[event], 0);
    return Array.from({ length: count }, () => expectStatus(202, () => api.post(`${path}/test`)));
  });
  await Promise.all([...messages, ...tests, expectStatus(201, () => api.post('/api/v1/tickets', {}))]);
  await expectStatus(201, () => api.post(`${conversation}/handoff`));
  await expectStatus(200, () => api.post(`${conversation}/resolve`));
}

/** Waits until all that the endpoints were owed has ended. @returns the deliveries */
async function ended(api: ApiClient, endpoints: readonly Endpoint[]): Promise<Record<string, unknown>[]> {
  const all: Record<string, unknown>[] = [];
  for (const { path, owed } of endpoints)
    all.push(
      ...(await eventually(`${owed} deliveries of ${path} to end`, async () => {
        const found = await api.all(`${path}/deliveries`);
        return found.length === owed && found.every(({ terminalAt }) => terminalAt !== null) && found;
      })),
    );
  return all;
}

/** Sends one delivery of each endpoint again that has succeeded. */
async function redeliver(api: ApiClient, endpoints: readonly Endpoint[]): Promise<void> {
  const deliveries = await ended(api, endpoints);
  for (const endpoint of endpoints) {
    const found = deliveries.find(
      ({ webhookId, status }) => endpoint.path.endsWith(String(webhookId)) && status === 'succeeded',
    );
    if (found === undefined) continue;
    await expectStatus(202, () => api.post(`${endpoint.path}/deliveries/${found.id}/redeliver`));
    endpoint.owed += 1;
  }
}

/** Sends all that has failed again, of each endpoint that is not disabled. */
async function redeliverFailed(api: ApiClient, endpoints: readonly Endpoint[]): Promise<void> {
  await ended(api, endpoints);
  for (const endpoint of endpoints) {
    const { status, body } = await api.post(`${endpoint.path}/redeliveries`, {
      from: new Date(Date.now() - 3_600_000).toISOString(),
    });
    if (status === 409) continue;
    if (status !== 202) throw new Error(`a redelivery job was answered ${status}`);
    const done = await eventually(`the job of ${endpoint.path}`, async () => {
      const job = Object((await api.get(`${endpoint.path}/redeliveries/${body.data?.id}`)).body.data);
      return job.status !== 'running' && job;
    });
    endpoint.owed += done.redelivered;
  }
}

/** How a live organization and its sandbox are loaded. */
export interface LoadOptions {
  /** Origins of receivers, of the live organization and of the sandbox. */
  places: Record<Environment, readonly string[]>;
  /** Whether an endpoint of each fails until it is disabled. */
  disables: boolean;
}

/**
 * What a live organization and its sandbox do at the same time.
 * @returns the deliveries of the live organization
 */
export async function load(
  { live, sandbox }: Pair,
  { places, disables }: LoadOptions,
): Promise<Record<string, unknown>[]> {
  const programs = disables ? [...PROGRAMS, DISABLED] : PROGRAMS;

  async function reset(endpoints: readonly Endpoint[]): Promise<void> {
    await expectStatus(200, () => live.admin.post('/api/settings/sandbox/reset'));
    for (const endpoint of endpoints) endpoint.owed = 0;
  }

  async function liveLoad(): Promise<Record<string, unknown>[]> {
    const endpoints = await register(live.api, places.live, programs);
    await cause(live.api, endpoints, 'all tests');
    await redeliver(live.api, endpoints);
    await redeliverFailed(live.api, endpoints);
    await cause(live.api, endpoints);
    return ended(live.api, endpoints);
  }

  async function sandboxLoad(): Promise<void> {
    const endpoints = await register(sandbox.api, places.sandbox, [...programs, ...SIMULATED]);
    await cause(sandbox.api, endpoints);
    // In the middle of it all.
    await reset(endpoints);
    await cause(sandbox.api, endpoints, 'all tests');
    await redeliver(sandbox.api, endpoints);
    await redeliverFailed(sandbox.api, endpoints);
    // Some fail, whose open deliveries it looks at.
    await expectStatus(200, () => sandbox.api.get('/api/v1/deliveries/stats'));
    await reset(endpoints);
    await cause(sandbox.api, endpoints);
    await ended(sandbox.api, endpoints);
  }

  const [deliveries] = await Promise.all([liveLoad(), sandboxLoad()]);
  return deliveries;
}
