import { setTimeout as sleep } from 'node:timers/promises';
import { type ApiClient, apiClient } from '../../support/api.ts';
import { openLoop, wallClock } from '../measure/open-loop.ts';
import type { Answered, ClientMessage, Job, JobResults, PlannedCall, SettledCheck } from './client.ts';
import { startPathServer } from './path-server.ts';

/*
 * A client of the API in a process of its own, so that its work between calls does not delay another client.
 * Honest and hostile organizations have one each.
 */

/** More calls than are ever in progress: none waits for a connection. */
const CONNECTIONS = 512;
/** After the last check was requested, until the client gives up those that have not settled. */
const PATIENCE_MS = 30_000;
const POLL_MS = 25;
/** Polls after a fetch; a check that has not settled by then waits for the next fetch. */
const POLLS = 40;
/**
 * From the creation of a source to its second check, and from that to its deletion: a source that is deleted
 * before its e-mail causes none.
 */
const CHANGE_AFTER_MS = 4_000;
const DELETE_AFTER_MS = 8_000;

let baseUrl = '';
const clients = new Map<string, ApiClient>();
function clientOf(key: string): ApiClient {
  const cached = clients.get(key) ?? apiClient({ BASE_URL: baseUrl, API_KEY: key }, CONNECTIONS);
  clients.set(key, cached);
  return cached;
}

async function call({ key, ...planned }: PlannedCall): Promise<Pick<Answered, 'status' | 'id'>> {
  try {
    const answer = await clientOf(key).call(planned);
    const id = Object(answer.body.data).id;
    return { status: answer.status, ...(typeof id === 'string' && { id }) };
  } catch (error) {
    // The reference page is not JSON: its answer arrived.
    return { status: error instanceof SyntaxError ? 200 : 0 };
  }
}

async function makeCalls({ calls, perSecond, count }: Extract<Job, { kind: 'calls' }>, signal: AbortSignal) {
  const sent = await openLoop({ perSecond, count: count ?? Number.POSITIVE_INFINITY, signal }, (number) =>
    call(calls[number % calls.length] as PlannedCall),
  );
  return sent.map(({ intendedAt, answeredAt, result }) => ({ intendedAt, answeredAt, ...result }));
}

/** Called at the next fetch of a page, by its path. */
const awaitingFetch = new Map<string, (() => void)[]>();

async function requestChecks({ sources, perSecond, count }: Extract<Job, { kind: 'checks' }>) {
  const givenUpAt = wallClock.now() + (count / perSecond) * 1000 + PATIENCE_MS;
  const sent = await openLoop({ perSecond, count }, (number, intendedAt) =>
    settledCheck(sources[number % sources.length] as (typeof sources)[number], intendedAt, givenUpAt),
  );
  return sent.map(
    ({ intendedAt, answeredAt, result }): SettledCheck => ({
      ms: answeredAt - intendedAt,
      isSettled: result,
    }),
  );
}

/** @returns whether a check that began after `askedAt` settled before `givenUpAt` */
async function settledCheck(
  { key, id, path }: { key: string; id: string; path: string },
  askedAt: number,
  givenUpAt: number,
): Promise<boolean> {
  const giveUp = new AbortController();
  const expired = sleep(givenUpAt - wallClock.now(), undefined, giveUp).catch(() => undefined);
  try {
    const source = { key, path: `/api/v1/knowledge/sources/${id}` };
    let fetched = nextFetch(path);
    const { status } = await call({ ...source, method: 'POST', path: `${source.path}/sync` });
    if (status >= 300 || status === 0) return false;
    while (wallClock.now() < givenUpAt) {
      await Promise.race([fetched, expired]);
      fetched = nextFetch(path);
      for (let poll = 0; poll < POLLS && wallClock.now() < givenUpAt; poll += 1) {
        const { body } = await clientOf(key).get(source.path);
        if (Date.parse(String(body.data?.lastCheckedAt)) >= askedAt) return true;
        await sleep(POLL_MS);
      }
    }
    return false;
  } finally {
    giveUp.abort();
  }
}

const nextFetch = (path: string) =>
  new Promise<void>((resolve) => awaitingFetch.set(path, [...(awaitingFetch.get(path) ?? []), resolve]));

async function changeSources(
  { key, pages, perSecond }: Extract<Job, { kind: 'changes' }>,
  signal: AbortSignal,
) {
  const counts = { accepted: 0, refused: 0 };
  const counted = async (planned: Omit<PlannedCall, 'key'>) => {
    const answer = await call({ key, ...planned });
    counts[answer.status >= 200 && answer.status < 300 ? 'accepted' : 'refused'] += 1;
    return answer;
  };
  const began = wallClock.now();
  await openLoop({ perSecond, count: Number.POSITIVE_INFINITY, signal }, async (number) => {
    const path = '/api/v1/knowledge/sources';
    const body = { kind: 'url', url: `${pages}/${began}-${number}` };
    const { id } = await counted({ method: 'POST', path, body });
    if (id === undefined) return;
    await sleep(CHANGE_AFTER_MS);
    await counted({ method: 'POST', path: `${path}/${id}/sync` });
    await sleep(DELETE_AFTER_MS);
    await counted({ method: 'DELETE', path: `${path}/${id}` });
  });
  return counts;
}

function execute(job: Job, signal: AbortSignal): Promise<JobResults[Job['kind']]> {
  if (job.kind === 'calls') return makeCalls(job, signal);
  return job.kind === 'checks' ? requestChecks(job) : changeSources(job, signal);
}

let stopping = new AbortController();
process.on('message', async (message: ClientMessage) => {
  if (message.kind === 'start') {
    baseUrl = message.baseUrl;
    const { port } = await startPathServer(message.tls, (path) => {
      for (const resolve of awaitingFetch.get(path)?.splice(0) ?? []) resolve();
    });
    process.send?.({ port });
  } else if (message.kind === 'stop') stopping.abort();
  else {
    stopping = new AbortController();
    process.send?.(await execute(message.job, stopping.signal));
  }
});
process.once('disconnect', () => process.exit(0));
