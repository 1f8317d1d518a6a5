import { setTimeout as sleep } from 'node:timers/promises';
import type { LocalRun } from '../support/local-run.ts';
import { type Bench, type Block, figure, type Section } from './figure.ts';
import { familyMsOf, memoryOf } from './measure/processor-time.ts';
import { withLocalRun } from './measure/resources.ts';
import { holdLoad, startTraffic } from './measure/traffic.ts';

/** The parameters of the load. */
export interface Combination {
  /** Endpoints that each event goes to. */
  fanOut: number;
  /** Of a message's text. */
  bodyBytes: number;
  /** Until a receiver answers. */
  latencyMs: number;
}

export const BASE: Combination = { fanOut: 1, bodyBytes: 512, latencyMs: 0 };
/** One dimension is varied at a time. */
const COMBINATIONS: readonly Combination[] = [
  BASE,
  { ...BASE, fanOut: 5 },
  { ...BASE, fanOut: 20 },
  { ...BASE, bodyBytes: 4096 },
  { ...BASE, bodyBytes: 65_536 },
  { ...BASE, latencyMs: 50 },
  { ...BASE, latencyMs: 500 },
];

const SECONDS = 60;
/** Starts the functions' processes, and lets their code be compiled. */
const WARMING_MS = 8_000;
/** Parts of a window: each is a run. */
const SLICES = 6;
const LANES = 16;
/** Concurrent deliveries: enough to keep every worker busy, also at receivers that take half a second. */
const IN_PROGRESS = 400;

const nameOf = ({ fanOut, bodyBytes, latencyMs }: Combination): string =>
  `1 → ${fanOut}, ${bodyBytes / 1024} KB, ${latencyMs} ms`;

/** What a load reached. */
interface Held {
  eventsPerSecond: number;
  /** Deliveries per second of each part of the window. */
  rates: number[];
  /** Processor time of each delivery, those of the load and of the receivers included. */
  cpuMs: number;
  memoryMiB: number;
  refused: number;
  missing: number;
  duplicates: number;
}

/** Applies the load for some seconds and counts the receipts. */
export async function hold(run: LocalRun, combination: Combination, seconds: number): Promise<Held> {
  const { fanOut } = combination;
  const traffic = await startTraffic(run, { ...combination, connections: LANES });
  const load = holdLoad(traffic, { lanes: LANES, underWay: Math.ceil(IN_PROGRESS / fanOut) });
  await sleep(WARMING_MS);
  // This process has started the run and the receivers.
  const before = familyMsOf(process.pid);
  let received = 0;
  traffic.onDelivery = () => {
    received += 1;
  };
  const rates: number[] = [];
  for (let slice = 0; slice < SLICES; slice += 1) {
    const [began, earlier] = [performance.now(), received];
    await sleep((seconds * 1000) / SLICES);
    rates.push((received - earlier) / ((performance.now() - began) / 1000));
  }
  const deliveries = received;
  const cpuMs = (familyMsOf(process.pid) - before) / deliveries;
  const memoryMiB = memoryOf(process.pid);
  await load.stop();
  const { refused, missing, duplicates } = await traffic.settled();
  await traffic.end();
  const eventsPerSecond = deliveries / seconds / fanOut;
  return { eventsPerSecond, rates, cpuMs, memoryMiB, refused, missing, duplicates };
}

function figuresOf(combination: Combination, runs: readonly Held[]) {
  const name = nameOf(combination);
  const rates = runs.flatMap((run) => run.rates);
  const of = (measure: Exclude<keyof Held, 'rates'>) => runs.map((run) => run[measure]);
  return [
    figure(
      name,
      'events',
      rates.map((rate) => rate / combination.fanOut),
      '/s',
    ),
    figure(name, 'deliveries', rates, '/s'),
    figure(name, 'CPU', of('cpuMs'), 'ms'),
    figure(name, 'memory', of('memoryMiB'), 'MiB'),
    figure(name, 'refused', of('refused')),
    figure(name, 'missing', of('missing')),
    figure(name, 'twice', of('duplicates')),
  ];
}

async function run({ seconds = SECONDS, runs = 1, found, progress }: Bench): Promise<Block[]> {
  return withLocalRun(async (local) => {
    const figures: ReturnType<typeof figure>[] = [];
    for (const [index, combination] of COMBINATIONS.entries()) {
      const held: Held[] = [];
      while (held.length < runs) {
        progress(`${index + 1} of ${COMBINATIONS.length}: ${nameOf(combination)}`);
        held.push(await hold(local, combination, seconds));
      }
      if (combination === BASE) found.eventsPerSecond = held[0]?.eventsPerSecond ?? 0;
      figures.push(...figuresOf(combination, held));
    }
    return [
      {
        title: 'Sustained throughput, by fan-out, size of the message and time in which receivers answer',
        figures,
        notes: [
          `Closed loop over ${LANES} connections, at most ${IN_PROGRESS} deliveries in progress; rates of each sixth of ${seconds} s. CPU of a delivery and memory include the load and the receivers, all on this machine.`,
          'Every accepted message was expected at every receiver. Bodies of deliveries contain only ids, for any size of the message.',
        ],
      },
    ];
  });
}

export const throughput: Section = {
  name: 'throughput',
  about: 'events and deliveries per second, held, by fan-out, body size and receiver latency',
  run,
};
