import { appendFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { startService } from '../../../support/service.ts';
import { findFaults } from './faults.ts';
import { SHARED_STACK } from './settings.ts';
import type { LogLine, StackParts, UserRequest } from './stack.ts';

/*
 * Runs the shared stack until its input ends, and prints where its parts are. Fails when the stack did what
 * no test may cause.
 */
const logFile = join(tmpdir(), 'shared-stack.log');
const lines: LogLine[] = [];

writeFileSync(logFile, '');
const { parts, session, stop } = await startService({
  ...SHARED_STACK,
  onLog(line) {
    lines.push(line);
    appendFileSync(logFile, `${JSON.stringify(line)}\n`);
  },
});

const users = createServer(async (request, response) => {
  try {
    const { orgId, role, lifetimeSeconds } = (await json(request)) as UserRequest;
    response.end(await session(orgId, role, lifetimeSeconds));
  } catch (error) {
    response.writeHead(500).end(String(error));
  }
});
users.listen(0, '127.0.0.1', () => {
  const usersUrl = `http://127.0.0.1:${(users.address() as AddressInfo).port}`;
  process.stdout.write(`${JSON.stringify({ ...parts, logFile, usersUrl } satisfies StackParts)}\n`);
});

process.stdin.resume().once('end', async () => {
  users.close();
  users.closeAllConnections();
  await stop();
  const faults = findFaults(lines);
  if (faults.length > 0) throw new Error(faults.slice(0, 5).join('\n'));
});
