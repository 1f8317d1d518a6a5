import { until } from 'aws-local/test/until.ts';
import { loadEvents } from './large.ts';
import { countArrivals } from './order.ts';
import { untilArrived, untilSettled } from './outage.ts';
import { MISSED, PATIENCE_MS, type Stage } from './stage.ts';
import { computeDelays, type Delays, measureWindow, type Window } from './windows.ts';

/** Share of the events that have arrived when the run is killed. */
const KILLED_AT = 0.3;

export interface Planned {
  delays: Delays;
  missing: number;
  doubles: number;
  /** Failures until each endpoint would be disabled: before the pause, and in the answer that ends it. */
  failuresLeft: { before: number[]; after: number[] };
  /** At the endpoint in whose catch-up everything was killed. */
  killed: { missing: number; doubles: number; resent: number; before: number };
}

const countFailuresLeft = ({ failing }: Record<string, unknown>): number =>
  Number(Object(failing).failuresUntilDisabled);

/**
 * An outage that is announced by a pause: endpoints with one failure are paused while their receiver is down
 * and events come, everything is killed, and then the pauses end one after the other beside live events. A
 * catch-up begins some time after its pause, which is the time without one. In the last one everything is
 * killed again.
 */
export async function planOutage(
  stage: Stage,
  { count, turns, ...load }: { count: number; turns: number; conversation: string; perSecond: number },
  say: (text: string) => void,
): Promise<Planned> {
  const endpoints: { path: string; id: string }[] = [];
  for (let turn = 0; turn <= turns; turn += 1) {
    const path = `/planned-${turn}`;
    endpoints.push({ path, id: String((await stage.register(path)).id) });
  }
  const read = (id: string) => stage.read(stage.path(id));
  stage.setUp(false);
  await stage.createTickets(1);
  const before: number[] = [];
  for (const { id } of endpoints) {
    await until('the first failure', async () => (await read(id)).failing !== null, PATIENCE_MS, 500);
    before.push(countFailuresLeft(await read(id)));
    await stage.change(id, { paused: true });
  }
  const { from, events } = await loadEvents(stage, count, (done) => say(`${done} events written`));
  say('kill -9 in the pause');
  await stage.restart();
  for (const { id } of endpoints)
    await until(
      'the events to be skipped',
      async () => {
        const job = await stage.startJob(id, { what: 'failed', from, dryRun: true });
        return Number((await stage.untilEnded(id, job)).redelivered) >= count;
      },
      PATIENCE_MS,
      2000,
    );
  stage.setUp(true);

  const after: number[] = [];
  async function resume(id: string): Promise<string> {
    const resumed = await stage.change(id, { paused: false });
    after.push(countFailuresLeft(resumed));
    return String(Object(resumed.redelivery).id);
  }
  const arrivedAt = (path: string) => stage.arrivedAt(path, MISSED);
  const untilBegun = (path: string) =>
    until('the catch-up', () => arrivedAt(path).length > 0, PATIENCE_MS, 20);

  const windows = { without: [] as Window[], during: [] as Window[] };
  const last = endpoints.pop();
  if (last === undefined) throw new Error('there is no endpoint');
  for (const { path, id } of endpoints) {
    say(`${path} is resumed`);
    const terms = { ...load, receiverPath: path };
    const job = await resume(id);
    windows.without.push(await measureWindow(stage, terms, () => untilBegun(path)));
    windows.during.push(await measureWindow(stage, terms, () => untilArrived(stage, path, events)));
    await stage.untilEnded(id, job);
    await untilSettled(stage, id);
  }
  say('kill -9 in a catch-up');
  const job = await resume(last.id);
  await until('its middle', () => arrivedAt(last.path).length >= KILLED_AT * count, PATIENCE_MS);
  const beforeKill = arrivedAt(last.path).length;
  await stage.restart();
  await stage.untilEnded(last.id, job);
  await untilArrived(stage, last.path, events);
  await untilSettled(stage, last.id);
  const all = endpoints.map(({ path }) => countArrivals(events, arrivedAt(path)));
  const sum = (name: 'missing' | 'doubles') => all.reduce((total, one) => total + one[name], 0);
  return {
    delays: computeDelays(windows.without, windows.during),
    missing: sum('missing'),
    doubles: sum('doubles'),
    failuresLeft: { before, after },
    killed: {
      ...countArrivals(events, arrivedAt(last.path)),
      resent: stage.countResent(last.path, MISSED),
      before: beforeKill,
    },
  };
}
