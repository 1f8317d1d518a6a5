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
 * Gives the test files of the project the shared stacks while they run, each in a process of its own. The
 * first request for a stack starts it, so that other files do not wait for it.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const started = new Map<string, ReturnType<typeof startStack>>();
  const server = createServer(async ({ url = '' }, response) => {
    const name = url.slice(1);
    const stack = started.get(name) ?? startStack(name);
    started.set(name, stack);
    const parts = await stack.parts;
    response.writeHead(parts === undefined ? 500 : 200).end(parts ?? (await stack.errors));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  project.provide('stacks', `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return async () => {
    server.close();
    server.closeAllConnections();
    const errors = await Promise.all([...started].map(async ([name, { stop }]) => [name, await stop()]));
    for (const [name, error] of errors) if (error) throw new Error(`the shared stack ${name}: ${error}`);
  };
}

function startStack(name: string) {
  const child = spawn(process.execPath, [PROGRAM, name], { stdio: 'pipe' });
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
