import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ports that operating systems give to outgoing connections and to servers that take any. */
const LOWEST = 10_000;
const HIGHEST = 32_767;
const ATTEMPTS = 50;

/**
 * A TCP port of the loopback interface that nothing listens on at this moment. It is one that nobody gets by chance, so that it
 * is still free when a server is started on it seconds later.
 * @param preferred taken when it is free
 */
export async function freePort(preferred?: number): Promise<number> {
  if (preferred && (await isFree(preferred))) return preferred;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const port = randomInt(LOWEST, HIGHEST + 1);
    if (await isFree(port)) return port;
  }
  throw new Error(`No free port from ${LOWEST} to ${HIGHEST} was found`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
