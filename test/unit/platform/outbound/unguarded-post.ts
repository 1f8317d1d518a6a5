import { Agent, request } from 'node:https';
import { isIP } from 'node:net';

/** The first address gets every connection, however long a busy machine needs for it. */
const agent = new Agent({ autoSelectFamilyAttemptTimeout: 60_000 });

/** Posts as nobody should, to show what the guard is good for: to whatever addresses, verifying nothing. */
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
  // Whether anything comes of it is of no interest.
  outgoing.on('error', () => undefined);
  await new Promise<void>((closed) => outgoing.on('close', closed).end());
}
