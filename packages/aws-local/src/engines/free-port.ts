import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { LocalRunError } from '../errors.ts';

/**
 * Below the ranges of outgoing connections and of automatic ports, and above all ports that `fetch` and
 * browsers refuse, of which 10080 is the last (Fetch Standard, port blocking).
 */
export const PORTS = { lowest: 10_081, highest: 32_767 };
const ATTEMPTS = 50;

/**
 * Finds a free TCP port of the loopback interface, outside the automatic range, so that it is still free when
 * a server starts seconds later.
 * @param preferred used when it is free
 */
export async function freePort(preferred?: number): Promise<number> {
  if (preferred && (await isFree(preferred))) return preferred;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const port = randomInt(PORTS.lowest, PORTS.highest + 1);
    if (await isFree(port)) return port;
  }
  throw new Error(`No free port from ${PORTS.lowest} to ${PORTS.highest} was found`);
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
 * Holds a loopback port for a server that starts later; clients are refused meanwhile.
 * @returns releases the port
 * @throws LocalRunError when the port is taken or needs privileges
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

/** @returns a LocalRunError that says what to do about the port; other errors unchanged */
export function cannotListen(port: number, error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE')
    return new LocalRunError(`Port ${port} is taken. Choose another one: PORT=${nextPort(port)} npm start`);
  if (code === 'EACCES')
    return new LocalRunError(`Port ${port} needs privileges. Choose another one: PORT=3000 npm start`);
  return error;
}

const nextPort = (port: number): number => (port < 65_535 ? port + 1 : port - 1);
