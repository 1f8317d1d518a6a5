import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { bundleFunctions, TO_A_FUNCTION } from '../../lib/infra/bundle.ts';
import { FUNCTION_ENVIRONMENT } from '../support/functions.ts';
import { median } from '../support/statistics.ts';
import { type Bench, type Block, figure, type Section } from './figure.ts';

/** A run is the median of some loads of each function. */
const RUNS = 3;
const LOADS = 5;
/** The most that a function may take to load, as a ratio to the floor. */
const MAX_RATIO = 1.35;
const ROOT = join(import.meta.dirname, '../..');
const execute = promisify(execFile);

/** The environment that functions need to load. */
const ENVIRONMENT = {
  PATH: process.env.PATH,
  ...FUNCTION_ENVIRONMENT,
  AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
  FUNCTION_NAME: 'bench',
};

/** CPU time of its thread instead of elapsed time, because other processes hardly affect it. */
const PROBE = `const before = process.threadCpuUsage();
await import(process.argv[1]);
const { user, system } = process.threadCpuUsage(before);
process.stdout.write(String((user + system) / 1000));
process.exit(0);`;

/** Milliseconds of processor time that a new process takes to load a module. */
async function loadOnce(file: string): Promise<number> {
  const args = ['--input-type=module', '--eval', PROBE, file];
  const { stdout } = await execute(process.execPath, args, { env: ENVIRONMENT });
  return Number(stdout);
}

const EMPTY = 'export const handler = async () => {};';
/** With both libraries unchanged, except for the SDK's chain of credentials. */
const FLOOR = `import * as z from 'zod/mini';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
const client = new DynamoDBClient({});
const Event = z.object({ id: z.string() });
export const handler = async (event) => [Event.parse(event), client];`;

/** Functions after which the empty handler and the floor are loaded again: every ratio depends on both. */
const REFERENCES_EVERY = 5;

/** Bundles all functions and the floor. @returns their files by name, the references first */
async function bundle(directory: string): Promise<Map<string, string>> {
  const [functions, references] = [join(directory, 'functions'), join(directory, 'references')];
  await bundleFunctions(functions);
  const [empty, floor] = [join(references, 'empty.mjs'), join(references, 'floor.mjs')];
  await mkdir(references);
  await writeFile(empty, EMPTY);
  await build({
    ...TO_A_FUNCTION,
    stdin: { contents: FLOOR, resolveDir: ROOT, loader: 'ts' },
    outfile: floor,
  });
  const names = await readdir(functions);
  return new Map([
    ['empty', empty],
    ['floor', floor],
    ...names.map((name) => [name, join(functions, name, 'index.mjs')] as const),
  ]);
}

/**
 * Loads each file in new processes, round by round, so that a busy moment affects all of them.
 * @returns the median of each, in milliseconds over the empty handler
 */
async function loadAll(files: ReadonlyMap<string, string>): Promise<Map<string, number>> {
  const times = new Map([...files.keys()].map((name) => [name, [] as number[]]));
  const load = async (name: string) => times.get(name)?.push(await loadOnce(files.get(name) ?? ''));
  const names = [...files.keys()].slice(2);
  for (let round = 0; round < LOADS; round += 1)
    for (const [index, name] of names.entries()) {
      if (index % REFERENCES_EVERY === 0) for (const reference of ['empty', 'floor']) await load(reference);
      await load(name);
    }
  const empty = median(times.get('empty') ?? []);
  return new Map([...times].map(([name, values]) => [name, median(values) - empty]));
}

async function run({ runs = RUNS, progress }: Bench): Promise<Block[]> {
  const directory = await mkdtemp(join(tmpdir(), 'load-times-'));
  try {
    const files = await bundle(directory);
    const loads: Map<string, number>[] = [];
    while (loads.length < runs) {
      progress(`run ${loads.length + 1} of ${runs}, ${LOADS} loads of each function`);
      loads.push(await loadAll(files));
    }
    files.delete('empty');
    const rows = await Promise.all(
      [...files].map(async ([name, file]) => {
        const ms = loads.map((one) => one.get(name) ?? Number.NaN);
        const ratio = loads.map((one, run) => (ms[run] ?? 0) / (one.get('floor') ?? 0));
        return [
          figure(name, 'CPU over empty', ms, 'ms'),
          figure(name, 'ratio', ratio, 'x'),
          figure(name, 'code', (await stat(file)).size / 1024, 'KiB'),
        ] as const;
      }),
    );
    const figures = rows.toSorted(([, one], [, other]) => other.median - one.median).flat();
    const over = figures.filter(({ measure, median: ratio }) => measure === 'ratio' && ratio > MAX_RATIO);
    return [
      {
        title: 'Load of each function, over a handler that loads nothing',
        figures,
        notes: [
          "Processor time in fresh processes. The floor is the SDK's DynamoDB client and the schema library alone, bundled the same way.",
          `Over the bound of ${MAX_RATIO}: ${over.map(({ subject }) => subject).join(', ') || 'none'}.`,
        ],
      },
    ];
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

export const load: Section = {
  name: 'load',
  about: 'load time and size of every function, over an empty handler, as a ratio to the floor',
  run,
};
