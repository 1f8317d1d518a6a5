import type { LocalRun } from '../../support/local-run.ts';
import { type Block, type Figure, figure } from '../figure.ts';
import { withLocalRun } from '../measure/local-run.ts';
import { openLoop } from '../measure/open-loop.ts';
import { quantile } from '../measure/statistics.ts';
import { holdLoad, startTraffic } from '../measure/traffic.ts';
import type { Bench, Section } from '../section.ts';
import { BASE, hold } from './throughput.ts';

const SHARES = [0.1, 0.5, 0.8];
const SECONDS = 20;
const RUNS = 3;
const WARMING_MS = 5_000;
/** Used when throughput was not measured in the same run. */
const PROBE_SECONDS = 18;
/**
 * More than are ever in progress: a call that waited for a connection would still count from when it should
 * have been sent.
 */
const CONNECTIONS = 256;
const QUANTILES = { p50: 0.5, p90: 0.9, p99: 0.99, 'p99.9': 0.999 };

/** The times of one run, in milliseconds. */
interface Times {
  commitToReceipt: number[];
  intendedToReceipt: number[];
  intendedToAnswer: number[];
  refused: number;
  missing: number;
}

async function measure(local: LocalRun, perSecond: number, seconds: number): Promise<Times> {
  const traffic = await startTraffic(local, { ...BASE, connections: CONNECTIONS });
  const warming = holdLoad(traffic, { lanes: 4, underWay: 4 });
  await new Promise((resolve) => setTimeout(resolve, WARMING_MS));
  await warming.stop();
  await traffic.settled();

  const sent = await openLoop({ perSecond, count: Math.ceil(perSecond * seconds) }, () => traffic.post());
  const { missing, refused } = await traffic.settled();
  const received = sent.flatMap(({ intendedAt, result }) =>
    result === undefined ? [] : traffic.receiptsOf(result).map((receipt) => ({ intendedAt, ...receipt })),
  );
  await traffic.end();
  return {
    commitToReceipt: received.map(({ receivedAt, committedAt }) => receivedAt - committedAt),
    intendedToReceipt: received.map(({ receivedAt, intendedAt }) => receivedAt - intendedAt),
    intendedToAnswer: sent.map(({ answeredAt, intendedAt }) => answeredAt - intendedAt),
    refused,
    missing,
  };
}

function figuresOf(subject: string, kind: keyof Times, runs: readonly Times[]): Figure[] {
  return Object.entries(QUANTILES).map(([name, share]) =>
    figure(
      subject,
      name,
      runs.map((times) => quantile(times[kind] as number[], share)),
      { unit: 'ms' },
    ),
  );
}

async function run(bench: Bench): Promise<Block[]> {
  const seconds = bench.seconds ?? SECONDS;
  return withLocalRun(async (local) => {
    if (bench.found.eventsPerSecond === undefined) {
      bench.progress('what it can hold, of which the rates are shares');
      bench.found.eventsPerSecond = (await hold(local, BASE, { seconds: PROBE_SECONDS })).eventsPerSecond;
    }
    const most = bench.found.eventsPerSecond;
    const blocks: Figure[][] = [[], [], []];
    const losses: Figure[] = [];
    for (const share of SHARES) {
      const perSecond = most * share;
      const subject = `${share * 100} %`;
      const runs: Times[] = [];
      for (let count = 1; count <= (bench.runs ?? RUNS); count += 1) {
        bench.progress(`${subject} of ${most.toFixed(0)}/s, run ${count} of ${bench.runs ?? RUNS}`);
        runs.push(await measure(local, perSecond, seconds));
      }
      blocks[0]?.push(...figuresOf(subject, 'commitToReceipt', runs));
      blocks[1]?.push(...figuresOf(subject, 'intendedToReceipt', runs));
      blocks[2]?.push(...figuresOf(subject, 'intendedToAnswer', runs));
      const counted = { unit: 'count', exact: true } as const;
      losses.push(
        figure(subject, 'offered', perSecond, { unit: '/s', better: 'neither' }),
        figure(
          subject,
          'events',
          runs.map(({ intendedToAnswer }) => intendedToAnswer.length),
          { ...counted, better: 'neither' },
        ),
        figure(
          subject,
          'refused',
          runs.map(({ refused }) => refused),
          counted,
        ),
        figure(
          subject,
          'missing',
          runs.map(({ missing }) => missing),
          counted,
        ),
      );
    }
    const [commit = [], intended = [], answer = []] = blocks;
    return [
      {
        title: 'From the commit of an event to its receipt, at shares of the sustained throughput',
        figures: prefixed('commit to receipt', commit),
        notes: [
          `Open loop: sent by the clock, one endpoint, ${BASE.bodyBytes} bytes; a run is ${seconds} s. Quantiles of each run; of fewer than 1,000 events the last one is the longest.`,
        ],
      },
      {
        title: 'From when a message should have been sent to its receipt, and to its answer',
        figures: [...prefixed('to receipt', intended), ...prefixed('to answer', answer)],
      },
      { title: 'What was offered, and what became of it', figures: losses },
    ];
  });
}

const prefixed = (what: string, figures: readonly Figure[]): Figure[] =>
  figures.map((one) => ({ ...one, subject: `${what}, ${one.subject}` }));

export const latency: Section = {
  name: 'latency',
  about: 'commit to receipt at 10, 50 and 80 % of the throughput, open loop',
  run,
};
