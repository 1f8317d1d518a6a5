import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { figures as perMillion } from '../../../lib/cost/figures.ts';
import { REQUEST_MS } from '../../../lib/cost/function-time.ts';
import { functionUsage, GIB, pollerUsage } from '../../../lib/cost/function-usage.ts';
import { type DeliveryKind, Measured, NO_WORK, type Work, workOf } from '../../../lib/cost/measured.ts';
import { bill } from '../../../lib/cost/pricing.ts';
import { type Quantities, quantities, sumOf } from '../../../lib/cost/quantities.ts';
import { STANDARD, type Workload } from '../../../lib/cost/workload.ts';
import { temporaryDirectory } from '../../support/local-run.ts';
import { type Block, type Figure, figure } from '../figure.ts';
import { ending } from '../measure/interruption.ts';
import type { Bench, Section } from '../section.ts';

const REQUESTS = join(import.meta.dirname, '../requests.ts');
const MILLION = 1_000_000;
/** A receiver's deadline. */
const DEADLINE_MS = 10_000;

const KINDS: Readonly<Record<DeliveryKind, string>> = {
  succeeded: 'first try',
  retried: 'one retry',
  exhausted: 'eight failures',
  skipped: 'skipped after a failure',
  timedOut: 'eight time-outs',
};

/** Work of one function, and its number of invocations. */
interface Part {
  fn: string;
  work: Work;
  invocations: number;
  /** Milliseconds of each invocation in which it waits for a receiver. */
  waits: number;
  /** Whether its records come from a queue. */
  fromQueue?: boolean;
}

/**
 * The cost of a delivery of one kind, with its fan-out, in batches of one size.
 * @param batch records
 */
function partsOf(measured: Measured, kind: DeliveryKind, batch: number): Part[] {
  const { fanOut, dispatchBatch, watchEndpoint } = measured;
  const { attempts, dispatch, watch } = measured.deliveries[kind];
  const waits = kind === 'timedOut' ? DEADLINE_MS : STANDARD.receiverLatencyMs;
  return [
    {
      fn: 'fan-out',
      work: workOf([1 / batch, fanOut.perBatch], [1, fanOut.perEvent], [1, fanOut.perDelivery]),
      invocations: 1 / batch,
      waits: 0,
    },
    {
      fn: 'dispatch',
      work: workOf([attempts / batch, dispatchBatch], [1, dispatch]),
      invocations: attempts / batch,
      waits,
      fromQueue: true,
    },
    {
      fn: 'delivery-stream',
      work: workOf([1 / batch, watchEndpoint], [1, watch]),
      invocations: 1 / batch,
      waits: 0,
    },
  ];
}

function usageOf(
  measured: Measured,
  { fn, work, invocations, waits, fromQueue = false }: Part,
  batch: number,
): Quantities {
  return sumOf([
    functionUsage({
      memoryMiB: measured.template.memory[fn] ?? 0,
      invocations,
      work,
      waits: waits + (work.requests / Math.max(1e-9, invocations)) * REQUEST_MS,
    }),
    ...(fromQueue ? [pollerUsage(invocations, batch)] : []),
  ]);
}

/** The cost of all parts: the measures that have a figure each. */
function workFigures(subject: string, work: Work, logBytes: number): Figure[] {
  const counted = { unit: 'units', exact: true } as const;
  return [
    figure(subject, 'write units', work.writes, counted),
    figure(subject, 'read units', work.reads, counted),
    figure(subject, 'AWS requests', work.requests, { unit: 'count', exact: true }),
    figure(subject, 'SQS requests', work.sqsRequests, { unit: 'count', exact: true }),
    figure(subject, 'logs', logBytes, { unit: 'bytes' }),
  ];
}

function deliveryFigures(measured: Measured, batch: number): Figure[] {
  return (Object.keys(KINDS) as DeliveryKind[]).flatMap((kind) => {
    const parts = partsOf(measured, kind, batch);
    const { attempts } = measured.deliveries[kind];
    const used = sumOf([
      ...parts.map((part) => usageOf(measured, part, batch)),
      quantities({ egressGb: (attempts * (measured.bodyBytes + measured.wireBytes)) / GIB }),
    ]);
    return [
      ...workFigures(KINDS[kind], workOf(...parts.map(({ work }) => [1, work] as const)), used.logGb * GIB),
      figure(KINDS[kind], 'a million', bill(used).usd * MILLION, { unit: 'USD' }),
    ];
  });
}

function callFigures(measured: Measured): Figure[] {
  return Object.entries(measured.calls).flatMap(([fn, { withKey, withoutKey }]) =>
    [
      ['', withoutKey],
      [', with a key', withKey],
    ].flatMap(([suffix, cost]) => {
      if (cost === undefined || typeof cost === 'string') return [];
      const used = sumOf([
        usageOf(measured, { fn, work: cost, invocations: 1, waits: 0 }, 1),
        quantities({ apiCalls: 1 }),
      ]);
      return [
        ...workFigures(`${fn}${suffix}`, cost, used.logGb * GIB),
        figure(`${fn}${suffix}`, 'a million', bill(used).usd * MILLION, { unit: 'USD' }),
      ];
    }),
  );
}

/** Figures of the cost model, at months of different sizes. */
function modelFigures(measured: Measured): Figure[] {
  const month = (deliveries: number, changes: Partial<Workload> = {}): Workload => ({
    ...STANDARD,
    deliveries,
    messages: deliveries,
    endpoints: 500,
    organizations: 500,
    bodySize: 1024,
    textSize: STANDARD.textSize,
    ...changes,
  });
  const months: Record<string, Workload> = {
    '10 M a month': month(10e6),
    '1 G a month': month(1e9),
    'full batches': month(10e6, { batch: 10 }),
  };
  const usd = { unit: 'USD' } as const;
  return Object.entries(months).flatMap(([subject, workload]) => {
    const cost = perMillion(workload, measured);
    return [
      figure(subject, 'first-try deliveries', cost.firstTry, usd),
      figure(subject, 'attempts that time out', cost.timedOutAttempt, usd),
      figure(subject, 'exhausted deliveries', cost.exhausted, usd),
      figure(subject, 'messages', cost.message, usd),
    ];
  });
}

/** Measures in a process of its own, which reports its progress. */
async function measure(file: string, progress: Bench['progress']): Promise<Measured> {
  const child = execFile(process.execPath, [REQUESTS, '--out', file], { env: process.env });
  let troubles = '';
  child.stderr?.on('data', (text) => {
    troubles += text;
  });
  const lines = child.stdout && createInterface(child.stdout);
  lines?.on('line', progress);
  await ending(
    child,
    async () => child.kill('SIGTERM'),
    () =>
      new Promise<void>((resolve, reject) => {
        child.once('exit', (code) =>
          code === 0 ? resolve() : reject(new Error(`bench:requests ended with ${code}:\n${troubles}`)),
        );
      }),
  );
  return Measured.parse(JSON.parse(readFileSync(file, 'utf8')));
}

/** @param measured by `bench:requests` */
function costBlocks(measured: Measured): Block[] {
  const perBatch = (batch: number) => ({
    title: `A delivery with its fan-out, ${batch === 1 ? 'alone' : `in batches of ${batch}`}`,
    figures: deliveryFigures(measured, batch),
  });
  const message = measured.calls['create-message']?.withoutKey ?? NO_WORK;
  return [
    perBatch(1),
    {
      ...perBatch(10),
      notes: [
        `Without the call that causes it: of the message's ${message.writes} write units two are its event's.`,
        'Model: docs/cost.md. SQS requests of Lambda itself are in the price, and not in the count.',
      ],
    },
    { title: 'A million, by the cost model with a body of 1 KB', figures: modelFigures(measured) },
    { title: 'A call of each route', figures: callFigures(measured) },
  ];
}

async function run(bench: Bench): Promise<Block[]> {
  const directory = await temporaryDirectory();
  return ending(
    directory,
    () => directory.remove(),
    async ({ path }) => costBlocks(await measure(join(path, 'measured.json'), bench.progress)),
  );
}

export const cost: Section = {
  name: 'cost',
  about: 'AWS requests, capacity units, logs and USD of deliveries and calls; takes ten minutes',
  run,
};
