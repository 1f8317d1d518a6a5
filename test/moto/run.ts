import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { checkOut, findLastRelease, type Tree, WORKING_TREE } from '../../lib/release-check/synthesis.ts';

/*
 * `npm run test:moto -- <commit>`: deploys stage prod of a release (default: the last one), of the working
 * tree, and of the release again on moto. It is not part of `npm test`, because it is a Python package
 * (`pip install moto[all]==5.2.5`); `PYTHON` names the interpreter. deploy.py says what moto cannot do.
 */

const run = promisify(execFile);
const CDK_CONTEXT_JSON = JSON.stringify({ stage: 'prod' });
const PYTHON = process.env.PYTHON ?? 'python3';

interface Deployed {
  path: string;
  type: string;
  /** Physical id; null when moto did not create it. */
  name: string | null;
  isStub: boolean;
}

const print = (text: string) => process.stdout.write(`${text}\n`);

async function synthesize({ directory }: Tree, assembly: string): Promise<void> {
  const { PATH } = process.env;
  const env = {
    PATH,
    CDK_OUTDIR: assembly,
    CDK_VALIDATION: 'false',
    CDK_CONTEXT_JSON,
  };
  await run(process.execPath, ['bin/app.ts'], { cwd: directory, env });
}

/** @returns what is wrong */
function compare(names: readonly string[], deployments: readonly (readonly Deployed[])[]): string[] {
  const ids = deployments.map((all) => new Map(all.map(({ path, name }) => [path, name])));
  deployments.forEach((all, index) => {
    const earlier = ids[index - 1] ?? new Map<string, string>();
    const created = all.filter(({ isStub, name }) => !isStub && name !== null);
    const kept = created.filter(({ path, name }) => earlier.get(path) === name);
    const gone = [...earlier.keys()].filter((path) => !ids[index]?.has(path));
    const counts = { resources: all.length, created: created.length, kept: kept.length, gone: gone.length };
    print(
      `${names[index]}: ${Object.entries(counts)
        .map(([name, count]) => `${count} ${name}`)
        .join(', ')}`,
    );
  });
  const [first = [], , last = []] = deployments;
  const data = first.filter(
    ({ type, isStub }) => !isStub && /^AWS::(?:DynamoDB::GlobalTable|KMS::Key|SQS::Queue)$/.test(type),
  );
  return [
    ...deployments.flat().flatMap(({ path, name }) => (name === null ? [`${path} was not created`] : [])),
    ...data.flatMap(({ path, name }) => (ids[2]?.get(path) === name ? [] : [`${path} lost its data`])),
    ...(first.length === last.length ? [] : ['the way back does not lead to the first release']),
  ];
}

async function main(): Promise<number> {
  const hasMoto = await run(PYTHON, ['-c', 'import moto']).catch(() => undefined);
  if (hasMoto === undefined) {
    print('moto is not installed (pip install moto[all]==5.2.5): nothing was deployed.');
    return 0;
  }
  const commit = process.argv[2] ?? (await findLastRelease()) ?? 'HEAD';
  const parent = await mkdtemp(join(tmpdir(), 'moto-'));
  const [before, after] = [join(parent, 'before'), join(parent, 'after')];
  try {
    await using release = await checkOut(commit, new AbortController().signal);
    await synthesize(release, before);
    await synthesize(WORKING_TREE, after);
    const script = join(import.meta.dirname, 'deploy.py');
    const { stdout } = await run(PYTHON, [script, before, after, before], { maxBuffer: 2 ** 26 });
    const lines = stdout.split('\n').filter((line) => line.startsWith('['));
    const deployments = lines.map((line): Deployed[] => JSON.parse(line));
    const stubs = new Set(deployments.flat().flatMap(({ type, isStub }) => (isStub ? [type] : [])));
    const faults = compare([commit, 'the working tree', `${commit} again`], deployments);
    print(`Not in moto: ${[...stubs].sort().join(', ')}`);
    for (const fault of faults) print(`✗ ${fault}`);
    return faults.length === 0 ? 0 : 1;
  } finally {
    await rm(parent, { recursive: true, force: true });
  }
}

process.exitCode = await main();
