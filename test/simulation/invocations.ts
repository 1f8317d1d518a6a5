import { REDELIVER_TIMEOUT_SECONDS } from '../../functions/delivery/timing.ts';
import { brokenBy } from './failures.ts';
import type { Process } from './processes.ts';
import type { Reach } from './reach.ts';
import type { World } from './world.ts';

/** Timeouts as the stack sets them, in seconds. */
const SECONDS = {
  'fan-out': 30,
  'delivery-stream': 60,
  reconcile: 55,
  'audit-ledger': 900,
  purge: 300,
  'dead-delivery-messages': 30,
  'dead-fan-outs': 30,
  redeliver: REDELIVER_TIMEOUT_SECONDS,
  'resume-redelivery-jobs': 55,
};
type Kind = keyof typeof SECONDS;

/**
 * Runs `work` in a process of its own.
 * @param over called once, when it ended, failed, or was lost
 */
export type Invoke = (
  kind: Kind,
  work: (reach: Reach) => Promise<void>,
  over: (failed: boolean) => void,
) => void;

/** Invokes functions without state between invocations. */
export function invoker(world: World, reach: (process: Process) => Reach): Invoke {
  const { processes, clock, random, faults, witness } = world;
  return (kind, work, over) => {
    const process = processes.start(kind, random.between(-faults.maxSkewMs, faults.maxSkewMs));
    process.deadline = clock.ms + SECONDS[kind] * 1000;
    let isOver = false;
    const end = (failed: boolean) => {
      if (!isOver) over(failed);
      isOver = true;
    };
    process.whenLost = () => {
      process.isDisturbed ||= !isOver;
      end(true);
    };
    const retire = (failed: boolean) => {
      end(failed);
      processes.lose(process);
    };
    work(reach(process)).then(
      () => retire(false),
      (error: unknown) => {
        const promise = brokenBy(error);
        if (promise !== undefined)
          witness.tell(promise, `${process.name}: ${error instanceof Error && error.stack}`);
        retire(true);
      },
    );
  };
}
