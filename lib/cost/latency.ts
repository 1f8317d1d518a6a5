import { memoryOf, waitsOf } from './delivery-usage.ts';
import { figures } from './figures.ts';
import { processorMsOf } from './function-time.ts';
import type { Measured } from './measured.ts';
import type { Workload } from './workload.ts';

/*
 * Estimates the time from the commit of an event to its receipt on AWS: published measurements of streams,
 * queues and cold starts, and the functions' processor time and requests as in the cost of a month.
 */

/** A published distribution in milliseconds. */
interface Quantiles {
  p10: number;
  p50: number;
  p90: number;
  p99: number;
}

/** A part of the way, either a published distribution or a fixed time. */
interface Stage {
  name: string;
  ms: Quantiles | number;
  /** Added when no execution environment of its function is ready. */
  coldMs: number;
  source: string;
}

interface Percentiles {
  p50: number;
  p99: number;
}

/** The dispatcher's memory, and what it changes. */
interface MemoryChoice extends Percentiles {
  memoryMiB: number;
  /** USD of a million first-try deliveries of the workload. */
  usd: number;
}

export interface Latency {
  stages: readonly (Stage & Percentiles)[];
  warm: Percentiles;
  /** With new execution environments for both functions. */
  cold: Percentiles;
  choices: readonly MemoryChoice[];
}

/** From a write or a message to the start of a warm function behind it: Lambda polls, windows are 0. */
const MEASURED_IN_2022 = 'bitesizedserverless.com, Serverless Messaging: Latency Compared (Ireland, 2022)';
const STREAM: Quantiles = { p10: 118, p50: 213, p90: 341, p99: 552 };
const QUEUE: Quantiles = { p10: 13.7, p50: 16.2, p90: 33.8, p99: 105 };
/** Node.js 22 with three AWS clients: 250 ms to load, 125 ms for the first request to DynamoDB. */
const COLD_START_MS = 375;
/** To the receiver: TCP, TLS 1.3, and half a round trip for the request, of 20 ms each. */
const CONNECTION_MS = 2.5 * 20;

const CHOICES_MIB = [256, 512, 1024, 1769];
const DRAWS = 20_000;

/**
 * @param workload for the cost of the choices
 * @throws Error when the template lacks a function
 */
export function estimateLatency(workload: Workload, measured: Measured): Latency {
  const stages = stagesOf(measured);
  return {
    stages: stages.map((stage) => ({ ...stage, ...percentilesOf([stage.ms]) })),
    warm: percentilesOf(stages.map(({ ms }) => ms)),
    cold: percentilesOf(stages.flatMap(({ ms, coldMs }) => [ms, coldMs])),
    choices: CHOICES_MIB.map((memoryMiB) => {
      const changed = withDispatcherOf(memoryMiB, measured);
      return {
        memoryMiB,
        usd: figures(workload, changed).firstTry,
        ...percentilesOf(stagesOf(changed).map(({ ms }) => ms)),
      };
    }),
  };
}

function withDispatcherOf(memoryMiB: number, measured: Measured): Measured {
  const { template } = measured;
  return { ...measured, template: { ...template, memory: { ...template.memory, dispatch: memoryMiB } } };
}

/** Of one event with one endpoint, alone in its batches. */
function stagesOf(measured: Measured): Stage[] {
  const { fanOut, dispatchBatch, deliveries } = measured;
  const { dispatch } = deliveries.succeeded;
  const time = (fn: string, cpuMs: number, waits: number) =>
    processorMsOf(memoryOf({ measured }, fn), cpuMs) + waits;
  const ours = 'processor time and requests of lib/cost/measured.json';
  return [
    { name: 'stream of the outbox to fan-out', ms: STREAM, coldMs: COLD_START_MS, source: MEASURED_IN_2022 },
    {
      name: 'fan-out',
      ms: time(
        'fan-out',
        fanOut.perBatch.cpuMs + fanOut.perEvent.cpuMs + fanOut.perDelivery.cpuMs,
        waitsOf(fanOut.perBatch, fanOut.perDelivery),
      ),
      coldMs: 0,
      source: ours,
    },
    { name: 'queue to dispatcher', ms: QUEUE, coldMs: COLD_START_MS, source: MEASURED_IN_2022 },
    {
      name: 'dispatcher, until it sends',
      // A delivery has a claim before its request and a settlement of the same size after it.
      ms: time(
        'dispatch',
        dispatchBatch.cpuMs + dispatch.cpuMs / 2,
        waitsOf(dispatchBatch) + waitsOf(dispatch) / 2,
      ),
      coldMs: 0,
      source: ours,
    },
    {
      name: 'new connection to the receiver',
      ms: CONNECTION_MS,
      coldMs: 0,
      source: 'TCP and TLS 1.3 with a round trip of 20 ms',
    },
  ];
}

/**
 * Percentiles of the sum of independent times. Draws are the same in each call, so that results can be
 * compared.
 */
function percentilesOf(parts: readonly (Quantiles | number)[]): Percentiles {
  const next = numbersBelowOne();
  const sums = Array.from({ length: DRAWS }, () =>
    parts.reduce<number>(
      (sum, part) => sum + (typeof part === 'number' ? part : atQuantile(part, next())),
      0,
    ),
  ).toSorted((a, b) => a - b);
  const at = (share: number) => sums[Math.floor(share * DRAWS)] ?? 0;
  return { p50: at(0.5), p99: at(0.99) };
}

/** Linear between the published quantiles, and beyond them with the slope of the last two. */
function atQuantile({ p10, p50, p90, p99 }: Quantiles, share: number): number {
  const [below, above] =
    share < 0.5
      ? ([
          [0.1, p10],
          [0.5, p50],
        ] as const)
      : share < 0.9
        ? ([
            [0.5, p50],
            [0.9, p90],
          ] as const)
        : ([
            [0.9, p90],
            [0.99, p99],
          ] as const);
  const slope = (above[1] - below[1]) / (above[0] - below[0]);
  return Math.max(0, below[1] + (share - below[0]) * slope);
}

/** A linear congruential generator (Numerical Recipes). */
function numbersBelowOne(): () => number {
  let state = 1;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Renders the estimate as tables. */
export function renderLatency(
  { stages, warm, cold, choices }: Latency,
  paint: (style: 'bold' | 'dim', text: string) => string,
): string {
  const line = (what: string, ...cells: readonly string[]) =>
    `  ${what.padEnd(36)}${cells.map((cell) => cell.padStart(10)).join('')}`;
  const ms = (value: number) => `${Math.round(value)} ms`;
  return [
    '',
    `  ${paint('bold', 'From the commit of an event to its receipt on AWS')}`,
    '',
    paint('dim', line('', 'p50', 'p99')),
    ...stages.map(({ name, p50, p99 }) => line(name, ms(p50), ms(p99))),
    paint('bold', line('Sum, warm', ms(warm.p50), ms(warm.p99))),
    line('Sum, both functions cold', ms(cold.p50), ms(cold.p99)),
    '',
    paint('dim', line('Memory of the dispatcher', 'p50', 'p99', 'USD/M')),
    ...choices.map(({ memoryMiB, p50, p99, usd }) =>
      line(`${memoryMiB} MiB`, ms(p50), ms(p99), usd.toFixed(2)),
    ),
    '',
    ...[...new Set(stages.map(({ source }) => source))].map((source) => paint('dim', `  ${source}`)),
    '',
  ].join('\n');
}
