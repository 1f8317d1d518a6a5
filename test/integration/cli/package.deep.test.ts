import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { PATIENCE } from 'aws-local/test/patience.ts';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createProgram } from '../../../packages/cli/src/program.ts';
import { anEvent, startFakeOrganization } from './fake-organization.ts';

const ROOT = join(import.meta.dirname, '../../..');
const KIB = 1024;
/** A directory without a repository, where the packed program is installed. */
const place = mkdtempSync(join(tmpdir(), 'installed-'));
const installed = join(place, 'node_modules/conversation-service-cli');
afterAll(() => rmSync(place, { recursive: true, force: true }));

const tarball = (): string => {
  const name = readdirSync(join(ROOT, 'artifacts')).find((file) =>
    file.startsWith('conversation-service-cli'),
  );
  return join(ROOT, 'artifacts', name ?? '');
};

beforeAll(() => {
  execFileSync(process.execPath, ['bin/pack.ts', 'cli'], { cwd: ROOT });
  execFileSync('npm', ['install', '--silent', '--offline', '--no-audit', '--no-fund', tarball()], {
    cwd: place,
  });
}, 120_000 * PATIENCE);

/** The oldest Node.js that is supported, where this machine has it, and the one of the tests. */
const runtimes = [process.execPath, '/usr/bin/node', '/usr/local/bin/node'].flatMap((program) => {
  const { status, stdout } = spawnSync(program, ['--version'], { encoding: 'utf8' });
  return status === 0 ? [{ program, version: stdout.trim() }] : [];
});

const paths = ({ commands }: CommandUnknownOpts, path: string[] = []): string[][] => [
  path,
  ...commands.flatMap((command) => paths(command, [...path, command.name()])),
];
const streams = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() };
const { program: all } = createProgram({
  variables: {},
  cwd: '.',
  signal: new AbortController().signal,
  ...streams,
});

describe('the packed command line', () => {
  it('is small, and has no dependencies', () => {
    const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    expect(manifest).toMatchObject({ version, engines: { node: '>=20' } });
    expect([manifest.dependencies, manifest.scripts, manifest.devDependencies]).toEqual(
      Array(3).fill(undefined),
    );
    expect(statSync(tarball()).size / KIB).toBeLessThan(320);
  });

  it('is not packed without a build: npm pack refuses', () => {
    const { status, stderr } = spawnSync('npm', ['pack'], {
      cwd: join(ROOT, 'packages/cli'),
      encoding: 'utf8',
    });
    expect([status, stderr]).toEqual([1, expect.stringContaining('must have name and version')]);
  });
});

describe.each(runtimes)(
  'the packed command line in Node.js $version',
  { timeout: 60_000 * PATIENCE },
  ({ program }) => {
    /** Runs it without a terminal. */
    const run = (args: readonly string[], variables: Record<string, string> = {}, stdin = '') =>
      new Promise<{ code: unknown; output: string; errors: string }>((resolve) => {
        const env = { PATH: process.env.PATH, XDG_CONFIG_HOME: place, ...variables };
        const file = join(installed, 'bin/conversations.js');
        const child = execFile(program, [file, ...args], { cwd: place, env }, (error, output, errors) =>
          resolve({ code: error === null ? 0 : error.code, output, errors }),
        );
        child.stdin?.end(stdin);
      });

    it('explains each command, and none speaks of the repository', async () => {
      for (const path of paths(all)) {
        const { code, output } = await run([...path, '--help'], { NO_COLOR: '1' });
        expect([path, code, output]).toEqual([path, 0, expect.stringContaining('Usage: conversations')]);
        expect(output).not.toMatch(/npm (?:start|run)|npx/);
        expect(output).not.toContain('\u001b');
      }
    });

    it('logs in at any URL, and then calls that API', async () => {
      const api = await startFakeOrganization();
      onTestFinished(() => api.stop());
      api.events.push(anEvent(1));
      const login = await run(['login', '--base-url', api.url], {}, `${api.key}\n`);
      expect([login.code, login.output]).toEqual([0, expect.stringContaining(`Logged in to ${api.url}`)]);
      expect((await run(['events', 'list', '--json'])).output).toBe(`${JSON.stringify(anEvent(1))}\n`);
      expect(await run(['why', anEvent(1).id])).toMatchObject({
        code: 0,
        output: 'There are no endpoints.\n',
      });
      await run(['logout', '--all']);
      const { code, errors } = await run(['events', 'list']);
      expect([code, errors]).toEqual([3, expect.stringMatching(/^Which API\?/)]);
    });
  },
);
