import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import type { TestProject } from 'vitest/node';

const PROGRAM = join(import.meta.dirname, 'stack-process.ts');

/**
 * Gives the test files of the project the shared stack while they run, in a process of its own. The first
 * request starts it, so that files without it do not wait.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  let stack: ReturnType<typeof startStack> | undefined;
  const server = createServer(async (_, response) => {
    stack ??= startStack();
    const parts = await stack.parts;
    response.writeHead(parts === undefined ? 500 : 200).end(parts ?? (await stack.errors));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  project.provide('stack', `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return async () => {
    server.close();
    server.closeAllConnections();
    const error = await stack?.stop();
    if (error) throw new Error(`the shared stack: ${error}`);
  };
}

function startStack() {
  const child = spawn(process.execPath, [PROGRAM], { stdio: 'pipe' });
  const closed = once(child, 'close');
  const errors = text(child.stderr);
  const printed = once(createInterface({ input: child.stdout }), 'line');
  return {
    /** JSON of where they are; undefined when it did not start. */
    parts: Promise.race([printed, closed.then(() => [])]).then(([line]) => line as string | undefined),
    errors,
    /** @returns what went wrong, if anything */
    async stop(): Promise<string> {
      child.stdin.end();
      const [code] = await closed;
      return code === 0 ? '' : `${await errors}exit code ${code}`;
    },
  };
}
