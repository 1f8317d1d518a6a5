import { answerTo, api, type Environment } from '../../api/client.ts';
import { readEvent, readEvents } from '../../api/events.ts';
import { isGone } from '../../api/failures.ts';
import { pathOf } from '../../api/receivers.ts';
import { serviceNow } from '../../api/service-clock.ts';
import { readDelivery } from '../../api/webhooks.ts';
import type { LookUpPorts } from './look-up.ts';

/** Pages of the event log at one time, and of keys, that are read at most. */
const MAX_PAGES = 5;

/** Whether something is there: false for a 404. */
async function exists(read: Promise<unknown>): Promise<boolean> {
  try {
    await read;
    return true;
  } catch (error) {
    if (isGone(error)) return false;
    throw error;
  }
}

/** Reads by the API. @param environments that the organization has */
export const lookUpPorts = (
  environments: readonly Environment[],
  isAdmin: boolean,
  signal: AbortSignal,
): LookUpPorts => ({
  environments,
  now: serviceNow(),
  hasEvent: (environment, id) => exists(readEvent(environment, id, signal)),
  hasEndpoint: (environment, id) =>
    exists(
      answerTo(
        api.GET(pathOf(id, '/api/settings/webhooks/{id}'), {
          params: { path: { id }, query: { environment } },
          signal,
        }),
      ),
    ),
  hasSource: (environment, id) =>
    exists(
      answerTo(
        api.GET('/api/settings/knowledge/sources/{id}', {
          params: { path: { id }, query: { environment } },
          signal,
        }),
      ),
    ),
  hasDelivery: (environment, webhookId, id) => exists(readDelivery(environment, webhookId, id, signal)),
  hasKey: isAdmin ? (id) => hasKey(id, signal) : undefined,
  async endpointIds(environment) {
    const params = { query: { environment, limit: 100 } };
    const { data } = await answerTo(api.GET('/api/settings/webhooks', { params, signal }));
    return data.map(({ id }) => id);
  },
  async eventsBetween(environment, from, to) {
    const query = { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
    const found = [];
    let cursor: string | undefined;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const { rows, next } = await readEvents(environment, { ...query, cursor }, signal);
      found.push(...rows);
      if (next === null) break;
      cursor = next;
    }
    return found;
  },
});

async function hasKey(id: string, signal: AbortSignal): Promise<boolean> {
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const query = { limit: 100, ...(cursor === undefined ? {} : { cursor }) };
    const { data, nextCursor } = await answerTo(
      api.GET('/api/settings/api-keys', { params: { query }, signal }),
    );
    if (data.some((key) => key.id === id)) return true;
    if (nextCursor === null) return false;
    cursor = nextCursor;
  }
  return false;
}
