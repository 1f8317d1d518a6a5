import { setTimeout as sleep } from 'node:timers/promises';
import { until } from 'aws-local/test/until.ts';
import type { Environment } from '../../../../../functions/tenancy/tenant.ts';
import type { ApiClient } from '../../../../support/api.ts';
import type { Pair } from '../../place.ts';

/** How often {@link cause} causes each event. */
const CAUSED = {
  'conversation.created': 1,
  'message.received': 2,
  'handoff.requested': 1,
  'ticket.created': 1,
  'conversation.resolved': 1,
};
type Event = keyof typeof CAUSED;

/** The behavior of a receiver, and the event types of the endpoint there. */
interface Program {
  query: string;
  events: Event[];
  /** Tests that are sent to it at once; one when absent. */
  tests?: number;
}

/** Receivers that succeed, fail for a while or always, and respond slowly. */
const PROGRAMS: readonly Program[] = [
  { query: 'simulate=200', events: Object.keys(CAUSED) as Event[] },
  { query: 'simulate=503,200', events: ['conversation.created', 'conversation.resolved'] },
  { query: 'simulate=reset,200', events: ['handoff.requested'] },
  { query: 'simulate=301,204', events: ['handoff.requested'] },
  { query: 'simulate=timeout,200', events: ['ticket.created'] },
  { query: 'simulate=200@1200ms', events: ['message.received'] },
];
/** Fails until the endpoint is disabled. */
const DISABLED: Program = { query: 'simulate=500', events: ['conversation.resolved'], tests: 10 };
/** Behavior that only simulated receivers have. */
const SIMULATED: readonly Program[] = [
  { query: 'simulate=dns,refused,200', events: ['ticket.created'] },
  { query: 'simulate=tls,certificate,200', events: ['message.received'] },
  { query: 'simulate=500&simulate-speed=3600', events: ['handoff.requested'] },
];

interface Endpoint extends Program {
  path: string;
  /** Deliveries expected since the last reset. */
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

/** Waits between tries of a call while the service is busy. */
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

/** Causes every kind of event once, and sends as many tests to each endpoint as its program says. */
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
  const statuses = await Promise.all(
    endpoints.map(async ({ path }) => (await api.get(path)).body.data?.status),
  );
  const tests = endpoints.flatMap((endpoint, index) => {
    const { path, events, tests = 1 } = endpoint;
    // A test of a disabled endpoint is refused.
    const most = statuses[index] === 'auto_disabled' ? 0 : 1;
    const count = which === 'all tests' ? tests : most;
    endpoint.owed += count + events.reduce((sum, event) => sum + CAUSED[event], 0);
    return Array.from({ length: count }, () => expectStatus(202, () => api.post(`${path}/test`)));
  });
  await Promise.all([...messages, ...tests, expectStatus(201, () => api.post('/api/v1/tickets', {}))]);
  await expectStatus(201, () => api.post(`${conversation}/handoff`));
  await expectStatus(200, () => api.post(`${conversation}/resolve`));
}

/**
 * Waits until all expected deliveries have ended.
 * @returns the deliveries
 */
async function ended(api: ApiClient, endpoints: readonly Endpoint[]): Promise<Record<string, unknown>[]> {
  const all: Record<string, unknown>[] = [];
  for (const { path, owed } of endpoints)
    all.push(
      ...(await until(`${owed} deliveries of ${path} to end`, async () => {
        const listed = await api.all(`${path}/deliveries`);
        return listed.length === owed && listed.every(({ terminalAt }) => terminalAt !== null) && listed;
      })),
    );
  return all;
}

/** Redelivers one succeeded delivery of each endpoint. */
async function redeliver(api: ApiClient, endpoints: readonly Endpoint[]): Promise<void> {
  const deliveries = await ended(api, endpoints);
  for (const endpoint of endpoints) {
    const delivery = deliveries.find(
      ({ webhookId, status }) => endpoint.path.endsWith(String(webhookId)) && status === 'succeeded',
    );
    if (delivery === undefined) continue;
    await expectStatus(202, () => api.post(`${endpoint.path}/deliveries/${delivery.id}/redeliver`));
    endpoint.owed += 1;
  }
}

/** Starts a redelivery job for each endpoint that is not disabled. */
async function redeliverFailed(api: ApiClient, endpoints: readonly Endpoint[]): Promise<void> {
  await ended(api, endpoints);
  for (const endpoint of endpoints) {
    const { status, body } = await api.post(`${endpoint.path}/redeliveries`, {
      from: new Date(Date.now() - 3_600_000).toISOString(),
    });
    if (status === 409) continue;
    if (status !== 202) throw new Error(`a redelivery job was answered ${status}`);
    const done = await until(`the job of ${endpoint.path}`, async () => {
      const job = Object((await api.get(`${endpoint.path}/redeliveries/${body.data?.id}`)).body.data);
      return job.status !== 'running' && job;
    });
    endpoint.owed += done.redelivered;
  }
}

/** The load of a live organization and its sandbox. */
export interface LoadOptions {
  /** Origins of the receivers of the live organization and of the sandbox. */
  places: Record<Environment, readonly string[]>;
  /** Whether an endpoint of each fails until it is disabled. */
  disables: boolean;
}

/**
 * Loads a live organization and its sandbox at the same time.
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
    // In the middle of the load.
    await reset(endpoints);
    await cause(sandbox.api, endpoints, 'all tests');
    await redeliver(sandbox.api, endpoints);
    await redeliverFailed(sandbox.api, endpoints);
    // Some of these calls fail when a delivery is still open.
    await expectStatus(200, () => sandbox.api.get('/api/v1/deliveries/stats'));
    await reset(endpoints);
    await cause(sandbox.api, endpoints);
    await ended(sandbox.api, endpoints);
  }

  const [deliveries] = await Promise.all([liveLoad(), sandboxLoad()]);
  return deliveries;
}
