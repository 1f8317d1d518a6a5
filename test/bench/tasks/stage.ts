import { until } from 'aws-local/test/until.ts';
import { mapConcurrently } from '../../../functions/aws/concurrency.ts';
import {
  type Answer,
  type ReceivedDelivery,
  startReceiver,
} from '../../../packages/cli/src/receiver/receiver.ts';
import { apiClient } from '../../support/api.ts';
import type { LocalRun } from '../../support/local-run.ts';

const PATIENCE_MS = 600_000;
const CONNECTIONS = 8;
/** Failed deliveries in a row that disable an endpoint. */
const FAILURES_TO_DISABLE = 10;
/** One of so many events fails. */
const FAILING = 8;
/** Events that are sent at once: their failures end last, and are too few to disable the endpoint. */
const BATCH = 8 * FAILING;

const CAUSES = [
  { status: 500, body: '{"message":"the database is down"}' },
  { status: 422, body: '{"message":"unknown customer"}' },
] as const;

/** An organization with events, of which some failed for two causes, and endpoints that were disabled. */
export interface Stage {
  origin: string;
  api: ReturnType<typeof apiClient>;
  /** As a user of the organization. */
  admin: ReturnType<typeof apiClient>;
  /** An endpoint without failures. */
  wellId: string;
  /** The endpoint at which some events failed. */
  failingId: string;
  /** URL for endpoints that are added. */
  url: string;
  /** Failed deliveries of the first cause, newest first. */
  failed: { id: string; eventId: string }[];
  disabledIds: string[];
  conversationId: string;
  stop(): Promise<void>;
}

/** Chooses events that fail at every attempt, for each cause in turn. @returns also the events that came */
function failures() {
  const answers = new Map<string, Answer | undefined>();
  const causeOf = (eventId: string): Answer | undefined => {
    if (!answers.has(eventId)) {
      const number = answers.size;
      answers.set(eventId, number % FAILING === 0 ? CAUSES[(number / FAILING) % CAUSES.length] : undefined);
    }
    return answers.get(eventId);
  };
  return { known: answers, causeOf };
}

/**
 * Makes the organization of a local run by its API.
 * @param run without waits between attempts
 * @param disabled number of disabled endpoints
 */
export async function setStage(run: LocalRun, events: number, disabled: number): Promise<Stage> {
  const { BASE_URL, API_KEY, ADMIN_TOKEN } = run.environment;
  const api = apiClient({ BASE_URL, API_KEY }, CONNECTIONS);
  const admin = apiClient({ BASE_URL, API_KEY: ADMIN_TOKEN }, 1);
  const { known: answers, causeOf } = failures();
  let isRepaired = false;
  const respond = ({ path, headers }: ReceivedDelivery): Answer => {
    if (isRepaired) return { status: 200 };
    if (path.startsWith('/down')) return { status: 503, body: 'down for maintenance' };
    const cause = path.startsWith('/failing') ? causeOf(headers['webhook-id'] ?? '') : undefined;
    return cause ?? { status: 200 };
  };
  const receiver = await startReceiver({ ...run.tls, respond });
  const register = async (path: string) =>
    (await api.register(`${receiver.url}${path}`, ['ticket.created'])).id;
  const ended = (id: string) =>
    until(
      'all deliveries to end',
      async () => {
        const { body } = await api.get(`/api/v1/webhooks/${id}/deliveries?status=pending,retrying&limit=1`);
        return [...(body.data ?? [])].length === 0;
      },
      PATIENCE_MS,
    );
  const tickets = (count: number) =>
    mapConcurrently(Array.from({ length: count }), CONNECTIONS, () => api.post('/api/v1/tickets', {}));

  const wellId = await register('/orders');
  const failingId = await register('/failing');
  for (let sent = 0; sent < events; sent += BATCH) {
    await tickets(BATCH);
    await until('all events to be sent', async () => answers.size >= sent + BATCH, PATIENCE_MS);
    await ended(failingId);
  }
  const disabledIds: string[] = [];
  for (let number = 0; number < disabled; number += 1) disabledIds.push(await register(`/down/${number}`));
  for (let number = 0; number < FAILURES_TO_DISABLE; number += 1) await tickets(1);
  for (const id of [wellId, failingId, ...disabledIds]) await ended(id);
  const exhausted = await api.all(`/api/v1/webhooks/${failingId}/deliveries`, { status: 'exhausted' });
  const failed = exhausted
    .filter(({ lastResponseStatus }) => lastResponseStatus === CAUSES[0].status)
    .map(({ id, eventId }) => ({ id: String(id), eventId: String(eventId) }));
  const conversationId = await api.createConversation();
  await api.post(`/api/v1/conversations/${conversationId}/messages`, { role: 'user', content: 'Hi' });
  isRepaired = true;
  return {
    origin: new URL(BASE_URL).origin,
    api,
    admin,
    wellId,
    failingId,
    url: `${receiver.url}/added`,
    failed,
    disabledIds,
    conversationId,
    async stop() {
      api.close();
      admin.close();
      await receiver.stop();
    },
  };
}
