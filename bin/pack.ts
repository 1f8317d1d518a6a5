import { execFileSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Argument } from '@commander-js/extra-typings';
import { commandLine } from 'terminal/command-line.ts';
import { createScreen } from 'terminal/screen.ts';
import { findPython, NoPythonError, PACKAGE } from '../packages/sdk-python/bin/toolbox.ts';

/*
 * `npm run pack`. The manifests of packages/sdk and packages/cli have no version, so that `npm pack` alone
 * refuses what was not built: it runs no scripts here.
 */

const ROOT = join(import.meta.dirname, '..');
const ARTIFACTS = join(ROOT, 'artifacts');
const KINDS = ['sdk', 'cli', 'python'] as const;

const run = (program: string, ...args: string[]): string =>
  execFileSync(program, args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

const readManifest = async (directory: string) =>
  JSON.parse(await readFile(join(ROOT, directory, 'package.json'), 'utf8'));

/** Packs a built package with the version of the repository. @returns the name of the tarball */
async function packNpm(name: 'sdk' | 'cli'): Promise<string> {
  const source = join(ROOT, 'packages', name);
  const staged = await mkdtemp(join(tmpdir(), `pack-${name}-`));
  try {
    const { scripts: _, devDependencies: __, ...manifest } = await readManifest(`packages/${name}`);
    const { version } = await readManifest('.');
    await writeFile(join(staged, 'package.json'), JSON.stringify({ ...manifest, version }, null, 2));
    for (const file of ['README.md', 'dist', ...Object.values<string>(manifest.bin ?? {})])
      await cp(join(source, file), join(staged, file), { recursive: true });
    return run('npm', 'pack', '--silent', '--pack-destination', ARTIFACTS, staged).trim();
  } finally {
    await rm(staged, { recursive: true });
  }
}

/** @returns nothing, because pip says nothing */
async function buildWheel(): Promise<string> {
  run(process.execPath, 'bin/generate.ts', 'python');
  const options = ['--quiet', '--disable-pip-version-check', '--no-deps', '--wheel-dir', ARTIFACTS];
  return run(findPython(), '-m', 'pip', 'wheel', ...options, PACKAGE);
}

async function build(name: 'sdk' | 'cli'): Promise<void> {
  if (name === 'sdk') run(process.execPath, 'bin/generate.ts', 'types');
  run(process.execPath, `packages/${name}/bin/build.ts`);
}

const { args } = commandLine(
  'npm run pack --',
  'Writes installable packages into artifacts/: two npm tarballs and a wheel.',
)
  .addArgument(new Argument('[package...]', 'only these').choices(KINDS))
  .parse();
const { step, print } = createScreen(process.stdout);
await mkdir(ARTIFACTS, { recursive: true });
try {
  for (const name of args.length === 0 ? KINDS : KINDS.filter((kind) => args.includes(kind)))
    if (name === 'python') await step('Build the wheel', buildWheel);
    else {
      await step(`Build packages/${name}`, () => build(name));
      await step(`Pack packages/${name}`, () => packNpm(name), String);
    }
} catch (error) {
  print(error instanceof NoPythonError ? `The wheel ${error.message}.` : String(error));
  process.exitCode = 1;
}
