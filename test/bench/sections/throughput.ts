import { setTimeout as sleep } from 'node:timers/promises';
import type { LocalRun } from '../../support/local-run.ts';
import { type Block, type Figure, figure } from '../figure.ts';
import { withLocalRun } from '../measure/local-run.ts';
import { type PartTimes, type PartWatch, watchParts } from '../measure/parts.ts';
import { memoryOf } from '../measure/processor-time.ts';
import { holdLoad, startTraffic, type Traffic } from '../measure/traffic.ts';
import type { Bench, Section } from '../section.ts';

/** The parameters of the load. */
export interface Combination {
  /** Endpoints that each event goes to. */
  fanOut: number;
  /** Of a message's text. */
  bodyBytes: number;
  /** Until a receiver answers. */
  latencyMs: number;
}

const FAN_OUTS = [1, 5, 20];
const BODIES = [512, 4096, 65_536];
const LATENCIES = [0, 50, 500];
export const BASE: Combination = { fanOut: 1, bodyBytes: 512, latencyMs: 0 };

const SECONDS = 60;
/** Starts the functions' processes, and lets their code be compiled. */
const WARMING_SECONDS = 8;
/** Parts of a window: each is a run. */
const SLICES = 6;
const LANES = 16;
/** Concurrent deliveries: enough to keep every worker busy, also at receivers that take half a second. */
const UNDER_WAY = 400;

/** One dimension varied at a time, or all of them together. */
function combinations(isFull: boolean): Combination[] {
  if (isFull)
    return FAN_OUTS.flatMap((fanOut) =>
      BODIES.flatMap((bodyBytes) => LATENCIES.map((latencyMs) => ({ fanOut, bodyBytes, latencyMs }))),
    );
  return [
    ...FAN_OUTS.map((fanOut) => ({ ...BASE, fanOut })),
    ...BODIES.slice(1).map((bodyBytes) => ({ ...BASE, bodyBytes })),
    ...LATENCIES.slice(1).map((latencyMs) => ({ ...BASE, latencyMs })),
  ];
}

const nameOf = ({ fanOut, bodyBytes, latencyMs }: Combination): string =>
  `1 → ${fanOut}, ${bodyBytes / 1024} KB, ${latencyMs} ms`;

interface Held {
  name: string;
  figures: Figure[];
  /** Processor time by part, and the deliveries in that time. */
  parts: PartTimes;
  deliveries: number;
  eventsPerSecond: number;
}

/** Applies the load for some seconds and counts the receipts. */
export async function hold(
  run: LocalRun,
  combination: Combination,
  { seconds, warming = WARMING_SECONDS }: { seconds: number; warming?: number },
): Promise<Held> {
  const { fanOut } = combination;
  const traffic = await startTraffic(run, { ...combination, connections: LANES });
  const load = holdLoad(traffic, { lanes: LANES, underWay: Math.ceil(UNDER_WAY / fanOut) });
  const parts = watchParts(run.pid, { 'load (this process)': process.pid, receivers: traffic.receivers.pid });
  await sleep(warming * 1000);
  const rates = await countSlices(traffic, seconds, parts);
  await load.stop();
  const { refused, missing, duplicates } = await traffic.settled();
  await traffic.end();
  const name = nameOf(combination);
  const lost = { unit: 'count', exact: true } as const;
  return {
    name,
    parts: rates.parts,
    deliveries: rates.deliveries,
    eventsPerSecond: rates.deliveries / seconds / fanOut,
    figures: [
      figure(
        name,
        'events',
        rates.perSecond.map((rate) => rate / fanOut),
        { unit: '/s', better: 'more' },
      ),
      figure(name, 'deliveries', rates.perSecond, { unit: '/s', better: 'more' }),
      figure(name, 'CPU', sumOf(rates.parts) / rates.deliveries, { unit: 'ms' }),
      figure(name, 'memory', rates.memory, { unit: 'MiB' }),
      figure(name, 'refused', refused, lost),
      figure(name, 'missing', missing, lost),
      figure(name, 'twice', duplicates, lost),
    ],
  };
}

async function countSlices(traffic: Pick<Traffic, 'onDelivery'>, seconds: number, parts: PartWatch) {
  const perSecond: number[] = [];
  let received = 0;
  let deliveries = 0;
  traffic.onDelivery = () => {
    received += 1;
  };
  parts.taken();
  for (let slice = 0; slice < SLICES; slice += 1) {
    const began = performance.now();
    received = 0;
    await sleep((seconds * 1000) / SLICES);
    perSecond.push(received / ((performance.now() - began) / 1000));
    deliveries += received;
  }
  return { perSecond, deliveries, parts: parts.taken(), memory: memoryOf(parts.pids()) };
}

const sumOf = (times: PartTimes): number => [...times.values()].reduce((sum, ms) => sum + ms, 0);

/** Less than this for each delivery is omitted. */
const LEAST_MS = 0.01;

/** The processor time of each part, for each delivery. */
function partFigures(held: readonly Held[]): Figure[] {
  const names = [...new Set(held.flatMap(({ parts }) => [...parts.keys()]))];
  const perPart = ({ parts, deliveries }: Held, part: string) => (parts.get(part) ?? 0) / deliveries;
  return names
    .filter((part) => held.some((one) => perPart(one, part) >= LEAST_MS))
    .sort(
      (a, b) =>
        Math.max(...held.map((one) => perPart(one, b))) - Math.max(...held.map((one) => perPart(one, a))),
    )
    .flatMap((part) => held.map((one) => figure(part, one.name, perPart(one, part), { unit: 'ms' })));
}

async function run(bench: Bench): Promise<Block[]> {
  const seconds = bench.seconds ?? SECONDS;
  const runs = bench.runs ?? 1;
  return withLocalRun(async (local) => {
    const held: Held[] = [];
    const all = combinations(bench.isFull);
    for (const [index, combination] of all.entries()) {
      bench.progress(`${index + 1} of ${all.length}: ${nameOf(combination)}`);
      const [first, ...others] = await repeated(runs, () => hold(local, combination, { seconds }));
      if (first === undefined) continue;
      bench.found.eventsPerSecond ??= first.eventsPerSecond;
      held.push({
        ...first,
        figures: first.figures.map((figure, place) =>
          together(
            figure,
            others.map(({ figures }) => figures[place]),
          ),
        ),
      });
    }
    return [
      {
        title: 'Sustained throughput, by fan-out, size of the message and time in which receivers answer',
        figures: held.flatMap(({ figures }) => figures),
        notes: [
          `Closed loop over ${LANES} connections, at most ${UNDER_WAY} deliveries in progress; a run is a sixth of ${seconds} s. Load in this process, receivers in one, all on this machine.`,
          'Every accepted message was expected at every receiver. Bodies of deliveries contain only ids, for any size of the message.',
        ],
      },
      {
        title: 'Processor time of each delivery, by part',
        figures: partFigures(held),
        notes: ['Of the first run. What a function does for an event is divided among its deliveries.'],
      },
    ];
  });
}

async function repeated<T>(times: number, act: () => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  for (let count = 0; count < times; count += 1) results.push(await act());
  return results;
}

/** A figure with the runs of others like it. */
const together = (own: Figure, others: readonly (Figure | undefined)[]): Figure =>
  figure(
    own.subject,
    own.measure,
    [own, ...others].flatMap((each) => each?.values ?? []),
    own,
  );

export const throughput: Section = {
  name: 'throughput',
  about: 'events and deliveries per second, held, by fan-out, body size and receiver latency; CPU by part',
  run,
};
