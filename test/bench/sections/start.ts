import { apiClient } from '../../support/api.ts';
import { startLocalRun, temporaryDirectory } from '../../support/local-run.ts';
import { type Block, figure } from '../figure.ts';
import { ending } from '../measure/interruption.ts';
import { watchParts } from '../measure/parts.ts';
import { memoryOf } from '../measure/processor-time.ts';
import { quantile } from '../measure/statistics.ts';
import type { Bench, Section } from '../section.ts';

const RUNS = 3;
const WARMING = 100;
const CALLS = 800;
const LANES = 4;

/**
 * Milliseconds of each of some calls over some connections.
 * @throws Error when one is not a success
 */
async function timesOf(call: () => Promise<{ status: number }>, count: number): Promise<number[]> {
  const times: number[] = [];
  let next = 0;
  const lane = async () => {
    while (next++ < count) {
      const began = performance.now();
      const { status } = await call();
      times.push(performance.now() - began);
      if (status >= 300) throw new Error(`a call was answered ${status}`);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return times;
}

async function startAndStop(directory: string) {
  return ending(
    await startLocalRun(directory),
    (run) => run.kill(),
    async (run) => {
      const memory = memoryOf(watchParts(run.pid, {}).pids());
      const began = performance.now();
      await run.interrupt();
      return { started: run.readyAfterMs, stopped: performance.now() - began, memory };
    },
  );
}

async function run(bench: Bench): Promise<Block[]> {
  const runs = bench.runs ?? RUNS;
  const [cold, warm] = [[], []] as Awaited<ReturnType<typeof startAndStop>>[][];
  const calls = { read: [] as number[][], write: [] as number[][] };
  for (let count = 1; count <= runs; count += 1) {
    bench.progress(`run ${count} of ${runs}: a cold start, a warm one, and calls`);
    const directory = await temporaryDirectory();
    await ending(
      directory,
      () => directory.remove(),
      async ({ path }) => {
        cold?.push(await startAndStop(path));
        warm?.push(await startAndStop(path));
        await ending(
          await startLocalRun(path),
          (local) => local.interrupt(),
          async (local) => {
            const api = apiClient(local.environment, LANES);
            const id = await api.createConversation();
            const read = () => api.get(`/api/v1/conversations/${id}`);
            const write = () =>
              api.post('/api/v1/conversations', { channelId: 'bench', externalUserId: 'ada' });
            for (const [name, call] of [
              ['read', read],
              ['write', write],
            ] as const) {
              await timesOf(call, WARMING);
              calls[name].push(await timesOf(call, CALLS));
            }
            api.close();
          },
        );
      },
    );
  }
  const started = (name: string, all: typeof cold = []) => [
    figure(
      name,
      'to Ready',
      all.map((one) => one.started),
      { unit: 'ms' },
    ),
    figure(
      name,
      'to its end',
      all.map((one) => one.stopped),
      { unit: 'ms' },
    ),
    figure(
      name,
      'memory',
      all.map((one) => one.memory),
      { unit: 'MiB' },
    ),
  ];
  return [
    {
      title: 'Starting and stopping the local run',
      figures: [...started('cold', cold), ...started('warm', warm)],
      notes: [
        'From the command to `Ready`, demonstration included; from Ctrl-C to the end. Warm: nothing has changed since the last start.',
      ],
    },
    {
      title: `Calls over ${LANES} connections, warm`,
      figures: Object.entries(calls).flatMap(([name, call]) => [
        figure(
          `${name} a conversation`,
          'p50',
          call.map((times) => quantile(times, 0.5)),
          { unit: 'ms' },
        ),
        figure(
          `${name} a conversation`,
          'p99',
          call.map((times) => quantile(times, 0.99)),
          { unit: 'ms' },
        ),
      ]),
    },
  ];
}

export const start: Section = {
  name: 'start',
  about: 'start and stop of the local run, its memory, and how long calls take',
  run,
};
