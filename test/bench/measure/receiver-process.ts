import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { wallClock } from './open-loop.ts';
import type { Receipt, ReceiverChange, ReceiverTerms } from './receivers.ts';

/*
 * Receivers in a separate process, so that their processor time is measured separately: one server for all,
 * distinguished by path. It reports receipts to its parent in portions.
 */

const TELL_EVERY_MS = 10;

process.once('message', ({ cert, key, latencyMs, isSilent, refusesFirst }: ReceiverTerms) => {
  let receipts: Receipt[] = [];
  const refused = new Set<string>();
  let wait = latencyMs;
  let closes = false;
  const server = createServer({ cert, key, keepAliveTimeout: 60_000 }, (request, response) => {
    const receivedAt = wallClock.now();
    const chunks: Buffer[] = [];
    request.on('error', () => undefined);
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', async () => {
      const delivery = String(request.headers['webhook-delivery-id']);
      const isAccepted = !refusesFirst || refused.delete(delivery);
      if (!isAccepted) refused.add(delivery);
      if (!isSilent) {
        const { createdAt, data } = JSON.parse(Buffer.concat(chunks).toString());
        receipts.push({
          path: request.url ?? '',
          id: data.messageId ?? data.conversationId,
          receivedAt,
          committedAt: Date.parse(createdAt),
          isAccepted,
        });
      }
      if (wait > 0) await sleep(wait);
      response.writeHead(isAccepted ? 204 : 503, closes ? { connection: 'close' } : {}).end();
    });
  });
  server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
  setInterval(() => {
    if (receipts.length === 0) return;
    process.send?.({ receipts });
    receipts = [];
  }, TELL_EVERY_MS);
  process.on('message', (change: ReceiverChange) => {
    wait = change.latencyMs ?? wait;
    closes = change.doClose ?? closes;
  });
});
process.once('disconnect', () => process.exit(0));
