import { fatesOf } from './attempts.ts';
import { distinct } from './batches.ts';
import { batchesOf, dispatchUsage, type Frame, memoryOf, waitsOf } from './delivery-usage.ts';
import { gbSecondsOf } from './function-time.ts';
import { type Measured, workOf } from './measured.ts';
import { type Quantities, quantities, sumOf } from './quantities.ts';
import type { Workload } from './workload.ts';

/** As in functions/delivery/dispatch.ts; a test compares them. */
export const ATTEMPTS_PER_ORGANIZATION = 4;

/**
 * Usage that limits of attempts per second add (docs/decisions/0026-endpoint-rate.md): in a batch, a write
 * for each limited endpoint, and one for each message beyond the organization's share; and a further message
 * for each wait.
 */
export function limitUsage(workload: Workload, measured: Measured): Quantities {
  const frame = { workload, measured, seconds: workload.busyHours * 3600 };
  const limited = workload.deliveries * workload.limitedRate;
  const [queued, parked] = [limited * workload.waitingRate, limited * workload.parkedRate];
  const { attempts } = fatesOf(workload.failureRate);
  return sumOf([
    turnUsage(frame, workload.deliveries * attempts, workload.limitedRate),
    dispatchUsage(frame, {
      lane: 'fresh',
      messages: queued + parked,
      work: workOf([queued, measured.limited.queuedWait], [parked, measured.parkedWait]),
      receiverMs: 0,
      isSent: false,
    }),
    turnUsage(frame, queued + parked, 1),
  ]);
}

/**
 * Additional usage of batches that are counted with their messages.
 * @param share of the messages that are for endpoints with a limit
 */
function turnUsage(frame: Frame, messages: number, share: number): Quantities {
  const { workload, measured } = frame;
  const { turn } = measured.limited;
  const { batches, size } = batchesOf(frame, 'dispatch', messages, 'fresh');
  const endpoints = distinct(Math.max(1, workload.endpoints * workload.limitedRate), size * share);
  const beyondShare = Math.max(0, size * share - ATTEMPTS_PER_ORGANIZATION);
  const work = workOf([batches * Math.min(size * share, endpoints + beyondShare), turn]);
  return quantities({
    writeUnits: work.writes,
    // An invocation waits once for the writes of all its endpoints.
    gbSeconds: gbSecondsOf(
      memoryOf(frame, 'dispatch'),
      batches * Math.min(1, endpoints),
      work,
      waitsOf(turn),
    ),
  });
}
