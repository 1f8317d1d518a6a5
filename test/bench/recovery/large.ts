import { setTimeout as sleep } from 'node:timers/promises';
import { newId, type OrgId } from '../../../functions/aws/ids.ts';
import type { Table } from '../../../functions/aws/table.ts';
import { outboxStore } from '../../../functions/delivery/outbox.ts';
import { buildEvent } from '../../../functions/events/events.ts';
import { enginesOf } from '../../support/child-processes.ts';
import { tablesBehind } from '../../support/tables.ts';
import { countArrivals, type Disorder, measureDisorder } from './order.ts';
import { untilArrived } from './outage.ts';
import { MISSED, PATIENCE_MS, type Stage } from './stage.ts';
import { computeDelays, type Delays, measureWindow, type Window } from './windows.ts';

const AT_ONCE = 16;
/** Of each window without a job, in milliseconds. */
const QUIET_MS = 10_000;
const POLL_MS = 500;
/** Progress at which the job is stopped. */
const STOPPED_AT = 0.4;
/** The events happened over this time, which ended before now. */
const SPAN_MS = 3_600_000;

export interface Large extends Disorder, Delays {
  missing: number;
  doubles: number;
  /** Doubles by another delivery, which only the second job can have made. */
  resent: number;
  jobSeconds: number;
  /** Reads of the progress, and the slowest of them. */
  reads: number;
  slowestReadMs: number;
  /** Progress of the first job when it was stopped, and whether it only ever grew. */
  stoppedAt: number;
  isMonotone: boolean;
}

/**
 * Writes events as the API's transactions do, without the records that caused them.
 * @returns their identifiers, oldest first
 */
export async function loadEvents(stage: Stage, count: number, progress: (done: number) => void) {
  const { id } = await stage.create('/api/v1/tickets', { reason: 'an example' });
  const tables = tablesBehind(enginesOf(stage.run.pid));
  try {
    const [{ table, item } = {}] = (await tables.rows([String(id)])).filter((row) => 'body' in row.item);
    if (table === undefined || item === undefined) throw new Error('the event of a ticket was not found');
    const tenant = { orgId: item.orgId as OrgId, generation: Number(item.generation) };
    const outbox = outboxStore({ name: table } as Table);
    const start = Date.now() - SPAN_MS;
    const events = Array.from({ length: count }, (_, index) => {
      const now = new Date(start + Math.floor((index * SPAN_MS) / (2 * count)));
      return buildEvent(MISSED, { ticketId: newId('tkt', now), reason: 'missed' }, { tenant, now });
    }).toSorted((one, other) => (one.id < other.id ? -1 : 1));
    const entries = events.entries();
    const lane = async () => {
      for (const [index, event] of entries) {
        const { Item } = outbox.append(event).write.Put ?? {};
        if (Item !== undefined) await tables.rewrite({ table, item: Item });
        if (index % 5000 === 4999) progress(index + 1);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, lane));
    return { from: new Date(start).toISOString(), events: events.map((one) => one.id) };
  } finally {
    tables.close();
  }
}

/** A large job whose progress is read, that is stopped and started again, beside live events. */
export async function recoverLarge(
  stage: Stage,
  { count, ...load }: { count: number; conversation: string; perSecond: number },
  say: (text: string) => void,
): Promise<Large> {
  const { from, events } = await loadEvents(stage, count, (done) => say(`${done} events written`));
  const to = new Date(Date.parse(from) + SPAN_MS / 2 + 1000).toISOString();
  const receiverPath = '/large';
  // Events that are fanned out later than the registration are not missed: a live event comes after them.
  await measureWindow(stage, { ...load, receiverPath: '/other' }, () => sleep(1000));
  const { id } = await stage.register(receiverPath);
  const reads: number[] = [];
  const shares: number[] = [];
  let jobMs = 0;

  /** Runs a job until it has ended, or is stopped at a share. */
  async function work(stopAt?: number): Promise<void> {
    const begun = performance.now();
    const job = await stage.startJob(id, { from, to });
    for (let shown = -1; performance.now() - begun < PATIENCE_MS; await sleep(POLL_MS)) {
      const asked = performance.now();
      const { status, progress, redelivered } = await stage.readJob(id, job);
      reads.push(performance.now() - asked);
      shares.push(Number(progress));
      const tenth = Math.floor(10 * Number(progress));
      if (tenth > shown) say(`${Math.round(100 * Number(progress))} %, ${redelivered} redelivered`);
      shown = tenth;
      if (status !== 'running') break;
      if (stopAt !== undefined && Number(progress) >= stopAt) {
        await stage.stopJob(id, job);
        break;
      }
    }
    jobMs += performance.now() - begun;
  }

  const windows = { without: [] as Window[], during: [] as Window[] };
  const terms = { ...load, receiverPath };
  const quiet = async () => windows.without.push(await measureWindow(stage, terms, () => sleep(QUIET_MS)));
  const busy = async (stopAt?: number) =>
    windows.during.push(await measureWindow(stage, terms, () => work(stopAt)));

  await quiet();
  await busy(STOPPED_AT);
  const stoppedAt = shares.at(-1) ?? Number.NaN;
  const isMonotone = shares.every((share, index) => share >= (shares[index - 1] ?? 0));
  // The next job starts while deliveries of the first are open, and must not repeat them.
  await busy();
  await untilArrived(stage, receiverPath, events);
  await quiet();
  await stage.remove(id);
  const arrived = stage.arrivedAt(receiverPath, MISSED);
  return {
    ...countArrivals(events, arrived),
    resent: stage.countResent(receiverPath, MISSED),
    ...measureDisorder(events, [...new Set(arrived)]),
    ...computeDelays(windows.without, windows.during),
    jobSeconds: jobMs / 1000,
    reads: reads.length,
    slowestReadMs: Math.max(...reads),
    stoppedAt,
    isMonotone,
  };
}
