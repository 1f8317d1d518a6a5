import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';

const words = (seed: number) =>
  Array.from({ length: 120 }, (_, index) => `word${seed * 1000 + index}`).join(' ');

/**
 * A webhook receiver that answers with the status in its path, and a website with new content at each
 * request.
 * @param files certificate and key of the local run
 */
export async function startReceiver(files: { cert: string; key: string }) {
  const [cert, key] = await Promise.all([readFile(files.cert), readFile(files.key)]);
  let reads = 0;
  const server = createServer({ cert, key }, (incoming, outgoing) => {
    incoming.resume();
    if (incoming.url === '/page') {
      reads += 1;
      outgoing.setHeader('content-type', 'text/html; charset=utf-8');
      outgoing.end(`<!doctype html><title>Page</title><article><p>${words(reads)}</p></article>`);
      return;
    }
    outgoing.writeHead(Number(incoming.url?.slice(1)));
    outgoing.end('an answer');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `https://localhost:${(server.address() as AddressInfo).port}`,
    stop(): void {
      server.closeAllConnections();
      server.close();
    },
  };
}
