import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { bundleFunctions, TO_A_FUNCTION } from '../../lib/infra/bundle.ts';
import { FUNCTION_ENVIRONMENT } from '../support/functions.ts';

/** The load time of a function's code, and its size. */
interface Load {
  name: string;
  /** Processor time over a handler that loads nothing, in milliseconds, as a median. */
  ms: number;
  /** The quartiles. Milliseconds over the empty handler. */
  spread: [low: number, high: number];
  /** `ms` as a ratio to the floor. */
  ratio: number;
  /** The largest file of code, which one process loads. */
  kib: number;
  /** The whole deployment package, with the files that it serves. */
  assetKib: number;
}

export interface Loads {
  /** Processor time of a handler that loads nothing, in milliseconds. */
  empty: number;
  /** That of the schema library and the DynamoDB client alone, in milliseconds over the empty one. */
  floor: number;
  /** The slowest first. */
  functions: Load[];
}

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
  const { stdout } = await execute(process.execPath, ['--input-type=module', '--eval', PROBE, file], {
    env: ENVIRONMENT,
  });
  return Number(stdout);
}

/** With both libraries unchanged, except for the SDK's chain of credentials. */
const FLOOR = `import * as z from 'zod/mini';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
const client = new DynamoDBClient({});
const Event = z.object({ id: z.string() });
export const handler = async (event) => [Event.parse(event), client];`;

/** Functions after which the empty handler and the floor are loaded again: every ratio depends on both. */
const REFERENCES_EVERY = 5;

/**
 * Bundles all functions and loads each in new processes, round by round, so that a busy moment affects all of
 * them.
 * @param options.runs loads of each
 * @param options.only names of functions; all of them where it is absent
 */
export async function measureLoads({
  runs,
  only,
}: {
  runs: number;
  only?: readonly string[];
}): Promise<Loads> {
  const directory = await mkdtemp(join(tmpdir(), 'load-times-'));
  try {
    const bundles = join(directory, 'functions');
    await bundleFunctions(bundles);
    const references = await referencesIn(join(directory, 'reference'));
    const names = (await readdir(bundles)).filter((name) => only === undefined || only.includes(name));
    const files = [
      references.empty,
      references.floor,
      ...names.map((name) => join(bundles, name, 'index.mjs')),
    ];
    const times = files.map((): number[] => []);
    const load = async (index: number) => times[index]?.push(await loadOnce(files[index] ?? ''));
    for (let run = 0; run < runs; run++)
      for (const index of names.keys()) {
        if (index % REFERENCES_EVERY === 0) for (const reference of [0, 1]) await load(reference);
        await load(index + 2);
      }

    const [empty = 0, floor = 0] = times.map((values) => quantile(values, 0.5));
    const functions = names.map(async (name, index): Promise<Load> => {
      const over = (share: number) => quantile(times[index + 2] ?? [], share) - empty;
      return {
        name,
        ms: over(0.5),
        spread: [over(0.25), over(0.75)],
        ratio: over(0.5) / (floor - empty),
        ...(await sizesOf(join(bundles, name))),
      };
    });
    return {
      empty,
      floor: floor - empty,
      functions: (await Promise.all(functions)).toSorted((a, b) => b.ratio - a.ratio),
    };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function referencesIn(directory: string): Promise<{ empty: string; floor: string }> {
  const references = { empty: join(directory, 'empty.mjs'), floor: join(directory, 'floor.mjs') };
  await mkdir(directory, { recursive: true });
  await writeFile(references.empty, 'export const handler = async () => {};');
  await build({
    ...TO_A_FUNCTION,
    stdin: { contents: FLOOR, resolveDir: ROOT, loader: 'ts' },
    outfile: references.floor,
  });
  return references;
}

const quantile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? 0;

async function sizesOf(directory: string): Promise<Pick<Load, 'kib' | 'assetKib'>> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = await Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map(async ({ parentPath, name }) => ({
        isCode: extname(name) === '.mjs',
        bytes: (await stat(join(parentPath, name))).size,
      })),
  );
  return {
    kib: Math.max(...files.map(({ isCode, bytes }) => (isCode ? bytes : 0))) / 1024,
    assetKib: files.reduce((sum, { bytes }) => sum + bytes, 0) / 1024,
  };
}
