import { setTimeout as sleep } from 'node:timers/promises';
import { until } from 'aws-local/test/until.ts';
import { type Receiver, startReceiver } from '../../../packages/cli/src/receiver/receiver.ts';
import { type ApiClient, apiClient } from '../../support/api.ts';
import { type LocalRun, startLocalRun } from '../../support/local-run.ts';
import { quantile } from '../../support/statistics.ts';
import { openLoop } from '../measure/open-loop.ts';

/** Fast retries, so that an endpoint is disabled within seconds; the shortest grace for lost messages. */
const SETTINGS = {
  RETRY_BASE_SECONDS: '0.2',
  RETRY_CAP_SECONDS: '1',
  // A receiver of a busy machine may miss a short deadline, and would then get an event twice.
  ATTEMPT_TIMEOUT_SECONDS: '10',
  GRACE_SECONDS: '30',
};
export const PATIENCE_MS = 1_800_000;
const AT_ONCE = 16;

/** Events that are missed are tickets, those of the live load are messages. */
export const MISSED = 'ticket.created';
export const LIVE = 'message.received';

/** A delivery that a receiver accepted. */
interface Arrival {
  path: string;
  eventId: string;
  deliveryId: string;
  type: string;
  /** Of the message of a live event. */
  messageId: string | undefined;
  /** Milliseconds from the event's creation to its arrival. */
  latencyMs: number;
}

/** The p99 of live events without and with a job, and their ratio. */
export interface Delay {
  without: number;
  with: number;
  ratio: number;
}

/** The largest ratio of the p99 of live events with a job to that without. */
export const MOST_TIMES = 1.3;

/** A redelivery job as the API shows it. */
export type Job = Record<string, unknown>;

/**
 * The local run with receivers that can be down, which survive a restart of the run.
 * @param answerMs until receivers answer
 */
export async function startStage(directory: string, answerMs: number) {
  let run: LocalRun = await startLocalRun(directory, SETTINGS);
  let api: ApiClient = apiClient(run.environment, 2 * AT_ONCE);
  let isUp = true;
  const arrivals: Arrival[] = [];
  const receiver: Receiver = await startReceiver({
    ...run.tls,
    async respond({ path, headers, body, receivedAt }) {
      if (!isUp && path !== '/other') return { status: 503 };
      const { type, createdAt, data } = JSON.parse(body.toString());
      arrivals.push({
        path,
        type,
        eventId: String(headers['webhook-id']),
        deliveryId: String(headers['webhook-delivery-id']),
        messageId: data.messageId,
        latencyMs: receivedAt.getTime() - Date.parse(createdAt),
      });
      await sleep(answerMs);
      return { status: 200 };
    },
  });
  const path = (webhook: string) => `/api/v1/webhooks/${webhook}`;

  async function read(resource: string): Promise<Record<string, unknown>> {
    const { status, body } = await api.get(resource);
    if (status !== 200) throw new Error(`${resource} was answered with ${status}`);
    return { ...body.data };
  }

  async function create(resource: string, body?: object): Promise<Record<string, unknown>> {
    const answer = await api.post(resource, body);
    if (answer.status >= 300)
      throw new Error(`${resource} was answered with ${answer.status}: ${JSON.stringify(answer.body)}`);
    return { ...answer.body.data };
  }

  async function change(webhook: string, body: object): Promise<Record<string, unknown>> {
    const answer = await api.call({ method: 'PATCH', path: path(webhook), body });
    if (answer.status !== 200) throw new Error(`a change of ${webhook} was answered with ${answer.status}`);
    return { ...answer.body.data };
  }

  const stage = {
    get run() {
      return run;
    },
    /** Accepted deliveries, in the order of their arrival. */
    arrivals,
    arrivedAt: (receiverPath: string, type: string) =>
      arrivals.filter((one) => one.path === receiverPath && one.type === type).map(({ eventId }) => eventId),
    /** Deliveries of a type that came beyond one for each event: not by a repeated attempt. */
    countResent(receiverPath: string, type: string): number {
      const its = arrivals.filter((one) => one.path === receiverPath && one.type === type);
      const distinct = (name: 'eventId' | 'deliveryId') => new Set(its.map((one) => one[name])).size;
      return distinct('deliveryId') - distinct('eventId');
    },
    /** Whether the receivers accept deliveries; the one at `/other` always does. */
    setUp(value: boolean) {
      isUp = value;
    },
    read,
    create,
    change,
    path,
    register: (receiverPath: string, events: readonly string[] = [MISSED, LIVE]) =>
      create('/api/v1/webhooks', { url: `${receiver.url}${receiverPath}`, events }),
    remove: (webhook: unknown) => api.call({ method: 'DELETE', path: path(String(webhook)) }),
    deliveries: (webhook: unknown) => api.all(`${path(String(webhook))}/deliveries`),

    async createTickets(count: number): Promise<void> {
      let left = count;
      const lane = async () => {
        while (left-- > 0) await create('/api/v1/tickets', { reason: 'missed' });
      };
      await Promise.all(Array.from({ length: AT_ONCE }, lane));
    },

    /** Identifiers of all events of a type since a time, oldest first. */
    async events(type: string, from: string): Promise<string[]> {
      const all = await api.all('/api/v1/events', { type, from });
      return all.map(({ id }) => String(id)).toReversed();
    },

    async startJob(webhook: unknown, request: object): Promise<string> {
      const { id } = await create(`${path(String(webhook))}/redeliveries`, { what: 'missing', ...request });
      return String(id);
    },
    readJob: (webhook: unknown, job: string): Promise<Job> =>
      read(`${path(String(webhook))}/redeliveries/${job}`),
    stopJob: (webhook: unknown, job: string) =>
      api.call({ method: 'DELETE', path: `${path(String(webhook))}/redeliveries/${job}` }),
    untilEnded: (webhook: unknown, job: string): Promise<Job> =>
      until(
        'the job to end',
        async () => {
          const storedJob = await stage.readJob(webhook, job);
          return storedJob.status !== 'running' && storedJob;
        },
        PATIENCE_MS,
        500,
      ),

    /** `kill -9` of everything but the receivers, and a new start with the same state. */
    async restart(): Promise<void> {
      await run.kill();
      api.close();
      run = await startLocalRun(directory, SETTINGS);
      api = apiClient(run.environment, 2 * AT_ONCE);
    },

    async stop(): Promise<void> {
      api.close();
      await receiver.stop();
      await run.interrupt();
    },
  };
  return stage;
}
export type Stage = Awaited<ReturnType<typeof startStage>>;

/** Posts messages by the clock. @returns the messages that were accepted, once it is stopped */
export function startLoad(stage: Stage, conversation: string, perSecond: number) {
  const stopping = new AbortController();
  const sent = openLoop({ perSecond, count: Number.POSITIVE_INFINITY, signal: stopping.signal }, async () =>
    stage
      .create(`/api/v1/conversations/${conversation}/messages`, { role: 'user', content: 'live' })
      .then(({ id }) => String(id))
      .catch(() => undefined),
  );
  return async (): Promise<string[]> => {
    stopping.abort();
    return (await sent).flatMap(({ result }) => result ?? []);
  };
}

/**
 * Latencies of messages at a receiver.
 * @throws Error when one does not arrive
 */
export async function latenciesAt(
  { arrivals }: Stage,
  receiverPath: string,
  messages: readonly string[],
): Promise<number[]> {
  const byMessage = () =>
    new Map(
      arrivals
        .filter(({ path }) => path === receiverPath)
        .toReversed()
        .map(({ messageId, latencyMs }) => [messageId, latencyMs]),
    );
  const recovered = await until(
    `every live event at ${receiverPath}`,
    () => {
      const receipts = byMessage();
      return messages.every((id) => receipts.has(id)) && receipts;
    },
    PATIENCE_MS,
    200,
  );
  return messages.map((id) => recovered.get(id) ?? Number.NaN);
}

export const computeDelay = (without: readonly number[], during: readonly number[]): Delay => {
  const [before, after] = [quantile(without, 0.99), quantile(during, 0.99)];
  return { without: before, with: after, ratio: after / before };
};
