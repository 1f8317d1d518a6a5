import { setTimeout as sleep } from 'node:timers/promises';
import { until } from 'aws-local/test/until.ts';
import { countArrivals, type Disorder, measureDisorder } from './order.ts';
import { LIVE, latenciesAt, MISSED, PATIENCE_MS, type Stage, startLoad } from './stage.ts';
import { computeDelays, type Delays, measureWindow, type Window } from './windows.ts';

/** An outage that has disabled an endpoint. */
export interface Outage {
  endpoint: unknown;
  from: string;
  to: string;
  /** Missed events, oldest first. */
  events: readonly string[];
}

/** Shortest window without a job, in milliseconds. */
const SHORTEST_MS = 5_000;

const isOpen = ({ status }: { status?: unknown }) => status === 'pending' || status === 'retrying';

/** Waits until no delivery of an endpoint is open. */
export const untilSettled = (stage: Stage, webhook: unknown) =>
  until(
    `the deliveries of ${webhook} to end`,
    async () => !(await stage.deliveries(webhook)).some(isOpen),
    PATIENCE_MS,
    500,
  );

/** Events while the receiver answers 503, until the endpoint is disabled and has a delivery of each. */
export async function haveOutage(stage: Stage, count: number): Promise<Outage> {
  stage.setUp(false);
  const { id } = await stage.register('/hook');
  const from = new Date().toISOString();
  await stage.createTickets(count);
  await until(
    'the endpoint to be disabled',
    async () => (await stage.read(stage.path(String(id)))).status === 'auto_disabled',
    PATIENCE_MS,
  );
  await until(
    'every event to be fanned out',
    async () => {
      const all = await stage.deliveries(id);
      return all.length === count && !all.some(isOpen);
    },
    PATIENCE_MS,
    500,
  );
  stage.setUp(true);
  const to = new Date().toISOString();
  return { endpoint: id, from, to, events: await stage.events(MISSED, from) };
}

export interface Recovered extends Disorder {
  missing: number;
  doubles: number;
  /** What the dry run counted. */
  counted: number;
  liveMissing: number;
  liveDoubles: number;
  jobSeconds: number;
}

/** The recovery guide: register again, send a test event, count, resend, with live events meanwhile. */
export async function recover(
  stage: Stage,
  { endpoint, from, events }: Outage,
  conversation: string,
  perSecond: number,
): Promise<Recovered> {
  const { id, predecessor } = await stage.register('/hook');
  if (Object(predecessor).id !== endpoint)
    throw new Error(`the predecessor is ${JSON.stringify(predecessor)}`);
  await stage.create(`${stage.path(String(id))}/test`);
  await until('the test event', () => stage.arrivedAt('/hook', 'webhook.test').length > 0, PATIENCE_MS);
  const dryRun = await stage.startJob(id, { from, dryRun: true });
  const { redelivered: counted } = await stage.untilEnded(id, dryRun);

  const stopLoad = startLoad(stage, conversation, perSecond);
  const begun = performance.now();
  await stage.untilEnded(id, await stage.startJob(id, { from }));
  await untilArrived(stage, '/hook', events);
  const jobSeconds = (performance.now() - begun) / 1000;
  const messages = await stopLoad();
  await latenciesAt(stage, '/hook', messages);
  await untilSettled(stage, id);

  const live = await stage.events(LIVE, from);
  const { missing: liveMissing, doubles: liveDoubles } = countArrivals(live, stage.arrivedAt('/hook', LIVE));
  await stage.remove(id);
  const arrived = stage.arrivedAt('/hook', MISSED);
  return {
    ...countArrivals(events, arrived),
    ...measureDisorder(events, [...new Set(arrived)]),
    counted: Number(counted),
    liveMissing,
    liveDoubles,
    jobSeconds,
  };
}

/** Waits until every event has arrived at least once. */
export const untilArrived = (stage: Stage, receiverPath: string, events: readonly string[]) =>
  until(
    `${events.length} events at ${receiverPath}`,
    () => {
      const arrived = new Set(stage.arrivedAt(receiverPath, MISSED));
      return events.every((id) => arrived.has(id));
    },
    PATIENCE_MS,
    200,
  );

/**
 * Measures live events without and with a job, in turns. Each turn has an endpoint of its own, which lacks
 * all events of the outage.
 */
export async function measureDelays(
  stage: Stage,
  { from, to, events }: Outage,
  { turns, ...load }: { turns: number; conversation: string; perSecond: number },
): Promise<Delays> {
  const without: Window[] = [];
  const during: Window[] = [];
  let windowMs = SHORTEST_MS;
  for (let turn = 0; turn < turns; turn += 1) {
    const receiverPath = `/turn-${turn}`;
    const { id } = await stage.register(receiverPath);
    const terms = { ...load, receiverPath };
    const quiet = async () => without.push(await measureWindow(stage, terms, () => sleep(windowMs)));
    // A drift of the machine affects both sides.
    if (turn % 2 === 1) await quiet();
    const begun = performance.now();
    during.push(
      await measureWindow(stage, terms, async () => {
        await stage.startJob(id, { from, to });
        await untilArrived(stage, receiverPath, events);
      }),
    );
    windowMs = Math.max(SHORTEST_MS, performance.now() - begun);
    if (turn % 2 === 0) await quiet();
    await stage.remove(id);
  }
  return computeDelays(without, during);
}
