import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { until } from 'aws-local/test/until.ts';
import fc from 'fast-check';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { readContent } from '../../../../functions/delivery/outbound/retrieve.ts';
import { aPermit } from './permit.ts';
import { drip, fetchFrom, localClient, rawReceiver } from './receivers.ts';

const TOO_SLOW = 'the content came too slowly';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  return () => vi.useRealTimers();
});

/**
 * Sends this many bytes each second, then ends.
 * @returns the length that was read, or the error and its second
 */
async function sent(seconds: readonly number[]) {
  const response = Object.assign(new PassThrough({ highWaterMark: 1e6 }), { headers: {} });
  let ended: { length: number } | { error: unknown; after: number } | undefined;
  let passed = 0;
  const reading = readContent(response as unknown as IncomingMessage, 1_000_000).then(
    ({ length }) => {
      ended = { length };
    },
    (error: unknown) => {
      ended = { error, after: passed };
    },
  );
  for (const bytes of seconds) {
    if (bytes > 0 && !response.destroyed) response.write(Buffer.alloc(bytes));
    await setImmediate();
    passed += 1;
    vi.advanceTimersByTime(1000);
    await setImmediate();
  }
  response.end();
  await reading;
  return ended;
}

describe('a download', () => {
  it('fails in the first second in which the last five brought less than 5 KiB', async () => {
    const amounts = fc.constantFrom(0, 1, 500, 1023, 1024, 1025, 5120, 20_000);
    await fc.assert(
      fc.asyncProperty(fc.array(amounts, { maxLength: 12 }), async (seconds) => {
        const sums = seconds.map((_, index) =>
          seconds.slice(Math.max(0, index - 4), index + 1).reduce<number>((sum, bytes) => sum + bytes, 0),
        );
        const slow = sums.findIndex((sum, index) => index >= 4 && sum < 5 * 1024);
        const length = seconds.reduce<number>((sum, bytes) => sum + bytes, 0);
        expect(await sent(seconds)).toEqual(
          slow < 0 ? { length } : { error: expect.objectContaining({ message: TOO_SLOW }), after: slow + 1 },
        );
        expect(vi.getTimerCount()).toBe(0);
      }),
      { numRuns: 200 },
    );
  });

  it('fails when it becomes too slow after a fast beginning, while its server continues', async () => {
    const server = await rawReceiver((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 900000\r\n\r\n${'x'.repeat(100_000)}`);
      const timer = setTimeout(function trickle() {
        socket.write('.');
        timer.refresh();
      }, 5);
      socket.on('close', () => clearTimeout(timer));
    });
    const fetched = fetchFrom(localClient(), server.url());
    await until('the content to begin', () => vi.getTimerCount() > 0);
    // Enough seconds pass for the beginning to leave the window.
    const seconds = setTimeout(function pass() {
      vi.advanceTimersByTime(1000);
      seconds.refresh();
    }, 5);
    onTestFinished(() => clearTimeout(seconds));
    expect(await fetched).toEqual({ kind: 'failed', errorCode: 'timeout', error: TOO_SLOW });
    await until('the connection to be closed', () => server.open.size === 0);
  });
});

it('the answer to a delivery has no minimum rate: its deadline ends it', async () => {
  vi.useRealTimers();
  const server = await rawReceiver((socket) => {
    socket.write('HTTP/1.1 500 No\r\ncontent-length: 900\r\n\r\n');
    drip(socket, '.');
  });
  const request = { url: server.url(), headers: {}, body: new Uint8Array() };
  expect(await localClient({ timeoutMs: 150 }).post(request, await aPermit())).toMatchObject({
    kind: 'answered',
    status: 500,
  });
});
