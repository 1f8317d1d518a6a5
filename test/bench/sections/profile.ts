import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FunctionName } from '../../../lib/infra/grants/grant.ts';
import { temporaryDirectory } from '../../support/local-run.ts';
import { type Block, type Figure, figure } from '../figure.ts';
import { ending } from '../measure/interruption.ts';
import { watchParts } from '../measure/parts.ts';
import { familyOf, processes, variableOf } from '../measure/processor-time.ts';
import {
  CAUSE_NAMES,
  type CpuProfile,
  profileDirectory,
  sourceFinder,
  stacksOf,
  toSpeedscope,
} from '../measure/profiles.ts';
import { withService } from '../measure/service.ts';
import { holdLoad, startTraffic, type Traffic } from '../measure/traffic.ts';
import type { Bench, Section } from '../section.ts';

/** The functions of a message, from its call to the count of its delivery. */
const FUNCTIONS = [
  'create-message',
  'fan-out',
  'dispatch',
  'delivery-stream',
  'publish',
  'meter',
] as const satisfies FunctionName[];

/** Few at once, so that batches are small on any machine, and each process runs hot. */
const LOAD = { lanes: 4, underWay: 8 };
/**
 * Messages, not seconds, because a function gets faster with each call until V8 has optimized it. A run lasts
 * longer than the batching window of `delivery-stream`.
 */
const MESSAGES = { warming: 1500, run: 1000, profile: 900 };
const RUNS = 5;
/** Until processes have written their profiles. */
const WRITING_MS = 3000;

/** Processor time of each function, by window without the profiler; and profiles of a further window. */
async function measure(directory: string, bench: Bench) {
  const { runs = RUNS } = bench;
  const profiles = profileDirectory(directory);
  return withService(
    async ({ service }) => {
      const { key } = await service.enrol();
      const environment = { BASE_URL: service.url, API_KEY: key };
      const traffic = await startTraffic({ tls: service.tls, environment }, { fanOut: 1, bodyBytes: 512 });
      const load = holdLoad(traffic, LOAD);
      bench.progress('the functions get warm');
      await delivered(traffic, MESSAGES.warming);
      const parts = watchParts(process.pid, {});
      const times = new Map<string, number[]>(FUNCTIONS.map((name) => [name, []]));
      for (let run = 1; run <= runs; run += 1) {
        bench.progress(`${run} of ${runs}: without the profiler`);
        parts.taken();
        await delivered(traffic, MESSAGES.run);
        const taken = parts.taken();
        for (const [name, ms] of times) ms.push((taken.get(name) ?? 0) / MESSAGES.run);
      }
      bench.progress('with the profiler');
      signalFunctions();
      await delivered(traffic, MESSAGES.profile);
      signalFunctions();
      await sleep(WRITING_MS);
      await load.stop();
      await traffic.settled();
      await traffic.end();
      // The bundles go with the service.
      return { times, profiles: await readProfiles(profiles, join(directory, 'bundles'), bench) };
    },
    {},
    { preload: join(import.meta.dirname, '../measure/profiler.ts'), environment: { PROFILES: profiles } },
  );
}

/** Resolves after so many further deliveries; each message has one. */
function delivered(traffic: Traffic, count: number): Promise<void> {
  return new Promise((resolve) => {
    let left = count;
    traffic.onDelivery = () => {
      left -= 1;
      if (left === 0) resolve();
    };
  });
}

function signalFunctions(): void {
  for (const { pid } of familyOf(process.pid, processes()))
    if (FUNCTIONS.some((name) => name === variableOf(pid, 'FUNCTION_NAME'))) process.kill(pid, 'SIGUSR2');
}

/** The profiles with the sources' names, which replace the bundle's in the files as well. */
async function readProfiles(directory: string, bundles: string, bench: Bench): Promise<CpuProfile[]> {
  const find = await sourceFinder(FUNCTIONS, bundles);
  return Promise.all(
    readdirSync(directory).map(async (file) => {
      const profile: CpuProfile = JSON.parse(readFileSync(join(directory, file), 'utf8'));
      for (const { callFrame } of profile.nodes)
        Object.assign(callFrame, find(profile.functionName, callFrame));
      await bench.keepFile(file, JSON.stringify(profile));
      return profile;
    }),
  );
}

async function run(bench: Bench): Promise<Block[]> {
  return ending(
    await temporaryDirectory(),
    (directory) => directory.remove(),
    async ({ path }) => {
      const { times, profiles } = await measure(path, bench);
      const stacks = new Map(
        FUNCTIONS.map((name) => [
          name,
          profiles.filter(({ functionName }) => functionName === name).flatMap(stacksOf),
        ]),
      );
      const graph = await bench.keepFile('functions.speedscope.json', toSpeedscope(stacks, MESSAGES.profile));
      const totals = FUNCTIONS.map((name) => figure('all', name, times.get(name) ?? [], { unit: 'ms' }));
      const rows = CAUSE_NAMES.flatMap((cause) =>
        FUNCTIONS.flatMap((name, index): Figure[] => {
          const all = stacks.get(name) ?? [];
          const ofCause = all.filter((stack) => stack.cause === cause);
          const share = sumOf(ofCause) / sumOf(all);
          return share > 0 ? [figure(cause, name, share * (totals[index]?.median ?? 0), { unit: 'ms' })] : [];
        }),
      );
      return [
        {
          title: 'Processor time of a message with one endpoint, by function and cause',
          figures: [...totals, ...rows],
          notes: [
            `Closed loop over ${LOAD.lanes} connections, at most ${LOAD.underWay} deliveries in progress. Totals are without the profiler; causes have their shares of a profile.`,
            `Flame graphs: ${graph}, for https://www.speedscope.app; a .cpuprofile of each process beside it.`,
          ],
        },
      ];
    },
  );
}

const sumOf = (stacks: readonly { ms: number }[]): number => stacks.reduce((sum, { ms }) => sum + ms, 0);

export const profile: Section = {
  name: 'profile',
  about: 'CPU of a message in each function by cause: SDK, sockets, validation, own code, with flame graphs',
  run,
};
