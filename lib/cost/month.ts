import type { Measured, Piece } from './measured.ts';
import { ALL_PRICED, type Quantities, sumOf, usdOf } from './prices.ts';

/** Work of a month. */
export interface Workload {
  deliveries: number;
  /** Messages recorded over the API, each an event. */
  messages: number;
  /** API calls that read. */
  reads: number;
  /** Share of the deliveries whose second attempt succeeds. */
  failureRate: number;
  /** Share of the deliveries whose eight attempts fail. */
  exhaustedRate: number;
  /** Share of the deliveries whose receiver answers none of eight attempts. */
  hangingRate: number;
  /** Whether work comes in bursts, which fill batches. */
  burst: boolean;
}

/** Maximum attempts of a delivery (docs/specification.md, Retries). */
const MAX_ATTEMPTS = 8;
const MILLION = 1_000_000;

const totalOf = (piece: Piece): Quantities =>
  sumOf(...Object.values(piece).map((part) => [1, part] as const));

/** Billed quantities of a month. */
export function usage(workload: Workload, measured: Measured): Quantities {
  const { deliveries, messages, reads, failureRate, exhaustedRate, hangingRate } = workload;
  const pace = workload.burst ? 'burst' : 'steady';
  return sumOf(
    [1, totalOf(measured.idle.prod)],
    [deliveries + messages + reads > 0 ? 1 : 0, measured.inUse],
    [messages, totalOf(measured.message[pace])],
    [messages, measured.storage.message],
    [reads, totalOf(measured.read)],
    [deliveries, measured.storage.delivery],
    [deliveries * (1 - failureRate - exhaustedRate - hangingRate), totalOf(measured.delivery[pace])],
    [deliveries * failureRate, totalOf(measured.retried)],
    [deliveries * exhaustedRate, totalOf(measured.exhausted)],
    [deliveries * hangingRate, totalOf(measured.timedOut)],
  );
}

/** USD of a month in which nothing happens, by stage and billed quantity. */
export const idleMonth = ({ idle }: Measured) => {
  const itemsOf = (piece: Piece): { usd: number } & Quantities => {
    const quantities = totalOf(piece);
    const items = ALL_PRICED.map((name) => [name, usdOf({ [name]: quantities[name] })] as const);
    return { usd: usdOf(quantities), ...Object.fromEntries(items.filter(([, usd]) => usd > 0)) };
  };
  return { prod: itemsOf(idle.prod), dev: itemsOf(idle.dev) };
};

/** USD of a million pieces of work of each kind, without storage. */
export const perMillion = ({ delivery, message, retried, exhausted, timedOut }: Measured) => ({
  firstTry: MILLION * usdOf(totalOf(delivery.steady)),
  firstTryInBursts: MILLION * usdOf(totalOf(delivery.burst)),
  retried: MILLION * usdOf(totalOf(retried)),
  exhausted: MILLION * usdOf(totalOf(exhausted)),
  timedOutAttempt: (MILLION * usdOf(totalOf(timedOut))) / MAX_ATTEMPTS,
  message: MILLION * usdOf(totalOf(message.steady)),
  messageInBursts: MILLION * usdOf(totalOf(message.burst)),
});
