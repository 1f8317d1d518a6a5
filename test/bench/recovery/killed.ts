import { until } from 'aws-local/test/until.ts';
import { countArrivals } from './order.ts';
import { type Outage, untilArrived, untilSettled } from './outage.ts';
import { latenciesAt, MISSED, PATIENCE_MS, type Stage, startLoad } from './stage.ts';

/** Share of the events that have arrived when the run is killed. */
const KILLED_AT = 0.3;

export interface Survived {
  missing: number;
  doubles: number;
  /** Arrived before the kill. */
  before: number;
  /** From the new start to the last event. */
  healedSeconds: number;
}

/** A job in whose middle all processes are killed and started again; messages of queues are lost. */
export async function recoverKilled(
  stage: Stage,
  { from, to, events }: Outage,
  conversation: string,
  perSecond: number,
): Promise<Survived> {
  const { id } = await stage.register('/killed');
  const stopLoad = startLoad(stage, conversation, perSecond);
  const arrived = () => stage.arrivedAt('/killed', MISSED);
  const job = await stage.startJob(id, { from, to });
  await until('the middle of the job', () => arrived().length >= KILLED_AT * events.length, PATIENCE_MS);
  const messages = stopLoad();
  const before = arrived().length;
  await stage.restart();
  const begun = performance.now();
  await stage.untilEnded(id, job);
  await untilArrived(stage, '/killed', events);
  const healedSeconds = (performance.now() - begun) / 1000;
  await latenciesAt(stage, '/killed', await messages);
  await untilSettled(stage, id);
  await stage.remove(id);
  return { ...countArrivals(events, arrived()), before, healedSeconds };
}
