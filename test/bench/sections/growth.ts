import type { OrgId, ReceiverId } from '../../../functions/aws/ids.ts';
import { endpointStore } from '../../../functions/receivers/endpoints.ts';
import { metered } from '../consumed.ts';
import { type Block, type Figure, figure } from '../figure.ts';
import { type Place, withPlace } from '../growth/place.ts';
import { seedBacklog, seedHistory, seedOrganizations } from '../growth/seeds.ts';
import { wayOf } from '../growth/way.ts';
import { median } from '../measure/statistics.ts';
import { type Line, type Panel, plot } from '../report/plot.ts';
import type { Bench, Section } from '../section.ts';

const ORGANIZATIONS = [1, 100, 10_000];
const ENDPOINTS = [1, 50];
const HISTORY = [0, 100_000, 1_000_000];
const BACKLOG = [0, 20_000, 200_000];
const RUNS = 7;
/** The minimum of deliveries in each run. */
const DELIVERIES = 60;
/**
 * Runs before the measurement, in which code is compiled and connections are opened. Otherwise the first size
 * would look slow.
 */
const WARMING_RUNS = 8;

/** The cost of a delivery at one size. */
interface Point {
  size: number;
  writes: number[];
  reads: number[];
  /** Until it has ended and is counted. */
  ms: number[];
  /** Processor time of the engine's code and the engines. */
  cpuMs: number[];
}

/** Points of one line, by growing size. */
interface Growth {
  dimension: 'organizations' | 'history' | 'backlog';
  line: string;
  points: Point[];
}

/** Measures deliveries of some organizations, one event after the other. */
async function measure(
  place: Place,
  organizations: readonly OrgId[],
  runs: number,
): Promise<Omit<Point, 'size'>> {
  const deliver = wayOf(place);
  const consumed = metered(place.client);
  const point: Omit<Point, 'size'> = { writes: [], reads: [], ms: [], cpuMs: [] };
  // The same few at every size, so that an instance has the state of every organization in its cache.
  const chosen = Array.from(
    { length: 20 },
    (_, index) => organizations[Math.floor((index * organizations.length) / 20)],
  );
  for (let run = -WARMING_RUNS; run < runs; run += 1) {
    let [deliveries, next] = [0, 0];
    const took: number[] = [];
    const before = place.cpuMs();
    consumed();
    while (deliveries < DELIVERIES) {
      const orgId = chosen[next++ % chosen.length];
      if (orgId === undefined) throw new Error('there is no organization');
      const began = performance.now();
      const made = await deliver(orgId);
      took.push((performance.now() - began) / made);
      deliveries += made;
    }
    const usedMs = place.cpuMs() - before;
    const { writes, reads } = consumed();
    if (run < 0) continue;
    point.writes.push(writes / deliveries);
    point.reads.push(reads / deliveries);
    point.ms.push(median(took));
    point.cpuMs.push(usedMs / deliveries);
  }
  return point;
}

async function growOrganizations(bench: Bench, endpoints: number, runs: number): Promise<Growth> {
  return withPlace(async (place) => {
    const all: OrgId[] = [];
    const points: Point[] = [];
    for (const size of scaled(ORGANIZATIONS, bench)) {
      const wanted = { organizations: size - all.length, endpoints };
      const rows = wanted.organizations * (endpoints + 1);
      all.push(
        ...(await seedOrganizations(place, wanted, (done) =>
          bench.progress(`${size} organizations of ${endpoints}: ${done} of ${rows} rows`),
        )),
      );
      bench.progress(`${size} organizations of ${endpoints}: measuring`);
      points.push({ size, ...(await measure(place, all, runs)) });
    }
    return { dimension: 'organizations', line: endpointsEach(endpoints), points };
  });
}

const endpointsEach = (count: number): string =>
  count === 1 ? '1 endpoint each' : `${count} endpoints each`;

/**
 * One organization with one endpoint, which has the whole history or backlog: the worst case of one
 * partition.
 */
async function grow(
  bench: Bench,
  { dimension, sizes, runs }: { dimension: 'history' | 'backlog'; sizes: readonly number[]; runs: number },
): Promise<Growth> {
  return withPlace(async (place) => {
    const [orgId] = await seedOrganizations(place, { organizations: 1, endpoints: 1 }, () => undefined);
    if (orgId === undefined) throw new Error('there is no organization');
    const [endpoint] = await endpointStore(place.tables.service).all(orgId);
    const points: Point[] = [];
    let there = 0;
    for (const size of scaled(sizes, bench)) {
      const count = size - there;
      const progress = (done: number) => bench.progress(`${dimension} of ${size}: ${done} of ${count} rows`);
      if (dimension === 'history')
        await seedHistory(place, { orgId, endpoint: endpoint?.id as ReceiverId, count }, progress);
      else await seedBacklog(place, orgId, count, progress);
      there = size;
      bench.progress(`${dimension} of ${size}: measuring`);
      points.push({ size, ...(await measure(place, [orgId], runs)) });
    }
    return { dimension, line: endpointsEach(1), points };
  });
}

const scaled = (sizes: readonly number[], { growthScale }: Bench): number[] => [
  ...new Set(sizes.map((size) => (size <= 1 ? size : Math.max(2, Math.round(size * growthScale))))),
];

const KINDS = { writes: 'write units', reads: 'read units', ms: 'time', cpuMs: 'CPU' } as const;

const figuresOf = ({ dimension, line, points }: Growth): Figure[] =>
  points.flatMap(({ size, writes, reads, ms, cpuMs }) => {
    const subject = `${dimension} ${size.toLocaleString('en-US')}, ${line}`;
    const units = { unit: 'units', exact: true } as const;
    return [
      figure(subject, KINDS.writes, writes, units),
      figure(subject, KINDS.reads, reads, units),
      figure(subject, KINDS.ms, ms, { unit: 'ms' }),
      figure(subject, KINDS.cpuMs, cpuMs, { unit: 'ms' }),
    ];
  });

/** The largest over the smallest size: 1 is flat. */
const ratios = ({ dimension, line, points }: Growth): Figure[] => {
  const [first, last] = [points.at(0), points.at(-1)];
  if (first === undefined || last === undefined) return [];
  return (['writes', 'reads', 'ms', 'cpuMs'] as const).map((kind) =>
    figure(
      `${dimension}, ${line}`,
      KINDS[kind],
      last[kind].map((value) => value / median(first[kind])),
      { unit: 'x', exact: kind === 'writes' || kind === 'reads' },
    ),
  );
};

/** Of panels. */
const TITLES = { ms: 'Time, ms,', cpuMs: 'Processor time, ms,', writes: 'Write units' } as const;

function drawing(all: readonly Growth[]): string {
  const dimensions = [...new Set(all.map(({ dimension }) => dimension))];
  const panels = (['ms', 'cpuMs', 'writes'] as const).flatMap((kind) =>
    dimensions.map(
      (dimension): Panel => ({
        title: `${TITLES[kind]} over ${dimension}`,
        lines: all
          .filter((growth) => growth.dimension === dimension)
          .map(
            ({ line, points }): Line => ({
              name: line,
              points: points.map((point) => ({ x: point.size, y: median(point[kind]) })),
            }),
          ),
      }),
    ),
  );
  return plot('What a delivery takes as the service grows', panels, dimensions.length);
}

async function run(bench: Bench): Promise<Block[]> {
  const runs = bench.runs ?? RUNS;
  const all: Growth[] = [];
  for (const endpoints of ENDPOINTS) all.push(await growOrganizations(bench, endpoints, runs));
  all.push(await grow(bench, { dimension: 'history', sizes: HISTORY, runs }));
  all.push(await grow(bench, { dimension: 'backlog', sizes: BACKLOG, runs }));
  const file = await bench.keepFile('growth.svg', drawing(all));
  return [
    {
      title: 'What a delivery takes, from the commit of its event to its end and its count',
      figures: all.flatMap(figuresOf),
      notes: [
        "The engine's code over the real stores and the embedded engines, one event after the other, in one process; receivers answer at once. Units are what the engine reports.",
        'History: ended deliveries of the very endpoint. Backlog: its retries that wait, in the due index and held back in the queue of retries.',
      ],
    },
    {
      title: 'The largest size over the smallest: flat is 1',
      figures: all.flatMap(ratios),
      notes: [`Drawn in ${file}`],
    },
  ];
}

/** Units of a first-try delivery with its event, which do not depend on the size. */
export async function unitsOfDelivery(): Promise<Figure[]> {
  return withPlace(async (place) => {
    const organizations = await seedOrganizations(place, { organizations: 1, endpoints: 1 }, () => undefined);
    const { writes, reads } = await measure(place, organizations, 1);
    const units = { unit: 'units', exact: true } as const;
    return [
      figure('first-try delivery with its event', KINDS.writes, writes, units),
      figure('first-try delivery with its event', KINDS.reads, reads, units),
    ];
  });
}

export const growth: Section = {
  name: 'growth',
  about: 'units and time of a delivery over organizations, endpoints, history and backlog, drawn as SVG',
  run,
};
