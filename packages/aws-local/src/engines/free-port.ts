import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { LocalRunError } from '../errors.ts';

/** Below the ports that operating systems give to outgoing connections and to servers that take any. */
const LOWEST = 10_000;
const HIGHEST = 32_767;
const ATTEMPTS = 50;

/**
 * A TCP port of the loopback interface that nothing listens on at this moment. It is outside of the
 * range for automatic ports, so that it is still free when a server starts on it seconds later.
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
  try {
    const release = await holdPort(port);
    await release();
    return true;
  } catch {
    return false;
  }
}

/**
 * Listens on a port of the loopback interface for a server that starts later, so that no other process takes
 * it. Who connects meanwhile is refused.
 * @returns gives the port up
 * @throws LocalRunError when the port is taken, or needs privileges
 */
export async function holdPort(port: number): Promise<() => Promise<void>> {
  const server = createServer((socket) => socket.destroy()).listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch (error) {
    throw cannotListen(port, error);
  }
  return async () => {
    if (!server.listening) return;
    server.close();
    await once(server, 'close');
  };
}

/** Says what to do about a port that cannot be listened on; other errors stay what they are. */
export function cannotListen(port: number, error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE')
    return new LocalRunError(`Port ${port} is taken. Choose another one: PORT=${nextPort(port)} npm start`);
  if (code === 'EACCES')
    return new LocalRunError(`Port ${port} needs privileges. Choose another one: PORT=3000 npm start`);
  return error;
}

const nextPort = (port: number): number => (port < 65_535 ? port + 1 : port - 1);
