import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { wallClock } from './open-loop.ts';
import type { Receipt, ReceiverTerms } from './receivers.ts';

/*
 * Receivers in a separate process, so that their processor time is measured separately: one server for all,
 * distinguished by path. It reports receipts to its parent in portions.
 */

const REPORT_EVERY_MS = 10;

process.once('message', ({ cert, key, latencyMs }: ReceiverTerms) => {
  let receipts: Receipt[] = [];
  const server = createServer({ cert, key, keepAliveTimeout: 60_000 }, (request, response) => {
    const receivedAt = wallClock();
    const chunks: Buffer[] = [];
    request.on('error', () => undefined);
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', async () => {
      const { createdAt, data } = JSON.parse(Buffer.concat(chunks).toString());
      const committedAt = Date.parse(createdAt);
      receipts.push({ path: request.url ?? '', id: data.messageId, receivedAt, committedAt });
      if (latencyMs > 0) await sleep(latencyMs);
      response.writeHead(204).end();
    });
  });
  server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
  setInterval(() => {
    if (receipts.length === 0) return;
    process.send?.({ receipts });
    receipts = [];
  }, REPORT_EVERY_MS);
});
process.once('disconnect', () => process.exit(0));
