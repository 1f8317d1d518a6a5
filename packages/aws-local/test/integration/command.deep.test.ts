import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { until } from '../support/until.ts';
import { temporaryDirectory } from './temporary-directory.ts';

const PACKAGE = join(import.meta.dirname, '../..');
const PROGRAM = join(PACKAGE, 'bin/aws-local.ts');

/** Starts the command, and stops it at the end of the test. */
function start(...args: string[]) {
  const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const printed: string[] = [];
  for (const output of [child.stdout, child.stderr])
    output.setEncoding('utf8').on('data', (text: string) => printed.push(text));
  const exited = once(child, 'exit');
  onTestFinished(() => void child.kill('SIGKILL'));
  return {
    printed: () => printed.join(''),
    exitCode: async () => (await exited)[0],
    interrupt: () => child.kill('SIGINT'),
  };
}

it('aws-local runs a foreign assembly: a request is answered, and its message is processed from the queue', async () => {
  const directory = temporaryDirectory();
  const assembly = join(directory, 'cdk.out');
  mkdirSync(assembly);
  // Lambda's runtime has the AWS SDK; here functions find it above their assembly, as in a project that has
  // it installed.
  symlinkSync(join(PACKAGE, '../../node_modules'), join(directory, 'node_modules'));
  execFileSync(process.execPath, [join(PACKAGE, 'test/example/app.ts')], {
    env: { ...process.env, CDK_OUTDIR: assembly },
  });
  const command = start('run', assembly, '--port', '0', '--verbose');
  const url = await until('the API', () => /ApiEndpoint\S+ +(\S+)/.exec(command.printed())?.[1]);

  const response = await fetch(`${url}orders`, { method: 'POST', body: '{"tea":1}' });

  expect(response.status).toBe(202);
  const { id } = z.object({ id: z.string() }).parse(await response.json());
  await until('the order to be worked off', () => command.printed().includes(`worked off ${id}: {"tea":1}`));
  command.interrupt();
  expect(await command.exitCode()).toBe(0);
});

it('aws-local reports in a line why it cannot start', async () => {
  const directory = temporaryDirectory();
  const command = start('run', join(directory, 'nothing'), '--port', '0');
  expect(await command.exitCode()).toBe(1);
  expect(command.printed()).toMatch(/^✗ .*manifest\.json.*\n$/);
});
