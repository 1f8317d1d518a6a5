import { setTimeout as sleep } from 'node:timers/promises';
import { until } from 'aws-local/test/until.ts';
import { startLocalRun, temporaryDirectory } from '../../support/local-run.ts';
import { type Block, figure } from '../figure.ts';
import { ending } from '../measure/interruption.ts';
import { holdLoad, startTraffic } from '../measure/traffic.ts';
import type { Bench, Section } from '../section.ts';
import { BASE } from './throughput.ts';

const RUNS = 1;
/** Received before the kill. */
const BEFORE = 500;
const LANES = 16;
/** Longer than the lease of an attempt. */
const AGAIN_MS = 30_000;

interface Survived {
  accepted: number;
  missing: number;
  duplicates: number;
  startMs: number;
  lastAfterMs: number;
}

async function killOnce(directory: string): Promise<Survived> {
  const run = await startLocalRun(directory);
  const traffic = await startTraffic(run, BASE);
  let received = 0;
  traffic.onDelivery = () => {
    received += 1;
  };
  const load = holdLoad(traffic, { lanes: LANES, underWay: 100 });
  await until('deliveries before the kill', () => received >= BEFORE);
  await run.kill();
  const killedAt = performance.now();
  let lastAt = killedAt;
  traffic.onDelivery = () => {
    lastAt = performance.now();
  };
  await load.stop();
  return ending(
    await startLocalRun(directory),
    (again) => again.interrupt(),
    async (again) => {
      await traffic.settled();
      const lastAfterMs = lastAt - killedAt;
      // Deliveries in progress arrive again with their retry.
      await sleep(AGAIN_MS);
      const { accepted, missing, duplicates } = await traffic.settled();
      traffic.api.close();
      await traffic.receivers.stop();
      return { accepted, missing, duplicates, startMs: again.readyAfterMs, lastAfterMs };
    },
  );
}

async function run(bench: Bench): Promise<Block[]> {
  const runs = bench.runs ?? RUNS;
  const all: Survived[] = [];
  for (let count = 1; count <= runs; count += 1) {
    bench.progress(`run ${count} of ${runs}: kill -9 under load, and started again`);
    const directory = await temporaryDirectory();
    all.push(
      await ending(
        directory,
        () => directory.remove(),
        ({ path }) => killOnce(path),
      ),
    );
  }
  const of = (name: keyof Survived) => all.map((one) => one[name]);
  const subject = 'kill -9 of the whole run';
  const counted = { unit: 'count', exact: true } as const;
  return [
    {
      title: 'Killed under load and started again',
      figures: [
        figure(subject, 'accepted', of('accepted'), { unit: 'count', better: 'neither' }),
        figure(subject, 'missing', of('missing'), counted),
        figure(subject, 'twice', of('duplicates'), { unit: 'count' }),
        figure(subject, 'start', of('startMs'), { unit: 'ms' }),
        figure(subject, 'to the last delivery', of('lastAfterMs'), { unit: 'ms' }),
      ],
    },
  ];
}

export const kill: Section = {
  name: 'kill',
  about: 'kill -9 of the whole run under load: nothing may be missing',
  run,
};
