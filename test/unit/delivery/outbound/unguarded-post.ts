import { Agent, request } from 'node:https';
import { isIP } from 'node:net';

/** The first address gets every connection, even on a busy machine. */
const agent = new Agent({ autoSelectFamilyAttemptTimeout: 60_000 });

/** Posts without the guard, for comparison: to any address, without verification. */
export async function unguardedPost(url: URL, addresses: readonly string[]): Promise<void> {
  const outgoing = request(url, {
    method: 'POST',
    agent,
    rejectUnauthorized: false,
    lookup: (_host, _options, callback) =>
      callback(
        null,
        addresses.map((address) => ({ address, family: isIP(address) })),
      ),
  });
  outgoing.on('response', (response) => response.resume());
  // The result does not matter.
  outgoing.on('error', () => undefined);
  await new Promise<void>((closed) => outgoing.on('close', closed).end());
}
