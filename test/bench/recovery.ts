import { setTimeout as sleep } from 'node:timers/promises';
import { until } from 'aws-local/test/until.ts';
import { commandLine, decimal, wholeNumber } from 'terminal/command-line.ts';
import { paintFor } from 'terminal/paint.ts';
import { newId, type OrgId } from '../../functions/aws/ids.ts';
import type { Table } from '../../functions/aws/table.ts';
import { outboxStore } from '../../functions/delivery/outbox.ts';
import { buildEvent } from '../../functions/events/events.ts';
import { startReceiver } from '../../packages/cli/src/receiver/receiver.ts';
import { type ApiClient, apiClient } from '../support/api.ts';
import { enginesOf } from '../support/child-processes.ts';
import type { LocalRun } from '../support/local-run.ts';
import { quantile } from '../support/statistics.ts';
import { tablesBehind } from '../support/tables.ts';
import { describeMachine, figure, renderBlock } from './figure.ts';
import { openLoop } from './measure/open-loop.ts';
import { ending, endWhenInterrupted, withLocalRun } from './measure/resources.ts';

/*
 * A redelivery job beside live events in one local run: the events' latency is compared with that under the
 * same load without a job, in turns. What becomes of a job that is killed or stopped is tested without a
 * clock.
 */

/** Events that are missed are tickets, those of the live load are messages. */
const MISSED = 'ticket.created';
const LIVE = 'message.received';
/** The largest ratio of the p99 of live events with a job to that without. */
const MOST_TIMES = 1.3;
const PATIENCE_MS = 1_800_000;
/** The shortest window without a job. */
const SHORTEST_MS = 5_000;
const AT_ONCE = 16;
/** The missed events happened over this time, which ended before now. */
const SPAN_MS = 1_800_000;
/** A receiver of a busy machine may miss a short deadline, and would then get an event twice. */
const SETTINGS = { ATTEMPT_TIMEOUT_SECONDS: '10' };

const {
  events: count,
  turns,
  rate,
  answersAfter,
} = commandLine(
  'npm run bench -- recovery',
  `Redelivers missed events in a local run, to a new endpoint in each turn, with live events meanwhile. Prints figures, and exits with 1 when an event is missing or came twice, or the p99 of live events is more than ${MOST_TIMES} times that without a job.`,
)
  .option('--events <n>', 'of the job', wholeNumber(10, 10_000_000), 500)
  .option('--turns <n>', 'without and with a job', wholeNumber(1, 50), 4)
  .option('--answers-after <ms>', 'until receivers answer', wholeNumber(0, 9_000), 0)
  .option('--rate <n>', 'live events in a second', decimal(0.1, 10_000), 20)
  .parse()
  .opts();

const paint = paintFor(process.stdout);
const progress = (text: string) => process.stderr.write(`${text}\n`);

interface Arrival {
  path: string;
  type: string;
  eventId: string;
  /** Of the message of a live event. */
  messageId: string | undefined;
  /** Milliseconds from the event's creation to its arrival. */
  latencyMs: number;
}

async function created(api: ApiClient, path: string, body: object): Promise<string> {
  const answer = await api.post(path, body);
  if (answer.status >= 300) throw new Error(`${path} was answered with ${answer.status}`);
  return String(answer.body.data?.id);
}

/**
 * Writes events as the API's transactions do, without the records that caused them.
 * @returns their identifiers, oldest first, and the time of the first
 */
async function writeMissed(run: LocalRun, api: ApiClient): Promise<{ from: string; ids: string[] }> {
  const ticket = await created(api, '/api/v1/tickets', { reason: 'an example' });
  const tables = tablesBehind(enginesOf(run.pid));
  try {
    const [{ table, item } = {}] = (await tables.rows([ticket])).filter((row) => 'body' in row.item);
    if (table === undefined || item === undefined) throw new Error('the event of a ticket was not found');
    const tenant = { orgId: item.orgId as OrgId, generation: Number(item.generation) };
    const outbox = outboxStore({ name: table } as Table);
    const start = Date.now() - 2 * SPAN_MS;
    const events = Array.from({ length: count }, (_, index) => {
      const now = new Date(start + Math.floor((index * SPAN_MS) / count));
      return buildEvent(MISSED, { ticketId: newId('tkt', now), reason: 'missed' }, { tenant, now });
    }).toSorted((one, other) => (one.id < other.id ? -1 : 1));
    const entries = events.values();
    const lane = async () => {
      for (const event of entries) {
        const { Item } = outbox.append(event).write.Put ?? {};
        if (Item !== undefined) await tables.rewrite({ table, item: Item });
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, lane));
    return { from: new Date(start).toISOString(), ids: events.map(({ id }) => id) };
  } finally {
    tables.close();
  }
}

/** Latencies in milliseconds: at the endpoint of the job, and at another one. */
type Latencies = Record<'same' | 'other', number[]>;

async function rehearse(run: LocalRun): Promise<string[]> {
  const arrivals: Arrival[] = [];
  const receiver = await startReceiver({
    ...run.tls,
    async respond({ path, headers, body, receivedAt }) {
      const { type, createdAt, data } = JSON.parse(body.toString());
      const latencyMs = receivedAt.getTime() - Date.parse(createdAt);
      const eventId = String(headers['webhook-id']);
      arrivals.push({ path, type, eventId, messageId: data.messageId, latencyMs });
      await sleep(answersAfter);
      return { status: 200 };
    },
  });
  const api = apiClient(run.environment, 2 * AT_ONCE);
  const stop = () => {
    api.close();
    return receiver.stop();
  };
  return ending(stop, stop, async () => {
    const register = (path: string, events: string[]) => api.register(`${receiver.url}${path}`, events);
    const missedAt = (path: string) =>
      arrivals.filter((one) => one.path === path && one.type === MISSED).map(({ eventId }) => eventId);
    await register('/other', [LIVE]);
    const messages = `/api/v1/conversations/${await api.createConversation()}/messages`;

    /** When every one of the messages has arrived. */
    const latenciesAt = (path: string, ids: readonly string[]) =>
      until(
        `every live event at ${path}`,
        () => {
          const there = arrivals.filter((one) => one.path === path && one.type === LIVE).toReversed();
          const byMessage = new Map(there.map(({ messageId, latencyMs }) => [messageId, latencyMs]));
          return ids.every((id) => byMessage.has(id)) && ids.map((id) => byMessage.get(id) ?? Number.NaN);
        },
        PATIENCE_MS,
      );

    /** Holds the load of live events until `during` ends. */
    async function measure(path: string, during: () => Promise<unknown>): Promise<Latencies> {
      const stopping = new AbortController();
      const load = { perSecond: rate, count: Number.POSITIVE_INFINITY, signal: stopping.signal };
      const sent = openLoop(load, () =>
        created(api, messages, { role: 'user', content: 'live' }).catch(() => undefined),
      );
      await during();
      stopping.abort();
      const ids = (await sent).flatMap(({ result }) => result ?? []);
      return { same: await latenciesAt(path, ids), other: await latenciesAt('/other', ids) };
    }

    progress(`${count} events are written`);
    const { from, ids } = await writeMissed(run, api);
    const to = new Date(Date.now() - SPAN_MS / 2).toISOString();
    // An endpoint misses only what was fanned out before its registration: a live event comes after that.
    await measure('/other', () => sleep(1000));
    const without: Latencies = { same: [], other: [] };
    const during: Latencies = { same: [], other: [] };
    const add = (all: Latencies, { same, other }: Latencies) => {
      all.same.push(...same);
      all.other.push(...other);
    };
    const seconds: number[] = [];
    const disorder: number[] = [];
    let [missing, doubles, windowMs] = [0, 0, SHORTEST_MS];
    for (let turn = 0; turn < turns; turn += 1) {
      progress(`turn ${turn + 1} of ${turns}`);
      const path = `/turn-${turn}`;
      const { id } = await register(path, [MISSED, LIVE]);
      const jobs = `/api/v1/webhooks/${id}/redeliveries`;
      const quiet = async () => add(without, await measure(path, () => sleep(windowMs)));
      // A drift of the machine affects both sides.
      if (turn % 2 === 1) await quiet();
      const begun = performance.now();
      const work = async () => {
        const job = await created(api, jobs, { what: 'missing', from, to });
        const isOver = async () => (await api.get(`${jobs}/${job}`)).body.data?.status !== 'running';
        await until('the job to end', isOver, PATIENCE_MS);
        const isThere = () => new Set(missedAt(path)).size >= ids.length;
        await until('every event', isThere, 60_000).catch(() => undefined);
      };
      add(during, await measure(path, work));
      windowMs = Math.max(SHORTEST_MS, performance.now() - begun);
      seconds.push((performance.now() - begun) / 1000);
      if (turn % 2 === 0) await quiet();
      await api.call({ method: 'DELETE', path: `/api/v1/webhooks/${id}` });
      const first = [...new Set(missedAt(path))];
      const arrived = new Set(first);
      const places = new Map(ids.filter((one) => arrived.has(one)).map((one, place) => [one, place]));
      disorder.push(Math.max(0, ...first.map((one, place) => Math.abs(place - (places.get(one) ?? place)))));
      missing += ids.length - first.length;
      doubles += missedAt(path).length - first.length;
    }

    const rows = (
      [
        ['at the endpoint of the job', 'same'],
        ['at another endpoint', 'other'],
      ] as const
    ).map(([where, which]) => {
      const [before, after] = [quantile(without[which], 0.99), quantile(during[which], 0.99)];
      return { where, samples: during[which].length, before, after, ratio: after / before };
    });
    const figures = [
      figure('the job', 'events', count),
      figure('the job', 'time', seconds, 's'),
      figure('the job', 'missing', missing),
      figure('the job', 'twice', doubles),
      figure('the job', 'places out of order', disorder),
      ...rows.flatMap(({ where, samples, before, after, ratio }) => [
        figure(where, 'samples', samples),
        figure(where, 'p99 without', before, 'ms'),
        figure(where, 'p99 with', after, 'ms'),
        figure(where, 'ratio', ratio, 'x'),
      ]),
    ];
    const title = `A job beside ${rate} live events/s, receivers answer after ${answersAfter} ms`;
    process.stdout.write(`${renderBlock({ title, figures }, paint)}\n`);
    return [
      ...(missing > 0 ? ['events are missing'] : []),
      ...(doubles > 0 ? ['events came twice'] : []),
      ...rows.flatMap(({ where, ratio }) =>
        ratio > MOST_TIMES ? [`p99 ${where} is ${ratio.toFixed(2)} times that without a job`] : [],
      ),
    ];
  });
}

endWhenInterrupted();
process.stdout.write(`\n${paint('bold', 'Recovery')} of ${describeMachine()}\n\n`);
const faults = await withLocalRun(rehearse, SETTINGS);
process.stdout.write(
  `${faults.length === 0 ? paint('green', 'All as promised.') : paint('red', faults.join('\n'))}\n`,
);
process.exitCode = faults.length === 0 ? 0 : 1;
