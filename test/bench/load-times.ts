import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify, styleText } from 'node:util';
import { build } from 'esbuild';
import { bundleFunctions, TO_A_FUNCTION } from '../../lib/cloud/bundle.ts';
import { FUNCTION_ENVIRONMENT } from '../support/functions.ts';

/*
 * Measures how long each function's code takes to load in a fresh process, over one that loads nothing, and compares it with the
 * floor: the schema library and the DynamoDB client bundled alone.
 */
const { values: options } = parseArgs({
  options: {
    runs: { type: 'string', default: '15' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
if (options.help) {
  process.stdout.write(`Usage: npm run bench:load -- [--runs 15] [--json]

  Loads each function's bundle in fresh processes and prints the median time over an empty handler, as a ratio to the floor
  (zod/mini and the DynamoDB client, bundled the same way), and the size of the code.
`);
  process.exit(0);
}

const ROOT = join(import.meta.dirname, '../..');
const execute = promisify(execFile);
const median = (values: number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

/** What functions need of their environment to load. */
const ENVIRONMENT = {
  PATH: process.env.PATH,
  ...FUNCTION_ENVIRONMENT,
  AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
  POWERTOOLS_SERVICE_NAME: 'bench',
};

const PROBE = `const t = performance.now(); await import(process.argv[1]); process.stdout.write(String(performance.now() - t)); process.exit(0);`;

/** Milliseconds that one fresh process takes to load a module. */
async function loadOnce(file: string): Promise<number> {
  const { stdout } = await execute(process.execPath, ['--input-type=module', '--eval', PROBE, file], {
    env: ENVIRONMENT,
  });
  return Number(stdout);
}

async function sizeOf(directory: string): Promise<number> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const sizes = await Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map(async (entry) => (await stat(join(entry.parentPath, entry.name))).size),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

const FLOOR = `import * as z from 'zod/mini';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
const client = new DynamoDBClient({});
const Event = z.object({ id: z.string() });
export const handler = async (event) => [Event.parse(event), client];`;

const directory = await mkdtemp(join(tmpdir(), 'load-times-'));
try {
  const bundles = join(directory, 'functions');
  await bundleFunctions(bundles);
  const reference = join(directory, 'reference');
  await mkdir(reference, { recursive: true });
  await writeFile(join(reference, 'empty.mjs'), 'export const handler = async () => {};');
  await build({
    ...TO_A_FUNCTION,
    stdin: { contents: FLOOR, resolveDir: ROOT, loader: 'ts' },
    outfile: join(reference, 'floor.mjs'),
  });

  const names = await readdir(bundles);
  const files = new Map<string, string>([
    ['(empty)', join(reference, 'empty.mjs')],
    ['(floor)', join(reference, 'floor.mjs')],
    ...names.map((name) => [name, join(bundles, name, 'index.mjs')] as const),
  ]);
  const times = new Map([...files.keys()].map((name) => [name, [] as number[]]));
  // Round by round, so that a busy moment of the machine meets all of them.
  for (let run = 0; run < Number(options.runs); run++)
    for (const [name, file] of files) times.get(name)?.push(await loadOnce(file));

  const empty = median(times.get('(empty)') ?? []);
  const floor = median(times.get('(floor)') ?? []) - empty;
  const rows = await Promise.all(
    names.map(async (name) => {
      const over = median(times.get(name) ?? []) - empty;
      return { name, ms: over, ratio: over / floor, kib: (await sizeOf(join(bundles, name))) / 1024 };
    }),
  );
  rows.sort((a, b) => b.ratio - a.ratio);
  if (options.json) process.stdout.write(`${JSON.stringify({ empty, floor, functions: rows }, null, 2)}\n`);
  else {
    process.stdout.write(
      `${cpus().length} x ${cpus()[0]?.model}, Node ${process.version}, ${options.runs} runs\n\n`,
    );
    process.stdout.write(
      styleText(
        'dim',
        `${'function'.padEnd(24)}${'ms'.padStart(8)}${'x floor'.padStart(10)}${'KiB'.padStart(8)}\n`,
      ),
    );
    process.stdout.write(`${'(floor)'.padEnd(24)}${floor.toFixed(1).padStart(8)}${'1.00'.padStart(10)}\n`);
    for (const { name, ms, ratio, kib } of rows)
      process.stdout.write(
        `${name.padEnd(24)}${ms.toFixed(1).padStart(8)}${ratio.toFixed(2).padStart(10)}${kib.toFixed(0).padStart(8)}\n`,
      );
  }
} finally {
  await rm(directory, { recursive: true, force: true });
}
