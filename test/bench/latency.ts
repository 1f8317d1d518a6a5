import { setTimeout as sleep } from 'node:timers/promises';
import type { LocalRun } from '../support/local-run.ts';
import { quantile } from '../support/statistics.ts';
import { type Bench, type Block, figure, type Section } from './figure.ts';
import { openLoop } from './measure/open-loop.ts';
import { withLocalRun } from './measure/resources.ts';
import { holdLoad, startTraffic } from './measure/traffic.ts';
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

/** Latencies of one run in milliseconds, by what they are measured from and to; and what was lost. */
interface Times {
  'commit to receipt': number[];
  'planned to receipt': number[];
  'planned to answer': number[];
  lost: { refused: number; missing: number };
}

async function measure(local: LocalRun, perSecond: number, seconds: number): Promise<Times> {
  const traffic = await startTraffic(local, { ...BASE, connections: CONNECTIONS });
  const warming = holdLoad(traffic, { lanes: 4, underWay: 4 });
  await sleep(WARMING_MS);
  await warming.stop();
  await traffic.settled();

  const sent = await openLoop({ perSecond, count: Math.ceil(perSecond * seconds) }, () => traffic.post());
  const { missing, refused } = await traffic.settled();
  const received = sent.flatMap(({ intendedAt, result }) =>
    result === undefined ? [] : traffic.receiptsOf(result).map((receipt) => ({ intendedAt, ...receipt })),
  );
  await traffic.end();
  return {
    'commit to receipt': received.map(({ receivedAt, committedAt }) => receivedAt - committedAt),
    'planned to receipt': received.map(({ receivedAt, intendedAt }) => receivedAt - intendedAt),
    'planned to answer': sent.map(({ answeredAt, intendedAt }) => answeredAt - intendedAt),
    lost: { refused, missing },
  };
}

async function run({ seconds = SECONDS, runs = RUNS, found, progress }: Bench): Promise<Block[]> {
  return withLocalRun(async (local) => {
    if (found.eventsPerSecond === undefined) {
      progress('what it can hold, of which the rates are shares');
      found.eventsPerSecond = (await hold(local, BASE, PROBE_SECONDS)).eventsPerSecond;
    }
    const most = found.eventsPerSecond;
    const figures: ReturnType<typeof figure>[] = [];
    const losses: ReturnType<typeof figure>[] = [];
    for (const share of SHARES) {
      const subject = `${share * 100} %`;
      const measured: Times[] = [];
      while (measured.length < runs) {
        progress(`${subject} of ${most.toFixed(0)}/s, run ${measured.length + 1} of ${runs}`);
        measured.push(await measure(local, most * share, seconds));
      }
      for (const kind of ['commit to receipt', 'planned to receipt', 'planned to answer'] as const)
        for (const [name, rank] of Object.entries(QUANTILES)) {
          const values = measured.map((times) => quantile(times[kind], rank));
          figures.push(figure(`${kind}, ${subject}`, name, values, 'ms'));
        }
      const lost = (kind: keyof Times['lost']) => measured.map((times) => times.lost[kind]);
      losses.push(
        figure(subject, 'offered', most * share, '/s'),
        figure(subject, 'refused', lost('refused')),
        figure(subject, 'missing', lost('missing')),
      );
    }
    return [
      {
        title: 'Latency at shares of the sustained throughput',
        figures,
        notes: [
          `Open loop: sent by the clock, one endpoint, ${BASE.bodyBytes} bytes; a run is ${seconds} s. Quantiles of each run; of fewer than 1,000 events the last one is the longest.`,
        ],
      },
      { title: 'What was offered, and what became of it', figures: losses },
    ];
  });
}

export const latency: Section = {
  name: 'latency',
  about: 'commit to receipt at 10, 50 and 80 % of the throughput, open loop',
  run,
};
