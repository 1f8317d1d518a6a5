import { execFileSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandLine } from 'terminal/command-line.ts';
import { createScreen } from 'terminal/screen.ts';
import { findPython, NoPythonError, PACKAGE as PYTHON_PACKAGE } from '../packages/sdk-python/bin/toolbox.ts';

const ROOT = join(import.meta.dirname, '..');
const ARTIFACTS = join(ROOT, 'artifacts');
/** What a consumer of a package does not need of its manifest. */
const INTERNAL = ['scripts', 'devDependencies'];

const run = (program: string, ...args: string[]): string =>
  execFileSync(program, args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

/** The version of all packages. Those of the workspaces have none, so that `npm pack` alone refuses them. */
async function readVersion(): Promise<string> {
  return JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')).version;
}

/** Packs a built package with its version. @param files besides README.md and dist @returns the tarball */
async function packNpm(name: 'sdk' | 'cli', files: readonly string[] = []): Promise<string> {
  const source = join(ROOT, 'packages', name);
  const staged = await mkdtemp(join(tmpdir(), `pack-${name}-`));
  try {
    const manifest = JSON.parse(await readFile(join(source, 'package.json'), 'utf8'));
    for (const field of INTERNAL) delete manifest[field];
    const stamped = { ...manifest, version: await readVersion() };
    await writeFile(join(staged, 'package.json'), `${JSON.stringify(stamped, null, 2)}\n`);
    for (const file of ['README.md', 'dist', ...files])
      await cp(join(source, file), join(staged, file), { recursive: true });
    return run('npm', 'pack', '--silent', '--pack-destination', ARTIFACTS, staged).trim();
  } finally {
    await rm(staged, { recursive: true });
  }
}

function buildWheel(): string {
  const python = findPython();
  const pip = ['-m', 'pip', 'wheel', '--quiet', '--disable-pip-version-check', '--no-deps'];
  run(python, ...pip, '--wheel-dir', ARTIFACTS, PYTHON_PACKAGE);
  return 'wheel';
}

commandLine(
  'npm run pack',
  'Writes the installable packages into artifacts/: two npm tarballs and a wheel.',
).parse();
const { step, print } = createScreen(process.stdout);
await rm(ARTIFACTS, { recursive: true, force: true });
await mkdir(ARTIFACTS);
try {
  await step('Build the clients', async () => {
    run(process.execPath, 'bin/generate.ts', 'types');
    run(process.execPath, 'packages/sdk/bin/build.ts');
    run(process.execPath, 'packages/cli/bin/build.ts');
  });
  await step('Pack packages/sdk', () => packNpm('sdk'), String);
  await step('Pack packages/cli', () => packNpm('cli', ['bin/conversations.js']), String);
  await step('Build the wheel', async () => buildWheel());
} catch (error) {
  print(error instanceof NoPythonError ? `The wheel ${error.message}.` : String(error));
  process.exitCode = 1;
}
