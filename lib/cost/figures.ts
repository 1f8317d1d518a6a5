import { deliveryUsage } from './delivery-usage.ts';
import { type Measured, NO_WORK } from './measured.ts';
import { bill } from './pricing.ts';
import { type Quantities, quantities, sumOf } from './quantities.ts';
import { callUsage, gatewayUsage } from './usage.ts';
import { MAX_ATTEMPTS, type Workload } from './workload.ts';

const MILLION = 1_000_000;

/** USD per million, at the batch sizes of a workload. */
export interface Figures {
  /** Deliveries that succeed at the first attempt, from the outbox to the receiver. */
  firstTry: number;
  /** Attempts at endpoints that do not respond before the deadline. */
  timedOutAttempt: number;
  /** Deliveries exhausted by eight attempts that fail at once. */
  exhausted: number;
  /** Calls that record a message, with an idempotency key, without their effects. */
  message: number;
}

/** Assumed share of failures without a given rate: failures are rare, so their batches are smaller. */
const FEW = 0.01;
/** Less than one in a million counts as none. */
const FEWEST = 1e-6;

/** @param workload determines batch sizes; else only its sizes and latency matter */
export function figures(workload: Workload, measured: Measured): Figures {
  const some = workload.deliveries > 0 ? workload : { ...workload, deliveries: 1, messages: 1 };
  const of = (changes: Partial<Workload>) => deliveryUsage({ ...some, ...changes }, measured);
  const perMillion = (parts: readonly Quantities[], count: number) =>
    (bill(sumOf(parts)).usd / count) * MILLION;
  const few = { deliveries: some.deliveries * FEW, messages: some.messages * FEW };
  const hangingRate = workload.hangingRate > FEWEST ? workload.hangingRate : FEW;
  const works = of({ failureRate: 0, hangingRate: 0 });
  const fails = of({ ...few, failureRate: 1, hangingRate: 0 });
  const hangs = of({ hangingRate });
  const message = measured.calls['create-message']?.withKey ?? NO_WORK;
  const called = [
    callUsage(measured, 'create-message', MILLION, message),
    quantities(gatewayUsage(measured, MILLION)),
  ];
  return {
    firstTry: perMillion([works.fanOut, works.attempts, works.watch], some.deliveries),
    exhausted: perMillion([fails.fanOut, fails.attempts, fails.watch], few.deliveries),
    timedOutAttempt: perMillion([hangs.hangingAttempts], some.deliveries * hangingRate * MAX_ATTEMPTS),
    message: perMillion(called, MILLION),
  };
}
