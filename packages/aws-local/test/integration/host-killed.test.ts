import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { awaitAssertion } from '../support/until.ts';
import { isAlive } from './processes.ts';
import { temporaryDirectory } from './temporary-directory.ts';

it('functions leave no sandbox behind when their host is killed', async () => {
  const directory = temporaryDirectory();
  const source = 'export const handler = (event) => new Promise((done) => setTimeout(done, event.ms));';
  writeFileSync(join(directory, 'index.mjs'), source);
  const program = fileURLToPath(new URL('./function-host.ts', import.meta.url));
  const host = spawn(process.execPath, [program, directory], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void host.kill('SIGKILL'));

  const [line] = await once(host.stdout, 'data');
  const sandboxes = z.array(z.number()).parse(JSON.parse(String(line)));
  expect(sandboxes).toHaveLength(2);
  expect(sandboxes.filter(isAlive)).toHaveLength(2);

  host.kill('SIGKILL');
  await awaitAssertion(() => expect(sandboxes.filter(isAlive)).toEqual([]));
});
